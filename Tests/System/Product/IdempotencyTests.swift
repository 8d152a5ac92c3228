import EdgeClient
import TestKit
import Testing

/// The request that an Idempotency-Key names.
@Suite("End to end: Idempotency-Key", .timeLimit(.minutes(60)))
struct IdempotencyTests {
    @Test("a key stands for one command to each service; anything else to that service is refused as idReused")
    func oneKey() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let key = EdgeClient.newKey()
            var ids: Set<String> = []
            for _ in 0..<2 {
                for (command, body) in [("CheckIn", [:] as JSON), ("SetContactApproval", ["isRequired": true])] {
                    let reply = try await anna.ask(command, body, key: key)
                    #expect(reply.status == 200, "\(reply)")
                    ids.insert(try #require(reply.body["command"].string))
                }
            }
            #expect(ids.count == 2)
            for (command, body) in [("ResetContactCode", [:] as JSON), ("SetContactApproval", ["isRequired": false])] {
                let reply = try await anna.ask(command, body, key: key)
                #expect(reply.status == 422 && reply.body["code"] == "idReused", "\(reply)")
            }
            for service in ["session", "contacts"] {
                let twice = try await quartet.psql(
                    """
                    SELECT count(*) FROM \(service).log AS l
                     WHERE l.type IN ('CheckedIn', 'ContactApprovalSet') AND l.outcome IS NOT NULL
                    """)
                #expect(twice.hasPrefix("1"), "\(service): \(twice)")
            }
        }
    }
}
