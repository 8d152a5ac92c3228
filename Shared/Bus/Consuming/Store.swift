package import Postgres
package import QuartetVocabulary

/// Keeps a service's state: loads what a batch of commands touches and saves what they changed.
package protocol Store: Sendable {
    associatedtype Rules: Reducer

    /// Queues the statements that lock (`FOR NO KEY UPDATE`, in primary-key order, only rows that two keys share) and
    /// read what the commands touch, flushes the pipeline, and builds the state from the results.
    ///
    /// The bus has already queued its own statements. Aim at one flush, or two where a look-up decides which rows to
    /// read.
    func load(_ requests: [Request<Rules.Command>], in pipeline: Pipeline) throws -> Rules.State

    /// Queues the set-based statements that write what changed. The bus flushes them together with the events, the
    /// batch row and the COMMIT.
    func save(_ state: Rules.State, in pipeline: Pipeline) throws
}
