package import QuartetAPI
import QuartetContactsContract
import QuartetContractSupport
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary

/// Answers every ping that waits for the account, tells those who sent them, clears the account's notifications of them,
/// writes one summary into its history and, if asked for, checks it in. All of it or nothing, once.
///
/// `clear` decides: contacts answers the pings in one transaction and says whose they were. What follows is repeated until
/// it is done. If more wait than one command answers, that includes the others.
package struct ClearAllReceivedPingsSaga: Saga {
    package static let type = ClearAllReceivedPingsRequest.type

    let checkIn: Bool?
    let upTo: Instant?

    package init(_ request: ClearAllReceivedPingsRequest) {
        (checkIn, upTo) = (request.checkIn, request.upTo)
    }

    package func run(_ steps: some SagaSteps) async throws -> ClearAllReceivedPingsRequest.Result {
        let account = steps.account
        let answered = try await steps.answerPings("clear", ClearReceivedPings(upTo: upTo))
        let contacts = answered.flatMap(\.contacts)
        if let cleared = answered.first {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await steps.tellAnswered(cleared, by: "clear") }
                group.addTask {
                    try await steps.demand(
                        "summary",
                        DeliverNotification(
                            id: .derived(
                                at: cleared.at, from: Array("notification/pingsCleared".utf8), steps.id.bytes),
                            kind: .pingsCleared, details: .init(at: cleared.at, count: contacts.count)),
                        of: .notifications, for: account)
                }
                try await group.waitForAll()
            }
        }
        var isCheckedIn: Bool?
        if checkIn == true {
            isCheckedIn = try await steps.demand("checkIn", CheckIn(), of: .session, for: account, unless: .tooSoon)
        }
        return .init(contacts: contacts, isCheckedIn: isCheckedIn)
    }
}

extension ReceivedPingsCleared {
    /// Whether more pings may wait than one command answers.
    var isFull: Bool { contacts.count >= Self.limit }

    /// Nil when nothing waited, or another device was first: there is nothing to tell.
    init?(in event: CausedEvent) throws {
        guard event.type == Self.type else { return nil }
        self = try Self.decoded(from: event.body)
    }
}

extension SagaSteps {
    /// Answers the pings that wait, by as many commands as it takes. The first one decides.
    /// - Parameter step: The name of the first step.
    /// - Returns: What each command answered.
    func answerPings(_ step: String, _ body: some CommandBody) async throws -> [ReceivedPingsCleared] {
        var event = try await decide(step, body, of: .contacts, for: account)
        var answered: [ReceivedPingsCleared] = []
        while let cleared = try event.flatMap(ReceivedPingsCleared.init(in:)) {
            answered.append(cleared)
            guard cleared.isFull else { break }
            // An account that was closed meanwhile has no pings.
            event = try await request(
                "\(step)/\(answered.count + 1)", body, of: .contacts, for: account, unless: .accountClosed)
        }
        return answered
    }

    /// What follows from an answer to all pings, besides what the answer itself changed: nothing of it waits for anything
    /// else of it. Only of the first command: of those after it the policy tells, as it does of this one if the saga
    /// doesn't get that far.
    /// - Parameter step: The step that answered; the policy names its notifications after the same command.
    func tellAnswered(_ cleared: ReceivedPingsCleared, by step: String) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, clearing) in ClearNotifications.ofPings(in: cleared).enumerated() {
                group.addTask {
                    try await demand(
                        "clearNotifications" + (number > 0 ? "/\(number + 1)" : ""), clearing, of: .notifications,
                        for: account)
                }
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
