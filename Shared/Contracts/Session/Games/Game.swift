public import QuartetVocabulary

/// A game that the people of a group session play.
public struct Game: Codable, Hashable, Sendable {
    /// The how many-th game of the session.
    public var number: Int
    /// Counts every start, move and end in the session, without gaps.
    public var version: Int64
    /// Who made this version.
    public var author: AccountID
    /// When this version was made.
    public var updated: Instant
    /// From when on moves are taken.
    public var starts: Instant
    /// The member of the state that names the account whose turn it is.
    public var turnField: String?
    /// Whatever the game keeps; an object.
    public var state: JSONValue
    /// When it was finished.
    public var finished: Instant?

    public init(
        number: Int, version: Int64, author: AccountID, updated: Instant, starts: Instant, turnField: String? = nil,
        state: JSONValue, finished: Instant? = nil
    ) {
        self.number = number
        self.version = version
        self.author = author
        self.updated = updated
        self.starts = starts
        self.turnField = turnField
        self.state = state
        self.finished = finished
    }

    /// The account whose turn it is, as the state says.
    public var turn: AccountID? {
        guard let turnField, case .string(let text)? = state[turnField] else { return nil }
        return AccountID(text)
    }
}

/// What a game may be.
public enum GameRules {
    /// The largest state or patch, in bytes of JSON.
    public static let stateLimit = 32_768
    /// How long after the command a game may start.
    public static let leads: ClosedRange<Interval> = .seconds(0)...(.seconds(60))
    /// How long, unless the host says otherwise: time to hear of it everywhere.
    public static let defaultLead: Interval = .seconds(3)

    /// - Throws: a ``Rejection`` that says what to change in `field`.
    static func check(_ document: JSONValue, field: String) throws(Rejection) {
        guard case .object = document else {
            throw Rejection(.invalidField, "Give a JSON object as \(field).", field: field)
        }
        guard document.encodedSize <= stateLimit else { throw .gameTooLarge(field: field) }
    }
}

extension Rejection.Code {
    /// Somebody has the seat. `details.by` says who.
    public static let seatTaken: Self = "seatTaken"
    /// The session has no seat of this number.
    public static let seatNotFound: Self = "seatNotFound"
    /// The asker has another seat. `details.seat` says which.
    public static let alreadySeated: Self = "alreadySeated"
    /// The asker, or the account that the command names, has no seat.
    public static let notSeated: Self = "notSeated"
    /// Nobody has a seat.
    public static let noSeatTaken: Self = "noSeatTaken"
    /// A game is being played.
    public static let gameRunning: Self = "gameRunning"
    /// No game is being played, or it hasn't begun yet.
    public static let gameNotRunning: Self = "gameNotRunning"
    /// It is somebody else's turn. `details.turn` says whose.
    public static let notYourTurn: Self = "notYourTurn"
}

extension Rejection {
    /// `account` has the seat.
    public static func seatTaken(_ seat: Int, by account: AccountID) -> Self {
        Rejection(
            .seatTaken, "Somebody has this seat; choose another one.", field: "seat",
            details: ["by": .string(account.description), "seat": .integer(Int64(seat))])
    }

    /// The session has `count` seats.
    public static func seatNotFound(among count: Int) -> Self {
        Rejection(
            .seatNotFound,
            count == 0
                ? "This session has no seats; play without one." : "Choose a seat from 0 to \(count - 1).",
            field: "seat")
    }

    /// The asker has another seat.
    public static func alreadySeated(_ seat: Int) -> Self {
        Rejection(
            .alreadySeated, "You have a seat already; move, or release it first.",
            details: ["seat": .integer(Int64(seat))])
    }

    /// The state would be larger than it may.
    public static func gameTooLarge(field: String) -> Self {
        Rejection(
            .invalidField, "Keep the state of the game at \(GameRules.stateLimit) bytes of JSON at most.", field: field)
    }

    /// It is `account`'s turn.
    public static func notYourTurn(_ account: AccountID) -> Self {
        Rejection(
            .notYourTurn, "It isn't your turn; wait for the other player's move.",
            details: ["turn": .string(account.description)])
    }
}
