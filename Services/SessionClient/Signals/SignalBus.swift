import Logging
import Metrics
import Postgres
import QuartetVocabulary
import ServiceLifecycle
import Synchronization

/// Carries signals between edge processes, in the payloads of notifications.
///
/// It has a connection of its own to send and one to receive: a notification takes a lock of the whole cluster until its
/// transaction ends, so signals never ride with doorbells or commits. While one statement is under way the next one's signals
/// gather; nothing waits for a timer, and nothing is sent again.
final class SignalBus: Service, Sendable {
    static let channel = "session_client.signals"

    private let configuration: Configuration
    private let keys: ServerKeys
    private let now: @Sendable () -> Instant
    private let deliver: @Sendable ([Signal]) -> Void
    private let logger: Logger
    private let outbox = Mutex(SignalOutbox())
    private let (wake, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    private let sent = Counter(label: "quartet_signals_total", dimensions: [("outcome", "sent")])
    private let dropped = Counter(label: "quartet_signals_total", dimensions: [("outcome", "dropped")])
    private let received = Counter(label: "quartet_signals_total", dimensions: [("outcome", "received")])
    private let refused = Counter(label: "quartet_signal_payloads_refused_total")

    /// - Parameters:
    ///   - now: The database's clock.
    ///   - deliver: Takes the signals of all edge processes, this one's included, on the listener's thread. Must not block.
    init(
        configuration: Configuration, keys: ServerKeys, now: @escaping @Sendable () -> Instant, logger: Logger,
        deliver: @escaping @Sendable ([Signal]) -> Void
    ) {
        self.configuration = configuration.named("signals")
        (self.keys, self.now, self.deliver, self.logger) = (keys, now, deliver, logger)
    }

    /// Sends a signal soon, unless a newer one supersedes it. Never waits.
    func send(_ signal: Signal) {
        let lost = outbox.withLock { $0.put(signal) }
        if lost > 0 { dropped.increment(by: lost) }
        waker.yield()
    }

    /// Sends and receives until cancelled or shut down.
    func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { try await self.listen() }
                group.addTask { await self.notify() }
            }
        }
    }

    private func listen() async throws {
        let opener = Mutex(SignalOpener(keys: keys))
        let listener = Listener(configuration: configuration, channels: [Self.channel], logger: logger) { event in
            switch event {
            case .notification(_, let payload):
                guard let text = opener.withLock({ $0.open(payload, now: self.now()) }),
                    let signals = Signal.decode(text)
                else { return self.refused.increment() }
                self.received.increment(by: signals.count)
                self.deliver(signals)
            case .connected: break
            case .lost(let error):
                self.logger.warning(
                    "lost the connection that receives signals; they are missed until it is back",
                    metadata: ["error": "\(error)"])
            }
        }
        try await listener.run()
    }

    /// Sends on one connection after another.
    private func notify() async {
        var sealer = SignalSealer(keys: keys, edge: .new())
        var attempt = 0
        while !Task.isCancelled {
            let begun = ContinuousClock.now
            do {
                let connection = try await Connection.connect(configuration, logger: logger)
                do { try await notify(on: connection, &sealer) } catch {
                    await connection.close()
                    throw error
                }
                await connection.close()
            } catch {
                guard !Task.isCancelled else { return }
                attempt = Backoff.reconnect.attempt(after: attempt, begun: begun)
                logger.warning(
                    "lost the connection that sends signals; they are dropped until it is back",
                    metadata: ["error": "\(error)"])
                try? await Task.sleep(for: Backoff.reconnect.delay(attempt: attempt))
            }
        }
    }

    private func notify(on connection: Connection, _ sealer: inout SignalSealer) async throws {
        for await _ in wake {
            while true {
                let (texts, old) = outbox.withLock { $0.take(now: now()) }
                if old > 0 { dropped.increment(by: old) }
                guard !texts.isEmpty else { break }
                var payloads: [String] = []
                for text in texts { payloads.append(try sealer.seal(text, at: now())) }
                _ = try await connection.run { [payloads] database in
                    try database.execute("SELECT pg_notify(\(Self.channel), p) FROM unnest(\(payloads)) AS u(p)")
                }
                sent.increment(by: payloads.count)
            }
        }
    }
}
