package import Postgres
package import QuartetVocabulary

/// Handles commands by a service's rules: each ends in exactly one recorded outcome.
///
/// A command whose id has an outcome adds nothing, however often it is sent. Outcomes are remembered for ``horizon``
/// and older ids are refused, so the promise holds without remembering forever.
package struct CommandHandler<S: Store>: BatchHandler where S.Rules.Command: Sendable {
    /// How long outcomes are remembered.
    package static var horizon: Interval { .days(30) }
    /// How far ahead of the database's clock an id's time may be: more than clocks differ, less than the horizon.
    package static var aheadLimit: Interval { .days(1) }

    private let store: S
    private let log: Log
    private let asksItself: Bool
    package let urgency = S.Rules.Command.urgency

    /// - Parameters:
    ///   - log: The service's own log.
    ///   - asksItself: Whether these are the service's own commands, for example its timers'.
    package init(_ store: S, log: Log, asksItself: Bool = false) {
        self.store = store
        self.log = log
        self.asksItself = asksItself
    }

    /// A service's own commands are never given up, because nobody would send them again.
    package var givesUp: Bool { !asksItself }

    package func family(of message: Message) -> Family { S.Rules.Command.family(of: message) }

    /// A policy's command, or a dead letter that an operator had sent again. It has a cause and doesn't expire.
    package func isSentOnce(_ message: RecordedMessage) -> Bool {
        !asksItself && message.message.causationID != nil && message.expiresAt == nil
    }

    /// What is known before the rules run.
    package struct Loaded {
        var commands: [Result<S.Rules.Command, Rejection>]
        var state: S.Rules.State
        var decided: Set<CommandID>
    }

    /// Decodes the commands and loads their state, together with the outcomes that they already have.
    package func load(_ messages: [RecordedMessage], in pipeline: Pipeline) throws -> Loaded {
        let commands = try messages.map { try Self.command(in: $0.message) }
        let ids = messages.compactMap(\.message.commandID)
        let decided = pipeline.query(
            "SELECT command_id FROM \(unescaped: log.name.schema).outcome WHERE command_id = ANY (\(ids))")
        let requests = zip(messages, commands).compactMap { recorded, command in
            (try? command.get()).map { Request($0, key: recorded.message.key, account: recorded.message.account) }
        }
        let state = try store.load(requests, in: pipeline)
        try pipeline.flush()
        return Loaded(
            commands: commands, state: state,
            decided: Set(try decided.rows().map { try $0.decode(0, as: CommandID.self) }))
    }

    /// Runs the rules in order. Each command ends in one row that carries its outcome.
    package func handle(_ batch: Batch, _ loaded: Loaded, in pipeline: Pipeline) throws -> [Appending] {
        var state = loaded.state
        var decided = loaded.decided
        var rows: [Message] = []
        rows.reserveCapacity(batch.messages.count)
        for (recorded, command) in zip(batch.messages, loaded.commands) {
            guard let commandID = recorded.message.commandID, decided.insert(commandID).inserted else { continue }
            let emissions: [Emission<S.Rules.Event>]
            do throws(Rejection) {
                try checkTimes(of: recorded, commandID: commandID, at: batch.time.clock)
                let context = CommandContext(
                    commandID: commandID, account: recorded.message.account, key: recorded.message.key,
                    time: batch.time.given, recordedAt: recorded.recordedAt)
                emissions = try S.Rules.reduce(&state, try command.get(), context)
            } catch {
                rows.append(Self.ended(recorded.message, .rejected, type: "Rejected", error.encodedBody))
                continue
            }
            rows.append(contentsOf: try Self.accepted(recorded.message, emissions))
        }
        try store.save(state, in: pipeline)
        return [Appending(rows, to: log)]
    }

    /// The outcome is `failed`, unless the command already has one and only its repetition is given up.
    package func giveUp(_ message: RecordedMessage, _ fault: Fault, in pipeline: Pipeline) throws -> [Appending] {
        guard let id = message.message.commandID else { return [] }
        let known = pipeline.query(
            "SELECT command_id FROM \(unescaped: log.name.schema).outcome WHERE command_id = \(id)")
        try pipeline.flush()
        guard try known.rows().isEmpty else { return [] }
        let failure = Failed(code: fault.code.rawValue, reason: String(fault.description.prefix(1000)))
        return [Appending([Self.ended(message.message, .failed, type: "Failed", failure.encodedBody)], to: log)]
    }

    // MARK: The outcome's row

    /// The command, or why its body is refused.
    /// - Throws: ``MessageError`` for a type that this replica doesn't know. A newer sender's command is tried again.
    private static func command(in message: Message) throws(MessageError) -> Result<S.Rules.Command, Rejection> {
        do throws(MessageError) {
            let command = try S.Rules.Command(type: message.type, version: message.version, body: message.body)
            return Result { () throws(Rejection) in
                try command.body.validate()
                return command
            }
        } catch {
            guard case .malformed(_, _, let field) = error else { throw error }
            return .failure(Rejection(.malformed, error.description, field: field))
        }
    }

    /// - Parameter time: The database's clock, not the given time: otherwise one command recorded while the clock was
    ///   an hour ahead would make all others expire for an hour.
    private func checkTimes(
        of command: RecordedMessage, commandID: CommandID, at time: Instant
    ) throws(Rejection) {
        // A timer's command, or one caused by an event, was appended in the transaction that decided it, and nobody
        // sends it again. So it is handled however old it is, and whatever the clock said then.
        if !asksItself, command.message.causationID == nil { try Self.checkAge(of: commandID, at: time) }
        if let expiresAt = command.expiresAt, expiresAt < time {
            throw Rejection(.expired, "The command expired before it was handled; send it again.")
        }
    }

    private static func checkAge(of id: CommandID, at time: Instant) throws(Rejection) {
        guard let made = id.time else {
            throw Rejection(.idTooOld, "A command's id must contain its time (UUID version 7).")
        }
        guard made > time - horizon else {
            throw Rejection(
                .idTooOld,
                "This id is older than 30 days, so the command may have been done already. Check, then use a new id.")
        }
        guard made < time + aheadLimit else {
            throw Rejection(
                .idTooOld, "This id is more than a day ahead. Set the sender's clock and use a new id.")
        }
    }

    private static func accepted(
        _ command: Message, _ emissions: [Emission<S.Rules.Event>]
    ) throws -> [Message] {
        guard !emissions.isEmpty else { return [ended(command, .accepted, type: "Accepted", Array("{}".utf8))] }
        var rows: [Message] = []
        let result = emissions.firstIndex { $0.isResult } ?? 0
        for (index, emission) in emissions.enumerated() {
            let event = emission.event.body
            var row = Message(
                kind: .event, type: Swift.type(of: event).type, version: Swift.type(of: event).version,
                key: emission.key,
                // When no one asked, use the account concerned, so redaction finds the row.
                account: command.account ?? emission.key.account, body: try event.encoded(),
                commandID: command.commandID,
                correlationID: command.correlationID, causationID: command.id, traceParent: command.traceParent)
            if index == result {
                row.outcome = .accepted
                row.commandHash = command.bodyHash
            }
            rows.append(row)
        }
        return rows
    }

    private static func ended(_ command: Message, _ outcome: Outcome.Kind, type: String, _ body: [UInt8]) -> Message {
        Message(
            kind: .outcome, type: type, key: command.key, account: command.account, body: body,
            commandID: command.commandID, outcome: outcome, commandHash: command.bodyHash,
            correlationID: command.correlationID, causationID: command.id, traceParent: command.traceParent)
    }
}

/// The body of an outcome row of a command that was given up.
struct Failed: Codable, Hashable, Sendable {
    let code: String
    let reason: String

    var encodedBody: [UInt8] { encodedOrEmpty(self) }
}

extension Rejection {
    var encodedBody: [UInt8] { encodedOrEmpty(self) }
}

extension Message {
    /// Tells whether another command with the same id has the same body.
    package var bodyHash: BodyHash {
        BodyHash(type: type, version: version, key: key, account: account, body: body)
    }
}
