/// "When X, then tell Y": a pure function from an owner's event to commands for others.
///
/// The commands are appended in the transaction that records how far the policy came in the owner's log, and their ids
/// derive from the event: they keep the event's order and happen once.
public protocol Policy: Sendable {
    associatedtype Event: MessageSet<any EventBody>
    /// Stable for ever: part of the ids of the commands.
    var name: StaticString { get }
    func commands(for event: Event, in message: RecordedMessage) -> [PolicyCommand]
}

/// A command that a policy asks for.
public struct PolicyCommand: Sendable {
    /// The command log of the service that is asked.
    public let log: LogName
    /// What keeps its order.
    public let key: Key
    /// The account that asks; nil where none does.
    public let account: AccountID?
    /// Its body.
    public let body: any CommandBody

    /// All its parts, as the properties describe them.
    public init(_ body: any CommandBody, to log: LogName, key: Key, account: AccountID?) {
        self.body = body
        self.log = log
        self.key = key
        self.account = account
    }
}
