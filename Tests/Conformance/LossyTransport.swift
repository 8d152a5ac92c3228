import QuartetClient
import Synchronization

/// A transport that doesn't reach the server every fourth time.
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
        guard number % 4 != 0 else { throw .unreachable("every fourth request is lost") }
    }
}
