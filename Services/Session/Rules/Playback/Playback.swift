import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary

// Shared playback: what a group session plays, and where it is in it.

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: PlaybackCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        switch command {
        case .setPlayback(let command): try set(&rows, command, context)
        case .playItem(let command): try play(&rows, command, context)
        case .nextItem(let command): try next(&rows, command, context)
        case .queueInsert(let command): try insert(&rows, command, context)
        case .queueMove(let command): try move(&rows, command, context)
        case .queueRemove(let command): try remove(&rows, command, context)
        case .declareReadiness(let command): try declareReadiness(&rows, command, context)
        case .beginSuspension(let command): try suspend(&rows, command, context)
        case .endSuspension(let command): try endSuspension(&rows, command, context)
        case .expireSuspension(let command): try expire(&rows, command, context.time)
        }
    }

    private static func set(
        _ rows: inout SessionRows, _ command: SetPlayback, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, _, _) = try participant(of: command.group, rows, context)
        guard let playback = rows.groups.playbacks[command.group], playback.item?.id == command.expectedItem else {
            throw .itemChanged(rows.groups.playbacks[command.group])
        }
        if let expected = command.expectedVersion, expected != playback.version {
            throw .staleVersion(expected: expected, current: playback.version)
        }
        let time = context.time
        var next = playback
        next.isPlaying = command.isPlaying ?? playback.isPlaying
        next.rate = command.rate ?? playback.rate
        next.position = playback.clamped(command.position ?? playback.position(at: time))
        let isElsewhere = command.position != nil && (playback.isMoving || next.position != playback.position)
        guard isElsewhere || next.isPlaying != playback.isPlaying || next.rate != playback.rate else { return [] }
        let starts = command.position != nil || (next.isPlaying && !playback.isPlaying)
        // What is still to begin begins when it was to, unless it goes elsewhere.
        let beginning = starts ? time + PlaybackRules.defaultLead : max(time, playback.anchor)
        next.anchor = next.isMoving ? command.lead.map { time + $0 } ?? beginning : time
        return [
            change(&rows, command.group, next, by: account) {
                .playbackSet(.init(group: command.group, account: account, playback: $0, at: time))
            }
        ]
    }

    private static func play(
        _ rows: inout SessionRows, _ command: PlayItem, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, _, _) = try participant(of: command.group, rows, context)
        let current = rows.groups.playbacks[command.group]
        if current?.item?.id == command.item.id { return [] }
        guard current?.item?.id == command.expectedItem else { throw .itemChanged(current) }
        var next = current ?? .nothing(by: account, context.time)
        next.item = command.item
        next.isPlaying = command.isPlaying ?? true
        next.position = next.clamped(command.position ?? .seconds(0))
        rows.groups.dequeue([command.item.id], from: command.group)
        return [start(&rows, command.group, next, lead: command.lead, by: account, context.time)]
    }

    private static func next(
        _ rows: inout SessionRows, _ command: NextItem, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, _, _) = try participant(of: command.group, rows, context)
        let current = rows.groups.playbacks[command.group]
        guard current?.item?.id == command.expectedItem else { throw .itemChanged(current) }
        let item = rows.groups.queue(of: command.group).first?.item
        guard item != nil || current?.item != nil else { return [] }
        var next = current ?? .nothing(by: account, context.time)
        next.isPlaying = item != nil && (current?.item == nil || next.isPlaying)
        (next.item, next.position) = (item, .seconds(0))
        if let item { rows.groups.dequeue([item.id], from: command.group) }
        return [start(&rows, command.group, next, lead: command.lead, by: account, context.time)]
    }

    private static func start(
        _ rows: inout SessionRows, _ group: GroupID, _ playback: Playback, lead: Interval?, by account: AccountID,
        _ time: Instant
    ) -> SessionEvent {
        var playback = playback
        playback.anchor = playback.isMoving ? time + (lead ?? PlaybackRules.defaultLead) : time
        return change(&rows, group, playback, by: account) {
            .itemStarted(.init(group: group, account: account, playback: $0, at: time))
        }
    }

    /// Makes the next version.
    static func change(
        _ rows: inout SessionRows, _ group: GroupID, _ playback: Playback, by account: AccountID,
        _ event: (Playback) -> PlaybackEvent
    ) -> SessionEvent {
        var playback = playback
        playback.version += 1
        playback.author = account
        rows.groups.playbacks[group] = playback
        return .playback(event(playback))
    }
}

extension Playback {
    /// Before anything was played.
    static func nothing(by account: AccountID, _ time: Instant) -> Self {
        Self(version: 0, author: account, anchor: time)
    }
}
