package import Logging
package import Postgres
package import QuartetVocabulary
import ServiceLifecycle
import Synchronization

/// The process's one LISTEN connection. It says where to look, never what happened: a lost, late or repeated ring costs
/// only time, because every reader also looks by itself.
///
/// After each (re)connect all doorbells count as rung, because some may have been missed: listen, then read, then wait.
package final class Doorbells: Service, Sendable {
    private struct Registration: Sendable {
        let channel: String
        let ring: @Sendable (String?) -> Void
    }

    private let configuration: Configuration
    private let logger: Logger
    private let registrations = Mutex<[Registration]>([])
    private let connectionObservers = Mutex<[@Sendable ((any Error)?) -> Void]>([])

    package init(configuration: Configuration, logger: Logger) {
        self.configuration = configuration.named("doorbells")
        self.logger = logger
    }

    /// Calls `ring` on the listener's thread with each payload of the channel, and with nil when the channel counts as
    /// rung. Register before `run()`.
    func onRing(of channel: String, _ ring: @escaping @Sendable (String?) -> Void) {
        registrations.withLock { $0.append(Registration(channel: channel, ring: ring)) }
    }

    /// Calls `ring` on the listener's thread when there may be something new in a log. Register before `run()`.
    package func onRing(of log: LogName, _ ring: @escaping @Sendable () -> Void) {
        onRing(of: log.channel) { _ in ring() }
    }

    /// Calls `observer` on the listener's thread with nil when the connection is made, and with the reason when it is
    /// lost. Register before `run()`.
    package func onConnection(_ observer: @escaping @Sendable ((any Error)?) -> Void) {
        connectionObservers.withLock { $0.append(observer) }
    }

    /// Rings `bell` for the partitions that a log's doorbell names.
    func connect(_ bell: Bell, to log: Log) {
        onRing(of: log.name.channel) { payload in
            let partitions = payload.flatMap { Self.partitions(from: $0, of: log) }
            bell.ring { rings in
                if let partitions { rings.partitions.formUnion(partitions) } else { rings.all = true }
            }
        }
    }

    /// Listens until cancelled or shut down.
    package func run() async throws {
        let registrations = registrations.withLock { $0 }
        let observers = connectionObservers.withLock { $0 }
        let channels = Set(registrations.map(\.channel))
        guard !channels.isEmpty else { return try await gracefulShutdown() }
        let (logger, metrics) = (logger, DoorbellMetrics(channels: channels))
        let listener = Listener(configuration: configuration, channels: channels.sorted(), logger: logger) { event in
            switch event {
            case .notification(let channel, let payload):
                metrics.rang(channel)
                for registration in registrations where registration.channel == channel { registration.ring(payload) }
            case .connected:
                for observer in observers { observer(nil) }
                for registration in registrations { registration.ring(nil) }
            case .lost(let error):
                metrics.lost()
                for observer in observers { observer(error) }
                logger.warning(
                    "lost the listening connection; doorbells are missed until it is back",
                    metadata: ["error": "\(error)"])
            }
        }
        try await cancelWhenGracefulShutdown { try await listener.run() }
    }

    /// The partitions that a payload such as `0,3` names. Anybody can ring with anything, so for a payload that isn't a
    /// list of this log's partitions it returns nil: look at all of them.
    static func partitions(from payload: String, of log: Log) -> Set<Partition>? {
        var partitions: Set<Partition> = []
        for part in payload.split(separator: ",", omittingEmptySubsequences: false) {
            guard let number = Int32(part), 0..<log.partitionCount ~= number else { return nil }
            partitions.insert(Partition(number))
        }
        return partitions
    }

    static func payload(for partitions: some Sequence<Partition>) -> String {
        partitions.map(\.description).joined(separator: ",")
    }
}
