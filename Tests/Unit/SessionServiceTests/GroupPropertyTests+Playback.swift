import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules

/// Shared playback among whatever people do.
extension GroupPropertyTests {
    /// Few items, so that commands meet.
    private static let items = (0..<6).map { number in
        PlaybackItem(
            id: PlaybackItemID(high: 9, low: number), title: "Song \(number)",
            duration: number == 0 ? nil : .seconds(60 * Int64(number)))
    }

    /// Something that a person does to what plays, to the queue, or to the wait.
    static func play(
        of person: AccountID, in group: GroupID, _ gathering: inout Gathering, using random: inout SeededRandom
    ) throws {
        let playback = gathering.rows.groups.playbacks[group]
        let item = items.randomElement(using: &random) ?? items[0]
        let neighbours = [nil] + items.map(\.id) + [playback?.item?.id]
        let (after, before) = (
            neighbours.randomElement(using: &random) ?? nil, neighbours.randomElement(using: &random) ?? nil
        )
        let expected = random.oneIn(6) ? item.id : playback?.item?.id
        let positions: [Interval?] = [nil, nil, nil, .seconds(.random(in: 0...400, using: &random)), .days(30)]
        let position = positions.randomElement(using: &random) ?? nil
        let lead = random.oneIn(3) ? Interval.seconds(.random(in: 0...3, using: &random)) : nil
        switch Int.random(in: 0..<16, using: &random) {
        case 0...3:
            let rates = [nil, PlaybackRate.slowest, .normal, .fastest]
            try gathering.ask(
                person,
                SetPlayback(
                    group: group, expectedItem: expected ?? item.id,
                    expectedVersion: random.oneIn(3) ? (playback?.version ?? 0) - (random.oneIn(3) ? 1 : 0) : nil,
                    isPlaying: random.oneIn(3) ? nil : random.oneIn(2), position: position,
                    rate: rates.randomElement(using: &random) ?? nil, lead: lead))
        case 4:
            try gathering.ask(
                person,
                PlayItem(
                    group: group, expectedItem: expected, item: item, isPlaying: random.oneIn(3) ? false : nil,
                    position: position, lead: lead))
        case 5...6: try gathering.ask(person, NextItem(group: group, expectedItem: expected, lead: lead))
        case 7...8:
            let added = items.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
            try gathering.ask(person, QueueInsert(group: group, items: Array(added), after: after, before: before))
        case 9: try gathering.ask(person, QueueMove(group: group, item: item.id, after: after, before: before))
        case 10:
            try gathering.ask(person, QueueRemove(group: group, items: random.oneIn(2) ? [item.id] : items.map(\.id)))
        case 11: try gathering.ask(person, DeclareReadiness(group: group))
        case 12...14:
            let owner = gathering.rows.groups.accounts(of: group, .joined).first {
                gathering.rows.groups[group, $0]?.isReady == true
            }
            try gathering.ask(
                random.oneIn(3) ? person : owner ?? person,
                BeginSuspension(
                    group: group, reason: .stalled, duration: .seconds(.random(in: 1...30, using: &random)),
                    participantLimit: random.oneIn(2) ? Int.random(in: 1...3, using: &random) : nil))
        default:
            try gathering.ask(person, EndSuspension(group: group, position: position, item: expected))
        }
    }

    /// What holds of a session's playback at every moment.
    static func checkPlayback(of state: GroupState, _ gathering: Gathering) throws {
        if state.end != nil { try #require(state.playback == nil && state.queue.isEmpty) }
        let waiting = state.participants.filter { $0.suspension != nil }
        try #require(state.playback?.isWaiting ?? false == !waiting.isEmpty)
        let timers = gathering.rows.wantedTimers(of: state.group)
        for participant in waiting {
            let suspension = try #require(participant.suspension)
            try #require(participant.isReady && suspension.until <= suspension.since + .seconds(30))
            if let limit = suspension.participantLimit { try #require(state.participants.count <= limit) }
            try #require(
                timers.contains {
                    ($0.command.body as? ExpireSuspension)?.participant == participant.id && $0.due == suspension.until
                })
        }
        let queued = state.queue.map(\.id)
        try #require(Set(queued).count == queued.count && queued.count <= PlaybackRules.queueLimit)
        guard let playback = state.playback else { return }
        try #require(!queued.contains { $0 == playback.item?.id })
        try #require(playback.item != nil || !playback.isPlaying)
        let positions = (-2...4).map { playback.position(at: gathering.time + .seconds(30 * $0)) }
        try #require(zip(positions, positions.dropFirst()).allSatisfy { $0 <= $1 })
        try #require(positions.allSatisfy { $0 >= .seconds(0) && $0 <= playback.item?.duration ?? .days(30) })
    }

    /// Once the time of all suspensions is up and their timers have fired, nobody waits.
    static func checkWaitsEnd(_ gathering: inout Gathering) throws {
        gathering.pass(.seconds(31))
        for key in gathering.timedKeys {
            for timer in gathering.rows.wantedTimers(of: key) where timer.command.body is ExpireSuspension {
                try gathering.ask(nil, timer.command.body)
            }
        }
        for group in gathering.rows.groups.sessions.keys {
            let state = try gathering.state(group)
            try #require(state.playback?.isWaiting != true && state.participants.allSatisfy { $0.suspension == nil })
        }
    }
}

extension PlaybackEvent {
    /// What plays from now on; nil if the event doesn't change that.
    var playback: Playback? {
        switch self {
        case .playbackSet(let event): event.playback
        case .itemStarted(let event): event.playback
        case .suspensionBegan(let event): event.playback
        case .suspensionEnded(let event): event.playback
        case .queueItemsInserted, .queueItemMoved, .queueItemsRemoved, .readinessDeclared: nil
        }
    }
}
