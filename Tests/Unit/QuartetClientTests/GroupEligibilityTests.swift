import QuartetContactsContract
import QuartetContractSupport
import QuartetVocabulary
import Testing

@testable import QuartetClient

@Suite("Whether something is done together")
struct GroupEligibilityTests {
    private static func eligibility(
        signedIn: Bool = true, _ connection: ConnectionState = .connected, contacts: Int = 1
    ) -> GroupEligibility {
        let me = Credentials(account: Server.account, device: Server.device, refreshToken: "")
        let people = (0..<contacts).map { Contact(Server.person(UInt64($0))) }
        let state = ContactsState(account: Server.account, contacts: Ordered(people))
        return GroupEligibility(
            session: SessionClient.preview(signedIn ? me : nil).session.value, connection: connection,
            contacts: ContactsClient.preview(state).contacts.value)
    }

    @Test("it takes somebody who is signed in and connected and has a contact; else it says what is missing first (P2)")
    func obstacles() {
        #expect(Self.eligibility().isEligible && Self.eligibility().obstacles.isEmpty)
        let offline: [ConnectionState] = [
            .notConfigured, .disconnected, .connecting, .reconnecting(attempt: 1), .failed(.silent),
        ]
        for state in offline {
            #expect(Self.eligibility(state).obstacles == [.offline])
            #expect(Self.eligibility(state, contacts: 0).obstacles == [.offline, .noContacts])
        }
        #expect(Self.eligibility(contacts: 0).obstacles == [.noContacts])
        for state in [ConnectionState.notSignedIn, .needsAuthentication] {
            #expect(Self.eligibility(state).obstacles == [.signedOut])
        }
        #expect(Self.eligibility(signedIn: false, contacts: 0).obstacles == [.signedOut])
    }

    @Test(
        "a person chooses with others, alone or not at all; what they wanted to share never begins for them alone (P2)")
    func results() {
        let prompt = GroupActivationPrompt(title: "Notturno", Self.eligibility())
        #expect(prompt.isNeeded && prompt.choices == [.preferred, .disabled, .cancelled])
        for choice in GroupActivation.allCases { #expect(prompt.result(of: choice) == choice) }
        #expect(prompt.result(of: nil) == .cancelled)
        let alone = GroupActivationPrompt(title: "Notturno", Self.eligibility(contacts: 0))
        #expect(!alone.isNeeded && alone.choices == [.disabled, .cancelled])
        #expect(alone.result(of: .preferred) == .cancelled && alone.result(of: .disabled) == .disabled)
    }

    @Test("the question, its answers and what is missing have words in every language (P2)")
    func words() {
        let prompt = GroupActivationPrompt(title: "Notturno", Self.eligibility())
        let sentences = ["en", "de"].map { language in
            let texts = Texts(languages: [language])
            return [texts.sentence(prompt)] + GroupActivation.allCases.map { texts.sentence($0) }
                + GroupEligibility.Obstacle.allCases.map { texts.sentence($0) }
        }
        #expect(
            sentences.allSatisfy {
                $0.first?.contains("“Notturno”") == true || $0.first?.contains("„Notturno“") == true
            })
        for (english, german) in zip(sentences[0], sentences[1]) {
            #expect(english != german && !english.contains("{") && !german.contains("{"))
            #expect(!english.hasPrefix("activation.") && !english.hasPrefix("eligibility."))
        }
    }
}
