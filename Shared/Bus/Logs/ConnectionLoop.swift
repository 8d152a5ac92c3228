import Logging
import Metrics
import Postgres
import ServiceLifecycle

/// Work that lives on a connection's thread: on one connection after another, until its bell is stopped.
struct ConnectionLoop: Sendable {
    let configuration: Configuration
    let backoff: Backoff
    let bell: Bell
    let logger: Logger

    /// - Parameter body: returns when the bell is stopped, and throws what ends the connection. It begins anew on the
    ///   next one, knowing nothing.
    func run(_ body: @escaping @Sendable (Database) throws -> Void) async {
        await withTaskCancellationOrGracefulShutdownHandler {
            var attempt = 0
            while !bell.isStopped {
                let begun = ContinuousClock.now
                do {
                    let connection = try await Connection.connect(configuration, logger: logger)
                    do {
                        try await connection.run(body)
                    } catch {
                        await connection.close()
                        throw error
                    }
                    await connection.close()
                } catch {
                    guard !bell.isStopped else { return }
                    Counter(label: "quartet_reconnects_total").increment()
                    // A connection that worked for a while is no sign of a server in trouble.
                    attempt = ContinuousClock.now - begun > .seconds(1) ? 1 : attempt + 1
                    logger.warning("the connection is lost and made anew", metadata: ["error": "\(error)"])
                    try? await Task.sleep(for: backoff.delay(attempt: attempt))
                }
            }
        } onCancelOrGracefulShutdown: {
            bell.stop()
        }
    }
}
