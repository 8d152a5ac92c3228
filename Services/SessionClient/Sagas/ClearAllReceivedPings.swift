import ContactsContract
import Grammar
import NotificationsContract
import SessionContract
import Vocabulary

/// Answers every ping that waits for me, tells those who sent them, clears my notifications of them, writes one summary
/// into my history and, if I ask for it, checks me in. All of it or nothing, once.
///
/// `clear` decides: contacts answers all pings in one transaction and says whose they were. What follows is told until it
/// is done.
struct ClearAllReceivedPings: Saga {
    /// Whether to check me in as well. A check-in a moment ago is as good.
    let checkIn: Bool?

    /// What came of it.
    struct Result: Encodable, Sendable {
        /// Who had pinged me and has an answer now.
        let contacts: [AccountID]
        /// Whether a check-in was made; nil where none was asked for.
        let isCheckedIn: Bool?
    }

    func run(_ run: SagaRun) async throws -> Result {
        let account = run.account
        let event = try await run.decide("clear", ClearReceivedPings(), of: .contacts, for: account)
        var contacts: [AccountID] = []
        // Nothing waited, or another device was first: there is nothing to tell.
        if let event, event.type == ReceivedPingsCleared.type {
            let cleared = try ReceivedPingsCleared.decoded(from: event.body)
            contacts = cleared.contacts
            try await tell(contacts, account, cleared, run)
        }
        var isCheckedIn: Bool?
        if checkIn == true {
            isCheckedIn = try await run.demand("checkIn", CheckIn(), of: .session, for: account, unless: .tooSoon)
        }
        return Result(contacts: contacts, isCheckedIn: isCheckedIn)
    }

    /// What follows from the answer; nothing of it waits for anything else of it.
    private func tell(
        _ contacts: [AccountID], _ account: AccountID, _ cleared: ReceivedPingsCleared, _ run: SagaRun
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await run.demand(
                    "clearNotifications",
                    ClearNotifications(selection: .init(kinds: [.pingReceived], occurredBy: cleared.at)),
                    of: .notifications, for: account)
            }
            group.addTask {
                try await run.demand(
                    "summary",
                    DeliverNotification(
                        id: .derived(at: cleared.at, from: Array("notification/pingsCleared".utf8), run.id.bytes),
                        kind: .pingsCleared, details: .init(at: cleared.at, count: contacts.count)),
                    of: .notifications, for: account)
            }
            let command = run.command(of: "clear")
            for (number, contact) in contacts.enumerated() {
                // A few at a time, however many there are.
                if number >= 8 { try await group.next() }
                group.addTask {
                    try await run.demand(
                        "acknowledge/\(contact)",
                        DeliverNotification.pingAnswered(by: account, to: contact, at: cleared.at, command: command),
                        of: .notifications, for: contact, unless: .accountClosed)
                }
            }
            try await group.waitForAll()
        }
    }
}
