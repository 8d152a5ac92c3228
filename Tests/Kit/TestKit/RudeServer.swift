import Glibc
import Synchronization

/// A server of this machine, over TCP, that takes requests of HTTP/1.1 and of HTTP/2 without encryption and never answers one as it
/// should.
///
/// ```swift
/// let server = try RudeServer(.silent)
/// defer { server.stop() }
/// // … a client of `server.port`
/// ```
public final class RudeServer: Sendable {
    public enum Manner: Sendable, Hashable {
        /// Says nothing.
        case silent
        /// Says nothing after the beginning of its answer; over HTTP/2, nothing at all.
        case halfSilent
        /// Says its answer, of so many bytes, by one byte in 200 ms; over HTTP/2, nothing at all.
        case drip(Int)
        /// Resets the connection.
        case reset
    }

    /// How many requests have arrived.
    public let requests = Observed(0)
    public var port: UInt16 { reserved.number }
    private let manner: Manner
    private let reserved: ReservedPort
    private let listener: Int32
    private let open = Mutex<Set<Int32>>([])

    public init(_ manner: Manner) throws {
        self.manner = manner
        reserved = try ReservedPort()
        listener = try Sockets.listen(at: reserved.number)
        Sockets.start("rude-server") { [self] in
            Sockets.accept(on: listener) { client in
                self.open.withLock { _ = $0.insert(client) }
                Sockets.start("rude-connection") {
                    self.serve(client)
                    self.open.withLock { _ = $0.remove(client) }
                    close(client)
                }
            }
        }
    }

    /// Ends its connections, and accepts no others.
    public func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        open.withLock { for client in $0 { shutdown(client, Int32(SHUT_RDWR)) } }
    }

    private func serve(_ client: Int32) {
        var (received, hasRequest) = ([UInt8](), false)
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(client, &buffer, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            let isNew = received.isEmpty
            received += buffer[..<count]
            let isHTTP2 = received.starts(with: Array("PRI ".utf8))
            // A client of HTTP/2 sends nothing before it has the server's settings: none.
            if isNew, isHTTP2, !Sockets.send([0, 0, 0, 4, 0, 0, 0, 0, 0], to: client) { return }
            guard !hasRequest, isHTTP2 ? Self.hasData(received) : received.contains(Array("\r\n\r\n".utf8)) else {
                continue
            }
            hasRequest = true
            requests.update { $0 += 1 }
            switch manner {
            case .silent: break
            case .halfSilent where isHTTP2, .drip where isHTTP2: break
            case .halfSilent: guard Self.begin(100, to: client) else { return }
            case .drip(let count):
                guard Self.begin(count, to: client) else { return }
                for _ in 1..<count {
                    usleep(200_000)
                    guard Sockets.send([UInt8(ascii: " ")], to: client) else { return }
                }
            case .reset:
                Sockets.reset(client)
                return
            }
        }
    }

    /// Begins an answer over HTTP/1.1, of which it says the first byte.
    /// - Returns: Whether it was sent.
    private static func begin(_ count: Int, to client: Int32) -> Bool {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(count)\r\n\r\n{"
        return Sockets.send(Array(head.utf8)[...], to: client)
    }

    /// Whether a message came on some stream of HTTP/2 (RFC 9113, 4.1: length, type, flags, stream).
    private static func hasData(_ bytes: [UInt8]) -> Bool {
        let preface = 24
        var frame = bytes.dropFirst(preface)
        while frame.count >= 9 {
            let head = Array(frame.prefix(9))
            if head[3] == 0 { return true }
            frame = frame.dropFirst(9 + Int(head[0]) << 16 + Int(head[1]) << 8 + Int(head[2]))
        }
        return false
    }
}
