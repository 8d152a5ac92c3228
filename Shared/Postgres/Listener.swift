public import Logging
import Synchronization

/// Listens on channels: reconnects with back-off, and probes its connection, because one that died silently looks like
/// one on which nothing happens.
public final class Listener: Sendable {
    public enum Event: Sendable {
        case notification(channel: String, payload: String)
        /// All channels are listened to on a new connection. Earlier notifications may have been missed.
        case connected
        case lost(PostgresError)
    }

    private let configuration: Configuration
    private let channels: [String]
    private let logger: Logger?
    private let probeInterval: Duration
    private let backoff: Backoff
    private let handler: @Sendable (Event) -> Void

    /// - Parameter handler: Called on the listener's thread. Must not block.
    public init(
        configuration: Configuration, channels: [String], logger: Logger? = nil,
        probeInterval: Duration = .seconds(10), backoff: Backoff = .reconnect,
        handler: @escaping @Sendable (Event) -> Void
    ) {
        self.configuration = configuration
        self.channels = channels
        self.logger = logger
        self.probeInterval = probeInterval
        self.backoff = backoff
        self.handler = handler
    }

    /// Listens until the task is cancelled.
    public func run() async throws {
        let wake = try Wake()
        let stopped = Mutex(false)
        await withTaskCancellationHandler {
            var attempt = 0
            while !Task.isCancelled {
                let begun = ContinuousClock.now
                do {
                    try await Connection.with(configuration, logger: logger) { [self] database in
                        try listen(database, wake: wake) { stopped.withLock { $0 } }
                    }
                } catch {
                    if Task.isCancelled { return }
                    handler(.lost(error as? PostgresError ?? .connectionLost("\(error)")))
                    attempt = backoff.attempt(after: attempt, begun: begun)
                    try? await Task.sleep(for: backoff.delay(attempt: attempt))
                }
            }
        } onCancel: {
            stopped.withLock { $0 = true }
            wake.signal()
        }
    }

    private func listen(_ database: Database, wake: Wake, until isStopped: () -> Bool) throws {
        for channel in channels { try database.execute("LISTEN \(identifier: channel)") }
        handler(.connected)
        var nextProbe = ContinuousClock.now + probeInterval
        while !isStopped() {
            for notification in database.takeNotifications() {
                handler(.notification(channel: notification.channel, payload: notification.payload))
            }
            database.waitForInput(orWake: wake, until: nextProbe)
            guard database.consumeInput() else { throw database.lost() }
            if ContinuousClock.now >= nextProbe {
                // Throws when the answer is overdue.
                try database.execute("SELECT")
                nextProbe = .now + probeInterval
            }
        }
    }
}
