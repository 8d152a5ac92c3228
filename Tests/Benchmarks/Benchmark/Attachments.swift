import AsyncHTTPClient
import Crypto
import EdgeClient
import Foundation
import NIOCore
import NIOHTTP1
import Synchronization

/// What uploads of attachments do to others, and to memory.
extension ProductBenchmark {
    private static let uploads = 16
    private static let callers = 8
    private static let fileSize = 32 << 20
    private static let chunkSize = 65_536

    func attachments(_ seconds: Int, _ report: inout Report) async throws {
        say("people with a group session each, for attachments")
        // They have no streams.
        try server.psql("quartet", ["-c", "UPDATE session.limits SET drop_grace = '5 minutes'"])
        var people: [(device: Device, group: String)] = []
        for number in 0..<Self.uploads + Self.callers {
            let device = try await Device.signUp("sharer\(number)", name: "Sharer", at: edge)
            let created = try await device.act(
                "CreateGroupSession", ["activity": ["identifier": "bench", "type": "generic", "title": "Bench"]])
            people.append((device, created["group"].string ?? ""))
        }
        let (uploaders, callers) = (people.prefix(Self.uploads), Array(people.suffix(Self.callers)))
        try await waitUntilHandled()
        say("commands without uploads")
        let quiet = try await Self.latencies(of: callers) { $0 > .seconds(seconds) }
        let before = try (memory(of: "session"), memory(of: "session-client"))

        say("\(Self.uploads) uploads at once")
        let uploading = Uploading(Self.uploads)
        let began = ContinuousClock.now
        let busy = try await withThrowingTaskGroup(of: [Double]?.self) { group in
            for (number, person) in uploaders.enumerated() {
                group.addTask {
                    defer { uploading.endOne() }
                    try await Self.attach(UInt8(number), person.device, person.group)
                    return nil
                }
            }
            group.addTask {
                while !uploading.isOver {
                    uploading.add(try (self.memory(of: "session"), self.memory(of: "session-client")))
                    try await Task.sleep(for: .milliseconds(100))
                }
                return nil
            }
            group.addTask {
                try await Self.latencies(of: callers) { _ in uploading.isOver }
            }
            var latencies: [Double] = []
            for try await result in group { latencies += result ?? [] }
            return latencies.sorted()
        }
        let took = (ContinuousClock.now - began) / .seconds(1)
        report.add("attachment_uploads_mb_per_second", Double(Self.uploads * Self.fileSize >> 20) / took)
        report.add("command_p50_ms_without_uploads", quiet.percentile(0.5))
        report.add("command_p99_ms_without_uploads", quiet.percentile(0.99))
        report.add("command_p50_ms_beside_16_uploads", busy.percentile(0.5))
        report.add("command_p99_ms_beside_16_uploads", busy.percentile(0.99))
        report.add(
            "attachment_command_p99_ratio", busy.percentile(0.99) / quiet.percentile(0.99), aim: "<= 2")
        let peaks = uploading.peaks
        report.add("memory_added_by_16_uploads_session_mb", peaks.session - before.0, aim: "<= 32")
        report.add("memory_added_by_16_uploads_session_client_mb", peaks.edge - before.1, aim: "<= 64")

        say("downloads")
        let (downloading, reading) = (ContinuousClock.now, try memory(of: "session-client"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, person) in uploaders.enumerated() {
                group.addTask { try await self.download(UInt8(number), person.device, person.group) }
            }
            try await group.waitForAll()
        }
        let spent = (ContinuousClock.now - downloading) / .seconds(1)
        report.add("attachment_downloads_mb_per_second", Double(Self.uploads * Self.fileSize >> 20) / spent)
        report.add("memory_added_by_16_downloads_session_client_mb", try memory(of: "session-client") - reading)
    }

