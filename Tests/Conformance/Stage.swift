import EdgeClient
import RPCClient
import Synchronization

/// Where a scenario is played over one carrier. It writes down what is answered and seen, in a form that doesn't depend on when
/// it is played.
final class Stage: Sendable {
    let carrier: any Carrier
    /// For what only HTTP carries.
    private let edge: EdgeClient
    private let transcript = Mutex<(lines: [String], names: Names)>(([], Names()))
    private let viewers = Mutex<[Viewer]>([])

    init(_ carrier: any Carrier, beside edge: EdgeClient) {
        (self.carrier, self.edge) = (carrier, edge)
    }

    var lines: [String] { transcript.withLock(\.lines) }

    func know(_ viewer: Viewer) { viewers.withLock { $0.append(viewer) } }

    /// Ends the streams that a scenario left open, however it ended.
    func clear() { for viewer in viewers.withLock({ $0 }) { viewer.leave() } }

    func note(_ what: String, _ json: JSON) {
        transcript.withLock { transcript in
            let text = "\(transcript.names.normal(json))"
            transcript.lines.append("\(what) → \(text)")
        }
    }

    /// Signs somebody up, whose handle nobody else has.
    /// - Parameter isNamed: Whether they say their name.
    func signUp(_ name: String, isNamed: Bool = true) async throws -> Actor {
        let handle = "\(name.lowercased())-\(String(UInt32.random(in: 0 ... .max), radix: 36))"
        transcript.withLock { $0.names.know(handle, as: "handle of \(name)") }
        let stranger = Actor(name: name, handle: handle, token: nil, account: "", stage: self)
        var message: [String: JSON] = ["handle": .string(handle), "password": .string(Self.password)]
        if isNamed { message["name"] = .string(name) }
        let signedIn = try await stranger.call("SignUp", .object(message))
        return try Actor(name: name, handle: handle, signedIn, stage: self)
    }

    /// Uploads a file of one chunk.
    func upload(_ bytes: [UInt8], as file: String, by actor: Actor) async throws {
        let reply = try await edge.send(
            "PUT", "/v1/uploads/\(file)/chunks/0", raw: bytes, token: actor.token,
            headers: ["content-type": "application/octet-stream"])
        guard reply.isSuccess else { throw Failure(description: "the upload was refused: \(reply)") }
    }

    static let password = "a long enough password"
}

struct Failure: Error, CustomStringConvertible {
    let description: String
}

/// Somebody in a scenario.
struct Actor: Sendable {
    let name: String
    let handle: String
    let token: String?
    let account: String
    let stage: Stage
    var refreshToken = ""

    /// Signs another device of theirs in.
    func signIn() async throws -> Actor {
        let signedIn = try await Actor(name: name, handle: handle, token: nil, account: account, stage: stage).call(
            "SignIn", ["handle": .string(handle), "password": .string(Stage.password)])
        return try Actor(name: name, handle: handle, signedIn, stage: stage)
    }

    /// Asks something and writes down the answer, whatever it is.
    @discardableResult
    func call(_ call: String, _ body: JSON = [:], key: String? = nil) async throws -> JSON {
        try await perform(call, body, key) { $0 }
    }

    /// The same, but writes down of a reply only which event it names: the rest depends on when it was asked.
    @discardableResult
    func ask(_ call: String, _ body: JSON = [:]) async throws -> JSON {
        try await perform(call, body, nil) { ["event": $0["event"]] }
    }

    private func perform(
        _ call: String, _ body: JSON, _ key: String?, _ noted: (JSON) -> JSON
    ) async throws -> JSON {
        switch try await stage.carrier.insist(call, body, token: token, key: key) {
        case .refused(let code, let field, let details):
            noteRefusal(of: call, code, field, details)
            return .null
        case .done(let reply):
            stage.note("\(name) \(call)", noted(reply))
            return reply
        }
    }

    private func noteRefusal(of call: String, _ code: String, _ field: String?, _ details: JSON) {
        stage.note(
            "\(name) \(call)",
            ["refused": .string(code), "field": field.map(JSON.string) ?? .null, "details": details])
    }

