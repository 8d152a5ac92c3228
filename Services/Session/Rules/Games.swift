import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary

// Seats of group sessions, and the games that are played there.

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: GameCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        switch command {
        case .claimSeat(let command): try claim(&rows, command, context)
        case .moveSeat(let command): try move(&rows, command, context)
        case .releaseSeat(let command): try release(&rows, command, context)
        case .startGame(let command): try start(&rows, command, context)
        case .updateGame(let command): try update(&rows, command, context)
        case .finishGame(let command): try finish(&rows, command, context)
        }
    }

    // MARK: Seats

    private static func claim(
        _ rows: inout SessionRows, _ command: ClaimSeat, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, session, own) = try participant(of: command.group, rows, context)
        if own.seat == command.seat { return [] }
        try requireFree(command.seat, command.group, session, rows)
        if let seat = own.seat { throw .alreadySeated(seat) }
        rows.groups[command.group, account]?.seat = command.seat
        return [
            .game(
                .seatClaimed(.init(group: command.group, account: account, seat: command.seat, at: context.time)))
        ]
    }

    private static func move(
        _ rows: inout SessionRows, _ command: MoveSeat, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, session, own) = try participant(of: command.group, rows, context)
        guard let from = own.seat else {
            throw Rejection(.notSeated, "You have no seat; claim this one instead.")
        }
        guard from != command.seat else { return [] }
        try requireFree(command.seat, command.group, session, rows)
        rows.groups[command.group, account]?.seat = command.seat
        return [
            .game(
                .seatMoved(
                    .init(group: command.group, account: account, from: from, seat: command.seat, at: context.time)))
        ]
    }

    private static func release(
        _ rows: inout SessionRows, _ command: ReleaseSeat, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, session, _) = try participant(of: command.group, rows, context)
        let freed = command.participant ?? account
        guard freed == account || session.host == account else { throw .notHost(session.host) }
        guard let row = rows.groups[command.group, freed], row.status == .joined else {
            throw .participantNotFound("participant")
        }
        guard let seat = row.seat else { return [] }
        rows.groups[command.group, freed]?.seat = nil
        return [
            .game(
                .seatReleased(
                    .init(group: command.group, account: freed, seat: seat, by: account, at: context.time)))
        ]
    }

    private static func requireFree(
        _ seat: Int, _ group: GroupID, _ session: GroupSessionRow, _ rows: SessionRows
    ) throws(Rejection) {
        guard (0..<session.seats).contains(seat) else { throw .seatNotFound(among: session.seats) }
        if let occupant = rows.groups.accounts(of: group, .joined).first(where: { rows.groups[group, $0]?.seat == seat }
        ) {
            throw .seatTaken(seat, by: occupant)
        }
    }

    // MARK: The game

    private static func start(
        _ rows: inout SessionRows, _ command: StartGame, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, session) = try host(of: command.group, rows, context)
        let last = rows.groups.games[command.group]
        if let last, last.finished == nil {
            throw Rejection(
                .gameRunning, "A game is being played; finish it first.", details: ["version": .integer(last.version)])
        }
        let isSeated = rows.groups.accounts(of: command.group, .joined).contains {
            rows.groups[command.group, $0]?.seat != nil
        }
        guard isSeated || session.seats == 0 else {
            throw Rejection(.noSeatTaken, "Nobody has a seat; wait until somebody takes one.")
        }
        let game = Game(
            number: (last?.number ?? 0) + 1, version: (last?.version ?? 0) + 1, author: account, updated: context.time,
            starts: context.time + (command.lead ?? GameRules.defaultLead), turnField: command.turnField,
            state: command.state ?? .object([:]))
        rows.groups.games[command.group] = game
        return [
            .game(
                .gameStarted(
                    .init(
                        group: command.group, account: account, number: game.number, version: game.version,
                        starts: game.starts, turnField: game.turnField, state: game.state, at: context.time)))
        ]
    }

    private static func update(
        _ rows: inout SessionRows, _ command: UpdateGame, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        var (account, session, game) = try player(of: command.group, expecting: command.expectedVersion, rows, context)
        guard game.starts <= context.time else {
            let left = game.starts - context.time
            throw Rejection(.gameNotRunning, "The game starts in \(left.inWords); wait.", retryAfter: left)
        }
        // Nobody waits for a turn of someone who has left or lost their seat.
        if let turn = game.turn, turn != account, let owner = rows.groups[command.group, turn],
            mayPlay(turn, owner, in: session)
        {
            throw .notYourTurn(turn)
        }
        if let state = command.state {
            game.state = state
        } else if let patch = command.patch {
            game.state = game.state.merging(patch)
            guard game.state.encodedSize <= GameRules.stateLimit else { throw .gameTooLarge(field: "patch") }
        }
        (game.version, game.author, game.updated) = (game.version + 1, account, context.time)
        rows.groups.games[command.group] = game
        return [
            .game(
                .gameUpdated(
                    .init(
                        group: command.group, account: account, version: game.version, state: command.state,
                        patch: command.state == nil ? command.patch : nil, at: context.time)))
        ]
    }

    private static func finish(
        _ rows: inout SessionRows, _ command: FinishGame, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        var (account, _, game) = try player(of: command.group, expecting: command.expectedVersion, rows, context)
        (game.version, game.author, game.updated) = (game.version + 1, account, context.time)
        game.finished = context.time
        rows.groups.games[command.group] = game
        return [
            .game(
                .gameFinished(
                    .init(group: command.group, account: account, version: game.version, at: context.time)))
        ]
    }

    /// The asker, who may move, and the running game, at the version they expect.
    private static func player(
        of group: GroupID, expecting version: Int64, _ rows: SessionRows, _ context: CommandContext
    ) throws(Rejection) -> (account: AccountID, session: GroupSessionRow, game: Game) {
        let (account, session, own) = try participant(of: group, rows, context)
        guard mayPlay(account, own, in: session) else {
            throw Rejection(.notSeated, "You have no seat; claim one to play.")
        }
        guard let game = rows.groups.games[group] else {
            throw Rejection(.gameNotRunning, "No game is being played; wait until the host starts one.")
        }
        guard game.version == version else { throw .staleVersion(expected: version, current: game.version) }
        guard game.finished == nil else {
            throw Rejection(.gameNotRunning, "This game is over; wait until the host starts another one.")
        }
        return (account, session, game)
    }

    /// Whether somebody may move in a session's games.
    private static func mayPlay(_ account: AccountID, _ row: ParticipantRow, in session: GroupSessionRow) -> Bool {
        row.status == .joined && (row.seat != nil || session.host == account || session.seats == 0)
    }
}

extension SessionRows.Selection {
    mutating func add(_ command: GameCommand) {
        let group =
            switch command {
            case .claimSeat(let command): command.group
            case .moveSeat(let command): command.group
            case .releaseSeat(let command): command.group
            case .startGame(let command): command.group
            case .updateGame(let command): command.group
            case .finishGame(let command): command.group
            }
        groups.insert(group)
        switch command {
        case .claimSeat, .moveSeat, .releaseSeat: break
        case .startGame, .updateGame, .finishGame: gaming.insert(group)
        }
    }
}
