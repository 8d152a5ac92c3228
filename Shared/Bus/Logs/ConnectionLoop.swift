import Logging
import Metrics
import Postgres
import ServiceLifecycle

/// Runs work that lives on a connection's thread, on one connection after another, until its bell is stopped.
struct ConnectionLoop: Sendable {
    let configuration: Configuration
    let backoff: Backoff
    let bell: Bell
    let logger: Logger

    /// - Parameter body: Returns when the bell is stopped, and throws what ends the connection. It starts over on the
    ///   next one.
    func run(_ body: @escaping @Sendable (Database) throws -> Void) async {
        await withTaskCancellationOrGracefulShutdownHandler {
            var attempt = 0
            while !bell.isStopped {
                let begun = ContinuousClock.now
                do {
                    try await Connection.with(configuration, logger: logger, body)
                } catch {
                    guard !bell.isStopped else { return }
                    Counter(label: "quartet_reconnects_total").increment()
                    attempt = backoff.attempt(after: attempt, begun: begun)
                    logger.warning("lost the connection; reconnecting", metadata: ["error": "\(error)"])
                    try? await Task.sleep(for: backoff.delay(attempt: attempt))
                }
            }
        } onCancelOrGracefulShutdown: {
            bell.stop()
        }
    }
}
