import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary

// Suspensions: the group waits while somebody in it has one. Each ends, by its owner or without: when its time is up, when its
// owner vanishes, or when the group becomes too large to wait.

extension SessionReducer {
    static func declareReadiness(
        _ rows: inout SessionRows, _ command: DeclareReadiness, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, _, own) = try participant(of: command.group, rows, context)
        guard !own.isReady else { return [] }
        rows.groups[command.group, account]?.isReady = true
        return [.playback(.readinessDeclared(.init(group: command.group, account: account, at: context.time)))]
    }

    static func suspend(
        _ rows: inout SessionRows, _ command: BeginSuspension, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, _, own) = try participant(of: command.group, rows, context)
        guard own.isReady else {
            throw Rejection(
                .notReady, "Declare first that you can be ready: the group waits for nobody who hasn't.")
        }
        let participants = rows.groups.accounts(of: command.group, .joined).count
        if let limit = command.participantLimit, participants > limit {
            throw Rejection(
                .groupTooLarge, "\(participants) people are in this session; catch up with them instead.",
                field: "participantLimit", details: ["participants": .integer(Int64(participants))])
        }
        let time = context.time
        let since = own.suspension?.since ?? time
        let suspension = Suspension(
            reason: command.reason, since: since,
            until: min(
                time + (command.duration ?? PlaybackRules.defaultSuspension),
                since + PlaybackRules.suspensions.upperBound),
            participantLimit: command.participantLimit)
        // One that has lasted as long as it may is about to end.
        guard suspension.until > time, suspension != own.suspension else { return [] }
        var next = rows.groups.playbacks[command.group] ?? .nothing(by: account, time)
        next.position = next.position(at: time)
        (next.isWaiting, next.anchor) = (true, time)
        rows.groups[command.group, account]?.suspension = suspension
        return [
            change(&rows, command.group, next, by: account) {
                .suspensionBegan(
                    .init(group: command.group, account: account, suspension: suspension, playback: $0, at: time))
            }
        ]
    }

    static func endSuspension(
        _ rows: inout SessionRows, _ command: EndSuspension, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, _, _) = try participant(of: command.group, rows, context)
        let isCurrent = rows.groups.playbacks[command.group]?.item?.id == command.item
        return endSuspension(
            &rows, command.group, account, .ended, position: isCurrent ? command.position : nil, context.time)
    }

    static func expire(
        _ rows: inout SessionRows, _ command: ExpireSuspension, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard rows.groups[command.group, command.participant]?.suspension?.until == command.until else { return [] }
        try requireDue(command.until, time)
        return endSuspension(&rows, command.group, command.participant, .expired, time)
    }

    /// Ends the suspensions that the group is too large for.
    static func endCrowdedSuspensions(_ rows: inout SessionRows, _ group: GroupID, _ time: Instant) -> [SessionEvent] {
        let participants = rows.groups.accounts(of: group, .joined)
        return participants.flatMap { account in
            guard let limit = rows.groups[group, account]?.suspension?.participantLimit, participants.count > limit
            else { return [SessionEvent]() }
            return endSuspension(&rows, group, account, .crowded, time)
        }
    }

    /// Ends a participant's suspension, if they have one. With the last one the group plays on.
    static func endSuspension(
        _ rows: inout SessionRows, _ group: GroupID, _ account: AccountID, _ reason: SuspensionEnd,
        position: Interval? = nil, _ time: Instant
    ) -> [SessionEvent] {
        guard rows.groups[group, account]?.suspension != nil, var next = rows.groups.playbacks[group] else { return [] }
        rows.groups[group, account]?.suspension = nil
        if !reason.keepsReadiness { rows.groups[group, account]?.isReady = false }
        next.isWaiting = rows.groups.accounts(of: group, .joined).contains {
            rows.groups[group, $0]?.suspension != nil
        }
        next.position = next.clamped(position ?? next.position)
        next.anchor = next.isMoving ? time + PlaybackRules.defaultLead : time
        return [
            change(&rows, group, next, by: account) {
                .suspensionEnded(.init(group: group, account: account, reason: reason, playback: $0, at: time))
            }
        ]
    }
}
