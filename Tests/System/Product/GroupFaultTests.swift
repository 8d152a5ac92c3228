import EdgeClient
import TestKit
import Testing

/// Group sessions while processes are killed and people lose their connections.
@Suite("End to end: group sessions under faults", .serialized, .timeLimit(.minutes(60)))
struct GroupFaultTests {
    @Test(
        """
        while each service's two replicas are killed in mid-game, both players see the same moves in the same order, keep their \
        seats, and miss no version; the state at a position stays what it was (P21, P23, P29)
        """)
    func killedInMidGame() async throws {
        try await withRandom { random in
            try await Quartet.with { quartet in
                try await quartet.waitLongForPeopleWhoAreAway()
                let secondSession = try await quartet.startAnother(.session)
                let secondEdge = try await quartet.startAnother(.sessionClient)
                let edges = [quartet.edge, try await quartet.edge(of: secondEdge)]
                let (group, apps) = try await Self.table(quartet, "anna", "bob", at: edges)
                try await group.act(apps[0].device, "StartGame", ["lead": 0])

                let moves: Int64 = 24
                for number in 1...moves {
                    let app = apps[Int(number % 2)]
                    async let reply = app.move(number, ["move": .int(number)])
                    if number % 5 == 0 {
                        try await Task.sleep(for: .milliseconds(Int.random(in: 0...40, using: &random)))
                        switch number {
                        case 5: try await quartet.restart(.session)
                        case 10: try await quartet.restart(.sessionClient)
                        case 15: secondSession.send(.kill)
                        default: secondEdge.send(.kill)
                        }
                    }
                    let answer = try await reply
                    #expect(answer.status == 200, "move \(number): \(answer)")
                }
                for app in apps { try await app.wait("GameUpdated") { $0["version"] == .int(moves + 1) } }

                let entries = apps.map { app in Array(app.entries.drop { $0.type != "GameStarted" }) }
                #expect(entries[0] == entries[1])
                let versions = entries[0].compactMap { $0.body["version"].int }
                #expect(versions == Array(1...(moves + 1)))
                #expect(
                    entries[0].compactMap { $0.body["patch"]["move"].int } == Array(1...moves))
                #expect(apps.allSatisfy { $0.snapshots == 1 && $0.resumptions > 0 }, "nothing was missed")
                let state = try await group.state(by: apps[0].device)
                #expect(state["participants"].array.count == 2)
                for (seat, app) in apps.enumerated() {
                    let participant = state["participants"].array.first { $0["id"].string == app.device.account }
                    #expect(participant?["seat"] == .int(Int64(seat)))
                }
                // The state at a position is the one that went with the event there.
                for entry in entries[0] where entry.hash != nil {
                    let moment = try await apps[1].device.read("/v1/groups/\(group.id)?at=\(entry.position)")
                    #expect(moment["hash"].string == entry.hash && moment["position"] == .int(entry.position))
                }
                for app in apps { await app.disconnect() }
                for process in [secondSession, secondEdge] { await process.end() }
            }
        }
    }

    @Test(
        """
        when the host's edge dies, everybody else sees one host at every position, and one change of host once the grace is \
        over; a person who comes back within it keeps the seat, and later has lost it (P15, P20)
        """)
    func hostIsGone() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            let environment = ["PRESENCE_RENEWAL": "200ms"]
            try await quartet.start(.sessionClient, environment: environment)
            let other = try await quartet.startAnother(.sessionClient, environment: environment)
            _ = try await quartet.psql("UPDATE session.limits SET drop_notice = '1 minute', edge_lease = '10 seconds'")
            let (first, second) = (quartet.edge, try await quartet.edge(of: other))
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            for friend in [bob, carl] { try await anna.add(friend) }
            let group = try await Group.create(by: anna)
            try await group.invite(bob, carl, by: anna)
            let annas = try await GroupApp.open(anna, in: group, at: [first])
            var apps: [GroupApp] = []
            for device in [bob, carl] {
                try await group.act(device, "JoinGroupSession")
                apps.append(try await GroupApp.open(device, in: group, at: [second]))
            }
            for (seat, device) in [anna, bob, carl].enumerated() {
                try await group.act(device, "ClaimSeat", ["seat": .int(Int64(seat))])
            }

            try await quartet.wait(for: "three connections", "SELECT count(*) FROM session.group_connection") {
                $0 == "3"
            }
            _ = try await quartet.psql("UPDATE session.limits SET drop_notice = '0', drop_grace = '40 seconds'")

            // Bob drops, and is back in time.
            await apps[0].disconnect()
            try await apps[1].wait("ParticipantDisconnected") { $0["account"].string == bob.account }
            apps[0].reconnect()
            try await apps[1].wait("ParticipantConnected") { $0["account"].string == bob.account }

            // Anna's edge dies; nobody else is on it.
            try await quartet.kill(.sessionClient)
            await annas.disconnect()
            for app in apps {
                try await app.wait("ParticipantDisconnected") { $0["account"].string == anna.account }
                let left = try await app.wait("ParticipantLeft")
                #expect(left.body["account"].string == anna.account && left.body["reason"] == "dropped")
                #expect(left.body["host"].string == bob.account)
            }
            let entries = apps.map { app in app.entries.filter { $0.type != "ParticipantJoined" } }
            #expect(Set(entries[1]).isSubset(of: Set(entries[0])) && entries[1] == entries[0].suffix(entries[1].count))
            let counts = Dictionary(grouping: entries[0], by: \.type).mapValues(\.count)
            #expect(counts["ParticipantLeft"] == 1 && counts["HostTransferred"] == nil)
            for entry in entries[1] {
                let moment = try await Device(carl, at: second).read("/v1/groups/\(group.id)?at=\(entry.position)")
                let host = moment["state"]["host"].string
                let isIn = moment["state"]["participants"].array.contains { $0["id"].string == host }
                #expect(isIn && host == (entry.type == "ParticipantLeft" ? bob.account : anna.account))
            }
            let seats = try await group.state(by: Device(bob, at: second))["participants"].array
            #expect(seats.first { $0["id"].string == bob.account }?["seat"] == 1)

            // Too late: not in it, without a seat, and in again only by joining.
            let late = Device(anna, at: second)
            let refused = try await group.ask(late, "ClaimSeat", ["seat": 0])
            #expect(refused.status == 403 && refused.body["code"] == "notParticipant", "\(refused)")
            for app in apps { await app.disconnect() }
            try await quartet.start(.sessionClient)
            await other.end()
        }
    }

    @Test(
        "of two hundred claims of five seats at once, through two edges, five win; the others hear who has the seat (P16)"
    )
    func claimers() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let secondSession = try await quartet.startAnother(.session)
            let secondEdge = try await quartet.startAnother(.sessionClient)
            let edges = [quartet.edge, try await quartet.edge(of: secondEdge)]
            // One more than there is room for in a session, so that all of them can be each other's contacts.
            let crowd = Crowd(101)
            for statement in crowd.statements(contacts: 100) { _ = try await quartet.psql(statement) }
            let people = Array(try crowd.devices(signedBy: quartet.keys.signing, at: quartet.edge).prefix(100))
            let group = try await Group.create(by: people[0], capacity: 100)
            try await group.act(
                people[0], "ActivateGroupSession", ["contacts": .array(people.dropFirst().map { .string($0.account) })])
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for person in people.dropFirst() {
                    tasks.addTask { try await group.act(person, "JoinGroupSession") }
                }
                try await tasks.waitForAll()
            }

            let replies = try await withThrowingTaskGroup(of: (person: Int, reply: EdgeClient.Reply).self) { tasks in
                for number in people.indices.shuffled() {
                    for edge in edges {
                        let device = Device(people[number], at: edge)
                        tasks.addTask {
                            (number, try await group.ask(device, "ClaimSeat", ["seat": .int(Int64(number % 5))]))
                        }
                    }
                }
                return try await tasks.reduce(into: []) { $0.append($1) }
            }
            #expect(replies.count == 200)
            let winners = replies.filter { $0.reply.body["event"] == "SeatClaimed" }.map(\.person)
            #expect(Set(winners.map { $0 % 5 }).count == 5 && winners.count == 5)
            let occupants = Dictionary(winners.map { ($0 % 5, people[$0].account) }) { one, _ in one }
            for (person, reply) in replies where !winners.contains(person) {
                #expect(reply.status == 409 && reply.body["code"] == "seatTaken", "\(reply)")
                #expect(reply.body["details"]["by"].string == occupants[person % 5], "\(reply)")
            }
            // The second claim of someone who has the seat changes nothing.
            #expect(replies.filter { winners.contains($0.person) }.allSatisfy { $0.reply.status == 200 })
            let seated = try await group.state(by: people[0])["participants"].array.compactMap { $0["seat"].int }
            #expect(seated.sorted() == [0, 1, 2, 3, 4])
            for process in [secondSession, secondEdge] { await process.end() }
        }
    }

    /// Two people in a session, with seats and apps that follow it.
    private static func table(
        _ quartet: Quartet, _ one: String, _ other: String, at edges: [EdgeClient]
    ) async throws -> (Group, [GroupApp]) {
        let (host, guest) = try await quartet.signUp(one, other)
        try await host.add(guest)
        let group = try await Group.create(by: host)
        try await group.invite(guest, by: host)
        try await group.act(guest, "JoinGroupSession")
        // Each at another edge first.
        let apps = [
            try await GroupApp.open(host, in: group, at: edges),
            try await GroupApp.open(guest, in: group, at: edges.reversed()),
        ]
        for (seat, app) in apps.enumerated() {
            try await group.act(app.device, "ClaimSeat", ["seat": .int(Int64(seat))])
            for app in apps { try await app.wait("SeatClaimed") { $0["seat"] == .int(Int64(seat)) } }
        }
        return (group, apps)
    }
}
