import CoreMetrics
import Logging
import Postgres
public import ServiceLifecycle
import Synchronization
public import Vocabulary

/// The database's clock as this process knows it: the one clock that all processes share. How far this machine's is from it
/// is measured now and then, and said when it is more than a minute.
public final class DatabaseClock: Service, Sendable {
    private struct State: Sendable {
        /// How far this machine's clock is ahead of the database's.
        var offset = Interval(microseconds: 0)
        var isMeasured = false
        var isApart = false
    }

    private let configuration: Configuration
    private let logger: Logger
    private let state = Mutex(State())
    private let gauge = Gauge(label: "quartet_clock_offset_seconds")
    private static var limit: Interval { .minutes(1) }
    private static var pause: Duration { .seconds(30) }
    /// Who had to wait longer for the answer doesn't know when it was made.
    private static var longestAnswer: Duration { .seconds(1) }

    init(configuration: Configuration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    /// The time by the database's clock, or by this machine's until the first measurement.
    public var now: Instant { .now - state.withLock(\.offset) }

    /// Measures until cancelled or shut down.
    public func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                await self.measure()
                let isMeasured = self.state.withLock(\.isMeasured)
                try await Task.sleep(for: isMeasured ? Self.pause : .seconds(1))
            }
        }
    }

    /// Asks the database for the time, by a connection of its own: none is kept for this. Others say that there is none.
    public func measure() async {
        guard let connection = try? await Connection.connect(configuration, logger: logger) else { return }
        let offset: Interval? = try? await connection.run { database -> Interval? in
            // The first statement of a session takes longer.
            try database.execute("SELECT 1")
            let (begun, before) = (ContinuousClock.now, Instant.now)
            let row = try database.query("SELECT clock_timestamp()").only
            let taken = ContinuousClock.now - begun
            guard let time = try row?.decode(0, as: Instant.self), taken < Self.longestAnswer else { return nil }
            return before + Interval(taken / 2) - time
        }
        await connection.close()
        if let offset { report(offset) }
    }

    private func report(_ offset: Interval) {
        let isApart = offset.microseconds.magnitude > Self.limit.microseconds.magnitude
        let wasApart = state.withLock { state in
            defer { (state.offset, state.isMeasured, state.isApart) = (offset, true, isApart) }
            return state.isApart
        }
        let seconds = Double(offset.microseconds) / 1e6
        gauge.record(seconds)
        guard isApart != wasApart else { return }
        let metadata: Logger.Metadata = ["ahead_seconds": "\(seconds)"]
        if isApart {
            logger.warning("this machine's clock and the database's differ; synchronise them", metadata: metadata)
        } else {
            logger.notice("this machine's clock and the database's agree again", metadata: metadata)
        }
    }
}
