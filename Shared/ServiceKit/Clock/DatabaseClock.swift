import CoreMetrics
package import Logging
package import Postgres
package import QuartetVocabulary
import ServiceLifecycle
import Synchronization

/// The database's clock, which all processes share, as this process knows it. It measures now and then how far this
/// machine's clock is off, and warns if it is more than a minute.
package final class DatabaseClock: Service, Sendable {
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
    /// From how much on a machine's clock is wrong.
    package static var limit: Interval { .minutes(1) }
    private static var pause: Duration { .seconds(30) }
    /// An answer that takes longer is too imprecise.
    private static var longestAnswer: Duration { .seconds(1) }

    init(configuration: Configuration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    /// The time by the database's clock, or by this machine's until the first measurement.
    package var now: Instant { .now - state.withLock(\.offset) }

    /// Measures until cancelled or shut down.
    package func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                await self.measure()
                let isMeasured = self.state.withLock(\.isMeasured)
                try await Task.sleep(for: isMeasured ? Self.pause : .seconds(1))
            }
        }
    }

    /// Asks the database for the time. Does nothing if there is no connection; others report that.
    package func measure() async {
        guard let offset = try? await Self.offset(configuration, logger: logger) else { return }
        report(offset)
    }

    /// How far this machine's clock is ahead of the database's, asked on a connection that is opened and closed for it;
    /// nil if the answer took too long to be precise.
    package static func offset(_ configuration: Configuration, logger: Logger) async throws -> Interval? {
        try await Connection.with(configuration, logger: logger) { database in
            // A session's first statement takes longer.
            try database.execute("SELECT 1")
            let (begun, before) = (ContinuousClock.now, Instant.now)
            let row = try database.query("SELECT clock_timestamp()").only
            let taken = ContinuousClock.now - begun
            guard let time = try row?.decode(0, as: Instant.self), taken < Self.longestAnswer else { return nil }
            return before + Interval(taken / 2) - time
        }
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
