import EdgeClient
import Foundation
import TestKit
import Testing

/// What keeps strangers and nuisances from holding the edge up.
@Suite("End to end: the door", .timeLimit(.minutes(30)))
struct DoorTests {
    @Test("an account that sends too many commands has to wait; another's go on")
    func tooManyCommands() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["COMMANDS_PER_MINUTE": "60"])
            let anna = try await Device.signUp("anna", at: quartet.edge)
            let bob = try await Device.signUp("bob", at: quartet.edge)
            var refused: EdgeClient.Reply?
            for _ in 0..<20 where refused == nil {
                let reply = try await quartet.edge.send("POST", "/v1/commands/MarkAllRead", token: anna.token)
                if reply.status == 429 { refused = reply }
            }
            #expect(refused?.body["code"] == "tooManyCommands" && refused?.body["retryAfter"] == 1, "\(refused as Any)")
            let other = try await quartet.edge.send("POST", "/v1/commands/MarkAllRead", token: bob.token)
            #expect(other.status == 200)
            let read = try await quartet.edge.send("GET", "/v1/account", token: anna.token)
            #expect(read.status == 200, "reading isn't counted")
        }
    }

    @Test("malformed chunks, and a peer that leaves in the middle, are no errors of the server's")
    func malformedChunks() async throws {
        try await Quartet.with { quartet in
            let anna = try await Device.signUp("anna", at: quartet.edge)
            let head = """
                POST /v1/commands/CheckIn HTTP/1.1\r
                Host: localhost\r
                Authorization: Bearer \(anna.token)\r
                Content-Type: application/json\r
                Transfer-Encoding: chunked\r
                \r

                """
            let port = try #require(URLComponents(string: try quartet.url)?.port.flatMap(UInt16.init(exactly:)))
            for body in ["ZZ\r\n{}\r\n", "-1\r\n{}\r\n0\r\n\r\n", "FFFFFFFFFFFFFFFFF\r\n{}"] {
                let connection = try RawConnection(port: port)
                try connection.send(Array((head + body).utf8))
                let status = try await connection.status()
                #expect(status == 400, "\(body.debugDescription)")
            }
            let leaving = try RawConnection(port: port)
            try leaving.send(Array((head + "5\r\n{}").utf8))
            leaving.breakOff()
            let good = try await anna.ask("CheckIn")
            #expect(good.status == 200)
            let errors = quartet.lines(of: .sessionClient).filter { $0.contains(" error ") }
            #expect(errors.isEmpty, "\(errors)")
        }
    }
}
