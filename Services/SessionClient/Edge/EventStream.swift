import Bus
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Postgres
import Vocabulary

/// One stream that an app can follow: its name, the log that it is in, and the SQL of its state.
struct StreamSource: Sendable {
    let name: String
    let reader: StreamReader
    let log: LogName
    let state: @Sendable (AccountID) -> Query
}

/// `GET /v1/stream`: everything that concerns the caller, live, as server-sent events (WHATWG HTML, section 9.2).
///
/// Each owner's stream is its own sequence on the one connection: first `<stream>.snapshot` (or `<stream>.resumed`), then
/// `<stream>.event`. An event's id is the set of all streams' tokens, so `Last-Event-ID` goes on exactly where each was.
struct EventStream: Sendable {
    let sources: [StreamSource]
    let devices: Devices
    static let heartbeat: Duration = .seconds(15)

    func handle(_ request: Request, _ context: EdgeContext) throws -> Response {
        let caller = try context.requireCaller()
        let tokens = try StreamTokens(request.headers[.lastEventID] ?? "")
        let (sources, devices) = (sources, devices)
        return Response(
            status: .ok,
            headers: [.contentType: "text/event-stream", .cacheControl: "no-store", .init("X-Accel-Buffering")!: "no"],
            body: ResponseBody { writer in
                let session = StreamSession(
                    caller: caller, tokens: tokens, sources: sources, devices: devices, context: context)
                do { try await session.run { try await writer.write(ByteBuffer(string: $0)) } } catch {
                    context.logger.debug("a stream ended", metadata: ["error": "\(error)"])
                }
                try await writer.finish(nil)
            })
    }
}

/// The tokens of several streams as one `Last-Event-ID`: `name=token` separated by spaces.
struct StreamTokens: Sendable {
    private(set) var tokens: [String: ResumeToken] = [:]

    /// - Throws: ``Problem`` for what this server never gave.
    init(_ text: String) throws(Problem) {
        guard text.utf8.count <= 4096 else { throw Self.malformed }
        for part in text.split(separator: " ") {
            let halves = part.split(separator: "=", maxSplits: 1)
            guard halves.count == 2, let token = ResumeToken(String(halves[1])) else { throw Self.malformed }
            tokens[String(halves[0])] = token
        }
    }

    subscript(name: String) -> ResumeToken? {
        get { tokens[name] }
        set { tokens[name] = newValue }
    }

    var description: String { tokens.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: " ") }

    private static let malformed = Problem(
        .badRequest, "malformedEventID",
        "Last-Event-ID must be the id of an event of this stream; leave it out to start anew",
        field: "Last-Event-ID")
}

/// One connection's streams, written one event at a time in the order in which each stream has them.
struct StreamSession: Sendable {
    let caller: Caller
    let tokens: StreamTokens
    let sources: [StreamSource]
    let devices: Devices
    let context: EdgeContext

    private enum Item: Sendable {
        case snapshot(String, [UInt8], isRefetched: Bool, ResumeToken?)
        case resumed(String)
        case event(String, RecordedMessage, ResumeToken)
        case heartbeat
        case end(reason: String)
    }

