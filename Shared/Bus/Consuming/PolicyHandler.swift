package import Postgres
package import QuartetVocabulary

/// Runs a policy over an owner's log.
package struct PolicyHandler<P: Policy>: BatchHandler {
    private let policy: P
    private let logs: [LogName: Log]
    private let ignoredTypes: Set<String>
    package let urgency = P.Event.urgency

    /// - Parameter logs: The command logs that the policy may append to.
    package init(_ policy: P, logs: [Log]) {
        self.policy = policy
        ignoredTypes = policy.ignoredTypes
        self.logs = Dictionary(uniqueKeysWithValues: logs.map { ($0.name, $0) })
    }

    package func load(_ messages: [RecordedMessage], in pipeline: Pipeline) throws { try pipeline.flush() }

    package func handle(_ batch: Batch, _ loaded: Void, in pipeline: Pipeline) throws -> [Appending] {
        var rows: [LogName: [Message]] = [:]
        for recorded in batch.messages
        where recorded.message.kind == .event && !ignoredTypes.contains(recorded.message.type) {
            let event = try P.Event(
                type: recorded.message.type, version: recorded.message.version, body: recorded.message.body)
            for (ordinal, command) in policy.commands(for: event, in: recorded).enumerated() {
                rows[command.log, default: []].append(try message(command, ordinal, causedBy: recorded))
            }
        }
        return try rows.sorted { $0.key.description < $1.key.description }.map { name, messages in
            guard let log = logs[name] else {
                throw BusError.unreadable(name, "the policy \(policy.name) may not append to it")
            }
            return Appending(messages, to: log)
        }
    }

    /// Nothing that is shorter names many accounts, and each that it names gets few commands.
    private static var short: Int { 400 }

    package func weight(of message: RecordedMessage) -> Int {
        let event = message.message
        guard event.body.count > Self.short, event.kind == .event, !ignoredTypes.contains(event.type),
            let decoded = try? P.Event(type: event.type, version: event.version, body: event.body)
        else { return 0 }
        return policy.commands(for: decoded, in: message).count
    }

    /// A policy skips nothing. An event that it can't handle holds back later ones of its key and family until it can.
    package var givesUp: Bool { false }

    /// Rows that aren't events concern no policy.
    package func family(of message: Message) -> Family {
        message.kind == .event ? P.Event.family(of: message) : .regular
    }

    package func isSentOnce(_ message: RecordedMessage) -> Bool { false }

    /// Appends nothing: an operator discarded the event.
    package func giveUp(_ message: RecordedMessage, _ fault: Fault, in pipeline: Pipeline) -> [Appending] { [] }

    private func message(_ command: PolicyCommand, _ ordinal: Int, causedBy cause: RecordedMessage) throws -> Message {
        let time = cause.message.id.time ?? cause.recordedAt
        return Message(
            kind: .command, type: type(of: command.body).type, version: type(of: command.body).version,
            key: command.key, account: command.account, body: try command.body.encoded(),
            commandID: .derived(
                at: time, from: Array("policy/\(policy.name)".utf8), cause.message.id.bytes, Array("\(ordinal)".utf8)),
            correlationID: cause.message.correlationID, causationID: cause.message.id,
            traceParent: cause.message.traceParent)
    }
}