    /// The latencies of commands that each caller sends one after the other, at a gentle pace, sorted.
    private static func latencies(
        of callers: [(device: Device, group: String)], until isOver: @escaping @Sendable (Duration) -> Bool
    ) async throws -> [Double] {
        let began = ContinuousClock.now
        return try await withThrowingTaskGroup(of: [Double].self) { group in
            for caller in callers {
                group.addTask {
                    var (latencies, seat): ([Double], Bool) = ([], false)
                    while !isOver(ContinuousClock.now - began) {
                        let sent = ContinuousClock.now
                        try await caller.device.act(
                            seat ? "ReleaseSeat" : "ClaimSeat",
                            seat ? ["group": .string(caller.group)] : ["group": .string(caller.group), "seat": 0])
                        latencies.append((ContinuousClock.now - sent).milliseconds)
                        seat.toggle()
                        try await Task.sleep(for: .milliseconds(20))
                    }
                    return latencies
                }
            }
            var all: [Double] = []
            for try await latencies in group { all += latencies }
            return all.sorted()
        }
    }

    /// A chunk of a file: each has a few bytes of its own.
    private static func chunk(_ file: UInt8, _ number: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: file, count: chunkSize)
        bytes.replaceSubrange(0..<8, with: withUnsafeBytes(of: number.littleEndian) { Array($0) })
        return bytes
    }

    private static func id(of file: UInt8) -> String {
        var all = SHA256()
        for number in 0..<fileSize / chunkSize {
            all.update(data: Data(SHA256.hash(data: chunk(file, number))))
        }
        return all.finalize().map { String(format: "%02x", $0) }.joined()
    }

    private static func attach(_ file: UInt8, _ device: Device, _ group: String) async throws {
        let (name, chunks) = (id(of: file), fileSize / chunkSize)
        let about: JSON = ["group": .string(group), "attachment": .string(name)]
        func fields(_ more: [(String, Int)]) -> JSON {
            guard case .object(var fields) = about else { return about }
            for (name, value) in more { fields[name] = .int(Int64(value)) }
            return .object(fields)
        }
        try await device.act("BeginAttachment", fields([("size", fileSize)]))
        for number in stride(from: 0, to: chunks, by: 4) {
            let body = (number..<number + 4).flatMap { chunk(file, $0) }
            let reply = try await device.edge.send(
                "PUT", "/v1/uploads/\(name)/chunks/\(number)", raw: body, token: device.token,
                headers: ["content-type": "application/octet-stream"])
            guard reply.status == 204 else { throw Failure("an upload was answered \(reply)") }
            try await device.act("AdoptChunks", fields([("first", number), ("count", 4)]))
        }
        guard case .object(var whole) = fields([("chunks", chunks)]) else { return }
        (whole["name"], whole["contentType"]) = ("bench.bin", "application/octet-stream")
        try await device.act("CompleteAttachment", .object(whole))
    }

    private func download(_ file: UInt8, _ device: Device, _ group: String) async throws {
        var request = HTTPClientRequest(url: url + "/v1/groups/\(group)/attachments/\(Self.id(of: file))")
        request.headers.add(name: "authorization", value: "Bearer \(device.token)")
        let response = try await http.execute(request, timeout: .seconds(120))
        var size = 0
        for try await buffer in response.body { size += buffer.readableBytes }
        guard size == Self.fileSize else { throw Failure("a download had \(size) bytes") }
    }
}

/// Uploads that go on, and the most memory that session and the edge took meanwhile.
private final class Uploading: Sendable {
    private let state: Mutex<(left: Int, peaks: (session: Double, edge: Double))>

    init(_ count: Int) { state = Mutex((count, (0, 0))) }

    var isOver: Bool { state.withLock { $0.left == 0 } }
    var peaks: (session: Double, edge: Double) { state.withLock { $0.peaks } }

    func endOne() { state.withLock { $0.left -= 1 } }

    func add(_ now: (session: Double, edge: Double)) {
        state.withLock { $0.peaks = (max($0.peaks.session, now.session), max($0.peaks.edge, now.edge)) }
    }
}
