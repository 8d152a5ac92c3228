import QuartetClient
import Synchronization

/// A way to the server that isn't there each fourth time that it is asked for.
final class LossyTransport: Transport {
    private let inner: any Transport
    private let uses = Mutex(0)

    init(_ inner: any Transport) { self.inner = inner }

    func send(_ request: TransportRequest) async throws -> TransportReply {
        try pass()
        return try await inner.send(request)
    }

    func open(_ request: StreamRequest) async throws -> OpenedStream {
        try pass()
        return try await inner.open(request)
    }

    private func pass() throws(TransportError) {
        let number = uses.withLock { uses in
            uses += 1
            return uses
        }
        guard number % 4 != 0 else { throw .unreachable("it is this way's fourth time") }
    }
}
