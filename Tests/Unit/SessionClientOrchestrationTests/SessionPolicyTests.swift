import ContactsContract
import SessionContract
import Testing
import Vocabulary

@testable import SessionClientOrchestration

@Suite("Session's policy")
struct SessionPolicyTests {
    private let account = AccountID.new()
    private let policy = SessionPolicy { _, _ in .new() }

    /// The accounts that contacts hears of as reached.
    private func reached(by event: SessionEvent) throws -> [AccountID?] {
        let body = event.body
        let message = RecordedMessage(
            partition: Partition(0), position: Position(1),
            message: Message(
                kind: .event, type: type(of: body).type, key: .account(account), account: account,
                body: try body.encoded()),
            recordedAt: .now)
        return policy.commands(for: event, in: message).filter { $0.body is RecordReached }.map(\.account)
    }

    private func signedIn(isFirst: Bool, isFirstOfDay: Bool?) -> SessionEvent {
        let device = Device(id: .new(), name: "phone", signedIn: .now, lastSeen: .now)
        return .deviceSignedIn(
            .init(account: account, device: device, isFirst: isFirst, isFirstOfDay: isFirstOfDay, at: .now))
    }

    @Test("contacts hears once a day of a device that was there, but never through an older session (A16)")
    func reached() throws {
        #expect(try reached(by: signedIn(isFirst: false, isFirstOfDay: true)) == [account])
        #expect(try reached(by: signedIn(isFirst: false, isFirstOfDay: nil)) == [])
        // Contacts opens a new account as reached.
        #expect(try reached(by: signedIn(isFirst: true, isFirstOfDay: true)) == [])
        for (isFirst, expected) in [(true, [account]), (nil, [])] as [(Bool?, [AccountID?])] {
            let refreshed = DeviceRefreshed(account: account, device: .new(), isFirstOfDay: isFirst, at: .now)
            #expect(try reached(by: .deviceRefreshed(refreshed)) == expected)
        }
    }
}
