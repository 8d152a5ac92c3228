import QuartetContractSupport
public import QuartetVocabulary

/// What happens to a group session's playback, in its stream.
public enum PlaybackEvent: MessageSet {
    case playbackSet(PlaybackSet)
    case itemStarted(ItemStarted)
    case queueItemsInserted(QueueItemsInserted)
    case queueItemMoved(QueueItemMoved)
    case queueItemsRemoved(QueueItemsRemoved)
    case readinessDeclared(ReadinessDeclared)
    case suspensionBegan(SuspensionBegan)
    case suspensionEnded(SuspensionEnded)

    package static let cases: Cases<Self> = [
        Case(Self.playbackSet), Case(Self.itemStarted), Case(Self.queueItemsInserted), Case(Self.queueItemMoved),
        Case(Self.queueItemsRemoved), Case(Self.readinessDeclared), Case(Self.suspensionBegan),
        Case(Self.suspensionEnded),
    ]

    public var body: any EventBody {
        switch self {
        case .playbackSet(let body): body
        case .itemStarted(let body): body
        case .queueItemsInserted(let body): body
        case .queueItemMoved(let body): body
        case .queueItemsRemoved(let body): body
        case .readinessDeclared(let body): body
        case .suspensionBegan(let body): body
        case .suspensionEnded(let body): body
        }
    }
}

/// Somebody played, paused, sought or set the rate.
public struct PlaybackSet: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// Who.
    public let account: AccountID
    /// From now on.
    public let playback: Playback
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, playback: Playback, at: Instant) {
        self.group = group
        self.account = account
        self.playback = playback
        self.at = at
    }
}

/// Another item is playing, and isn't in the queue any more; or none is, after the last one.
public struct ItemStarted: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// Who chose it, or went on to it.
    public let account: AccountID
    /// From now on.
    public let playback: Playback
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, playback: Playback, at: Instant) {
        self.group = group
        self.account = account
        self.playback = playback
        self.at = at
    }
}

/// The queue has more items.
public struct QueueItemsInserted: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// Who added them.
    public let account: AccountID
    public let items: [PlaybackItem]
    /// The item of the queue that they are behind; nil at its front.
    public let after: PlaybackItemID?
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, items: [PlaybackItem], after: PlaybackItemID?, at: Instant) {
        self.group = group
        self.account = account
        self.items = items
        self.after = after
        self.at = at
    }
}

/// An item of the queue has another place.
public struct QueueItemMoved: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// Who moved it.
    public let account: AccountID
    public let item: PlaybackItemID
    /// The item of the queue that it is behind; nil at its front.
    public let after: PlaybackItemID?
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, item: PlaybackItemID, after: PlaybackItemID?, at: Instant) {
        self.group = group
        self.account = account
        self.item = item
        self.after = after
        self.at = at
    }
}

/// The queue has fewer items.
public struct QueueItemsRemoved: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// Who removed them.
    public let account: AccountID
    public let items: [PlaybackItemID]
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, items: [PlaybackItemID], at: Instant) {
        self.group = group
        self.account = account
        self.items = items
        self.at = at
    }
}

/// The group may wait for a participant.
public struct ReadinessDeclared: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// The participant.
    public let account: AccountID
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, at: Instant) {
        self.group = group
        self.account = account
        self.at = at
    }
}

/// The group waits for a participant, or waits longer.
public struct SuspensionBegan: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// The participant.
    public let account: AccountID
    public let suspension: Suspension
    /// From now on.
    public let playback: Playback
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, suspension: Suspension, playback: Playback, at: Instant) {
        self.group = group
        self.account = account
        self.suspension = suspension
        self.playback = playback
        self.at = at
    }
}

/// The group doesn't wait for a participant any more.
public struct SuspensionEnded: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// The participant.
    public let account: AccountID
    /// Why.
    public let reason: SuspensionEnd
    /// From now on.
    public let playback: Playback
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, reason: SuspensionEnd, playback: Playback, at: Instant) {
        self.group = group
        self.account = account
        self.reason = reason
        self.playback = playback
        self.at = at
    }
}

extension GroupState {
    mutating func apply(_ event: PlaybackEvent) {
        switch event {
        case .playbackSet(let event): playback = event.playback
        case .itemStarted(let event):
            playback = event.playback
            queue.removeAll { $0.id == event.playback.item?.id }
        case .queueItemsInserted(let event): enqueue(event.items, after: event.after)
        case .queueItemMoved(let event):
            guard let item = queue.first(where: { $0.id == event.item }) else { return }
            queue.removeAll { $0.id == event.item }
            enqueue([item], after: event.after)
        case .queueItemsRemoved(let event): queue.removeAll { event.items.contains($0.id) }
        case .readinessDeclared(let event): participants[event.account]?.isReady = true
        case .suspensionBegan(let event):
            participants[event.account]?.suspension = event.suspension
            playback = event.playback
        case .suspensionEnded(let event):
            participants[event.account]?.suspension = nil
            if !event.reason.keepsReadiness { participants[event.account]?.isReady = false }
            playback = event.playback
        }
    }

    private mutating func enqueue(_ items: [PlaybackItem], after neighbour: PlaybackItemID?) {
        let place = neighbour.flatMap { id in queue.firstIndex { $0.id == id } }.map { $0 + 1 } ?? 0
        queue.insert(contentsOf: items, at: place)
    }
}
