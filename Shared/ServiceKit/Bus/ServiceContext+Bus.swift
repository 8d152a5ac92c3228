package import Bus
import Logging
import Postgres
package import QuartetVocabulary
package import ServiceLifecycle

extension ServiceContext {
    /// Opens logs, some of which belong to services that may not be migrated yet. While one is missing, it warns once
    /// and looks again with growing pauses of at most five seconds.
    /// - Throws: `CancellationError` if the service is stopped meanwhile.
    package func open(_ names: [LogName], reportingTo check: Health.Check) async throws -> [Log] {
        try await check.waiting(for: "the bus", logger: logger) { [database, logger] in
            try await Connection.with(database, logger: logger) { database in
                try names.map { try Log.open($0, database) }
            }
        }
    }

    /// Runs services until the process is stopped, then shuts them down in reverse order.
    package func runTogether(_ services: [any Service]) async throws {
        try await ServiceGroup(configuration: .init(naming: services, logger: logger.quiet)).run()
    }
}

extension ServiceContext {
    /// A log's consumer, as configured and reporting to the process's health. It isn't ready while partitions rest, or
    /// while the log lacks messages that were not handled here.
    /// - Parameter isUrgent: If false, the process stays ready then, and only says so.
    package func consumerSettings(of source: Log, isUrgent: Bool = true) -> ConsumerSettings {
        let trouble = isUrgent ? Health.Condition.notReady : Health.Condition.impaired
        var consumer = ConsumerSettings(settings)
        let kept = health.check("kept messages of \(source.name)")
        kept.report(.ready)
        consumer.onTruncation = { kept.report($0.map(trouble) ?? .ready) }
        let handled = health.check("messages of \(source.name)")
        handled.report(.ready)
        consumer.onTrouble = { condition in
            if let resting = condition.resting {
                handled.report(trouble(resting))
            } else if let waiting = condition.waiting {
                handled.report(.impaired(waiting))
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
    /// Makes a check follow the listener's connection.
    package func report(to check: Health.Check) {
        onConnection { error in
            check.report(
                error.map { .notReady("can't reach the database: \($0.advice)") } ?? .ready)
        }
    }
}
