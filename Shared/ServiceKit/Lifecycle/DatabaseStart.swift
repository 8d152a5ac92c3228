import Logging
import Postgres
import ServiceLifecycle

/// Waits for a database that the service can work with, then runs the service.
///
/// Anything wrong with the database at the start can be repaired while the process waits: somebody starts the server,
/// creates the roles or applies the migrations. So it never gives up. It warns once about what is wrong and what to do,
/// reports the same to the health check, and looks again with growing pauses of at most five seconds.
struct DatabaseStart: Service {
    let version: SchemaVersion
    let configuration: Postgres.Configuration
    let check: Health.Check
    let logger: Logger
    let services: @Sendable () throws -> [any Service]

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown { try await waitForDatabase() }
        } catch is CancellationError {
            return
        }
        let services = try services()
        logger.info("running")
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        // It is shut down with the group around it.
        try await ServiceGroup(services: services, logger: quiet).run()
    }

    private func waitForDatabase() async throws {
        var attempt = 0
        var saidLast: String?
        while true {
            do {
                try await version.verify(configuration)
                check.report(.ready)
                return
            } catch {
                try Task.checkCancellation()
                attempt += 1
                let problem = (error as? PostgresError)?.advice ?? "\(error)"
                check.report(.notReady(problem))
                if saidLast != problem {
                    logger.warning("waiting for the database: \(problem)", metadata: ["database": "\(configuration)"])
                }
                saidLast = problem
            }
            try await Task.sleep(for: Backoff.reconnect.delay(attempt: attempt))
        }
    }
}
