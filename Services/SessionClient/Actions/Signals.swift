import Foundation
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary

/// Unreliable messages in group sessions.
struct Signals: Sendable {
    let members: GroupMembers
    let groups: GroupReads
    let bus: SignalBus
    let now: @Sendable () -> Instant
    private let limit = RateLimit<AccountID>(EdgeLimits.signals)
    private let budget: RateLimit<Budget>
    private enum Budget { case process }

    /// - Parameter perSecond: How many signals this process sends in a second.
    init(
        members: GroupMembers, groups: GroupReads, bus: SignalBus, perSecond: Int,
        now: @escaping @Sendable () -> Instant
    ) {
        (self.members, self.groups, self.bus, self.now) = (members, groups, bus, now)
        budget = RateLimit(Rate(perSecond, per: .second))
    }

    /// Sends a signal to those who follow the session now. Whether it arrives can't be known.
    /// - Throws: `tooManySignals`, `overloaded`; `Rejection` for what is wrong with it; why the caller may not send it.
    func send(_ request: SignalRequest, to group: GroupID, by caller: Caller) async throws {
        try limit.require(caller.account, orElse: .tooManySignals)
        try request.validate()
        let participants = try await members.participants(of: group)
        guard participants.contains(caller.account) else {
            throw try await groups.refusal(to: caller, in: group)
        }
        guard request.to.map(participants.isSuperset) ?? true else { throw Rejection.participantNotFound("to") }
        guard budget.admit(.process) else {
            throw APIError(.overloaded, "There are too many signals; this one was dropped.", retryAfter: 1)
        }
        let data = try request.data.map { try JSONEncoder.exact.encode($0) }
        bus.send(
            Signal(
                group: group, sender: caller.account, to: request.to, topic: request.topic,
                data: data.map(Array.init) ?? [],
                at: now()))
    }
}

extension JSONEncoder {
    /// As a data's size is counted.
    fileprivate static var exact: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
