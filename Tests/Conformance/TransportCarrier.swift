import EdgeClient
import QuartetAPI
import QuartetClient
import QuartetSessionContract
import QuartetVocabulary
import RPCClient
import Synchronization

/// One of the transports of the package for apps.
///
/// It carries what apps ask for by it. The other steps of a scenario go over HTTP beside it, and are said at the end.
final class TransportCarrier: Carrier {
    let name: String
    private let transport: any Transport
    private let http: HTTPCarrier
    private let beside = Mutex<[String: Set<String>]>([:])

    init(_ name: String, _ transport: any Transport, beside http: HTTPCarrier) {
        (self.name, self.transport, self.http) = (name, transport, http)
    }

    var leftOut: [String] {
        beside.withLock { beside in
            beside.sorted { $0.key < $1.key }.map { "\($0.value.sorted().joined(separator: ", ")): \($0.key)" }
        }
    }

    private func leave(_ what: String, because reason: String) {
        beside.withLock { _ = $0[reason, default: []].insert(what) }
    }

    // MARK: Requests

    func call(_ call: String, _ body: JSON, token: String?, key: String?) async throws -> Answer {
        var members = body.members
        guard let endpoint = endpoint(of: call, &members) else {
            leave(call, because: "apps have no request for it; they read their stream")
            return try await http.call(call, body, token: token, key: key)
        }
        let id = key.flatMap { ID<RequestSubject>($0) }
        guard id != nil || key == nil else {
            leave("a key that is none", because: "an app's keys are ids by their type")
            return try await http.call(call, body, token: token, key: key)
        }
        let json = members.isEmpty ? [] : Array("\(JSON.object(members))".utf8)
        let reply = try await transport.send(TransportRequest(endpoint, body: json, key: id, token: token))
        switch reply.result {
        case .success(let json): return .done(json.isEmpty ? [:] : try JSON(json))
        case .failure(let error):
            let details = try error.details.map { try JSON(Encoded($0).json) } ?? .null
            return .refused(code: error.code.rawValue, field: error.field, details: details)
        }
    }

    private static let endpoints: [String: TransportRequest.Endpoint] = [
        "SignUp": .signUp, "SignIn": .signIn, "RequestSignInCode": .signInCode, "RefreshToken": .token, "Undo": .undo,
        "SignOut": .signOut, "Confirm": .confirm, "ChangePassword": .changePassword, "ResetPassword": .resetPassword,
        "MakeRecoveryCodes": .recoveryCodes, "ChangePhone": .changePhone, "VerifyPhone": .verifyPhone,
        "ExtendStream": .streamToken, "GetTime": .time, "GetDrill": .drill,
    ]

    /// - Parameter members: Loses what the endpoint says by itself.
    private func endpoint(of call: String, _ members: inout [String: JSON]) -> TransportRequest.Endpoint? {
        if let endpoint = Self.endpoints[call] { return endpoint }
        switch call {
        case "GetOperation":
            return ID<OperationSubject>(members.removeValue(forKey: "operation")).map { .operationState($0) }
        case "SendSignal": return GroupID(members.removeValue(forKey: "group")).map { .signal($0) }
        case "ListGroupMessages":
            let after = members.removeValue(forKey: "after").map(\.int) ?? 0
            let limit = members.removeValue(forKey: "limit").map(\.int) ?? Int64(MessagesQuery.limits.upperBound)
            guard let group = GroupID(members.removeValue(forKey: "group")), let after, let limit, members.isEmpty
            else { return nil }
            return .messages(group, MessagesQuery(after: after, limit: Int(clamping: limit)))
        default:
            switch http.description[call]?.path {
            case "/v1/commands/\(call)": return .command(call)
            case "/v1/operations/\(call)": return .operation(call)
            default: return nil
            }
        }
    }

    // MARK: Streams

    func watch(
        token: String, following groups: [String], only filter: [StreamFilter], after position: String?
    ) async throws -> any AsyncSequence<ServerSentEvent, any Error> & Sendable {
        guard filter.isEmpty else {
            leave("a stream's filter", because: "an app's stream carries everything")
            return try await http.watch(token: token, following: groups, only: filter, after: position)
        }
        let ids = groups.compactMap { GroupID($0) }
        guard ids.count == groups.count else { throw Failure(description: "these are no group sessions: \(groups)") }
        let opened = try await transport.open(StreamRequest(token: token, place: position, groups: ids))
        let (events, output) = AsyncThrowingStream<ServerSentEvent, any Error>.makeStream()
        let reading = Task {
            do {
                for try await item in opened.items { output.yield(try ServerSentEvent(item)) }
                output.finish()
            } catch {
                output.finish(throwing: error)
            }
        }
        output.onTermination = { _ in reading.cancel() }
        return events
    }
}

extension ID {
    fileprivate init?(_ json: JSON?) {
        guard let text = json?.string, let id = Self(text) else { return nil }
        self = id
    }
}

extension JSON {
    fileprivate init(_ text: [UInt8]) throws { try self.init(parsing: String(decoding: text, as: UTF8.self)) }

    fileprivate init(encoding value: some Encodable) throws { try self.init(Encoded(value).json) }
}

extension ServerSentEvent {
    /// In the form in which HTTP has it.
    fileprivate init(_ item: StreamItem) throws {
        switch item {
        case .heartbeat(let place): self.init("heartbeat", place, [:])
        case .end(let end): self.init("end", nil, try JSON(encoding: end))
        case .event(let event, let place):
            switch event {
            case .begun(let begun): self.init("begun", place, try JSON(encoding: begun))
            case .snapshot(let name, let snapshot):
                self.init(
                    "\(name.family).snapshot", place,
                    .of(
                        name,
                        [
                            "refetched": .bool(snapshot.isRefetched), "hash": .text(snapshot.hash),
                            "state": try JSON(snapshot.state),
                        ]))
            case .resumed(let name): self.init("\(name.family).resumed", place, .of(name, [:]))
            case .event(let name, let event):
                self.init(
                    "\(name.family).event", place,
                    .of(
                        name,
                        [
                            "type": .string(event.type), "version": .int(Int64(event.version)),
                            "at": .int(event.at.microseconds), "correlation": .text(event.correlation),
                            "command": .text(event.command), "hash": .text(event.hash), "body": try JSON(event.body),
                        ]))
            case .groupEnded(let ended): self.init("group.ended", place, try JSON(encoding: ended))
            case .groups(let encoded): self.init("groups", place, try JSON(encoded.json))
            case .person(let encoded): self.init("person", place, try JSON(encoded.json))
            case .personEnded(let ended): self.init("person.ended", place, try JSON(encoding: ended))
            case .signal(let signal): self.init("signal", place, try JSON(signal.json))
            }
        }
    }

    private init(_ name: String, _ id: String?, _ data: JSON) {
        self.init()
        (self.name, self.id, self.data) = (name, id, data)
    }
}

extension JSON {
    fileprivate static func text(_ value: (some CustomStringConvertible)?) -> JSON {
        value.map { .string("\($0)") } ?? .null
    }

    /// What is said of a sequence: of a group session's, which one it is.
    fileprivate static func of(_ name: StreamName, _ members: [String: JSON]) -> JSON {
        guard let group = name.group else { return .object(members) }
        return .object(members.merging(["group": .string("\(group)")]) { $1 })
    }
}
