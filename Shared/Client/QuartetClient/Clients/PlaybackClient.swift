import Foundation
import QuartetAPI
public import QuartetSessionContract
public import QuartetVocabulary

// This file alone holds an app's copies of what group sessions play, shows them to readers, and replaces them.

/// What a group session plays, as this device knows it.
///
/// Only ``PlaybackClient`` can make one or replace it: it has no initialiser that others may call, and it can't be decoded.
public struct ReadOnlyPlaybackState: Hashable, Sendable {
    private var playback: Playback?
    /// What comes next, in this order.
    public private(set) var queue: [PlaybackItem]

    fileprivate init(_ state: PlaybackCopy.State?) {
        playback = state?.playback
        queue = state?.queue ?? []
    }

    /// Nil while nothing is chosen.
    public var item: PlaybackItem? { playback?.item }
    public var title: String? { item?.title }
    /// Whether the group wants it to play.
    public var isPlaying: Bool { playback?.isPlaying ?? false }
    /// Whether it stands still until somebody is ready.
    public var isWaiting: Bool { playback?.isWaiting ?? false }
    public var rate: PlaybackRate { playback?.rate ?? .normal }
    /// Who changed it last.
    public var author: AccountID? { playback?.author }
    public var version: Int64 { playback?.version ?? 0 }

    /// The position in the item at a time at the server: the same on every device.
    public func position(at time: Instant) -> Interval { playback?.position(at: time) ?? .seconds(0) }
}

/// Follows what one group session plays, and is the only one who changes what readers see of it.
private final class PlaybackCopy: ReplicaConsumer {
    /// Empty once the session is over.
    struct State: Sendable {
        var playback: Playback?
        var queue: [PlaybackItem] = []
    }

    let sequences: Set<StreamName>
    let holder = ReplicaHolder<State, ReadOnlyPlaybackState> { ReadOnlyPlaybackState($0) }
    let commands: LiveCommands<State, ReadOnlyPlaybackState>
    private let reader = GroupReader()

    init(_ group: GroupID, _ service: Connection) {
        sequences = [.group(group)]
        commands = LiveCommands(service: service, holder: holder)
    }

    func change(by event: StreamEvent, opening: Int) throws -> StreamChange<State>? {
        switch event {
        case .snapshot(_, let snapshot):
            let state = try reader.begin(snapshot)
            return StreamChange {
                $0.replace(State(playback: state.playback, queue: state.queue), opening: opening)
            }
        case .resumed: return StreamChange { $0.resume(opening: opening) }
        case .event(_, let event):
            guard let (_, state) = try reader.read(event) else { return nil }
            return StreamChange {
                $0.apply(causedBy: event.command) { $0 = State(playback: state.playback, queue: state.queue) }
            }
        case .groupEnded:
            reader.forget()
            return StreamChange { replica in
                // Nothing has arrived of one that isn't open to this account.
                if replica.base == nil {
                    replica.replace(State(), opening: opening)
                } else {
                    replica.apply(causedBy: nil) { $0 = State() }
                }
            }
        case .begun, .groups, .person, .personEnded, .signal: return nil
        }
    }
}

/// What a group session plays, for a player and everything that shows it: a bar in every tab and a page read one state.
public final class RemotePlayback: Sendable {
    public let group: GroupID
    private let following: Following<PlaybackCopy>
    private let service: Connection

    fileprivate init(_ following: Following<PlaybackCopy>, _ service: Connection) {
        (group, self.following, self.service) = (following.group, following, service)
        service.needsTime()
    }

    /// What every feature reads.
    public var state: SharedState<ReadOnlyPlaybackState> { following.copy.holder.shared }

    /// The server's time now, from four time stamps a question, filtered; nil before the first answer.
    public var serverTime: Instant? { service.preciseTime }

    /// Waits until the server's time is known, which takes a connection.
    /// - Throws: `CancellationError`.
    public func ready() async throws { try await service.waitForTime() }

    /// Where in the item everybody is now; nil while the server's time isn't known.
    public var position: Interval? { serverTime.map { state.value.position(at: $0) } }

    /// How to bring a player to where the group is; nil while that isn't known.
    /// - Parameters:
    ///   - position: Where the player is.
    ///   - sinceSeek: How long ago it was brought there by a seek; nil if it never was.
    public func correction(of position: Interval, sinceSeek: Interval? = nil) -> PlaybackCorrection? {
        self.position.map { group in
            PlaybackCorrection(
                lead: Interval(microseconds: position.microseconds - group.microseconds), sinceSeek: sinceSeek)
        }
    }
}

/// Changes what group sessions play. What features read is what ``open`` returns; these are the only ways to change it.
public struct PlaybackClient: Sendable {
    public typealias Action<Input> = @Sendable (Input) async throws(QuartetError) -> Void
    public typealias GroupAction<Input> = @Sendable (GroupID, Input) async throws(QuartetError) -> Void

