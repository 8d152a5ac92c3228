public import Postgres
public import Vocabulary

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
