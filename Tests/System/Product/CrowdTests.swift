import EdgeClient
import Foundation
import RPCClient
import RawClient
import ServiceKit
import TestKit
import Testing

/// Many connections at a time.
@Suite("End to end: crowds", .timeLimit(.minutes(60)))
struct CrowdTests {
    private static let silent = Soak.count(2000, long: 10_000)
    private static let slow = Soak.count(100, long: 2000)

    @Test(
        """
        thousands of connections that say nothing to HTTP or gRPC, and many that say it too slowly, cost little memory and \
        hold nobody up; the slow ones are closed, and nothing is left of any (T21)
        """)
    func silence() async throws {
        OpenFiles.raiseLimit()
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["HTTP_CONNECTIONS_PER_ADDRESS": "100000"])
            let (anna, port) = (try await quartet.signUp("anna"), try await quartet.edgePort())
            let ports = [port, try await quartet.rpcPort()]
            let process = try quartet.process(of: .sessionClient)
            let first = try Holdings(of: process)
            func crowd() throws -> (silent: [RawConnection], slow: [RawConnection]) {
                let silent = try (0..<Self.silent).map { try RawConnection(port: ports[$0 % ports.count]) }
                let slow = try (0..<Self.slow).map { number in
                    let connection = try RawConnection(port: port)
                    // Half a head, or a body of which a byte comes.
                    try connection.send(
                        number.isMultiple(of: 2)
                            ? Array("GET /v1/account HTTP/1.1\r\nhost: localhost\r\nx-slow: ".utf8)
                            : RawConnection.request("POST", "/v1/commands/CheckIn", anna, ["content-length: 100"])
                                + [0x7B])
                    return connection
                }
                return (silent, slow)
            }
            // What the allocator keeps of a first crowd, the next one uses again.
            let earlier = try crowd()
            for connection in earlier.silent + earlier.slow { connection.breakOff() }
            var before = try Holdings(of: process)
            for _ in 0..<1200 where before.descriptors > first.descriptors + 32 {
                try await Task.sleep(for: .milliseconds(100))
                before = try Holdings(of: process)
            }

            let (silent, slow) = try crowd()
            for connection in silent.prefix(100) { connection.halfClose() }
            let view = try await LiveView.open(anna)
            try await anna.act("CheckIn")
            try await view.wait("CheckedIn", in: "account")
            let during = try Holdings(of: process)
            let growth = during.megabytes - first.megabytes
            #expect(growth < 64 + silent.count * 64 / 1024, "\(first) before, \(during) with \(silent.count)")
            for (number, connection) in silent.prefix(100).enumerated() {
                let said = try await connection.rest()
                // A server of HTTP/2 begins with its settings.
                #expect(said.utf8.count < (number.isMultiple(of: 2) ? 1 : 200))
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
            for _ in 0..<1200 where !after.isBack(to: before) {
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
        a crowd of streams over HTTP and gRPC outlives generations of access tokens without a reconnect: each app \
        presents its next token for each of its streams (T19)
        """)
    func generations() async throws {
        OpenFiles.raiseLimit()
        let (people, devices) = (Soak.count(3, long: 16), 4)
        // Long enough for a busy machine to present all tokens in time; so this takes two minutes.
        let lifetime = Duration.seconds(60)
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(
                .sessionClient, environment: ["ACCESS_TOKEN_LIFETIME": "\(lifetime.components.seconds)s"])
            // One after the other, because passwords are made slow on purpose.
            var signedIn: [Device] = []
            for person in 0..<people {
                signedIn.append(try await Device.signUp("person-\(person)", at: quartet.edge))
                for _ in 1..<devices {
                    signedIn.append(try await Device.signIn("person-\(person)", at: quartet.edge))
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { [signedIn] group in
                for (number, device) in signedIn.enumerated() {
                    group.addTask {
                        if number.isMultiple(of: 2) {
                            try await Self.outlive(lifetime, device, .http)
                        } else {
                            try await quartet.rpc { try await Self.outlive(lifetime, device, .rpc($0)) }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    /// What carries a device's streams.
    private enum Carrier: Sendable {
        case http
        case rpc(RPCClient)

        func open(_ device: Device) async throws -> LiveView {
            switch self {
            case .http: try await LiveView.open(device)
            case .rpc(let rpc): try await LiveView.open(rpc.watch(token: device.token))
            }
        }

        /// Presents a device's next token for a stream.
        func extend(_ stream: JSON, _ device: Device) async throws {
            switch self {
            case .http:
                let reply = try await device.edge.insist("/v1/stream/token", ["stream": stream], token: device.token)
                #expect(reply.status == 200, "\(reply)")
            case .rpc(let rpc): _ = try await rpc.call("ExtendStream", ["stream": stream], token: device.token)
            }
        }
    }

    /// Opens a device's streams (in the long form as many as it may have), and keeps them open until two of its tokens, or three,
    /// have ended.
    private static func outlive(_ lifetime: Duration, _ device: Device, _ carrier: Carrier) async throws {
        func refreshed(_ device: Device) async throws -> Device {
            let reply = try await device.edge.insist("/v1/token", ["refreshToken": .string(device.refreshToken)])
            return try Device(reply, edge: device.edge)
        }
        // Its first token may be old by now.
        var device = try await refreshed(device)
        var issued = ContinuousClock.now
        var views: [LiveView] = []
        for _ in 0..<Soak.count(4, long: 16) { views.append(try await carrier.open(device)) }
        for _ in 0..<Soak.count(2, long: 3) {
            try await Task.sleep(until: issued + lifetime / 2, clock: .continuous)
            let end = issued + lifetime
            issued = .now
            device = try await refreshed(device)
            for view in views { try await carrier.extend(try #require(view.all.first?.data["stream"]), device) }
            try await Task.sleep(until: end + .seconds(1), clock: .continuous)
        }
        // Another device may have set any other.
        let interval = Int64.random(in: 7_200_000_000..<14_400_000_000)
        try await device.act("SetCheckInInterval", ["interval": .int(interval)])
        for view in views {
            try await view.wait("the interval") {
                $0.name == "account.event" && $0.data["body"]["interval"].int == interval
            }
            #expect(!view.all.contains { $0.name == "end" })
            await view.close()
        }
    }
}
