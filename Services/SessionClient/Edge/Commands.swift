import Bus
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Vocabulary

/// The commands that apps may send, each with its service. A command that isn't here is for policies and sagas alone.
struct PublicCommands: Sendable {
    struct Entry: Sendable {
        let service: LogName
        let decode: @Sendable ([UInt8]) throws(MessageError) -> any CommandBody
    }

    private(set) var entries: [String: Entry] = [:]

    mutating func add<Body: CommandBody>(
        _ type: Body.Type, of service: LogName,
        decode: @escaping @Sendable ([UInt8]) throws(MessageError) -> Body
    ) {
        entries[Body.type] = Entry(service: service) { body throws(MessageError) in try decode(body) }
    }
}

/// `POST /v1/commands/<Type>`: asks a service on behalf of the caller and answers with the outcome.
struct Commands: Sendable {
    let allowed: PublicCommands
    let services: ServiceDirectory
    /// Longer than a command usually takes by far; after it the app gets 202 and asks again.
    static let patience: Duration = .seconds(10)

    /// What an accepted command answers.
    private struct Accepted: Encodable {
        let outcome = "accepted"
        let command: CommandID
    }

    func handle(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        let type = try context.parameters.require("type")
        guard let entry = allowed.entries[type] else {
            throw Problem(.notFound, "unknownCommand", "there is no command \(type.prefix(100))", field: "type")
        }
        let body = try await Self.body(of: request)
        let command = try entry.decode(body)
        try command.validate()
        let (key, isGiven) = try Self.idempotencyKey(of: request)
        let id = Self.commandID(of: caller.account, key)
        let outcome = try await send(
            command, id: id, to: entry.service, for: caller.account, context, mayBeRepeated: isGiven, key: key)
        return try Self.response(outcome, id: id)
    }

    /// Asks and waits. Rejections and failures are thrown as problems.
    func send(
        _ command: some CommandBody, id: CommandID, to service: LogName, for account: AccountID, _ context: EdgeContext,
        mayBeRepeated: Bool, key: ID<RequestSubject>
    ) async throws -> CausedEvent? {
        let message = Message(
            kind: .command, type: type(of: command).type, version: type(of: command).version, key: .account(account),
            account: account, body: try command.encoded(), commandID: id, correlationID: context.correlationID,
            traceParent: context.traceParent, expiresAt: .now + .minutes(5))
        let outcome: Outcome
        do {
            outcome = try await services.sender(for: service).send(
                message, mayBeRepeated: mayBeRepeated, patience: Self.patience)
        } catch let error as CommandError {
            throw Problem(error, retryWith: "\(key)")
        }
        switch outcome {
        case .accepted(let event): return event
        case .rejected(let rejection): throw Problem(rejection)
        case .failed:
            throw Problem(
                .internalServerError, "failed",
                "the command could not be carried out; nothing was changed. Try again later")
        }
    }

    private static func response(_ event: CausedEvent?, id: CommandID) throws -> Response {
        // The event's body is JSON already.
        var json = "{\"outcome\":\"accepted\",\"command\":\"\(id)\""
        if let event, event.type != "Accepted" {
            json += ",\"event\":\"\(event.type)\",\"result\":" + String(decoding: event.body, as: UTF8.self)
        }
        return .json(json + "}")
    }

    // MARK: Requests

    static func body(of request: Request) async throws -> [UInt8] {
        if let type = request.headers[.contentType], !type.hasPrefix("application/json") {
            throw Problem(.unsupportedMediaType, "notJSON", "send JSON with Content-Type: application/json")
        }
        let buffer = try await request.body.collect(upTo: Message.bodyLimit)
        let bytes = Array(buffer.readableBytesView)
        try BodyCheck.check(bytes)
        return bytes.isEmpty ? Array("{}".utf8) : bytes
    }

    /// The caller's own name for the request. Carries its time, so that one that is too old to be remembered is refused.
    static func idempotencyKey(of request: Request) throws(Problem) -> (ID<RequestSubject>, isGiven: Bool) {
        guard let header = request.headers[.idempotencyKey] else { return (.new(), false) }
        guard let key = ID<RequestSubject>(header), key.version == 7 else {
            throw Problem(
                .badRequest, "invalidIdempotencyKey",
                "Idempotency-Key must be a UUID of version 7 (RFC 9562); leave it out if you won't send the request again",
                field: "Idempotency-Key")
        }
        return (key, true)
    }

    /// Nobody else's key can name this account's command.
    static func commandID(of account: AccountID, _ key: ID<RequestSubject>) -> CommandID {
        .derived(at: key.time ?? .now, from: Array("app".utf8), account.bytes, key.bytes)
    }
}

/// What an Idempotency-Key identifies.
enum RequestSubject {}

extension Response {
    /// A JSON document.
    static func json(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }

    static func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return json(String(decoding: try encoder.encode(value), as: UTF8.self), status: status)
    }
}
