import Logging
import ServiceKit
import ServiceLifecycle

/// What serves apps: runs it until told to stop, then drains, and then stops it.
struct Draining: Service {
    /// Stopped in reverse order.
    let services: [any Service]
    let drain: Drain
    let time: Duration
    let logger: Logger

    func run() async throws {
        let group = ServiceGroup(configuration: .init(naming: services, logger: logger))
        // Detached, because a task within this one would be shut down with it, before it has drained.
        let serving = Task.detached { try await group.run() }
        try await withTaskCancellationHandler {
            try await withGracefulShutdownHandler {
                try await serving.value
            } onGracefulShutdown: {
                Task {
                    await drain.run(over: time)
                    await group.triggerGracefulShutdown()
                }
            }
        } onCancel: {
            serving.cancel()
        }
    }
}
