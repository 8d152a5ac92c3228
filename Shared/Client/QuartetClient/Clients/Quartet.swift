import Synchronization

/// All clients: what an app is made of, and what its features find without being handed it.
///
/// ```swift
/// let connection = Connection(transport: HTTPTransport(url))
/// Quartet.use(.live(connection))
/// Task { await connection.run() }
/// ```
///
/// A feature says what it needs: `@Live(\.contacts.contacts) var contacts` to read, `Quartet.current.contacts` to change. Tests and
/// previews replace clients for what they run:
///
/// ```swift
/// await withQuartet { $0.contacts = .preview(state) } operation: { await feature.refresh() }
/// ```
public struct Quartet: Sendable {
    public var session: SessionClient
    public var user: UserClient
    public var contacts: ContactsClient
    public var notifications: NotificationsClient
    public var groups: GroupSessionClient
    public var playback: PlaybackClient

    public init(
        session: SessionClient, user: UserClient, contacts: ContactsClient, notifications: NotificationsClient,
        groups: GroupSessionClient, playback: PlaybackClient
    ) {
        self.session = session
        self.user = user
        self.contacts = contacts
        self.notifications = notifications
        self.groups = groups
        self.playback = playback
    }

    /// Clients that talk to a server.
    public static func live(_ connection: Connection) -> Self {
        Self(
            session: .live(service: connection), user: .live(service: connection),
            contacts: .live(service: connection), notifications: .live(service: connection),
            groups: .live(service: connection), playback: .live(service: connection))
    }

    /// Clients whose every endpoint throws what `error` makes of its name.
    public static func failing(_ error: @escaping @Sendable (_ endpoint: String) -> QuartetError) -> Self {
        Self(
            session: .failing(error), user: .failing(error), contacts: .failing(error), notifications: .failing(error),
            groups: .failing(error), playback: .failing(error))
    }

    @TaskLocal private static var scoped: Quartet?
    private static let ofTheApp = Mutex<Quartet?>(nil)
    private static let notConfigured = failing { .notConfigured($0) }

    /// Those of the scope, or else those of the app. Where nobody has set any, each endpoint throws
    /// ``QuartetError/notConfigured(_:)``.
    public static var current: Quartet { scoped ?? ofTheApp.withLock { $0 } ?? notConfigured }

    /// Sets the app's clients, when it starts. Clients are one account's for good: an app with several takes them from
    /// ``DeviceAccounts``, and not from here.
    public static func use(_ quartet: Quartet) { ofTheApp.withLock { $0 = quartet } }

    fileprivate static func with<Result>(
        _ quartet: Quartet, isolation: isolated (any Actor)?, _ operation: () async throws -> Result
    ) async rethrows -> Result {
        try await $scoped.withValue(quartet, operation: operation, isolation: isolation)
    }

    fileprivate static func with<Result>(_ quartet: Quartet, _ operation: () throws -> Result) rethrows -> Result {
        try $scoped.withValue(quartet, operation: operation)
    }
}

/// Replaces clients for what `operation` does, and for the tasks that it starts.
public func withQuartet<Result>(
    isolation: isolated (any Actor)? = #isolation, _ change: (inout Quartet) -> Void,
    operation: () async throws -> Result
) async rethrows -> Result {
    var quartet = Quartet.current
    change(&quartet)
    return try await Quartet.with(quartet, isolation: isolation, operation)
}

/// Replaces clients for what `operation` does.
public func withQuartet<Result>(
    _ change: (inout Quartet) -> Void, operation: () throws -> Result
) rethrows -> Result {
    var quartet = Quartet.current
    change(&quartet)
    return try Quartet.with(quartet, operation)
}

/// Shared state that a feature reads: `@Live(\.contacts.contacts) var contacts`, then `contacts.responders` and `contacts.phase`.
///
/// It belongs to the clients of the scope in which it was made.
@propertyWrapper
public struct Live<Value: Hashable & Sendable>: Sendable {
    public let wrappedValue: SharedState<Value>
    public var projectedValue: SharedState<Value> { wrappedValue }

    public init(_ path: KeyPath<Quartet, SharedState<Value>>) {
        wrappedValue = Quartet.current[keyPath: path]
    }
}
