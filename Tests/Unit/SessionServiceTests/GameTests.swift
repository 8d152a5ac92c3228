import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules

@Suite("Session: seats and games")
struct GameTests {
    /// A session of some people, of whom the first two have seats, and a game that is played.
    private func game(
        _ gathering: inout Gathering, of people: [AccountID], _ state: JSONValue = [:], turnField: String? = nil
    ) throws -> GroupID {
        let group = try gathering.group(of: people)
        for (seat, person) in people.prefix(2).enumerated() {
            try gathering.ask(person, ClaimSeat(group: group, seat: seat))
        }
        try gathering.ask(
            people[0], StartGame(group: group, state: state, turnField: turnField, lead: .seconds(0)))
        return group
    }

    @Test("a seat has one person, and a person one seat; who comes second hears who has it (P16)")
    func claim() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try gathering.group(of: people, seats: 3)
        try gathering.ask(people[0], ClaimSeat(group: group, seat: 1))
        #expect(try gathering.ask(people[0], ClaimSeat(group: group, seat: 1)).isEmpty)
        let refusal = try gathering.refusal(people[1], ClaimSeat(group: group, seat: 1))
        #expect(
            refusal?.code == .seatTaken && refusal?.details == ["by": .string("\(people[0])"), "seat": 1])
        let second = try gathering.refusal(people[0], ClaimSeat(group: group, seat: 2))
        #expect(second?.code == .alreadySeated && second?.details == ["seat": 1])
        for seat in [-1, 3, .max, .min] {
            #expect(try gathering.rejection(people[1], ClaimSeat(group: group, seat: seat)) == .seatNotFound)
        }
        let none = try gathering.group(
            of: [people[1]], GroupSessionActivity(identifier: "film", title: "Film"), seats: 0)
        #expect(try gathering.rejection(people[1], ClaimSeat(group: none, seat: 0)) == .seatNotFound)
    }

    @Test("a seat is left for a free one (P16)")
    func move() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let group = try gathering.group(of: people)
        #expect(try gathering.rejection(people[0], MoveSeat(group: group, seat: 0)) == .notSeated)
        try gathering.ask(people[0], ClaimSeat(group: group, seat: 0))
        try gathering.ask(people[1], ClaimSeat(group: group, seat: 1))
        #expect(try gathering.ask(people[0], MoveSeat(group: group, seat: 0)).isEmpty)
        #expect(
            try gathering.refusal(people[0], MoveSeat(group: group, seat: 1))?.details
                == ["by": .string("\(people[1])"), "seat": 1])
        #expect(try gathering.rejection(people[0], MoveSeat(group: group, seat: 5)) == .seatNotFound)
        let moved = try gathering.ask(people[0], MoveSeat(group: group, seat: 4)).first(as: SeatMoved.self)
        #expect(moved.from == 0 && moved.seat == 4)
        try gathering.ask(people[1], MoveSeat(group: group, seat: 0))
        #expect(try gathering.state(group).occupant(of: 0) == people[1])
    }

    @Test("people free their own seats, and the host anybody's (P17)")
    func release() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try gathering.group(of: people)
        try gathering.ask(people[1], ClaimSeat(group: group, seat: 0))
        #expect(
            try gathering.rejection(people[2], ReleaseSeat(group: group, participant: people[1])) == .notHost)
        let freed = try gathering.ask(people[0], ReleaseSeat(group: group, participant: people[1]))
            .first(as: SeatReleased.self)
        #expect(freed.account == people[1] && freed.by == people[0] && freed.seat == 0)
        #expect(try gathering.ask(people[1], ReleaseSeat(group: group)).isEmpty)
        let stranger = try gathering.person("stranger")
        #expect(
            try gathering.rejection(people[0], ReleaseSeat(group: group, participant: stranger))
                == .participantNotFound)
        try gathering.ask(people[2], ClaimSeat(group: group, seat: 0))
        try gathering.ask(people[2], ReleaseSeat(group: group))
        #expect(try gathering.state(group).occupant(of: 0) == nil)
    }

    @Test("the host starts, with a seat taken, once; another game may follow a finished one (P21)")
    func start() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let group = try gathering.group(of: people)
        #expect(try gathering.rejection(people[1], StartGame(group: group)) == .notHost)
        #expect(try gathering.rejection(people[0], StartGame(group: group)) == .noSeatTaken)
        try gathering.ask(people[1], ClaimSeat(group: group, seat: 0))
        let started = try gathering.ask(people[0], StartGame(group: group)).first(as: GameStarted.self)
        #expect(started.number == 1 && started.version == 1 && started.starts == gathering.time + .seconds(3))
        let refusal = try gathering.refusal(people[0], StartGame(group: group))
        #expect(refusal?.code == .gameRunning && refusal?.details == ["version": 1])
        // Moves wait for the start.
        let early = try gathering.refusal(people[1], UpdateGame(group: group, expectedVersion: 1, state: ["a": 1]))
        #expect(early?.code == .gameNotRunning && early?.retryAfter == .seconds(3))
        try gathering.ask(people[1], FinishGame(group: group, expectedVersion: 1))
        #expect(try gathering.rejection(people[1], FinishGame(group: group, expectedVersion: 2)) == .gameNotRunning)
        let again = try gathering.ask(people[0], StartGame(group: group, state: ["b": 2]))
            .first(as: GameStarted.self)
        #expect(again.number == 2 && again.version == 3)
        #expect(try gathering.state(group).game?.state == ["b": 2])
    }

    @Test(
        "a move is made from the version that the player has seen; of two, one is refused with the current version (P22)"
    )
    func update() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try game(&gathering, of: people, ["board": ["a": 1, "b": 2], "moves": 0])
        try gathering.ask(
            people[1],
            UpdateGame(group: group, expectedVersion: 1, patch: ["board": ["a": .null, "c": 3], "moves": 1]))
        let refusal = try gathering.refusal(people[0], UpdateGame(group: group, expectedVersion: 1, state: [:]))
        #expect(refusal?.code == .staleVersion && refusal?.details == ["version": 2])
        let first = try #require(try gathering.state(group).game)
        #expect(first.state == ["board": ["b": 2, "c": 3], "moves": 1] && first.author == people[1])
        try gathering.ask(people[0], UpdateGame(group: group, expectedVersion: 2, state: ["over": true]))
        let second = try #require(try gathering.state(group).game)
        #expect(second.version == 3 && second.state == ["over": true] && second.author == people[0])
        #expect(
            try gathering.rejection(people[2], UpdateGame(group: group, expectedVersion: 3, state: [:]))
                == .notSeated)
        try gathering.ask(people[0], FinishGame(group: group, expectedVersion: 3))
        #expect(
            try gathering.rejection(people[0], UpdateGame(group: group, expectedVersion: 4, state: [:]))
                == .gameNotRunning)
    }

    @Test("the state stays as large as it may be, also by patches (P22)")
    func size() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let text = JSONValue.string(String(repeating: "x", count: 20_000))
        let group = try game(&gathering, of: people, ["a": text])
        #expect(
            try gathering.refusal(people[0], UpdateGame(group: group, expectedVersion: 1, patch: ["b": text]))?.field
                == "patch")
        let tooLarge = JSONValue.object(["a": .array([text, text])])
        for command: any CommandBody in [
            StartGame(group: group, state: tooLarge), StartGame(group: group, state: [1]),
            StartGame(group: group, turnField: ""), StartGame(group: group, lead: .seconds(61)),
            UpdateGame(group: group, expectedVersion: 1, state: tooLarge),
            UpdateGame(group: group, expectedVersion: 1, patch: tooLarge),
            UpdateGame(group: group, expectedVersion: 1, patch: "x"), UpdateGame(group: group, expectedVersion: 1),
            UpdateGame(group: group, expectedVersion: 1, state: [:], patch: [:]),
        ] {
            #expect(throws: Rejection.self) { try command.validate() }
        }
    }

    @Test("only the one whose turn it is moves, as the game's field says, unless they are gone")
    func turns() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try game(
            &gathering, of: people, ["next": .string("\(people[1])")], turnField: "next")
        let refusal = try gathering.refusal(people[0], UpdateGame(group: group, expectedVersion: 1, state: [:]))
        #expect(refusal?.code == .notYourTurn && refusal?.details == ["turn": .string("\(people[1])")])
        try gathering.ask(
            people[1], UpdateGame(group: group, expectedVersion: 1, patch: ["next": .string("\(people[0])")]))
        #expect(
            try gathering.rejection(people[1], UpdateGame(group: group, expectedVersion: 2, patch: [:]))
                == .notYourTurn)
        // The one whose turn it is vanishes: nobody waits longer than the grace.
        try gathering.disconnect(people[0], from: group)
        try gathering.run(.seconds(10))
        #expect(
            try gathering.rejection(people[1], UpdateGame(group: group, expectedVersion: 2, patch: [:]))
                == .notYourTurn)
        try gathering.run(.seconds(21))
        try gathering.ask(people[1], UpdateGame(group: group, expectedVersion: 2, patch: ["next": .null]))
        try gathering.ask(people[1], UpdateGame(group: group, expectedVersion: 3, patch: ["next": "nobody"]))
        // Whoever has a seat may end it.
        try gathering.ask(people[1], FinishGame(group: group, expectedVersion: 4))
    }

    @Test("nobody waits for the turn of someone who has no seat, unless they may move without one (P22)")
    func turnsWithoutSeat() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try game(
            &gathering, of: people, ["next": .string("\(people[1])")], turnField: "next")
        try gathering.ask(people[0], ReleaseSeat(group: group, participant: people[1]))
        try gathering.ask(
            people[0], UpdateGame(group: group, expectedVersion: 1, patch: ["next": .string("\(people[0])")]))
        // The host moves without a seat.
        try gathering.ask(people[0], ReleaseSeat(group: group))
        try gathering.ask(people[1], ClaimSeat(group: group, seat: 0))
        #expect(
            try gathering.rejection(people[1], UpdateGame(group: group, expectedVersion: 2, patch: [:]))
                == .notYourTurn)
        let free = try gathering.group(of: people, GroupSessionActivity(identifier: "film", title: "Film"), seats: 0)
        try gathering.ask(
            people[0],
            StartGame(
                group: free, state: ["next": .string("\(people[2])")], turnField: "next", lead: .seconds(0)))
        #expect(
            try gathering.rejection(people[1], UpdateGame(group: free, expectedVersion: 1, patch: [:]))
                == .notYourTurn)
    }

    @Test("where there are no seats, everybody plays")
    func withoutSeats() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let group = try gathering.group(of: people, seats: 0)
        try gathering.ask(people[0], StartGame(group: group, lead: .seconds(0)))
        try gathering.ask(people[1], UpdateGame(group: group, expectedVersion: 1, patch: ["a": 1]))
        #expect(try gathering.state(group).game?.author == people[1])
    }
}
