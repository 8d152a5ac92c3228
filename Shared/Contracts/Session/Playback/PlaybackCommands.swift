public import QuartetVocabulary

/// Commands about what a group session plays. Every participant may send them.
///
/// What two people ask at the same moment is decided in the order of the session's log, the same for everybody. A command that
/// names a version is refused if anything changed since; one that doesn't wins over what came before it. Both are refused once
/// another item plays.
package enum PlaybackCommand: MessageSet {
    case setPlayback(SetPlayback)
    case playItem(PlayItem)
    case nextItem(NextItem)
    case queueInsert(QueueInsert)
    case queueMove(QueueMove)
    case queueRemove(QueueRemove)
    case declareReadiness(DeclareReadiness)
    case beginSuspension(BeginSuspension)
    case endSuspension(EndSuspension)
    case expireSuspension(ExpireSuspension)

    package static let cases: Cases<Self> = [
        Case(Self.setPlayback), Case(Self.playItem), Case(Self.nextItem), Case(Self.queueInsert),
        Case(Self.queueMove), Case(Self.queueRemove), Case(Self.declareReadiness), Case(Self.beginSuspension),
        Case(Self.endSuspension), Case(Self.expireSuspension),
    ]

    package var body: any CommandBody {
        switch self {
        case .setPlayback(let body): body
        case .playItem(let body): body
        case .nextItem(let body): body
        case .queueInsert(let body): body
        case .queueMove(let body): body
        case .queueRemove(let body): body
        case .declareReadiness(let body): body
        case .beginSuspension(let body): body
        case .endSuspension(let body): body
        case .expireSuspension(let body): body
        }
    }
}

/// Plays, pauses, seeks or sets the rate: what isn't given stays as it is.
///
/// Rejected: `itemChanged`, `staleVersion` with the current version. Result: ``PlaybackSet``; nothing if it was so already.
public struct SetPlayback: PublicCommandBody, GroupCommandBody {
    /// The session.
    public let group: GroupID
    /// The item that the asker sees playing.
    public let expectedItem: PlaybackItemID
    /// The version that the asker has seen; another one is rejected. Without it the last command wins.
    public let expectedVersion: Int64?
    public let isPlaying: Bool?
    /// Where to go in the item. One behind its end is its end.
    public let position: Interval?
    public let rate: PlaybackRate?
    /// How long after the command it begins to move; see ``PlaybackRules/leads``. Unless given,
    /// ``PlaybackRules/defaultLead`` where it starts to play or goes elsewhere, otherwise none.
    public let lead: Interval?

    public init(
        group: GroupID, expectedItem: PlaybackItemID, expectedVersion: Int64? = nil, isPlaying: Bool? = nil,
        position: Interval? = nil, rate: PlaybackRate? = nil, lead: Interval? = nil
    ) {
        self.group = group
        self.expectedItem = expectedItem
        self.expectedVersion = expectedVersion
        self.isPlaying = isPlaying
        self.position = position
        self.rate = rate
        self.lead = lead
    }

    public func validate() throws(Rejection) {
        guard isPlaying != nil || position != nil || rate != nil else {
            throw Rejection(
                .invalidField, "Give isPlaying, position or rate: one of them at least.", field: "isPlaying")
        }
        try PlaybackRules.check(position: position)
        try PlaybackRules.check(lead: lead)
        if isPlaying == false, lead != nil {
            throw Rejection(.invalidField, "Leave out the lead: a pause takes effect at once.", field: "lead")
        }
    }
}

/// Plays an item at once, in place of the current one. If it is in the queue, it leaves the queue.
///
/// Rejected: `itemChanged`. Result: ``ItemStarted``; nothing if it is the current one.
public struct PlayItem: PublicCommandBody, GroupCommandBody {
    /// The session.
    public let group: GroupID
    /// The item that the asker sees playing; nil for none.
    public let expectedItem: PlaybackItemID?
    public let item: PlaybackItem
    /// True unless given.
    public let isPlaying: Bool?
    /// The item's beginning unless given.
    public let position: Interval?
    /// How long after the command it begins to move: ``PlaybackRules/defaultLead`` unless given.
    public let lead: Interval?

    public init(
        group: GroupID, expectedItem: PlaybackItemID? = nil, item: PlaybackItem, isPlaying: Bool? = nil,
        position: Interval? = nil, lead: Interval? = nil
    ) {
        self.group = group
        self.expectedItem = expectedItem
        self.item = item
        self.isPlaying = isPlaying
        self.position = position
        self.lead = lead
    }

    public func validate() throws(Rejection) {
        try item.validate("item")
        try PlaybackRules.check(position: position)
        try PlaybackRules.check(lead: lead)
    }
}

/// Goes on to the first item of the queue. Of several who ask this at an item's end, one is accepted.
///
/// It plays on if it was playing, or if nothing was chosen. With an empty queue there is no item afterwards.
///
/// Rejected: `itemChanged`. Result: ``ItemStarted``; nothing if there is neither an item nor a queue.
public struct NextItem: PublicCommandBody, GroupCommandBody {
    /// The session.
    public let group: GroupID
    /// The item that the asker sees playing; nil for none.
    public let expectedItem: PlaybackItemID?
    /// How long after the command it begins to move: ``PlaybackRules/defaultLead`` unless given.
    public let lead: Interval?

    public init(group: GroupID, expectedItem: PlaybackItemID? = nil, lead: Interval? = nil) {
        self.group = group
        self.expectedItem = expectedItem
        self.lead = lead
    }

    public func validate() throws(Rejection) {
        try PlaybackRules.check(lead: lead)
    }
}

