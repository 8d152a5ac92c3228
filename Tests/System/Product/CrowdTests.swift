import EdgeClient
import Foundation
import TestKit
import Testing

/// Many connections at a time.
@Suite("End to end: crowds", .timeLimit(.minutes(30)))
struct CrowdTests {
    private static let silent = Soak.count(2000, long: 10_000)
    private static let slow = Soak.count(100, long: 2000)

    @Test(
        """
        thousands of connections that say nothing, and many that say it too slowly, cost little memory and hold nobody \
        up; the slow ones are closed, and nothing is left of any (T21)
        """)
    func silence() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["HTTP_CONNECTIONS_PER_ADDRESS": "100000"])
            let (anna, port) = (try await quartet.signUp("anna"), try await quartet.edgePort())
            let process = try quartet.process(of: .sessionClient)
            let before = try Holdings(of: process)

            let silent = try (0..<Self.silent).map { _ in try RawConnection(port: port) }
            let slow = try (0..<Self.slow).map { number in
                let connection = try RawConnection(port: port)
                // Half a head, or a body of which a byte comes.
                try connection.send(
                    number.isMultiple(of: 2)
                        ? Array("GET /v1/account HTTP/1.1\r\nhost: localhost\r\nx-slow: ".utf8)
                        : RawConnection.request("POST", "/v1/commands/CheckIn", anna, ["content-length: 100"]) + [0x7B])
                return connection
            }
            for connection in silent.prefix(100) { connection.halfClose() }
            let view = try await LiveView.open(anna)
            try await anna.act("CheckIn")
            try await view.wait("CheckedIn", in: "account")
            let during = try Holdings(of: process)
            let growth = during.megabytes - before.megabytes
            #expect(growth < 64 + silent.count * 64 / 1024, "\(before) before, \(during) with \(silent.count)")
            for connection in silent.prefix(100) {
                let said = try await connection.rest()
                #expect(said.isEmpty)
            }
            for connection in slow { _ = try await connection.rest() }
            let hits = try await quartet.metrics(of: .sessionClient).filter {
                $0.hasPrefix("quartet_limits_hit_total{limit=\"pace\"}")
                    || $0.hasPrefix("quartet_limits_hit_total{limit=\"tooSlow\"}")
            }
            let count = hits.compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
            #expect(count >= Self.slow, "\(hits)")
            for connection in silent.dropFirst(100) { connection.breakOff() }
            await view.close()
            var after = try Holdings(of: process)
            for _ in 0..<300 where !after.isBack(to: before) {
                // A test can't observe when the server notices that they left.
                try await Task.sleep(for: .milliseconds(100))
                after = try Holdings(of: process)
            }
            #expect(after.isBack(to: before), "\(before) before, \(after) after")
            let read = try await anna.read("/v1/account")
            #expect(read["account"].string == anna.account)
        }
    }
}
