public import QuartetClient
import Synchronization

/// Chooses between two ways to the same server: gRPC where it gets through, and HTTP where it doesn't, as behind a proxy that knows
/// nothing else.
///
/// ```swift
/// let http = HTTPTransport(url)
/// let transport = AutoTransport(try GRPCTransport(host: "api.example.org", files: http), else: http)
/// ```
///
/// It stays with the way that worked last. A request that can't have reached the server goes the other way at once; one that may have
/// reached it is its sender's to repeat, under its key, and goes the other way then. Positions in the stream are the same on both.
public final class AutoTransport: Transport {
    private let ways: [any Transport]
    private let current = Mutex(0)

    /// - Parameter first: The one to begin with.
    public init(_ first: any Transport, else second: any Transport) {
        ways = [first, second]
    }

    public func send(_ request: TransportRequest) async throws -> TransportReply {
        try await use { try await $0.send(request) }
    }

    public func open(_ request: StreamRequest) async throws -> OpenedStream {
        try await use { try await $0.open(request) }
    }

    private func use<Result: Sendable>(_ body: (any Transport) async throws -> Result) async throws -> Result {
        let first = current.withLock { $0 }
        do { return try await body(ways[first % ways.count]) } catch let error as TransportError {
            guard error.isLoss else { throw error }
            leave(first)
            guard case .unreachable = error else { throw error }
        }
        let second = first + 1
        do { return try await body(ways[second % ways.count]) } catch let error as TransportError {
            // Neither gets through: the next attempt begins with the one that was preferred.
            if error.isLoss { leave(second) }
            throw error
        }
    }

    /// Goes the other way from now on, unless somebody else has decided so.
    private func leave(_ way: Int) {
        current.withLock { current in if current == way { current += 1 } }
    }
}

extension TransportError {
    /// Whether the way is at fault. What arrived and can't be read is the same on another one.
    fileprivate var isLoss: Bool {
        switch self {
        case .unreachable, .interrupted: true
        case .malformed: false
        }
    }
}
