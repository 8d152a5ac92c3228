#if canImport(Network)
    import Dispatch
    import Foundation
    import Network
    import Synchronization
    #if canImport(UserNotifications)
        import UserNotifications
    #endif

    /// What Apple's systems say about the device's networks, the time that they give an app in the background, and the notifications that
    /// they show for it, once its person has allowed these.
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

        public func tell(_ change: UnsentChange) async {
            #if canImport(UserNotifications) && !os(tvOS)
                let content = UNMutableNotificationContent()
                content.body = Texts().sentence(change, name: nil)
                content.sound = .default
                let request = UNNotificationRequest(
                    identifier: "quartet.unsent.\(change.id)", content: content, trigger: nil)
                // Where notifications aren't allowed, the card says it.
                do { try await UNUserNotificationCenter.current().add(request) } catch {}
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