    /// Asks until it is refused, and writes down that alone: the server may learn a moment later what was done, and lets some in
    /// before there are too many.
    /// - Parameter count: How many requests are sent at a time.
    func askUntilRefused(_ call: String, _ body: JSON, atOnce count: Int = 1) async throws {
        for _ in 0..<600 {
            let refusals = try await withThrowingTaskGroup(of: Answer.self, returning: [Answer].self) { group in
                for _ in 0..<count {
                    group.addTask {
                        try await stage.carrier.call(call, body, token: token, key: EdgeClient.newKey())
                    }
                }
                var refusals: [Answer] = []
                for try await answer in group {
                    if case .refused = answer { refusals.append(answer) }
                }
                return refusals
            }
            if case .refused(let code, let field, let details)? = refusals.first {
                return noteRefusal(of: call, code, field, details)
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Failure(description: "\(call) was never refused")
    }

    /// Asks how an operation stands until it has ended.
    func finish(_ operation: JSON) async throws {
        guard let id = operation["id"].string else { throw Failure(description: "this is no operation: \(operation)") }
        for _ in 0..<2400 {
            let answer = try await stage.carrier.call(
                "GetOperation", ["operation": .string(id)], token: token, key: nil)
            if case .done(let reply) = answer, reply["state"] != "running" {
                return stage.note("\(name) GetOperation", reply)
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw Failure(description: "operation \(id) didn't end")
    }

    func watch(
        _ groups: [String] = [], only filter: [StreamFilter] = [], after position: String? = nil
    ) async throws -> Viewer {
        guard let token else { throw Failure(description: "\(name) isn't signed in") }
        let events = try await stage.carrier.watch(
            token: token, following: groups, only: filter, after: position)
        let viewer = Viewer(name: name, stage: stage, events)
        stage.know(viewer)
        return viewer
    }
}

extension Actor {
    /// - Throws: ``Failure`` unless the reply is that of signing up or in.
    init(name: String, handle: String, _ signedIn: JSON, stage: Stage) throws {
        guard let account = signedIn["account"].string, let refreshToken = signedIn["refreshToken"].string else {
            throw Failure(description: "\(name) wasn't signed in")
        }
        self.init(
            name: name, handle: handle, token: signedIn["accessToken"].string, account: account, stage: stage,
            refreshToken: refreshToken)
    }
}

/// What somebody sees live.
final class Viewer: Sendable {
    private let name: String
    private let stage: Stage
    private let events = Mutex<[ServerSentEvent]>([])
    private let task: Task<Void, any Error>

    init(name: String, stage: Stage, _ source: any AsyncSequence<ServerSentEvent, any Error> & Sendable) {
        (self.name, self.stage) = (name, stage)
        let (events, ender) = AsyncStream<ServerSentEvent>.makeStream()
        task = Task { [name] in
            _ = name
            for try await event in source { ender.yield(event) }
        }
        reading.withLock { $0 = Task { for await event in events { self.events.withLock { $0.append(event) } } } }
    }

    private let reading = Mutex<Task<Void, Never>?>(nil)

    /// The position after everything that came.
    var position: String? { events.withLock { $0.last { $0.id != nil }?.id } }

    /// Whether an event of such a type has come so far.
    func has(_ type: String) -> Bool {
        events.withLock { $0.contains { $0.data["type"].string == type } }
    }

    /// Waits for an event and writes it down.
    /// - Parameter what: An event's type, or the name of what has none, as in `contacts.snapshot`.
    @discardableResult
    func see(_ what: String, where isIt: (JSON) -> Bool = { _ in true }) async throws -> JSON {
        for _ in 0..<12_000 {
            let found = events.withLock { events in
                events.first { ($0.name == what || $0.data["type"].string == what) && isIt($0.data) }
            }
            if let found {
                stage.note("\(name) sees \(found.name)", found.data)
                return found.data
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Failure(
            description: "\(name) did not see \(what), but \(events.withLock { $0.map(\.description) })")
    }

    func leave() {
        task.cancel()
        reading.withLock { $0?.cancel() }
    }
}

/// Gives what differs from time to time a name: the first id that is seen is `id 1`, wherever it comes again.
private struct Names {
    private var known: [String: String] = [:]
    private var ids = 0
    /// Members whose values nobody can foresee.
    private static let secrets: Set = [
        "accessToken", "refreshToken", "code", "hash", "stream", "recoveryCodes", "next", "expiresIn", "received",
        "sent",
    ]

    mutating func know(_ text: String, as name: String) { known[text] = name }

    mutating func normal(_ json: JSON, _ member: String = "") -> JSON {
        switch json {
        case .object(let members):
            var normal: [String: JSON] = [:]
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                let value = self.normal(value, name)
                // Messages of Protobuf have no empty lists.
                if value != .null, value != .array([]) { normal[name] = value }
            }
            return .object(normal)
        case .string where Self.secrets.contains(member), .int where Self.secrets.contains(member),
            .double where Self.secrets.contains(member):
            return .string("some \(member)")
        case .array where Self.secrets.contains(member): return .string("some \(member)")
        case .array(let elements): return .array(elements.map { normal($0) })
        // Microseconds since 1970.
        case .int(let number) where number > 1_000_000_000_000_000: return "some time"
        case .string(let text): return .string(name(of: text))
        default: return json
        }
    }

    private mutating func name(of text: String) -> String {
        if let name = known[text] { return name }
        guard text.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/) != nil else {
            return text
        }
        ids += 1
        known[text] = "id \(ids)"
        return "id \(ids)"
    }
}
