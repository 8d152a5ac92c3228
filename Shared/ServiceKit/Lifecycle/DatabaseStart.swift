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
            try await check.waiting(for: "the database", logger: logger, metadata: ["database": "\(configuration)"]) {
                try await version.verify(configuration)
            }
        } catch is CancellationError {
            return
        }
        // The services' own checks come first: until there are any, the process would be ready with the database alone.
        let services = try services()
        check.report(.ready)
        logger.info("running")
        // It is shut down with the group around it.
        try await ServiceGroup(configuration: .init(naming: services, logger: logger.quiet)).run()
    }
}

extension Health.Check {
    /// Repeats `body` until it succeeds, with growing pauses of at most five seconds. Warns once about each problem and
    /// reports it.
    /// - Throws: `CancellationError` if the service is stopped meanwhile.
    func waiting<Value: Sendable>(
        for subject: String, logger: Logger, metadata: Logger.Metadata = [:],
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await cancelWhenGracefulShutdown {
            var attempt = 0
            var last: String?
            while true {
                do { return try await body() } catch {
                    try Task.checkCancellation()
                    attempt += 1
                    let problem = error.advice
                    report(.notReady(problem))
                    if last != problem { logger.warning("waiting for \(subject): \(problem)", metadata: metadata) }
                    last = problem
                }
                try await Task.sleep(for: Backoff.reconnect.delay(attempt: attempt))
            }
        }
    }
}
