import Bus
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary

extension ServiceConnections {
    /// Asks a service for a caller, in the order of the caller's requests.
    /// - Parameter purpose: Which kind of request it is: a key names one request of each kind.
    func ask(
        _ domain: Domain, _ command: some CommandBody, as purpose: String, by account: AccountID, _ call: Call,
        naming names: [String: String] = [:]
    ) async throws -> CausedEvent? {
        try await ask(
            domain, command, id: call.key.derive(purpose, account.bytes), key: .account(account), account: account,
            call, naming: names)
    }

    /// Asks a service and waits for the outcome until the request's time is up and its task is cancelled. Sent again under
    /// the same id, it returns the same outcome.
    /// - Parameter names: What fields of the command are called in the request, where that is something else.
    /// - Returns: The event that the command caused.
    /// - Throws: ``APIError``, `Rejection`.
    func ask(
        _ domain: Domain, _ command: some CommandBody, id: CommandID, key: Key, account: AccountID?, _ call: Call,
        naming names: [String: String] = [:]
    ) async throws -> CausedEvent? {
        let outcome: Outcome
        do {
            try command.validate()
            var message = try Message(command, id: id, key: key, account: account)
            (message.correlationID, message.traceParent) = (call.correlationID, call.traceParent)
            outcome = try await self[domain].sender.send(
                message, isUrgent: Swift.type(of: command).isUrgent, mayBeRepeated: call.key.isGiven,
                isReplayed: call.replay.note)
        } catch let error as CommandError {
            throw APIError(error, retryWith: call.key)
        } catch let rejection as Rejection {
            throw rejection.naming(names)
        }
        switch outcome {
        case .accepted(let event): return event
        case .rejected(let rejection): throw rejection.naming(names)
        case .failed: throw APIError(.failed)
        }
    }
}

extension Message {
    /// A command as it is appended, valid for as long as its type says.
    init<Command: CommandBody>(_ command: Command, id: CommandID, key: Key, account: AccountID?) throws {
        self.init(
            kind: .command, type: Command.type, version: Command.version, key: key, account: account,
            body: try command.encoded(), commandID: id, timeToLive: Command.validity)
    }
}

extension CommandBody {
    /// What keeps its order, when an account asks: commands to a group session keep the session's order, others the account's.
    func key(of account: AccountID) -> Key {
        (self as? any GroupCommandBody).map { .group($0.group) } ?? .account(account)
    }
}

extension APIError {
    fileprivate init(_ error: CommandError, retryWith key: IdempotencyKey) {
        switch error {
        case .overloaded(let limit): self.init(.overloaded, "The server is overloaded: \(limit).", retryAfter: 1)
        // Why is in the log: the database's words aren't for apps.
        case .refused: self.init(.refused, "The database refused the command.")
        case .noOutcomeYet:
            self.init(
                .noOutcomeYet,
                "The command is waiting or being handled; repeat the request with the header Idempotency-Key: \(key.id).",
                retryAfter: 1)
            self.key = key.id
        }
    }
}
