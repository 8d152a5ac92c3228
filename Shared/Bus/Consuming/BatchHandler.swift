package import Postgres
package import QuartetVocabulary

/// A batch as a handler sees it.
package struct Batch: Sendable {
    /// In order.
    package let messages: [RecordedMessage]
    package let time: BatchTime

    package init(messages: [RecordedMessage], time: BatchTime) {
        self.messages = messages
        self.time = time
    }
}

/// What a consumer does with the messages it reads: within the batch's transaction, before its commit.
package protocol BatchHandler: Sendable {
    /// Queues and flushes what must be read first. `BEGIN` is already queued, so everything travels in one round trip.
    associatedtype Loaded
    func load(_ messages: [RecordedMessage], in pipeline: Pipeline) throws -> Loaded

    /// Decides, queues what must be written, and returns the rows to append to the schema's own logs, in order.
    func handle(_ batch: Batch, _ loaded: Loaded, in pipeline: Pipeline) throws -> [Appending]

    /// Whether a message that keeps failing by its own fault is given up in the end. If not, it stays parked until it
    /// succeeds or an operator discards it.
    var givesUp: Bool { get }

    /// How many rows a message has appended, if these are many; 0 otherwise. One transaction handles only as many such messages as
    /// ``Work/weightLimit`` says, so that others don't wait for long. Those of one partition take more transactions for it, and an alarm
    /// behind them waits for all of these.
    func weight(of message: RecordedMessage) -> Int

    /// What keeps a message's order besides its key. Asked only while something is parked or fails.
    func family(of message: Message) -> Family

    /// Which messages are urgent.
    var urgency: Urgency { get }

    /// Whether nobody would send a message again. One that would be given up is then tried on by itself for a day.
    func isSentOnce(_ message: RecordedMessage) -> Bool

    /// Returns what to append when a message is given up. `BEGIN` is already queued; flush any query made here.
    func giveUp(_ message: RecordedMessage, _ fault: Fault, in pipeline: Pipeline) throws -> [Appending]
}

extension BatchHandler {
    package func weight(of message: RecordedMessage) -> Int { 0 }
}

/// Rows for one log.
package struct Appending: Sendable {
    package let log: Log
    /// In order.
    package let messages: [Message]

    package init(_ messages: [Message], to log: Log) {
        self.log = log
        self.messages = messages
    }
}
