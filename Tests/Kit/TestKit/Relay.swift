import Foundation
import Glibc
import Synchronization

/// Stands between a client and PostgreSQL, passes everything on, and cuts connections at chosen points: so that a test
/// can lose exactly the answer to a COMMIT.
///
/// ```swift
/// let relay = try Relay(to: cluster.socket)
/// defer { relay.stop() }
/// relay.cut(.answer, to: "COMMIT")
/// // connect to relay.socketFolder; the next COMMIT is done, but its sender never hears of it
/// try await relay.waitForCut()
/// ```
public final class Relay: Sendable {
    /// What gets lost.
    public enum Loss: Sendable, Hashable {
        /// The server gets the request and answers it; the answer never arrives.
        case answer
        /// The request never arrives.
        case request
    }

    private struct Trap: Sendable {
        var loss: Loss
        var bytes: [UInt8]
    }

    private struct State: Sendable {
        var traps: [Trap] = []
        var connections: [Int: (client: Int32, server: Int32)] = [:]
        var nextConnection = 0
        var isStopped = false
        var majorVersion: String?
    }

    /// The folder of its socket; pass it as `host` to libpq. The port is that of the server.
    public let socketFolder: String
    private let server: String
    private let listener: Int32
    private let state = Mutex(State())
    private let cuts = Observed(0)
    private let live = Observed(0)

    /// Starts to listen.
    /// - Parameters:
    ///   - serverFolder: The folder of the server's socket.
    ///   - port: The server's port, which is in its socket's name.
    public init(to serverFolder: String, port: Int = 5432) throws {
        server = "\(serverFolder)/.s.PGSQL.\(port)"
        // An abstract address (unix(7), libpq from 14 on): it is gone with this process, also after kill -9.
        socketFolder = "@quartet-relay-\(TestDatabase.unique())"
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let bound = Self.withAddress("\(socketFolder)/.s.PGSQL.\(port)") { bind(listener, $0, $1) }
        guard bound == 0, listen(listener, 64) == 0 else {
            throw SpawnFailed(description: "the relay can't listen: \(String(cString: strerror(errno)))")
        }
        // Threads keep the relay until it is stopped.
        Sockets.start("relay") { Sockets.accept(on: self.listener, self.connect) }
    }

    /// Cuts the next connection whose client sends `text`.
    /// - Parameters:
    ///   - loss: What gets lost.
    ///   - text: What the client sends, such as `COMMIT`, as it stands in the protocol's bytes: at most 64 bytes. For the
    ///     loss of an answer it is also what the answer contains, as COMMIT's does.
    public func cut(_ loss: Loss, to text: String) {
        state.withLock { $0.traps.append(Trap(loss: loss, bytes: Array(text.utf8))) }
    }

    /// Cuts all connections at once.
    public func cutAll() {
        state.withLock { state in
            for connection in state.connections.values { Sockets.shut(connection) }
        }
    }

    /// Has the server say that it is of another major version, of two digits; nil for its own again.
    public func pretend(majorVersion: String?) {
        state.withLock { $0.majorVersion = majorVersion }
    }

    /// How many connections ran into a trap.
    public var cutCount: Int { cuts.value }

    /// Waits until so many connections have run into a trap.
    public func waitForCut(_ count: Int = 1, within deadline: Duration = .patience) async throws {
        try await cuts.wait("\(count) cut connection(s)", within: deadline) { $0 >= count ? true : nil }
    }

    /// Stops listening and cuts all connections.
    public func stop() {
        let first = state.withLock { state in
            let first = !state.isStopped
            state.isStopped = true
            for connection in state.connections.values { Sockets.shut(connection) }
            return first
        }
        guard first else { return }
        shutdown(listener, Int32(SHUT_RDWR))
    }

    // MARK: Threads

    private func connect(_ client: Int32) {
        let upstream = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        let connected = Self.withAddress(server) { Glibc.connect(upstream, $0, $1) }
        let id = state.withLock { state -> Int? in
            guard connected == 0, !state.isStopped else { return nil }
            state.nextConnection += 1
            state.connections[state.nextConnection] = (client, upstream)
            return state.nextConnection
        }
        guard let id else {
            close(upstream)
            close(client)
            return
        }
        let lost = Observed<[UInt8]?>(nil)
        Sockets.join((client, upstream), as: "relay") { source, target, isRequest in
            self.pass(from: source, to: target, isRequest: isRequest, lost: lost)
        } end: {
            self.forget(id)
        }
    }

    private func pass(from source: Int32, to target: Int32, isRequest: Bool, lost: Observed<[UInt8]?>) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var recent: [UInt8] = []
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            if !isRequest, let request = lost.value {
                // Answers are swallowed from here on, until the server has answered what was asked, for better or worse;
                // then the connection breaks.
                recent = (recent + buffer[..<count]).suffix(65_536 * 2)
                let isAnswered = [request, Array("ROLLBACK".utf8), Array("SERROR".utf8)].contains {
                    recent.contains($0)
                }
                guard isAnswered else { continue }
                cuts.update { $0 += 1 }
                return
            }
            if isRequest {
                let sprung = state.withLock { state -> Trap? in
                    // What came before counts as far as it can be the beginning of the text, not as a whole one: that
                    // may have passed before the trap was set.
                    let index = state.traps.firstIndex {
                        (recent.suffix($0.bytes.count - 1) + buffer[..<count]).contains($0.bytes)
                    }
                    return index.map { state.traps.remove(at: $0) }
                }
                recent = (recent + buffer[..<count]).suffix(64)
                switch sprung?.loss {
                case .request:
                    cuts.update { $0 += 1 }
                    return
                case .answer:
                    lost.update { $0 = (sprung?.bytes ?? []) }
                case nil: break
                }
            }
            if !isRequest, let version = state.withLock(\.majorVersion) {
                Self.replaceVersion(in: &buffer, count, with: Array(version.utf8))
            }
            guard Sockets.send(buffer[..<count], to: target) else { return }
        }
    }

    /// The parameter that a server reports at the start, as name and value with a zero behind each.
    private static func replaceVersion(in buffer: inout [UInt8], _ count: Int, with version: [UInt8]) {
        guard let name = buffer[..<count].firstRange(of: Array("server_version\0".utf8)),
            name.upperBound + version.count <= count
        else { return }
        buffer.replaceSubrange(name.upperBound..<name.upperBound + version.count, with: version)
    }

    private func forget(_ id: Int) {
        state.withLock { state in
            guard let connection = state.connections.removeValue(forKey: id) else { return }
            close(connection.client)
            close(connection.server)
        }
    }

    /// The address of a path, or of an abstract name, which begins with `@`.
    private static func withAddress(_ name: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8.prefix(MemoryLayout.size(ofValue: address.sun_path) - 1))
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 } else { bytes.append(0) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path) + bytes.count
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(length)) }
        }
    }
}
