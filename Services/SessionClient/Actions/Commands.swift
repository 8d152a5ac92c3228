import Bus
import ContractSupport
import HTTPTypes
import Hummingbird
import NIOCore
import Vocabulary

/// `POST /v1/commands/<Type>`: asks a service on behalf of the caller and answers with the outcome.
struct Commands: Sendable {
    let allowed: PublicCommands
    let services: ServiceConnections
    let current: Reads

    func handle(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        let type = try context.parameters.require("type")
        guard let entry = allowed[type] else {
            throw Problem(
                .notFound, "unknownCommand", "there is no command \(type.prefix(100)) for apps", field: "type")
        }
        let key = try IdempotencyKey(of: request)
        let id: CommandID = key.derive("command/\(entry.domain)", caller.account.bytes)
        let made = try await entry.make(
            .init(
                body: try await request.json(context), command: id, caller: caller,
                address: allowed.addresses.address(of: request, context)))
        let command = made.command
        try command.validate()
        do {
            let event = try await services.ask(
                entry.domain, command, id: id, key: .account(caller.account), account: caller.account, sentAs: key,
                context)
            return Self.response(to: id, event)
        } catch let rejection as Rejection where rejection.code == .staleVersion {
            // Whoever has to repeat a change needs what it was changed to, and gets it with the refusal.
            var problem = Problem(rejection)
            problem.current = try? await current.state(for: command, caller)
            throw problem
        } catch let rejection as Rejection {
            throw rejection.naming(made.names)
        }
    }

    private static func response(to id: CommandID, _ event: CausedEvent?) -> Response {
        // The event's body is JSON already.
        guard let event, event.type != "Accepted" else {
            return .json(#"{"outcome":"accepted","command":"\#(id)"}"#)
        }
        let body = String(decoding: event.body, as: UTF8.self)
        return .json(#"{"outcome":"accepted","command":"\#(id)","event":"\#(event.type)","result":\#(body)}"#)
    }
}

extension ServiceConnections {
    /// Asks a service and waits for the outcome, until the request's time is up (``Patience``). Sent again under the same id,
    /// it returns the same outcome.
    /// - Returns: the event that the command caused.
    /// - Throws: rejections and failures as they are told to apps: ``Problem``, `Rejection`.
    func ask(
        _ domain: Domain, _ command: some CommandBody, id: CommandID, key: Key, account: AccountID?,
        sentAs request: IdempotencyKey, _ context: EdgeContext
    ) async throws -> CausedEvent? {
        let message = Message(
            kind: .command, type: type(of: command).type, version: type(of: command).version, key: key,
            account: account, body: try command.encoded(), commandID: id, correlationID: context.correlationID,
            traceParent: context.traceParent, timeToLive: .minutes(5))
        let outcome: Outcome
        do {
            outcome = try await self[domain].sender.send(message, mayBeRepeated: request.isGiven)
        } catch {
            throw Problem(error, retryWith: request)
        }
        switch outcome {
        case .accepted(let event): return event
        case .rejected(let rejection): throw rejection
        case .failed:
            throw Problem(
                .internalServerError, "failed",
                "it could not be carried out, and nothing was changed; try again later with a new Idempotency-Key")
        }
    }
}