    /// Writes until the app leaves, its token ends or its device is signed out.
    ///
    /// Subscriptions wait for the writer, the writer for the socket: what an app doesn't read stays in its streams' bounded
    /// buffers, and when one overflows the app gets that stream's snapshot again.
    func run(write: (String) async throws -> Void) async throws {
        let (items, source) = AsyncStream<Item>.makeStream(bufferingPolicy: .unbounded)
        let credit = Credit(limit: 256)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for stream in sources {
                group.addTask { try await follow(stream, from: tokens[stream.name], into: source, credit) }
            }
            group.addTask {
                while true {
                    try await Task.sleep(for: EventStream.heartbeat)
                    source.yield(.heartbeat)
                }
            }
            group.addTask { [caller] in
                let left = caller.expiresAt - .now
                try await Task.sleep(for: max(.zero, left.duration))
                source.yield(.end(reason: "tokenExpired"))
            }
            let stopWatching = devices.watch(caller) { source.yield(.end(reason: "signedOut")) }
            defer {
                stopWatching()
                group.cancelAll()
            }
            let written = await Result { try await Self.write(items, tokens, credit, write) }
            await credit.close()
            try written.get()
        }
    }

    /// Writes items until one ends the stream or the socket is gone.
    private static func write(
        _ items: AsyncStream<Item>, _ tokens: StreamTokens, _ credit: Credit, _ write: (String) async throws -> Void
    ) async throws {
        var position = tokens
        for await item in items {
            switch item {
            case .heartbeat: try await write(": \n\n")
            case .end(let reason):
                try await write("event: end\ndata: {\"reason\":\"\(reason)\"}\n\n")
                return
            case .snapshot(let name, let body, let isRefetched, let token):
                position[name] = token
                try await write(
                    event("\(name).snapshot", id: position, "{\"refetched\":\(isRefetched),\"state\":", body, "}"))
                await credit.give()
            case .resumed(let name):
                try await write("event: \(name).resumed\ndata: {}\n\n")
                await credit.give()
            case .event(let name, let message, let token):
                position[name] = token
                let head = """
                    {"type":"\(message.message.type)","version":\(message.message.version),\
                    "at":\(message.recordedAt.microseconds),"correlation":\(quoted(message.message.correlationID)),\
                    "command":\(quoted(message.message.commandID)),"body":
                    """
                try await write(event("\(name).event", id: position, head, message.message.body, "}"))
                await credit.give()
            }
        }
    }

    private func follow(
        _ stream: StreamSource, from token: ResumeToken?, into source: AsyncStream<Item>.Continuation, _ credit: Credit
    ) async throws {
        var token = token
        while !Task.isCancelled {
            let subscription: Subscription
            do {
                subscription = try await stream.reader.subscribe(
                    to: .account(caller.account), from: token, state: stream.state(caller.account))
            } catch let error as PostgresError {
                // The database is away or too much is asked of it: the stream pauses, nothing in it is lost.
                context.logger.info("a stream waits for the database", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .seconds(1))
                continue
            }
            await credit.take()
            switch subscription.beginning {
            case .resumed: source.yield(.resumed(stream.name))
            case .snapshot(let body, let isRefetched):
                token = subscription.token
                source.yield(.snapshot(stream.name, body, isRefetched: isRefetched, token))
            }
            events: while let element = await subscription.next() {
                switch element {
                case .event(let message, let next):
                    await credit.take()
                    token = next
                    source.yield(.event(stream.name, message, next))
                case .fellBehind: break events
                }
            }
        }
    }

    private static func event(_ name: String, id: StreamTokens, _ head: String, _ body: [UInt8], _ tail: String)
        -> String
    {
        // JSON has no raw line breaks inside strings; outside they would end the data line.
        let body = String(decoding: body, as: UTF8.self).replacing("\n", with: " ").replacing("\r", with: " ")
        return "id: \(id.description)\nevent: \(name)\ndata: \(head)\(body)\(tail)\n\n"
    }

    private static func quoted<Subject>(_ id: ID<Subject>?) -> String { id.map { "\"\($0)\"" } ?? "null" }
}

/// How many events may be on their way to one socket: who follows a stream waits for the writer beyond that.
private actor Credit {
    private var left: Int
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var isClosed = false

    init(limit: Int) { left = limit }

    /// Nobody writes any more: lets everybody go.
    func close() {
        isClosed = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    func take() async {
        if isClosed { return }
        if left > 0 {
            left -= 1
        } else {
            await withCheckedContinuation { waiters.append($0) }
        }
    }

    func give() {
        if waiters.isEmpty { left += 1 } else { waiters.removeFirst().resume() }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
