import ContactsContract
import ContractSupport
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
        let event = try await run.decide("clear", ClearReceivedPings(), of: .contacts, for: run.account)
        let cleared = try event.flatMap(ReceivedPingsCleared.init(in:))
        if let cleared {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await run.tellAnswered(cleared, by: "clear") }
                group.addTask {
                    try await run.demand(
                        "summary",
                        DeliverNotification(
                            id: .derived(at: cleared.at, from: Array("notification/pingsCleared".utf8), run.id.bytes),
                            kind: .pingsCleared, details: .init(at: cleared.at, count: cleared.contacts.count)),
                        of: .notifications, for: run.account)
                }
                try await group.waitForAll()
            }
        }
        var isCheckedIn: Bool?
        if checkIn == true {
            isCheckedIn = try await run.demand("checkIn", CheckIn(), of: .session, for: run.account, unless: .tooSoon)
        }
        return Result(contacts: cleared?.contacts ?? [], isCheckedIn: isCheckedIn)
    }
}

extension ReceivedPingsCleared {
    /// Nil when nothing waited, or another device was first: there is nothing to tell.
    init?(in event: CausedEvent) throws {
        guard event.type == Self.type else { return nil }
        self = try Self.decoded(from: event.body)
    }
}

extension SagaRun {
    /// What follows from an answer to all pings, besides what the answer itself changed: nothing of it waits for anything
    /// else of it.
    /// - Parameter step: The step that answered; the policy names what it tells after the same command.
    func tellAnswered(_ cleared: ReceivedPingsCleared, by step: String) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await demand(
                    "clearNotifications",
                    ClearNotifications([.pingReceived], from: cleared.contacts, by: cleared.at),
                    of: .notifications, for: account)
            }
            let command = command(of: step)
            for (number, contact) in cleared.contacts.enumerated() {
                // A few at a time, however many there are.
                if number >= 8 { try await group.next() }
                group.addTask {
                    try await demand(
                        "acknowledge/\(contact)",
                        DeliverNotification.pingAnswered(by: account, to: contact, at: cleared.at, command: command),
                        of: .notifications, for: contact, unless: .accountClosed)
                }
            }
            try await group.waitForAll()
        }
    }
}
