package import Logging
package import ServiceLifecycle
package import UnixSignals

extension ServiceGroupConfiguration {
    /// Services that logs and errors name by their types. By default each is named by a description of all that it holds, which is
    /// written down at the start whether or not anything is logged.
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
