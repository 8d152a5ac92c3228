public import Postgres
public import Vocabulary

/// A command as a store sees it: what is asked, by whom, under which key.
public struct Request<Command: Sendable>: Sendable {
    /// What is asked.
    public let command: Command
    /// What keeps its order.
    public let key: Key
    /// The account that asks; nil where none does.
    public let account: AccountID?

    /// All its parts, as the properties describe them.
    public init(_ command: Command, key: Key, account: AccountID?) {
        self.command = command
        self.key = key
        self.account = account
    }
}

/// Where a service's state is kept: loads what a batch of commands touches and saves what they changed.
public protocol Store: Sendable {
    associatedtype Rules: Reducer

    /// Queues the statements that lock (`FOR NO KEY UPDATE`, in primary-key order, only rows that two keys share) and
    /// read what the commands touch, flushes the pipeline for their results, and makes the state of them.
    ///
    /// What the bus needs is queued already and rides along: aim at one flush, two where a look-up decides the rows.
    func load(_ requests: [Request<Rules.Command>], in pipeline: Pipeline) throws -> Rules.State

    /// Queues the set-based statements that write what changed. The bus flushes them together with the events, the
    /// batch row and the COMMIT.
    func save(_ state: Rules.State, in pipeline: Pipeline) throws
}
