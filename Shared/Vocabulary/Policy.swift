/// "When X, then tell Y": a pure function from an owner's event to commands for others.
///
/// Its commands are appended in the transaction that records how far the policy has come in the owner's log, and their
/// ids derive from the event. So they happen once, in the event's order.
package protocol Policy: Sendable {
    associatedtype Event: MessageSet<any EventBody>
    /// Stable forever: it is part of the commands' ids.
    var name: StaticString { get }
    /// The types of events that it never tells anyone of. They aren't even decoded. None by default.
    var ignoredTypes: Set<String> { get }
    func commands(for event: Event, in message: RecordedMessage) -> [PolicyCommand]
}

extension Policy {
    package var ignoredTypes: Set<String> { [] }
}

package struct PolicyCommand: Sendable {
    /// The command log of the service that handles it.
    package let log: LogName
    package let key: Key
    /// The account that asks; nil if none does.
    package let account: AccountID?
    package let body: any CommandBody

    package init(_ body: any CommandBody, to log: LogName, key: Key, account: AccountID?) {
        self.body = body
        self.log = log
        self.key = key
        self.account = account
    }
}
