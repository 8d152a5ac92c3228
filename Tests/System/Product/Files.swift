import AsyncHTTPClient
import Crypto
import EdgeClient
import Foundation
import NIOCore
import NIOHTTP1
import TestKit

/// A file that is attached to a group session, as an app sees it: its id is computed here, by what the API's description says.
struct File: Sendable {
    static let chunkSize = 65_536
    let bytes: [UInt8]
    let id: String

    /// Bytes that differ everywhere, and from those of every other seed.
    init(seed: UInt64, size: Int) {
        var random = SeededRandom(seed: seed)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size + 8)
        while bytes.count < size { withUnsafeBytes(of: random.next()) { bytes += $0 } }
        self.bytes = Array(bytes.prefix(size))
        id = Self.id(of: self.bytes)
    }

    static func id(of bytes: [UInt8]) -> String {
        var all = SHA256()
        for start in stride(from: 0, to: bytes.count, by: chunkSize) {
            all.update(data: Data(SHA256.hash(data: bytes[start..<min(start + chunkSize, bytes.count)])))
        }
        return all.finalize().map { String(format: "%02x", $0) }.joined()
    }

    var chunks: Int { (bytes.count + Self.chunkSize - 1) / Self.chunkSize }

    /// The bytes of some chunks.
    func chunks(_ numbers: Range<Int>) -> [UInt8] {
        Array(bytes[numbers.lowerBound * Self.chunkSize..<min(numbers.upperBound * Self.chunkSize, bytes.count)])
    }

    /// The chunks, so many at a time.
    func runs(of count: Int) -> [Range<Int>] {
        stride(from: 0, to: chunks, by: count).map { $0..<min($0 + count, chunks) }
    }
}

extension Device {
    /// Uploads a run of chunks.
    func upload(_ file: File, _ numbers: Range<Int>, headers: [String: String] = [:]) async throws -> EdgeClient.Reply {
        try await edge.send(
            "PUT", "/v1/uploads/\(file.id)/chunks/\(numbers.lowerBound)", raw: file.chunks(numbers), token: token,
            headers: headers.merging(["content-type": "application/octet-stream"]) { given, _ in given })
    }

    /// How far an upload is.
    func progress(of file: File) async throws -> EdgeClient.Reply {
        try await edge.send("GET", "/v1/uploads/\(file.id)", token: token)
    }
}

extension Group {
    func begin(_ file: File, by device: Device) async throws {
        try await act(
            device, "BeginAttachment", ["attachment": .string(file.id), "size": .int(Int64(file.bytes.count))])
    }

    func adopt(_ file: File, _ numbers: Range<Int>, by device: Device) async throws {
        try await act(
            device, "AdoptChunks",
            [
                "attachment": .string(file.id), "first": .int(Int64(numbers.lowerBound)),
                "count": .int(Int64(numbers.count)),
            ])
    }

    @discardableResult
    func complete(_ file: File, name: String = "film.mp4", type: String = "video/mp4", by device: Device) async throws
        -> JSON
    {
        try await act(
            device, "CompleteAttachment",
            [
                "attachment": .string(file.id), "chunks": .int(Int64(file.chunks)), "name": .string(name),
                "contentType": .string(type), "metadata": ["length": 12],
            ])
    }

    /// Attaches a file, as an app does it that nothing interrupts.
    func attach(_ file: File, name: String = "film.mp4", type: String = "video/mp4", by device: Device) async throws {
        try await begin(file, by: device)
        for run in file.runs(of: 4) {
            let reply = try await device.upload(file, run)
            guard reply.status == 204 else { throw Unexpected(reply) }
        }
        for run in file.runs(of: 64) { try await adopt(file, run, by: device) }
        try await complete(file, name: name, type: type, by: device)
    }

    /// A download's answer, before its body is read.
    func open(
        _ file: File, _ device: Device, _ quartet: Quartet, method: HTTPMethod = .GET, headers: [String: String] = [:]
    ) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: try quartet.url + "/v1/groups/\(id)/attachments/\(file.id)")
        request.method = method
        request.headers.add(name: "authorization", value: "Bearer \(device.token)")
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        return try await HTTPClient.shared.execute(request, timeout: .seconds(120))
    }

    /// A download with its body.
    func download(
        _ file: File, _ device: Device, _ quartet: Quartet, headers: [String: String] = [:]
    ) async throws -> (status: Int, headers: HTTPHeaders, bytes: [UInt8]) {
        let response = try await open(file, device, quartet, headers: headers)
        let body = try await response.body.collect(upTo: 128 << 20)
        return (Int(response.status.code), response.headers, Array(body.readableBytesView))
    }
}
