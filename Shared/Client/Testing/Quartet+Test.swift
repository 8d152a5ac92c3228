public import QuartetClient
import Testing

extension Quartet {
    /// Clients of which a test replaces what it expects to be called. Every other endpoint fails the test by its name.
    public static var test: Self { failing(record) }
}

extension SessionClient {
    /// Every endpoint that isn't replaced fails the test by its name.
    public static var test: Self { failing(record) }
}

extension UserClient {
    /// Every endpoint that isn't replaced fails the test by its name.
    public static var test: Self { failing(record) }
}

extension ContactsClient {
    /// Every endpoint that isn't replaced fails the test by its name.
    public static var test: Self { failing(record) }
}

extension NotificationsClient {
    /// Every endpoint that isn't replaced fails the test by its name.
    public static var test: Self { failing(record) }
}

private let record: @Sendable (String) -> QuartetError = { endpoint in
    Issue.record("\(endpoint) was called, and the test doesn't say what it does")
    return .notConfigured(endpoint)
}
