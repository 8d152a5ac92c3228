public import QuartetVocabulary

/// What ``PlaybackItemID`` identifies.
public enum PlaybackItemSubject {}

/// An item to play, named by whoever adds it. The same song added twice is two items, so that a command can say which one it
/// means.
public typealias PlaybackItemID = ID<PlaybackItemSubject>

/// Something to play.
public struct PlaybackItem: Codable, Hashable, Sendable, Identifiable {
    public let id: PlaybackItemID
    /// The app's name for what is played, such as its place in a catalogue.
    public let content: String?
    public let title: String
    public let artworkURL: String?
    /// Nil for what has no end, such as a live stream.
    public let duration: Interval?

    public init(
        id: PlaybackItemID, content: String? = nil, title: String, artworkURL: String? = nil, duration: Interval? = nil
    ) {
        self.id = id
        self.content = content
        self.title = title
        self.artworkURL = artworkURL
        self.duration = duration
    }
}

/// How fast an item plays, in whole thousandths of its normal speed: from 0.25 to 4. Its JSON is a number, such as 1.25.
public struct PlaybackRate: RawRepresentable, Hashable, Comparable, Sendable {
    /// In thousandths.
    public let rawValue: Int

    public static let normal = Self(thousandths: 1000)
    public static let slowest = Self(thousandths: 250)
    public static let fastest = Self(thousandths: 4000)

    private init(thousandths: Int) { rawValue = thousandths }

    /// Nil for a rate that is too slow or too fast.
    public init?(rawValue thousandths: Int) {
        guard (Self.slowest.rawValue...Self.fastest.rawValue).contains(thousandths) else { return nil }
        rawValue = thousandths
    }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// How far an item plays in a time, rounded down to a microsecond. Saturates.
    func distance(in time: Interval) -> Interval {
        let (whole, rest) = time.microseconds.quotientAndRemainder(dividingBy: 1000)
        let (distance, overflow) = whole.multipliedReportingOverflow(by: Int64(rawValue))
        let (sum, carry) = distance.addingReportingOverflow(rest * Int64(rawValue) / 1000)
        return Interval(microseconds: overflow || carry ? .max : sum)
    }
}

extension PlaybackRate: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let value = try container.decode(Double.self)
        let thousandths = Int(exactly: (value * 1000).rounded())
        guard let rate = thousandths.flatMap(Self.init(rawValue:)), Double(rate.rawValue) / 1000 == value else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "it must be a number from 0.25 to 4 with at most three decimals")
        }
        self = rate
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Double(rawValue) / 1000)
    }
}

/// What a group session plays, and where in it everybody is.
///
/// ``position(at:)`` says where, from the time at the server: every reader computes the same, however late it hears of a change.
public struct Playback: Codable, Hashable, Sendable {
    /// Counts every change, without gaps.
    public var version: Int64
    /// Who made this version.
    public var author: AccountID
    /// Nil while nothing is chosen, or after the last item.
    public var item: PlaybackItem?
    /// Whether the group wants it to play.
    public var isPlaying: Bool
    /// Whether it stands still until somebody's ``Suspension`` ends.
    public var isWaiting: Bool
    public var rate: PlaybackRate
    /// The position in the item until ``anchor``.
    public var position: Interval
    /// From when on the position moves, if it does: a time at the server, perhaps in the near future.
    public var anchor: Instant

    public init(
        version: Int64, author: AccountID, item: PlaybackItem? = nil, isPlaying: Bool = false, isWaiting: Bool = false,
        rate: PlaybackRate = .normal, position: Interval = .seconds(0), anchor: Instant
    ) {
        self.version = version
        self.author = author
        self.item = item
        self.isPlaying = isPlaying
        self.isWaiting = isWaiting
        self.rate = rate
        self.position = position
        self.anchor = anchor
    }

    /// Whether the position moves, from ``anchor`` on.
    public var isMoving: Bool { isPlaying && !isWaiting && item != nil }

    /// The position in the item at a time at the server. It never goes back as time goes on, and stays at the item's end.
    public func position(at time: Instant) -> Interval {
        guard isMoving, time > anchor else { return position }
        let moved = rate.distance(in: time - anchor)
        let (sum, overflow) = position.microseconds.addingReportingOverflow(moved.microseconds)
        return clamped(Interval(microseconds: overflow ? .max : sum))
    }

    /// The position that is meant in this item: one behind its end is its end. Where an item has no end, positions do.
    public func clamped(_ position: Interval) -> Interval {
        min(position, item?.duration ?? PlaybackRules.positions.upperBound)
    }
}

/// Why a participant asks the group to wait.
public enum SuspensionReason: String, Codable, Hashable, Sendable, CaseIterable {
    /// What comes next isn't loaded yet.
    case stalled
    /// They look for a position.
    case scrubbing
    /// They choose another item.
    case choosing
    /// Something else took the sound, such as a call.
    case interrupted
    /// They have to see something first that the others don't, such as an advertisement.
    case interstitial
    /// They have to do something first, such as sign in.
    case actionNeeded
    /// They can't follow at the moment.
    case unavailable
}

/// A participant's request that the group wait.
public struct Suspension: Codable, Hashable, Sendable {
    public var reason: SuspensionReason
    public var since: Instant
    /// When it ends by itself.
    public var until: Instant
    /// The group waits while at most so many are in it; nil for any number.
    public var participantLimit: Int?

    public init(reason: SuspensionReason, since: Instant, until: Instant, participantLimit: Int? = nil) {
        self.reason = reason
        self.since = since
        self.until = until
        self.participantLimit = participantLimit
    }
}

/// Why a suspension ended.
public enum SuspensionEnd: String, Codable, Hashable, Sendable, CaseIterable {
    /// Its owner ended it.
    case ended
    /// Its time was up.
    case expired
    /// Its owner lost every connection.
    case away
    /// Its owner isn't in the session any more.
    case left
    /// More people are in the session than the group waits with.
    case crowded

    /// Whether the group waits for its owner again. Not until they declare that they can be ready, if they vanished or never
    /// ended it: a client that can't end a suspension holds the group up once.
    public var keepsReadiness: Bool {
        switch self {
        case .ended, .crowded: true
        case .expired, .away, .left: false
        }
    }
}
