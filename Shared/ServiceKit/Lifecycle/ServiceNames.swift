package import Logging
package import ServiceLifecycle
package import UnixSignals

extension ServiceGroupConfiguration {
    /// Services that logs and errors name by their types. Unnamed, they are named by all that they hold: keys, too, and it takes longer to
    /// write down than all else at the start.
    /// - Parameters:
    ///   - services: In the order in which they start; they are shut down in reverse.
    ///   - gracefulShutdownSignals: The signals that shut them down; none for a group within another.
    ///   - logger: What the group logs to.
    package init(naming services: [any Service], gracefulShutdownSignals: [UnixSignal] = [], logger: Logger) {
        self.init(
            services: services.map { ServiceConfiguration(service: $0, serviceName: "\(type(of: $0))") },
            gracefulShutdownSignals: gracefulShutdownSignals, logger: logger)
    }
}