/// Adds items to the queue, except those that are there or playing.
///
/// They come behind `after`. If that isn't in the queue any more, they come before `before`; if neither is, or none is given,
/// at the end. The item that is playing counts as the one in front of the queue.
///
/// Rejected: `limitReached`. Result: ``QueueItemsInserted``; nothing if all were there.
public struct QueueInsert: PublicCommandBody, GroupCommandBody {
    /// The session.
    public let group: GroupID
    /// See ``PlaybackRules/insertions``.
    public let items: [PlaybackItem]
    public let after: PlaybackItemID?
    public let before: PlaybackItemID?

    public init(
        group: GroupID, items: [PlaybackItem], after: PlaybackItemID? = nil, before: PlaybackItemID? = nil
    ) {
        self.group = group
        self.items = items
        self.after = after
        self.before = before
    }

    public func validate() throws(Rejection) {
        guard PlaybackRules.insertions.contains(items.count) else {
            throw Rejection(.invalidField, "Choose 1 to 25 items.", field: "items")
        }
        guard Set(items.map(\.id)).count == items.count else {
            throw Rejection(.invalidField, "Give each item an id of its own.", field: "items")
        }
        for (index, item) in items.enumerated() { try item.validate("items.\(index)") }
        try PlaybackRules.check(after: after, before: before, of: items.map(\.id))
    }
}

/// Moves an item of the queue between others, or to the end; see ``QueueInsert`` for the place.
///
/// Rejected: `itemNotFound`. Result: ``QueueItemMoved``; nothing if it is there already.
public struct QueueMove: PublicCommandBody, GroupCommandBody {
    /// The session.
    public let group: GroupID
    public let item: PlaybackItemID
    public let after: PlaybackItemID?
    public let before: PlaybackItemID?

    public init(
        group: GroupID, item: PlaybackItemID, after: PlaybackItemID? = nil, before: PlaybackItemID? = nil
    ) {
        self.group = group
        self.item = item
        self.after = after
        self.before = before
    }

    public func validate() throws(Rejection) {
        try PlaybackRules.check(after: after, before: before, of: [item])
    }
}

/// Removes items from the queue, those of them that are there.
///
/// Result: ``QueueItemsRemoved``; nothing if none was there.
public struct QueueRemove: PublicCommandBody, GroupCommandBody {
    /// The session.
    public let group: GroupID
    /// See ``PlaybackRules/removals``.
    public let items: [PlaybackItemID]

    public init(group: GroupID, items: [PlaybackItemID]) {
        self.group = group
        self.items = items
    }

    public func validate() throws(Rejection) {
        guard PlaybackRules.removals.contains(items.count) else {
            throw Rejection(.invalidField, "Choose 1 to 100 items.", field: "items")
        }
        guard Set(items).count == items.count else {
            throw Rejection(.invalidField, "Name each item once.", field: "items")
        }
    }
}

/// Says that the asker's client ends its suspensions once it can play. The group waits for nobody else.
///
/// It holds until the asker leaves, or until a suspension of theirs ends in another way; see ``SuspensionEnd/keepsReadiness``.
///
/// Result: ``ReadinessDeclared``; nothing if they had.
public struct DeclareReadiness: PublicCommandBody, GroupCommandBody {
    /// The session.
    public let group: GroupID

    public init(group: GroupID) {
        self.group = group
    }
}

/// Asks the group to wait for the asker. Once more, it extends the suspension that they have.
///
/// Rejected: `notReady`, `groupTooLarge`. Result: ``SuspensionBegan``.
public struct BeginSuspension: PublicCommandBody, GroupCommandBody {
    /// The session.
    public let group: GroupID
    public let reason: SuspensionReason
    /// ``PlaybackRules/defaultSuspension`` unless given; see ``PlaybackRules/suspensions``, which limits it with all extensions.
    public let duration: Interval?
    /// The group waits while at most so many are in it; any number unless given.
    public let participantLimit: Int?

    public init(
        group: GroupID, reason: SuspensionReason, duration: Interval? = nil, participantLimit: Int? = nil
    ) {
        self.group = group
        self.reason = reason
        self.duration = duration
        self.participantLimit = participantLimit
    }

    public func validate() throws(Rejection) {
        if let duration, !PlaybackRules.suspensions.contains(duration) {
            throw Rejection(.invalidField, "Choose a duration of 1 to 30 seconds.", field: "duration")
        }
        if let participantLimit, !PlaybackRules.participantLimits.contains(participantLimit) {
            throw Rejection(.invalidField, "Choose a limit of 1 to 100 people.", field: "participantLimit")
        }
    }
}

/// Ends the asker's suspension. With the last one the group plays on, if it wants to.
///
/// Result: ``SuspensionEnded``; nothing if they had none.
public struct EndSuspension: PublicCommandBody, GroupCommandBody {
    /// The session.
    public let group: GroupID
    /// Where the group shall be in the item. It stays where it is unless given.
    public let position: Interval?
    /// The item that `position` is in. If another one is playing by now, the position doesn't count.
    public let item: PlaybackItemID?

    public init(group: GroupID, position: Interval? = nil, item: PlaybackItemID? = nil) {
        self.group = group
        self.position = position
        self.item = item
    }

    public func validate() throws(Rejection) {
        try PlaybackRules.check(position: position)
        if position != nil, item == nil {
            throw Rejection(.invalidField, "Say in which item the position is.", field: "item")
        }
    }
}

/// Ends a suspension whose time is up. Sent by a timer; does nothing if it ended or was extended.
package struct ExpireSuspension: GroupCommandBody {
    /// The session.
    package let group: GroupID
    /// Whose.
    package let participant: AccountID
    /// When it ends.
    package let until: Instant

    package init(group: GroupID, participant: AccountID, until: Instant) {
        self.group = group
        self.participant = participant
        self.until = until
    }
}
