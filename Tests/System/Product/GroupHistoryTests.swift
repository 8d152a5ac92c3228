import EdgeClient
import TestKit
import Testing

/// A group session as it was.
@Suite("End to end: the history of group sessions", .timeLimit(.minutes(60)))
struct GroupHistoryTests {
    @Test(
        """
        a participant reads the session as it was at any position, also from before they joined; nobody else does, and what \
        can't be read is refused with the reason, also to operators (P29, R15)
        """)
    func everyPosition() async throws {
        try await Quartet.withOperators { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            let eve = try await quartet.signUp("eve")
            for friend in [bob, carl] { try await anna.add(friend) }
            let group = try await Group.create(by: anna)
            try await group.act(anna, "ClaimSeat", ["seat": 0])
            try await group.act(anna, "StartGame", ["lead": 0, "state": ["moves": []]])
            // More than one stretch has room for.
            var states: [Int64: JSON] = [:]
            for number in 1...70 {
                try await group.act(
                    anna, "UpdateGame",
                    ["expectedVersion": .int(Int64(number)), "patch": ["m\(number % 9)": .int(Int64(number))]])
                if number % 7 == 0 || number > 60 {
                    states[try await Self.head(of: group, quartet)] = try await group.state(by: anna)
                }
            }
            try await group.invite(bob, carl, by: anna)
            try await group.act(bob, "JoinGroupSession")
            let head = try await Self.head(of: group, quartet)
            states[head] = try await group.state(by: anna)
            for (position, state) in states {
                let moment = try await bob.read("/v1/groups/\(group.id)?at=\(position)")
                #expect(moment["state"] == state && moment["position"] == .int(position))
                #expect(moment["hash"].string?.count == 16)
            }

            let refused: [(Device, String, Int, String)] = [
                (eve, "\(head)", 404, "groupNotFound"), (carl, "\(head)", 403, "notParticipant"),
                (bob, "0", 400, "invalidParameter"), (bob, "\(head + 1_000_000)", 400, "invalidParameter"),
                (bob, "-1", 400, "invalidParameter"), (bob, "newest", 400, "invalidParameter"),
            ]
            for (device, position, status, code) in refused {
                let reply = try await group.get(device, "?at=\(position)")
                #expect(reply.status == status && reply.body["code"].string == code, "\(position): \(reply)")
            }

            // Retention takes the first third of the game.
            let base = try #require(states.keys.sorted().dropFirst(2).first)
            _ = try await quartet.psql(
                """
                DELETE FROM session.log WHERE partition = session.log_partition_of('group/\(group.id)') AND position <= \(base);
                UPDATE session.log_partition SET base_position = \(base)
                 WHERE partition = session.log_partition_of('group/\(group.id)')
                """)
            try await quartet.overEach { carrier in
                let gone = try await carrier.expect(
                    "truncated", of: "GetGroupSession", ["group": .string(group.id), "at": .int(base)],
                    token: bob.token)
                #expect(gone.field == "at")
            }
            let shown = try await quartet.edge.send(
                "GET", "/v1/operator/groups/\(group.id)?at=\(base)", token: try await quartet.makeKey("history", "read")
            )
            #expect(shown.status == 410 && shown.body["code"] == "truncated", "\(shown)")
            #expect(try await bob.read("/v1/groups/\(group.id)?at=\(head)")["state"] == states[head])

            try await group.act(anna, "RemoveParticipant", ["participant": .string(bob.account)])
            let out = try await group.get(bob, "?at=\(head)")
            #expect(out.status == 403 && out.body["code"] == "removedFromGroup", "\(out)")
            try await group.act(anna, "EndGroupSession")
            let over = try await group.get(anna, "?at=\(head)")
            #expect(over.status == 410 && over.body["code"] == "groupEnded", "\(over)")
        }
    }

    /// The position of a session's newest event.
    private static func head(of group: Group, _ quartet: Quartet) async throws -> Int64 {
        let head = try await quartet.psql(
            """
            SELECT max(position) FROM session.log
             WHERE partition = session.log_partition_of('group/\(group.id)') AND key = 'group/\(group.id)' AND kind = 'event'
            """)
        return try #require(Int64(head))
    }
}
