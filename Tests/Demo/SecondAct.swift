import EdgeClient
import Games

/// Anna and Bob play four in a row in a group session; in mid-game Bob loses the connection and comes back.
struct SecondAct {
    let narrator: Narrator
    let anna: Player
    let bob: Player

    init(anna: Device, bob: Device, narrator: Narrator) {
        self.narrator = narrator
        self.anna = Player(name: "Anna", device: anna, narrator: narrator)
        self.bob = Player(name: "Bob", device: bob, narrator: narrator)
    }

    func play() async throws {
        let group = try await gather()
        let board = FourInARow(first: anna.device.account, second: bob.device.account)
        try await anna.device.act(
            "StartGame",
            [
                "group": .string(group), "lead": 0, "turnField": .string(FourInARow.turnField),
                "state": JSON(encoding: board),
            ])
        narrator.does("Anna", "starts the game")
        for player in [anna, bob] { try await player.expect("GameStarted") }

        var (mover, other, moves) = (anna, bob, 0)
        while try await move(of: mover, seenBy: other, in: group) {
            moves += 1
            (mover, other) = (other, mover)
            if moves == 6 { try await loseBob(in: group) }
        }
        show("What both see now:", try anna.game.board)
        let result = try anna.game.board.winner == nil ? "Nobody wins." : "\(mover.name) wins."
        narrator.say("\n    \(result)")
        try await anna.device.act(
            "FinishGame", ["group": .string(group), "expectedVersion": .int(try anna.game.version)])
        for player in [anna, bob] { try await player.expect("GameFinished") }
        try await anna.device.act("EndGroupSession", ["group": .string(group)])
        narrator.does("Anna", "ends the session")
        for player in [anna, bob] {
            try await player.expect("GroupSessionEnded")
            await player.disconnect()
        }
    }

    /// A session with both of them in it, each on a seat.
    private func gather() async throws -> String {
        let created = try await anna.device.act(
            "CreateGroupSession",
            [
                "activity": ["identifier": "org.example.four-in-a-row", "type": "generic", "title": "Four in a row"],
                "seats": 2,
            ])
        let group = created["group"].string ?? ""
        narrator.does("Anna", "creates a group session with two seats")
        try await anna.connect(to: group)
        try await anna.device.act(
            "ActivateGroupSession", ["group": .string(group), "contacts": [.string(bob.device.account)]])
        narrator.does("Anna", "invites Bob")
        try await bob.device.act("JoinGroupSession", ["group": .string(group)])
        narrator.does("Bob", "joins")
        try await bob.connect(to: group)
        try await anna.expect("ParticipantJoined")
        for (seat, player) in [anna, bob].enumerated() {
            try await player.device.act("ClaimSeat", ["group": .string(group), "seat": .int(Int64(seat))])
        }
        return group
    }

    /// Returns whether the game goes on.
    private func move(of mover: Player, seenBy other: Player, in group: String) async throws -> Bool {
        let (board, version) = try mover.game
        guard let column = board.choice, let next = board.playing(column) else { return false }
        let (_, took) = try await timed {
            try await mover.device.act(
                "UpdateGame",
                [
                    "group": .string(group), "expectedVersion": .int(version), "patch": try JSON(encoding: next.move),
                ])
        }
        narrator.does(mover.name, "plays column \(column + 1)", took: took)
        for player in [mover, other] { try await player.waitFor(version: version + 1) }
        return !next.isOver
    }

    /// A drop isn't a leave: the seat stays Bob's, and the stream goes on where it was cut off.
    private func loseBob(in group: String) async throws {
        show("The board so far:", try anna.game.board)
        narrator.say("")
        await bob.disconnect()
        narrator.does("Bob", "loses the connection; after five seconds others are told")
        try await anna.expect("ParticipantDisconnected")
        try await bob.connect(to: group)
        try await anna.expect("ParticipantConnected")
        let participants = try await bob.device.read("/v1/groups/\(group)")["participants"].array
        let seat = participants.first { $0["id"].string == bob.device.account }?["seat"].int
        narrator.does("Bob", "is back, still on seat \(seat.map(String.init) ?? "none"), and plays on")
    }

    private func show(_ title: String, _ board: FourInARow) {
        narrator.say("\n    \(title)")
        for line in board.picture { narrator.say("    \(line)") }
    }
}
