public import EdgeClient
import Foundation
import Glibc
import Synchronization

/// A connection of bytes, for what no HTTP client does: to stop in the middle of a request, and to break off.
public final class RawConnection: Sendable {
    /// An answer.
    public struct Reply: Sendable {
        public let status: Int
        public let body: [UInt8]
    }

    /// The other side isn't there, or says nothing that can be read.
    public struct Broken: Error, CustomStringConvertible {
        public let description: String
    }

    private let descriptor: Mutex<Int32?>
    /// What came so far of an answer that is read in parts.
    private let received = Mutex<[UInt8]>([])

    /// - Parameters:
    ///   - source: which of this machine's own addresses it comes from, as in `127.0.0.2`.
    ///   - receiveBuffer: how many bytes the system takes for who doesn't read; as many as it likes unless said.
    public init(port: UInt16, from source: String = "127.0.0.1", receiveBuffer: Int32? = nil) throws {
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        descriptor = Mutex(made)
        if var receiveBuffer {
            setsockopt(made, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        func call(_ function: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32, _ host: String, _ port: UInt16)
            -> Int32
        {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = inet_addr(host)
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    function(made, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        guard call(bind, source, 0) == 0, call(connect, "127.0.0.1", port) == 0 else {
            throw Broken(description: "can't connect: \(String(cString: strerror(errno)))")
        }
        // For broken tests only: a reader must not wait endlessly.
        var patience = timeval(tv_sec: 120, tv_usec: 0)
        setsockopt(made, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    /// The head of a request, byte by byte.
    public static func request(
        _ method: String, _ path: String, _ device: Device, _ headers: [String] = []
    ) -> [UInt8] {
        request(method, path, token: device.token, headers)
    }

    public static func request(_ method: String, _ path: String, token: String?, _ headers: [String] = []) -> [UInt8] {
        let first =
            ["\(method) \(path) HTTP/1.1", "host: 127.0.0.1"] + (token.map { ["authorization: Bearer \($0)"] } ?? [])
        let head = (first + headers).map { $0 + "\r\n" }.joined()
        return Array((head + "\r\n").utf8)
    }

    deinit {
        descriptor.withLock { descriptor in if let open = descriptor { close(open) } }
    }

    /// Sends bytes.
    public func send(_ bytes: [UInt8]) throws {
        try descriptor.withLock { descriptor in
            var sent = 0
            while let open = descriptor, sent < bytes.count {
                let written = bytes[sent...].withUnsafeBytes {
                    Glibc.send(open, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard written > 0 else {
                    throw Broken(description: "can't send: \(String(cString: strerror(errno)))")
                }
                sent += written
            }
        }
    }

    /// Says that nothing more is sent; answers are still read.
    public func halfClose() { descriptor.withLock { if let open = $0 { shutdown(open, Int32(SHUT_WR)) } } }

    /// Leaves without a word: the other side finds the connection reset.
    public func breakOff() {
        descriptor.withLock { descriptor in
            guard let open = descriptor else { return }
            var rude = linger(l_onoff: 1, l_linger: 0)
            setsockopt(open, SOL_SOCKET, SO_LINGER, &rude, socklen_t(MemoryLayout<linger>.size))
            close(open)
            descriptor = nil
        }
    }

    /// Waits for the whole answer to what was asked.
    public func reply() async throws -> Reply {
        try await read { bytes in
            guard let (status, head, body) = Self.parts(of: bytes) else { return nil }
            let length =
                head.split(whereSeparator: \.isNewline).first { $0.hasPrefix("content-length:") }
                .flatMap { Int($0.dropFirst("content-length:".count).filter(\.isNumber)) } ?? 0
            return body.count < length ? nil : Reply(status: status, body: Array(body.prefix(length)))
        }
    }

    /// Waits for the beginning of an answer that may have no end.
    public func status() async throws -> Int { try await read { Self.parts(of: $0)?.status } }

    /// Waits for a text in the body of an answer that is sent in chunks, and returns all of the body that came so far.
    public func body(until text: String) async throws -> [UInt8] {
        let body = Mutex(ChunkedBody(until: text))
        return try await read(after: received.withLock { $0 }) { bytes in
            guard let body = body.withLock({ $0.take(bytes) }) else { return nil }
            self.received.withLock { $0 = bytes }
            return body
        }
    }

    /// Waits for the first bytes that the other side says.
    public func beginning() async throws -> String {
        try await read { $0.isEmpty ? nil : String(decoding: $0, as: UTF8.self) }
    }

    /// Waits until the other side closes the connection, and returns all that it said before.
    public func rest() async throws -> String {
        try await read(atEnd: { String(decoding: $0, as: UTF8.self) }, { _ in nil })
    }

    /// Reads until what came makes something; on a thread of its own, since it blocks.
    private func read<Value: Sendable>(
        after before: [UInt8] = [], atEnd: @escaping @Sendable ([UInt8]) -> Value? = { _ in nil },
        _ make: @escaping @Sendable ([UInt8]) -> Value?
    ) async throws -> Value {
        let open = descriptor.withLock { $0 } ?? -1
        return try await withCheckedThrowingContinuation { continuation in
            Thread {
                var bytes = before
                var buffer = [UInt8](repeating: 0, count: 65_536)
                if let value = make(bytes) { return continuation.resume(returning: value) }
                var isWide = false
                while true {
                    if !isWide, bytes.count - before.count > buffer.count {
                        isWide = true
                        Self.widen(open)
                    }
                    let count = recv(open, &buffer, buffer.count, 0)
                    if count < 0 && errno == EINTR { continue }
                    if count == 0, let value = atEnd(bytes) { return continuation.resume(returning: value) }
                    guard count > 0 else { break }
                    bytes += buffer[..<count]
                    if let value = make(bytes) { return continuation.resume(returning: value) }
                }
                let said = String(decoding: bytes.prefix(500), as: UTF8.self)
                continuation.resume(throwing: Broken(description: "no whole answer came, only: \(said)"))
            }.start()
        }
    }

    /// Has the system take much at once for who catches up. With a receive buffer that is smaller than a segment, a sender
    /// may send every piece only after a wait of 0.2 s (RFC 9293, section 3.8.6.2.1).
    private static func widen(_ descriptor: Int32) {
        var receiveBuffer: Int32 = 1 << 20
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The status, the head in lower case, and what came of the body; nil while the head isn't whole.
    private static func parts(of bytes: [UInt8]) -> (status: Int, head: String, body: ArraySlice<UInt8>)? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).lowercased()
        guard let status = head.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else { return nil }
        return (status, head, bytes[end.upperBound...])
    }
}

/// A body that is sent in chunks (RFC 9112, section 7.1), and a text that it is read up to.
private struct ChunkedBody: Sendable {
    private let wanted: [UInt8]
    private var body: [UInt8] = []
    /// How far the bytes were taken.
    private var next = 0
    /// What is left of a chunk.
    private var left = 0
    /// What is left of the line end after it.
    private var skipped = 0
    private var isBegun = false
    private static let lineEnd = Array("\r\n".utf8)

    init(until text: String) { wanted = Array(text.utf8) }

    /// Takes all bytes that came so far. Returns the body as soon as the text is in it.
    mutating func take(_ bytes: [UInt8]) -> [UInt8]? {
        if !isBegun {
            guard let head = bytes.firstRange(of: Self.lineEnd + Self.lineEnd) else { return nil }
            (isBegun, next) = (true, head.upperBound)
        }
        let searched = max(0, body.count - wanted.count)
        while next < bytes.count {
            if left > 0 {
                let part = bytes[next...].prefix(left)
                body += part
                (next, left) = (next + part.count, left - part.count)
            } else if skipped > 0 {
                let count = min(skipped, bytes.count - next)
                (next, skipped) = (next + count, skipped - count)
            } else {
                guard let end = bytes[next...].firstRange(of: Self.lineEnd),
                    let size = Int(String(decoding: bytes[next..<end.lowerBound], as: UTF8.self), radix: 16)
                else { break }
                (next, left, skipped) = (end.upperBound, size, Self.lineEnd.count)
            }
        }
        return body[searched...].firstRange(of: wanted) == nil ? nil : body
    }
}
