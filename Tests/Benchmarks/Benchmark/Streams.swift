import AsyncHTTPClient
import Bus
import EdgeClient
import Foundation
import Glibc
import NIOCore
import NIOHTTP1
import Postgres
import QuartetVocabulary
import RPCClient
import Synchronization

/// Events to a thousand server-sent event streams over loopback. The client only looks for the ends of events, so it isn't
/// the bottleneck; events are put straight into a service's log, so commands aren't either.
extension ProductBenchmark {
    private static var accounts: Int { 63 }
    /// As many as the edge allows a device.
    private static var perAccount: Int { 16 }

    func streams(_ seconds: Int, _ report: inout Report) async throws {
        var devices: [Device] = []
        for number in 0..<Self.accounts { devices.append(try await Device.signUp("stream-\(number)", at: edge)) }
        try await streams("sse", of: devices, seconds, &report) { device, heard in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.perAccount { group.addTask { try await self.listen(device, heard) } }
                try await group.waitForAll()
            }
        }
        // What a process has taken it keeps.
        try await renewEdge()
        // An account's streams share a connection.
        try await streams("grpc", of: devices, seconds, &report) { device, heard in
            try await RPCClient.with(port: self.rpcPort) { rpc in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<Self.perAccount {
                        group.addTask {
                            try await rpc.listen(token: device.token) { heard.add(1, ByteBuffer(bytes: $0)) }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    /// - Parameters:
    ///   - transport: What carries the streams.
    ///   - listen: Opens a device's streams and follows them.
    private func streams(
        _ transport: String, of devices: [Device], _ seconds: Int, _ report: inout Report,
        _ listen: @Sendable @escaping (Device, Heard) async throws -> Void
    ) async throws {
        let connections = devices.count * Self.perAccount
        say("\(connections) streams over \(transport)")
        let heard = Heard()
        let log = try await notificationsLog()
        let before = try memory(of: "session-client")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for device in devices {
                group.addTask {
                    do { try await listen(device, heard) } catch {
                        heard.failed(error)
                        throw error
                    }
                }
            }
            // Four snapshots each, and then nothing for a moment.
            while heard.events < 4 * connections {
                if let failure = heard.failure { throw Failure("a stream failed: \(failure)") }
                try await Task.sleep(for: .milliseconds(50))
            }
            try await Task.sleep(for: .seconds(1))
            report.add(
                "\(transport)_idle_stream_kb", (try memory(of: "session-client") - before) * 1024 / Double(connections),
                aim: "<= 60")
            let publisher = try await Connection.connect(Configuration(server.url("quartet", as: "notifications")))

            say("events at a low rate")
            heard.measures(true)
            for _ in 0..<(10 * seconds) {
                try await publish(devices.prefix(8).map(\.account), log, publisher)
                try await Task.sleep(for: .milliseconds(100))
            }
            let waits = heard.measures(false)
            report.add("\(transport)_delivery_p50_ms", waits.percentile(0.5))
            report.add("\(transport)_delivery_p99_ms", waits.percentile(0.99), aim: "<= 15")

            say("events as fast as they are heard")
            let heardBefore = heard.events
            let begun = ContinuousClock.now
            var published = 0
            while ContinuousClock.now - begun < .seconds(seconds) {
                try await publish(devices.map(\.account) + devices.map(\.account), log, publisher)
                published += 2 * connections
                // Nobody so far behind that it is told so.
                while published - (heard.events - heardBefore) > 200 * connections {
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
            while heard.events - heardBefore < published { try await Task.sleep(for: .milliseconds(1)) }
            let took = (ContinuousClock.now - begun) / .seconds(1)
            report.add(
                "\(transport)_deliveries_per_second", Double(published) / took,
                aim: transport == "sse" ? ">= 500000" : ">= 100000")
            await publisher.close()
            group.cancelAll()
        }
    }

    private func notificationsLog() async throws -> Log {
        let connection = try await Connection.connect(Configuration(server.url("quartet", as: "notifications")))
        let log = try await connection.run { try Log.open(LogName(schema: "notifications", table: "log"), $0) }
        await connection.close()
        return log
    }

    /// One event in each account's stream.
    func publish(_ accounts: [String], _ log: Log, _ publisher: Connection) async throws {
        let now = Instant.now.microseconds
        let messages = accounts.compactMap(AccountID.init).map { account in
            Message(
                kind: .event, type: "NotificationRead", key: .account(account), account: account,
                body: Array(#"{"account":"\#(account)","at":\#(now),"id":"\#(account)","unread":1}"#.utf8))
        }
        try await publisher.run { database in
            _ = try database.query(log.append(messages))
            _ = try database.query(log.ring(for: messages))
        }
    }

    private func listen(_ device: Device, _ heard: Heard) async throws {
        var request = HTTPClientRequest(url: url + "/v1/stream")
        request.headers.add(name: "authorization", value: "Bearer \(device.token)")
        let response = try await http.execute(request, timeout: .seconds(60))
        guard response.status == .ok else { throw Failure("a stream was answered with \(response.status)") }
        var counter = EndOfEvents()
        for try await chunk in response.body {
            let count = chunk.withUnsafeReadableBytes { counter.count(in: $0) }
            heard.add(count, chunk)
        }
    }
}

/// Counts empty lines, which end events, across chunks.
private struct EndOfEvents {
    private var isAfterNewline = false

    mutating func count(in bytes: UnsafeRawBufferPointer) -> Int {
        var count = 0
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                if isAfterNewline { count += 1 }
                isAfterNewline.toggle()
            } else {
                isAfterNewline = false
            }
        }
        return count
    }
}

/// What all connections heard.
private final class Heard: Sendable {
    private let count = Atomic(0)
    private let waits = Mutex<[Double]?>(nil)
    private let firstFailure = Mutex<String?>(nil)

    /// Why a stream ended before its time.
    var failure: String? { firstFailure.withLock(\.self) }

    func failed(_ error: any Error) { firstFailure.withLock { $0 = $0 ?? "\(error)" } }

    var events: Int { count.load(ordering: .relaxed) }

    func add(_ events: Int, _ chunk: ByteBuffer) {
        count.add(events, ordering: .relaxed)
        waits.withLock { waits in
            guard waits != nil, let at = Self.time(in: chunk) else { return }
            waits?.append(Double(Instant.now.microseconds - at) / 1000)
        }
    }

    /// Whether to look at the events' times from now on. Returns, sorted, what was found so far.
    @discardableResult
    func measures(_ isOn: Bool) -> [Double] {
        waits.withLock { waits in
            defer { waits = isOn ? [] : nil }
            return (waits ?? []).sorted()
        }
    }

    /// The time that the first event of a chunk carries in its body.
    private static func time(in chunk: ByteBuffer) -> Int64? {
        let text = String(buffer: chunk)
        guard let start = text.range(of: "{\"account\":")?.upperBound,
            let at = text[start...].range(of: "\"at\":")?.upperBound
        else { return nil }
        return Int64(text[at...].prefix { $0.isNumber })
    }
}