    /// Follows what a session plays; it is one of the eight sessions that ``GroupSessionClient/open`` counts.
    public var open: @Sendable (GroupID) throws(QuartetError) -> RemotePlayback
    /// Plays or pauses the item that plays now.
    public var setPlaying: GroupAction<Bool>
    /// Goes to a position in the item that plays now.
    public var seek: GroupAction<Interval>
    public var setRate: GroupAction<PlaybackRate>
    /// Plays another item instead of the one that plays now.
    public var play: GroupAction<PlaybackItem>
    /// Goes on to the next item of the queue.
    public var next: Action<GroupID>
    public var insert: Action<QueueInsert>
    public var move: Action<QueueMove>
    public var removeFromQueue: GroupAction<[PlaybackItemID]>
    /// Promises that this app ends its suspensions, so that the group waits for it.
    public var declareReadiness: Action<GroupID>
    public var beginSuspension: Action<BeginSuspension>
    public var endSuspension: Action<EndSuspension>
}

extension PlaybackClient {
    /// Talks to a server.
    public static func live(service: Connection) -> Self {
        let live = service.part { LivePlayback(service) }
        return Self(
            open: { group throws(QuartetError) in RemotePlayback(try live.followings.hold(group), service) },
            setPlaying: { group, isPlaying async throws(QuartetError) in
                try await live.set(group, isPlaying: isPlaying)
            },
            seek: { group, position async throws(QuartetError) in try await live.set(group, position: position) },
            setRate: { group, rate async throws(QuartetError) in try await live.set(group, rate: rate) },
            play: { group, item async throws(QuartetError) in
                try await live.send(group) { state in
                    PlayItem(group: group, expectedItem: state?.playback?.item?.id, item: item, isPlaying: true)
                }
            },
            next: { group async throws(QuartetError) in
                try await live.send(group) { NextItem(group: group, expectedItem: $0?.playback?.item?.id) }
            },
            insert: { items async throws(QuartetError) in try await live.send(items.group) { _ in items } },
            move: { move async throws(QuartetError) in try await live.send(move.group) { _ in move } },
            removeFromQueue: { group, items async throws(QuartetError) in
                let show: Replica<PlaybackCopy.State>.Change = { $0.queue.removeAll { items.contains($0.id) } }
                try await live.send(group, show: show) { _ in QueueRemove(group: group, items: items) }
            },
            declareReadiness: { group async throws(QuartetError) in
                try await live.send(group) { _ in DeclareReadiness(group: group) }
            },
            beginSuspension: { suspension async throws(QuartetError) in
                try await live.send(suspension.group) { _ in suspension }
            },
            endSuspension: { end async throws(QuartetError) in try await live.send(end.group) { _ in end } })
    }

    /// Every endpoint throws what `error` makes of its name.
    public static func failing(_ error: @escaping @Sendable (_ endpoint: String) -> QuartetError) -> Self {
        func fail<Input>(_ endpoint: String) -> Action<Input> {
            { _ async throws(QuartetError) in throw error("PlaybackClient.\(endpoint)") }
        }
        func fail<Input>(_ endpoint: String) -> GroupAction<Input> {
            { _, _ async throws(QuartetError) in throw error("PlaybackClient.\(endpoint)") }
        }
        return Self(
            open: { _ throws(QuartetError) in throw error("PlaybackClient.open") }, setPlaying: fail("setPlaying"),
            seek: fail("seek"), setRate: fail("setRate"), play: fail("play"), next: fail("next"),
            insert: fail("insert"), move: fail("move"), removeFromQueue: fail("removeFromQueue"),
            declareReadiness: fail("declareReadiness"), beginSuspension: fail("beginSuspension"),
            endSuspension: fail("endSuspension"))
    }
}

/// What group sessions at a server play.
private final class LivePlayback: Sendable {
    let followings: Followings<PlaybackCopy>
    private let service: Connection

    init(_ service: Connection) {
        self.service = service
        followings = Followings(service) { [unowned service] in PlaybackCopy($0, service) }
    }

    /// - Parameter command: Made of what the server has when its turn comes.
    func send(
        _ group: GroupID, show: @escaping Replica<PlaybackCopy.State>.Change = { _ in },
        _ command: @escaping @Sendable (PlaybackCopy.State?) throws(QuartetError) -> some MessageBody
    ) async throws(QuartetError) {
        try await followings.hold(group).copy.commands.send(show: show, command)
    }

    /// Changes how the item plays. A pause shows where it is now, everything else when it takes effect.
    func set(
        _ group: GroupID, isPlaying: Bool? = nil, position: Interval? = nil, rate: PlaybackRate? = nil
    ) async throws(QuartetError) {
        let now = service.preciseTime
        let show: Replica<PlaybackCopy.State>.Change = { state in
            guard let now, let playback = state.playback else { return }
            let start = isPlaying == false ? now : now + PlaybackRules.defaultLead
            state.playback?.position = playback.clamped(position ?? playback.position(at: now))
            state.playback?.anchor = rate == nil ? start : now
            state.playback?.isPlaying = isPlaying ?? playback.isPlaying
            state.playback?.rate = rate ?? playback.rate
        }
        try await send(group, show: show) { state throws(QuartetError) in
            guard let item = state?.playback?.item?.id else { throw .refused(APIError(.itemNotFound)) }
            return SetPlayback(
                group: group, expectedItem: item, isPlaying: isPlaying, position: position, rate: rate)
        }
    }
}
