import Bus
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Postgres
import ServiceLifecycle
import Vocabulary

/// One stream that an app can follow: its name, what it is read from, and the SQL of its state.
struct StreamSource: Sendable {
    let name: String
    let reader: StreamReader
    /// Whether it is the contacts stream, which decides whom the account may see.
    var hasContacts = false
    let state: @Sendable (AccountID) throws -> Query
}

/// `GET /v1/stream`: everything that concerns the caller, live, as server-sent events (WHATWG HTML, section 9.2).
///
/// Each owner's stream is its own sequence on the one connection: first `<stream>.snapshot` (or `<stream>.resumed`), then
/// `<stream>.event`. An event's id is the set of all streams' tokens, so `Last-Event-ID` goes on exactly where each was.
/// The people in the caller's contacts come as `person`, whole each time, and go as `person.ended`. A `contacts.snapshot`
/// replaces them: the app drops people who aren't among its contacts. After `contacts.resumed`, `person.ended`
/// comes also for relations that ended while the app was away.
struct EventStream: Sendable {
    let sources: [StreamSource]
    let people: PeopleSource
    let devices: Devices
    /// How long a write may take before the stream is closed.
    let writeDeadline: Duration
    private let open = Places<AccountID>(limit: 16)

    init(sources: [StreamSource], people: PeopleSource, devices: Devices, writeDeadline: Duration) {
        self.sources = sources
        self.people = people
        self.devices = devices
        self.writeDeadline = writeDeadline
    }

    func handle(_ request: Request, _ context: EdgeContext) throws -> Response {
        let caller = try context.requireCaller()
        let tokens = try StreamTokens(request.headers[.lastEventID] ?? "")
        guard let place = open.enter(caller.account) else {
            throw Problem(
                .tooManyRequests, "tooManyStreams", "this account has \(open.limit) streams open; close one first",
                retryAfter: 5)
        }
        let connection = StreamConnection(
            caller: caller, tokens: tokens, sources: sources, people: people, devices: devices,
            writeDeadline: writeDeadline, logger: context.logger)
        return Response(
            status: .ok,
            headers: [
                .contentType: "text/event-stream", .cacheControl: "no-store", .accelBuffering: "no",
                // Ends with the stream.
                .connection: "close",
            ],
            body: ResponseBody { writer in
                defer { place.leave() }
                // Safe: this task alone writes, one write after the other.
                nonisolated(unsafe) var writer = writer
                do {
                    try await request.body.consumeWithInboundCloseHandler { _ in
                        try await connection.run { try await writer.write($0) }
                    } onInboundClosed: {
                        connection.leave()
                    }
                    // Free before the app can see that the stream is over.
                    place.leave()
                    try await writer.finish(nil)
                } catch {
                    // The app has left, as most do, or doesn't read.
                    context.logger.debug("a stream ended", metadata: ["error": "\(error)"])
                    throw error
                }
            })
    }
}

extension HTTPField.Name {
    /// Asks proxies not to hold events back.
    fileprivate static let accelBuffering = HTTPField.Name("X-Accel-Buffering")!
}

/// The tokens of several streams as one `Last-Event-ID`: `name=token` separated by spaces.
struct StreamTokens: Sendable, CustomStringConvertible {
    private var tokens: [String: ResumeToken] = [:]
    /// Each token as it is written: of several, one changes with each event.
    private var parts: [String: String] = [:]

    /// - Throws: ``Problem`` for what this server never gave.
    init(_ text: String) throws(Problem) {
        guard text.utf8.count <= 4096 else { throw Self.malformed }
        for part in text.split(separator: " ") {
            let halves = part.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, let token = ResumeToken(String(halves[1])) else { throw Self.malformed }
            self[String(halves[0])] = token
        }
    }

    subscript(name: String) -> ResumeToken? {
        get { tokens[name] }
        set {
            tokens[name] = newValue
            parts[name] = newValue.map { "\(name)=\($0)" }
        }
    }

    var description: String { parts.values.sorted().joined(separator: " ") }

    private static let malformed = Problem(
        .badRequest, "malformedEventID",
        "Last-Event-ID must be the id of an event of this stream; leave it out to start anew",
        field: "Last-Event-ID")
}
