public import QuartetVocabulary

/// Seats of a group session, and the game that is played there.
///
/// A seat is one person's, and a person has one seat at most. (SharePlay's sample lets a person have several.)
package enum GameCommand: MessageSet {
    case claimSeat(ClaimSeat)
    case moveSeat(MoveSeat)
    case releaseSeat(ReleaseSeat)
    case startGame(StartGame)
    case updateGame(UpdateGame)
    case finishGame(FinishGame)

    package static let cases: Cases<Self> = [
        Case(Self.claimSeat), Case(Self.moveSeat), Case(Self.releaseSeat), Case(Self.startGame),
        Case(Self.updateGame), Case(Self.finishGame),
    ]

    package var body: any CommandBody {
        switch self {
        case .claimSeat(let body): body
        case .moveSeat(let body): body
        case .releaseSeat(let body): body
        case .startGame(let body): body
        case .updateGame(let body): body
        case .finishGame(let body): body
        }
    }
}

/// Takes a free seat.
///
/// Rejected: `seatTaken` with who has it, `alreadySeated`, `seatNotFound`. Result: ``SeatClaimed``; nothing if it was theirs.
public struct ClaimSeat: GroupCommandBody, PublicCommandBody {
    /// The session.
    public let group: GroupID
    /// The seat, from 0.
    public let seat: Int

    public init(group: GroupID, seat: Int) {
        self.group = group
        self.seat = seat
    }
}

/// Goes from one's seat to a free one.
///
/// Rejected: `seatTaken` with who has it, `notSeated`, `seatNotFound`. Result: ``SeatMoved``; nothing if it was theirs.
public struct MoveSeat: GroupCommandBody, PublicCommandBody {
    /// The session.
    public let group: GroupID
    /// The seat, from 0.
    public let seat: Int

    public init(group: GroupID, seat: Int) {
        self.group = group
        self.seat = seat
    }
}

/// Gives one's seat up; the host may free anybody's.
///
/// Rejected: `notHost`, `participantNotFound`. Result: ``SeatReleased``; nothing if they had none.
public struct ReleaseSeat: GroupCommandBody, PublicCommandBody {
    /// The session.
    public let group: GroupID
    /// Whose seat, if not the asker's.
    public let participant: AccountID?

    public init(group: GroupID, participant: AccountID? = nil) {
        self.group = group
        self.participant = participant
    }
}

/// Starts a game, the first one or the one after a finished one. Only the host may do this, when somebody is seated.
///
/// Rejected: `notHost`, `noSeatTaken`, `gameRunning`, `invalidField`. Result: ``GameStarted``.
public struct StartGame: GroupCommandBody, PublicCommandBody {
    /// The session.
    public let group: GroupID
    /// What the game keeps at first, an object of at most ``GameRules/stateLimit`` bytes; `{}` unless given.
    public let state: JSONValue?
    /// The member of the state that names the account whose turn it is: while that is somebody in the session, only they move.
    public let turnField: String?
    /// How long after the command moves are taken; see ``GameRules/leads``.
    public let lead: Interval?

    public init(group: GroupID, state: JSONValue? = nil, turnField: String? = nil, lead: Interval? = nil) {
        self.group = group
        self.state = state
        self.turnField = turnField
        self.lead = lead
    }

    /// Checks the fields that need no state.
    public func validate() throws(Rejection) {
        if let state { try GameRules.check(state, field: "state") }
        if let turnField, !(1...64).contains(turnField.utf8.count) {
            throw Rejection(.invalidField, "Name the field with 1 to 64 bytes.", field: "turnField")
        }
        if let lead, !GameRules.leads.contains(lead) {
            throw Rejection(.invalidField, "Choose a lead of up to 60 seconds.", field: "lead")
        }
    }
}

/// Makes a move: whoever has a seat may, and the host; where there are no seats, everybody.
///
/// Rejected: `staleVersion` with the current version, `gameNotRunning`, `notSeated`, `notYourTurn` with whose it is,
/// `invalidField` when the state would become too large. Result: ``GameUpdated``.
public struct UpdateGame: GroupCommandBody, PublicCommandBody {
    /// The session.
    public let group: GroupID
    /// The version that the asker has seen; another one is rejected.
    public let expectedVersion: Int64
    /// The whole state, an object of at most ``GameRules/stateLimit`` bytes.
    public let state: JSONValue?
    /// Instead of the state: a JSON merge patch (RFC 7396) to it, an object.
    public let patch: JSONValue?

    public init(group: GroupID, expectedVersion: Int64, state: JSONValue? = nil, patch: JSONValue? = nil) {
        self.group = group
        self.expectedVersion = expectedVersion
        self.state = state
        self.patch = patch
    }

    /// Checks the fields that need no state.
    public func validate() throws(Rejection) {
        guard (state == nil) != (patch == nil) else {
            throw Rejection(.invalidField, "Give the state or a patch to it: one of them.", field: "state")
        }
        if let state { try GameRules.check(state, field: "state") }
        if let patch { try GameRules.check(patch, field: "patch") }
    }
}

/// Ends the game, so that another one can start. Whoever may move may do this, whoever's turn it is.
///
/// Rejected: `staleVersion` with the current version, `gameNotRunning`, `notSeated`. Result: ``GameFinished``.
public struct FinishGame: GroupCommandBody, PublicCommandBody {
    /// The session.
    public let group: GroupID
    /// The version that the asker has seen; another one is rejected.
    public let expectedVersion: Int64

    public init(group: GroupID, expectedVersion: Int64) {
        self.group = group
        self.expectedVersion = expectedVersion
    }
}
