import Bus
import Postgres
import QuartetVocabulary
import ServiceLifecycle

/// Says in the table `canary_support` that this build knows the commands of canaries. Processes of 0.1.0 don't, so
/// session-client sends none before.
package struct CanarySupport: Service {
    private let schema: String
    private let configuration: Configuration
    private static let pause: Duration = .seconds(5)

    package init(_ bus: DomainBus) {
        (schema, configuration) = (bus.log.name.schema, bus.context.database)
    }

    package func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var isSaid = false
            while true {
                if !isSaid { isSaid = await say() }
                try await Task.sleep(for: isSaid ? .seconds(3600) : Self.pause)
            }
        }
    }

    private func say() async -> Bool {
        do {
            let schema = schema
            _ = try await Connection.with(configuration) { database in
                try database.execute(
                    """
                    INSERT INTO \(unescaped: schema).canary_support (is_known) VALUES (true)
                    ON CONFLICT ON CONSTRAINT canary_support_is_one_row DO NOTHING
                    """)
            }
            return true
        } catch {
            return false
        }
    }
}
