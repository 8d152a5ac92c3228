import Foundation
import Glibc
import Synchronization

/// Stands between apps and a server of this machine, over TCP, and once it is rough does to connections what a bad network does:
/// some are refused, some wait so that later ones overtake them, some are silent, and most end sooner or later, in the middle of
/// what was being said, or with a reset.
///
/// ```swift
/// let network = try RoughNetwork(to: port, random: random.fork())
/// defer { network.stop() }
/// network.roughen()
/// // …
/// network.calm()
/// ```
public final class RoughNetwork: Sendable {
    /// How often it did what.
    public struct Counts: Sendable, Hashable, CustomStringConvertible {
        public var refused = 0
        public var overtaken = 0
        public var delayed = 0
        public var silenced = 0
        public var halved = 0
        public var dropped = 0
        public var reset = 0

        public var description: String {
            "\(refused) refused, \(overtaken) overtaken, \(delayed) delayed, \(silenced) silent, \(halved) halved, "
                + "\(dropped) dropped, \(reset) reset"
        }
    }

    private enum Fate { case pass, delay, silence, halve, drop, reset }

    private struct State: Sendable {
        var random: SeededRandom
        var isRough = false
        /// What a client sends before its connection is reset, and the connections on which that was sent.
        var trap: [UInt8]?
        var trapped: Set<Int> = []
        /// Nil while it is stopped.
        var listener: Int32?
        var counts = Counts()
        var connections: [Int: (client: Int32, server: Int32)] = [:]
        var nextConnection = 0
    }

    /// Where apps connect.
    public var port: UInt16 { reserved.number }
    private let reserved: ReservedPort
    private let server: UInt16
    private let state: Mutex<State>

    /// Starts to listen. Until it is rough, it passes everything on.
    public init(to server: UInt16, random: SeededRandom) throws {
        self.server = server
        reserved = try ReservedPort()
        state = Mutex(State(random: random))
        try start()
    }

    public var counts: Counts { state.withLock { $0.counts } }

    public func roughen() { state.withLock { $0.isRough = true } }

    /// Resets the connection on which a client next sends `text`, as soon as the server answers: of the answer nothing arrives.
    /// - Parameter text: What it sends at once, such as the beginning of a request.
    public func resetAnswer(to text: String) { state.withLock { $0.trap = Array(text.utf8) } }

    /// Cuts all connections for the last time, and passes everything on from now on.
    public func calm() {
        state.withLock { $0.isRough = false }
        cutAll()
    }

    /// Cuts all connections.
    public func cutAll() {
        state.withLock { state in
            for connection in state.connections.values { Sockets.shut(connection) }
        }
    }

    /// Cuts all connections, and refuses others from then on.
    public func stop() {
        let listener = state.withLock { state in
            defer { state.listener = nil }
            return state.listener
        }
        // Before those that are there: none comes in between.
        if let listener { shutdown(listener, Int32(SHUT_RDWR)) }
        cutAll()
    }

    /// Listens again after ``stop()``.
    public func start() throws {
        let listener = try Sockets.listen(at: port)
        state.withLock { $0.listener = listener }
        Sockets.start("rough-network") { Sockets.accept(on: listener, self.accept) }
    }

    // MARK: Threads

    private func accept(_ client: Int32) {
        let pause = state.withLock { state -> Duration? in
            guard state.isRough else { return .zero }
            switch Int.random(in: 0..<20, using: &state.random) {
            case 0, 1:
                state.counts.refused += 1
                return nil
            case 2..<7:
                state.counts.overtaken += 1
                return .milliseconds(Int.random(in: 50...800, using: &state.random))
            default: return .zero
            }
        }
        guard let pause else {
            close(client)
            return
        }
        // A thread of its own: others connect meanwhile.
        Sockets.start("rough-connection") { self.connect(client, after: pause) }
    }

    private func connect(_ client: Int32, after pause: Duration) {
        Self.sleep(pause)
        let upstream = Sockets.make()
        let connected = Sockets.withAddress(server) { Glibc.connect(upstream, $0, $1) }
        let id = state.withLock { state -> Int? in
            guard connected == 0, state.listener != nil else { return nil }
            state.nextConnection += 1
            state.connections[state.nextConnection] = (client, upstream)
            return state.nextConnection
        }
        guard let id else {
            close(upstream)
            close(client)
            return
        }
        Sockets.join((client, upstream), as: "rough") { source, target, isRequest in
            self.pass(from: source, to: target, of: id, isRequest: isRequest)
        } end: {
            self.forget(id)
        }
    }

    private func pass(from source: Int32, to target: Int32, of id: Int, isRequest: Bool) {
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(source, &buffer, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            let isTrapped = isTrapped(by: buffer[..<count], of: id, isRequest: isRequest)
            let (fate, pause) = isTrapped ? (.reset, .zero) : next()
            Self.sleep(pause)
            switch fate {
            case .pass, .delay: guard Sockets.send(buffer[..<count], to: target) else { return }
            case .halve:
                _ = Sockets.send(buffer[..<(count / 2)], to: target)
                return
            case .silence, .drop: return
            case .reset:
                for socket in [source, target] { Sockets.reset(socket) }
                return
            }
        }
    }

    private func isTrapped(by bytes: ArraySlice<UInt8>, of id: Int, isRequest: Bool) -> Bool {
        state.withLock { state in
            if isRequest, let trap = state.trap, bytes.contains(trap) {
                state.trap = nil
                state.trapped.insert(id)
            }
            guard !isRequest, state.trapped.remove(id) != nil else { return false }
            state.counts.reset += 1
            return true
        }
    }

    private func next() -> (Fate, Duration) {
        state.withLock { state in
            guard state.isRough else { return (.pass, .zero) }
            switch Int.random(in: 0..<100, using: &state.random) {
            case 0..<10:
                state.counts.delayed += 1
                return (.delay, .milliseconds(Int.random(in: 5...200, using: &state.random)))
            case 10:
                state.counts.silenced += 1
                return (.silence, .seconds(3))
            case 11..<15:
                state.counts.halved += 1
                return (.halve, .zero)
            case 15..<19:
                state.counts.dropped += 1
                return (.drop, .zero)
            case 19..<22:
                state.counts.reset += 1
                return (.reset, .zero)
            default: return (.pass, .zero)
            }
        }
    }

    private func forget(_ id: Int) {
        state.withLock { state in
            guard let connection = state.connections.removeValue(forKey: id) else { return }
            close(connection.client)
            close(connection.server)
        }
    }

    private static func sleep(_ pause: Duration) {
        guard pause > .zero else { return }
        Thread.sleep(forTimeInterval: pause / .seconds(1))
    }
}
