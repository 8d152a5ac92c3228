import Foundation

/// Whether a process has notifications of its own.
enum AppBundle {
    /// The system ends any other process that asks for them: a command-line tool, a service, or tests without an app.
    static func hasNotifications(_ bundle: URL, identifier: String?) -> Bool {
        identifier != nil && ["app", "appex"].contains(bundle.pathExtension)
    }
}

/// What the system calls the notifications of urgent changes.
enum NoticeIdentifiers {
    static let thread = "quartet.unsent"

    static func identifier(_ change: OutboxItem.ID, of connection: String) -> String {
        "\(thread).\(change).\(connection)"
    }

    /// Those of a connection that aren't of these changes. An app has others besides.
    static func others(
        _ identifiers: [String], than changes: Set<OutboxItem.ID>, of connection: String
    ) -> [String] {
        let kept = Set(changes.map { identifier($0, of: connection) })
        return identifiers.filter { identifier in
            guard identifier.hasPrefix("\(thread)."), !kept.contains(identifier) else { return false }
            let rest = identifier.dropFirst(thread.count + 1)
            return rest.drop { $0 != "." }.dropFirst() == connection
        }
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

        /// - Parameter words: What a notification of an urgent change says; nil for no notification. It shows on a locked device, to
        ///   whoever is there: unless an app gives its own words, it says only that there is something to read, and not what. With
        ///   `{ Texts().sentence($0, name: nil) }` it says all that the card does.
        public init(words: @escaping @Sendable (UnsentChange) -> String? = { _ in Texts()["unsent.locked"] }) {
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

        public func tell(
            _ change: UnsentChange, of connection: String, after delay: Duration, isLoud: Bool
        ) async {
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
                    identifier: NoticeIdentifiers.identifier(change.id, of: connection), content: content,
                    trigger: trigger)
                // Where notifications aren't allowed, the card says it.
                do { try await center.add(request) } catch {}
            #endif
        }

        public func withdraw(_ change: UnsentChange.ID, of connection: String) async {
            #if canImport(UserNotifications) && !os(tvOS)
                if let center = Self.center {
                    Self.remove([NoticeIdentifiers.identifier(change, of: connection)], from: center)
                }
            #endif
        }

        public func withdraw(allBut changes: Set<UnsentChange.ID>, of connection: String) async {
            #if canImport(UserNotifications) && !os(tvOS)
                guard let center = Self.center else { return }
                // Those that are due go to the others meanwhile.
                let pending = await center.pendingNotificationRequests().map(\.identifier)
                let delivered = await center.deliveredNotifications().map(\.request.identifier)
                Self.remove(
                    NoticeIdentifiers.others(pending + delivered, than: changes, of: connection), from: center)
            #endif
        }

        /// The `threadIdentifier` of its notifications, by which an app's delegate knows them.
        public static let thread = NoticeIdentifiers.thread

        #if canImport(UserNotifications) && !os(tvOS)
            private static func remove(_ identifiers: [String], from center: UNUserNotificationCenter) {
                center.removePendingNotificationRequests(withIdentifiers: identifiers)
                center.removeDeliveredNotifications(withIdentifiers: identifiers)
            }

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
