import ContactsContract
import ContactsService
import Grammar
import TestKit
import Testing
import Vocabulary

@Suite("Contacts: whatever people do")
struct ContactsPropertyTests {
    @Test(
        "S27 S11 S7: after any commands both sides agree, a role stays, nobody sees more than the seen one agreed to, and whoever folds a stream sees the tables"
    )
    func random() async throws {
        try await withRandom { random in
            for _ in 0..<20 {
                var people = People(seed: random.next())
                people.rows.limits.contacts = 3
                people.rows.limits.requests = 2
                let accounts = try (0..<6).map { _ in try people.person() }
                var consents = Consents()
                for _ in 0..<400 {
                    people.pass(.seconds(Int64.random(in: 0...8, using: &random)))
                    let asker = accounts.randomElement(using: &random) ?? accounts[0]
                    let other = accounts.randomElement(using: &random) ?? accounts[0]
                    let command = Self.command(to: other, of: asker, in: &people, using: &random)
                    let before = people
                    do {
                        try people.ask(asker, command)
                        consents.take(command, of: asker, in: before)
                    } catch is Rejection {}
                    try Self.check(people, accounts)
                    for account in accounts {
                        for contact in people.rows.published(account).contacts where contact.dependent {
                            try #require(consents.has(contact.contact, agreedToBeSeenBy: account), "\(command)")
                        }
                    }
                }
            }
        }
    }

    private static func check(_ people: People, _ accounts: [AccountID]) throws {
        for account in accounts {
            let state = people.rows.published(account)
            try #require(people.replicas[account] == state)
            for contact in state.contacts {
                let mirrored = try #require(people.contact(contact.contact, account))
                try #require(contact.responder == mirrored.dependent && contact.dependent == mirrored.responder)
                try #require(contact.responder || contact.dependent)
                try #require(
                    contact.outgoingPing == mirrored.incomingPing && contact.incomingPing == mirrored.outgoingPing)
                try #require(contact.outgoingPing == nil || contact.dependent)
                try #require(
                    contact.outgoingRoleRequest == mirrored.incomingRoleRequest
                        && contact.incomingRoleRequest == mirrored.outgoingRoleRequest)
                try #require(contact.outgoingRoleRequest == nil || !contact.dependent)
                try #require(contact.added == mirrored.added)
                try #require(!state.blocked.contains(contact.contact))
            }
            try #require(state.contacts.count == people.rows.contactCount(of: account))
            try #require(state.contacts.count <= people.rows.limits.contacts)
            for request in state.requests {
                try #require(people.rows.published(request.contact).requests[account] != nil)
                try #require(state.contacts[request.contact] == nil)
            }
        }
    }

    static func command(
        to other: AccountID, of asker: AccountID, in people: inout People, using random: inout SeededRandom
    ) -> ContactsCommand {
        let (one, two) = (Bool.random(using: &random), Bool.random(using: &random))
        switch Int.random(in: 0..<46, using: &random) {
        case 0: return random.oneIn(8) ? .closeAccount(CloseAccount()) : .resetContactCode(.init(code: people.id()))
        case 1: return .setContactApproval(SetContactApproval(isRequired: one))
        case 2: return .openAccount(OpenAccount(code: people.id()))
        case 3...9:
            let code = people.rows.published(other).code
            return .addContact(
                AddContact(
                    code: one ? code : nil, contact: one && code != nil ? nil : other, responder: one, dependent: two))
        case 10...11:
            let request = people.rows.published(asker).requests[other]
            return .approveContactRequest(
                ApproveContactRequest(
                    contact: other, responder: random.oneIn(4) ? one : request?.responder ?? one,
                    dependent: random.oneIn(4) ? two : request?.dependent ?? two))
        case 12: return .declineContactRequest(DeclineContactRequest(contact: other))
        case 13: return .withdrawContactRequest(WithdrawContactRequest(contact: other))
        case 14...19:
            let version = people.contact(asker, other)?.version ?? 1
            return .updateContact(
                UpdateContact(
                    contact: other, expectedVersion: random.oneIn(4) ? version - 1 : version,
                    nickname: random.oneIn(2) ? "n" : nil, responder: random.oneIn(3) ? one : nil,
                    dependent: random.oneIn(3) ? two : nil, sendPings: random.oneIn(6) ? one : nil,
                    receivePings: random.oneIn(6) ? two : nil, notifyOnExpiry: random.oneIn(6) ? one : nil))
        case 20: return .removeContact(RemoveContact(contact: other))
        case 21: return .blockContact(BlockContact(contact: other))
        case 22...23: return .unblockContact(UnblockContact(contact: other))
        case 24...31: return .sendPing(SendPing(contact: other))
        case 32...33: return .cancelPing(CancelPing(contact: other))
        case 34...35: return .respondToPing(RespondToPing(contact: other))
        case 36: return .respondToAllPings(RespondToAllPings())
        case 37: return .clearReceivedPings(ClearReceivedPings())
        case 40...41: return .requestRoleChange(RequestRoleChange(contact: other))
        case 42...43: return .acceptRoleChange(AcceptRoleChange(contact: other))
        case 44: return .declineRoleChange(DeclineRoleChange(contact: other))
        case 45: return .withdrawRoleChange(WithdrawRoleChange(contact: other))
        default:
            return .relayAlert(RelayAlert(kind: AllKinds.random(using: &random), occurred: people.time))
        }
    }
}

/// Who agreed to be seen by whom, by what people said alone.
private struct Consents {
    private var agreed: Set<Ends> = []

    func has(_ seen: AccountID, agreedToBeSeenBy other: AccountID) -> Bool {
        agreed.contains(Ends(from: seen, to: other))
    }

    /// Takes in a command that was accepted.
    mutating func take(_ command: ContactsCommand, of asker: AccountID, in before: People) {
        func agree(_ seen: AccountID, _ other: AccountID) { agreed.insert(Ends(from: seen, to: other)) }
        func revoke(_ seen: AccountID, _ other: AccountID) { agreed.remove(Ends(from: seen, to: other)) }
        switch command {
        case .addContact(let command):
            let byCode = command.code.flatMap { before.rows.owner(of: $0) }
            guard let other = command.contact ?? byCode else { return }
            if command.responder { agree(asker, other) } else { revoke(asker, other) }
            // Showing a code is consent.
            if byCode != nil, !before.rows.published(other).isApprovalRequired { agree(other, asker) }
        case .approveContactRequest(let command):
            if command.responder { agree(asker, command.contact) }
        case .acceptRoleChange(let command): agree(asker, command.contact)
        case .updateContact(let command):
            if let responder = command.responder {
                if responder { agree(asker, command.contact) } else { revoke(asker, command.contact) }
            }
            if command.dependent == false { revoke(command.contact, asker) }
        case .declineContactRequest(let command): end(asker, command.contact)
        case .withdrawContactRequest(let command): end(asker, command.contact)
        case .removeContact(let command): end(asker, command.contact)
        case .blockContact(let command): end(asker, command.contact)
        case .closeAccount: agreed = agreed.filter { $0.from != asker && $0.to != asker }
        default: break
        }
    }

    private mutating func end(_ one: AccountID, _ other: AccountID) {
        agreed.subtract([Ends(from: one, to: other), Ends(from: other, to: one)])
    }
}

private enum AllKinds {
    static func random(using random: inout SeededRandom) -> AlertKind {
        AlertKind.allCases.randomElement(using: &random) ?? .alertRaised
    }
}
