public import Bus
import Logging
import Postgres
public import ServiceLifecycle
public import Vocabulary

extension ServiceContext {
    /// Opens logs, some of which other services own and may not have made yet: says once what is missing and looks again,
    /// with growing pauses of at most five seconds.
    /// - Throws: `CancellationError` when the service is told to stop meanwhile.
    public func open(_ names: [LogName], reportingTo check: Health.Check) async throws -> [Log] {
        let (database, logger) = (database, logger)
        return try await cancelWhenGracefulShutdown {
            var attempt = 0
            var saidLast: String?
            while true {
                do {
                    return try await Self.open(names, database, logger)
                } catch {
                    try Task.checkCancellation()
                    attempt += 1
                    let problem = (error as? PostgresError)?.advice ?? "\(error)"
                    check.report(.notReady(problem))
                    if saidLast != problem { logger.warning("waiting for the bus: \(problem)") }
                    saidLast = problem
                }
                try await Task.sleep(for: Backoff.reconnect.delay(attempt: attempt))
            }
        }
    }

    private static func open(_ names: [LogName], _ database: Configuration, _ logger: Logger) async throws -> [Log] {
        let connection = try await Connection.connect(database, logger: logger)
        do {
            let logs = try await connection.run { database in try names.map { try Log.open($0, database) } }
            await connection.close()
            return logs
        } catch {
            await connection.close()
            throw error
        }
    }

    /// Runs services until the process is told to stop, then shuts them down, the last one first.
    public func runTogether(_ services: [any Service]) async throws {
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .warning)
        try await ServiceGroup(services: services, logger: quiet).run()
    }
}

extension ServiceContext {
    /// How a consumer of a log works: as configured, and reporting to the process's health. It isn't ready while partitions
    /// rest because nothing gets through, or while the log has forgotten what was not handled here.
    public func consumerSettings(of source: Log) -> ConsumerSettings {
        var consumer = ConsumerSettings(settings)
        let kept = health.check("kept messages of \(source.name)")
        kept.report(.ready)
        consumer.onTruncation = { kept.report($0.map(Health.Condition.notReady) ?? .ready) }
        let handled = health.check("messages of \(source.name)")
        handled.report(.ready)
        consumer.onTrouble = { condition in
            if let resting = condition.resting {
                handled.report(.notReady(resting))
            } else if condition.parked > 0 {
                handled.report(.impaired("\(condition.parked) keys are parked: see :parked"))
            } else {
                handled.report(.ready)
            }
        }
        return consumer
    }
}

extension Doorbells {
    /// Has a check follow the listener's connection: ready while doorbells are heard.
    public func report(to check: Health.Check) {
        onConnection { error in
            check.report(
                error.map { .notReady("the database is out of reach: \(($0 as? PostgresError)?.advice ?? "\($0)")") }
                    ?? .ready)
        }
    }
}
