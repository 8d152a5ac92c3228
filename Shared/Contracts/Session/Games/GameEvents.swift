import QuartetContractSupport
public import QuartetVocabulary

/// What happens to the seats and the game of a group session, in its stream.
public enum GameEvent: MessageSet {
    case seatClaimed(SeatClaimed)
    case seatMoved(SeatMoved)
    case seatReleased(SeatReleased)
    case gameStarted(GameStarted)
    case gameUpdated(GameUpdated)
    case gameFinished(GameFinished)

    package static let cases: Cases<Self> = [
        Case(Self.seatClaimed), Case(Self.seatMoved), Case(Self.seatReleased), Case(Self.gameStarted),
        Case(Self.gameUpdated), Case(Self.gameFinished),
    ]

    public var body: any EventBody {
        switch self {
        case .seatClaimed(let body): body
        case .seatMoved(let body): body
        case .seatReleased(let body): body
        case .gameStarted(let body): body
        case .gameUpdated(let body): body
        case .gameFinished(let body): body
        }
    }
}

/// Somebody took a seat.
public struct SeatClaimed: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// Who.
    public let account: AccountID
    /// Which one.
    public let seat: Int
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, seat: Int, at: Instant) {
        self.group = group
        self.account = account
        self.seat = seat
        self.at = at
    }
}

/// Somebody went from one seat to another.
public struct SeatMoved: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// Who.
    public let account: AccountID
    /// The seat that they left.
    public let from: Int
    /// The seat that they have.
    public let seat: Int
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, from: Int, seat: Int, at: Instant) {
        self.group = group
        self.account = account
        self.from = from
        self.seat = seat
        self.at = at
    }
}

/// A seat is free, and who had it still in the session. One whose occupant leaves is freed by ``ParticipantLeft``.
public struct SeatReleased: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// Who had it.
    public let account: AccountID
    /// Which one.
    public let seat: Int
    /// Who freed it: who had it, or the host.
    public let by: AccountID
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, seat: Int, by: AccountID, at: Instant) {
        self.group = group
        self.account = account
        self.seat = seat
        self.by = by
        self.at = at
    }
}

/// A game starts in a moment.
public struct GameStarted: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// The host who started it.
    public let account: AccountID
    /// The how many-th game of the session.
    public let number: Int
    /// The game's version.
    public let version: Int64
    /// From when on moves are taken.
    public let starts: Instant
    /// The member of the state that names the account whose turn it is.
    public let turnField: String?
    /// What the game keeps at first.
    public let state: JSONValue
    /// When.
    public let at: Instant

    public init(
        group: GroupID, account: AccountID, number: Int, version: Int64, starts: Instant, turnField: String? = nil,
        state: JSONValue, at: Instant
    ) {
        self.group = group
        self.account = account
        self.number = number
        self.version = version
        self.starts = starts
        self.turnField = turnField
        self.state = state
        self.at = at
    }
}

/// Somebody made a move.
public struct GameUpdated: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// Who.
    public let account: AccountID
    /// The game's version, one more than before.
    public let version: Int64
    /// The whole state, where it was given as that.
    public let state: JSONValue?
    /// Otherwise the JSON merge patch (RFC 7396) to apply to the state before.
    public let patch: JSONValue?
    /// When.
    public let at: Instant

    public init(
        group: GroupID, account: AccountID, version: Int64, state: JSONValue? = nil, patch: JSONValue? = nil,
        at: Instant
    ) {
        self.group = group
        self.account = account
        self.version = version
        self.state = state
        self.patch = patch
        self.at = at
    }
}

/// A game is over; another one may start.
public struct GameFinished: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// Who finished it.
    public let account: AccountID
    /// The game's version, one more than before.
    public let version: Int64
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, version: Int64, at: Instant) {
        self.group = group
        self.account = account
        self.version = version
        self.at = at
    }
}

extension GroupState {
    mutating func apply(_ event: GameEvent) {
        switch event {
        case .seatClaimed(let event): participants[event.account]?.seat = event.seat
        case .seatMoved(let event): participants[event.account]?.seat = event.seat
        case .seatReleased(let event): participants[event.account]?.seat = nil
        case .gameStarted(let event):
            game = Game(
                number: event.number, version: event.version, author: event.account, updated: event.at,
                starts: event.starts, turnField: event.turnField, state: event.state)
        case .gameUpdated(let event):
            game?.take(event.version, by: event.account, at: event.at)
            if let state = event.state { game?.state = state }
            if let patch = event.patch, let state = game?.state { game?.state = state.merging(patch) }
        case .gameFinished(let event):
            game?.take(event.version, by: event.account, at: event.at)
            game?.finished = event.at
        }
    }
}

extension Game {
    /// Becomes the next version.
    fileprivate mutating func take(_ version: Int64, by author: AccountID, at time: Instant) {
        self.version = version
        self.author = author
        updated = time
    }
}
