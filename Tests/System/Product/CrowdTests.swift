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

    @Test(
        """
        a crowd of streams outlives two generations of access tokens without a reconnect: each app presents its next \
        token for each of its streams (T19)
        """)
    func generations() async throws {
        let (people, devices, streams) = (Soak.count(3, long: 16), 4, 16)
        let lifetime = Duration.seconds(Soak.count(15, long: 60))
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            let limits = ["STREAMS", "READS", "COMMANDS"].map { ("\($0)_PER_MINUTE", "1000000") }
            try await quartet.start(
                .sessionClient,
                environment: Dictionary(uniqueKeysWithValues: limits)
                    .merging(["ACCESS_TOKEN_LIFETIME": "\(lifetime.components.seconds)s"]) { $1 })
            for person in 0..<people { _ = try await Device.signUp("person-\(person)", at: quartet.edge) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for person in 0..<people {
                    for _ in 0..<devices {
                        group.addTask {
                            try await Self.outlive(lifetime, "person-\(person)", streams, quartet.edge)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// Signs a device in, opens streams, and keeps them open until two of its tokens have ended.
    private static func outlive(
        _ lifetime: Duration, _ handle: String, _ streams: Int, _ edge: EdgeClient
    ) async throws {
        var device = try await Device.signIn(handle, at: edge)
        var views: [LiveView] = []
        var ends = [ContinuousClock.now + lifetime]
        for _ in 0..<streams { views.append(try await LiveView.open(device)) }
        for _ in 1...2 {
            try await Task.sleep(until: ends[ends.count - 1] - lifetime / 2, clock: .continuous)
            device = try await refresh(device, for: views, edge)
            ends.append(.now + lifetime)
        }
        try await Task.sleep(until: ends[1] + .seconds(1), clock: .continuous)
        try await device.act("SetCheckInInterval", ["interval": .int(7_200_000_000)])
        for view in views {
            try await view.wait("CheckInIntervalSet", in: "account")
            #expect(!view.all.contains { $0.name == "end" })
            await view.close()
        }
    }

    /// Exchanges the refresh token, and presents the new access token for each stream.
    private static func refresh(
        _ device: Device, for views: [LiveView], _ edge: EdgeClient
    ) async throws -> Device {
        let reply = try await edge.insist("/v1/token", ["refreshToken": .string(device.refreshToken)])
        let next = try Device(reply, edge: edge)
        for view in views {
            let name = try #require(view.all.first?.data["stream"])
            let presented = try await edge.send(
                "POST", "/v1/stream/token", body: ["stream": name], token: next.token)
            #expect(presented.status == 200, "\(presented)")
        }
        return next
    }
}
