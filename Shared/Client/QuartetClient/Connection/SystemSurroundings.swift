import Foundation

/// Whether a process has notifications of its own.
enum AppBundle {
    /// The system ends any other process that asks for them: a command-line tool, a service, or tests without an app.
    static func hasNotifications(_ bundle: URL, identifier: String?) -> Bool {
        identifier != nil && ["app", "appex"].contains(bundle.pathExtension)
    }
}

#if canImport(Network)
    import Dispatch
    import Network
    import Synchronization
    #if canImport(UserNotifications)
        import UserNotifications
    #endif

    /// What Apple's systems say about the device's networks, the time that they give an app in the background, and the notifications that
    /// they show for it, once its person has allowed these.
    public struct SystemSurroundings: Surroundings {
        private let words: @Sendable (UnsentChange) -> String?

        /// - Parameter words: What a notification of an urgent change says, which shows on a locked device, too; nil for no notification.
        public init(words: @escaping @Sendable (UnsentChange) -> String? = { Texts().sentence($0, name: nil) }) {
            self.words = words
        }

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

        public func tell(_ change: UnsentChange, after delay: Duration, isLoud: Bool) async {
            #if canImport(UserNotifications) && !os(tvOS)
                guard let center = Self.center, let body = words(change) else { return }
                let content = UNMutableNotificationContent()
                content.body = body
                content.threadIdentifier = Self.thread
                if isLoud { content.sound = .default }
                let trigger =
                    delay > .zero
                    ? UNTimeIntervalNotificationTrigger(timeInterval: delay / .seconds(1), repeats: false) : nil
                let request = UNNotificationRequest(
                    identifier: Self.identifier(change.id), content: content, trigger: trigger)
                // Where notifications aren't allowed, the card says it.
                do { try await center.add(request) } catch {}
            #endif
        }

        public func withdraw(_ change: UnsentChange.ID) async {
            #if canImport(UserNotifications) && !os(tvOS)
                guard let center = Self.center else { return }
                center.removePendingNotificationRequests(withIdentifiers: [Self.identifier(change)])
                center.removeDeliveredNotifications(withIdentifiers: [Self.identifier(change)])
            #endif
        }

        /// The `threadIdentifier` of its notifications, by which an app's delegate knows them.
        public static let thread = "quartet.unsent"

        private static func identifier(_ change: UnsentChange.ID) -> String { "\(thread).\(change)" }

        #if canImport(UserNotifications) && !os(tvOS)
            private static var center: UNUserNotificationCenter? {
                let bundle = Bundle.main
                guard AppBundle.hasNotifications(bundle.bundleURL, identifier: bundle.bundleIdentifier) else {
                    return nil
                }
                return UNUserNotificationCenter.current()
            }
        #endif
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
