import EdgeClient
import TestKit
import Testing

/// Group sessions while processes are killed and people lose their connections.
@Suite("End to end: group sessions under faults", .serialized, .timeLimit(.minutes(30)))
struct GroupFaultTests {
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
}
