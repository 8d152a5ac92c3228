#if canImport(Network)
    import Dispatch
    import Foundation
    import Network
    import Synchronization

    /// What Apple's systems say about the device's networks, and the time that they give an app in the background.
    public struct SystemSurroundings: Surroundings {
        public init() {}

        public func networkChanges() -> AsyncStream<Void> {
            let (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            let monitor = NWPathMonitor()
            let last = Mutex<NWPath?>(nil)
            monitor.pathUpdateHandler = { path in
                // The first one is the network that there is.
                let isNew = last.withLock { last in
                    defer { last = path }
                    return last.map { $0 != path } ?? false
                }
                if isNew, path.status == .satisfied { change.yield(()) }
            }
            change.onTermination = { _ in monitor.cancel() }
            monitor.start(queue: DispatchQueue(label: "quartet.network"))
            return changes
        }

        public func stayAwake(_ reason: String, while body: @Sendable () async -> Void) async {
            #if os(macOS)
                await body()
            #else
                let end = DispatchSemaphore(value: 0)
                // The system lets the app go on until this returns, or calls it once more when the time is over.
                ProcessInfo.processInfo.performExpiringActivity(withReason: reason) { isExpired in
                    if isExpired { end.signal() } else { end.wait() }
                }
                await body()
                end.signal()
            #endif
        }
    }

    extension Connection {
        /// What the system says.
        public static var systemSurroundings: (any Surroundings)? { SystemSurroundings() }
    }
#else
    extension Connection {
        /// This system says nothing.
        public static var systemSurroundings: (any Surroundings)? { nil }
    }
#endif
