/// "When X, then tell Y": a pure function from an owner's event to commands for others.
///
/// Its commands are appended in the transaction that records how far the policy has come in the owner's log, and their
/// ids derive from the event. So they happen once, in the event's order.
public protocol Policy: Sendable {
    associatedtype Event: MessageSet<any EventBody>
    /// Stable forever: it is part of the commands' ids.
    var name: StaticString { get }
    /// The types of events that it never tells anyone of. They aren't even decoded. None by default.
    var ignoredTypes: Set<String> { get }
    func commands(for event: Event, in message: RecordedMessage) -> [PolicyCommand]
}

extension Policy {
    public var ignoredTypes: Set<String> { [] }
}

public struct PolicyCommand: Sendable {
    /// The command log of the service that handles it.
    public let log: LogName
    public let key: Key
    /// The account that asks; nil if none does.
    public let account: AccountID?
    public let body: any CommandBody

    public init(_ body: any CommandBody, to log: LogName, key: Key, account: AccountID?) {
        self.body = body
        self.log = log
        self.key = key
        self.account = account
    }
}
