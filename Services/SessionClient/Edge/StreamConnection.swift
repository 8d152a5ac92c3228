import Bus
import Hummingbird
import Logging
import Postgres
import ServiceLifecycle
import SessionContract
import Synchronization
import Vocabulary

/// What is written on one connection, in the order in which each stream has it.
enum StreamItem: Sendable {
    case snapshot(String, [UInt8], isRefetched: Bool, ResumeToken?)
    case resumed(String)
    case event(String, RecordedMessage, ResumeToken)
    case person(Person)
    case personEnded(AccountID)
    case heartbeat
    case end(StreamEnd)
    /// The app has left; nothing more is written.
    case left
}

/// Why a stream ends.
enum StreamEnd: Hashable, Sendable {
    /// The device isn't signed in any more.
    case signedOut(SignOutReason?)
    /// The access token is over: come again with the next one.
    case tokenExpired
    /// Come again, to another process.
    case serverStopping
    /// Something can't go on: come again.
    case serverError
    /// What was known of devices may be wrong: come again.
    case reconnect

    /// As it is written.
    var json: String {
        switch self {
        case .signedOut(let why): "{\"reason\":\"signedOut\"\(why.map { ",\"why\":\"\($0.rawValue)\"" } ?? "")}"
        case .tokenExpired: #"{"reason":"tokenExpired"}"#
        case .serverStopping: #"{"reason":"serverStopping"}"#
        case .serverError: #"{"reason":"serverError"}"#
        case .reconnect: #"{"reason":"reconnect"}"#
        }
    }
}

/// Where the streams of one connection put what is to be written.
///
/// Bounded: who follows a stream waits for the writer, the writer for the socket. What an app doesn't read stays in its
/// streams' bounded buffers, and when one of those overflows the app gets that stream's snapshot again.
final class StreamOutlet: Sendable {
    private let source: AsyncStream<StreamItem>.Continuation
    fileprivate let credit: Credit
    /// Items that the writer has not taken.
    private let waiting = Atomic(0)

    fileprivate init(source: AsyncStream<StreamItem>.Continuation, credit: Credit) {
        self.source = source
        self.credit = credit
    }

    /// Waits until the writer has room, then hands it what `item` gives; nil is nothing any more.
    func put(_ item: @Sendable () -> StreamItem?) async {
        await credit.take()
        if let item = item() { putNow(item) } else { await credit.give() }
    }

    /// Hands over what can't wait.
    func putNow(_ item: StreamItem) {
        waiting.add(1, ordering: .relaxed)
        source.yield(item)
    }

    /// The writer has taken one. Returns whether there are more.
    fileprivate func taken() -> Bool { waiting.subtract(1, ordering: .relaxed).newValue > 0 }
}

/// One connection's streams, until the app leaves, its token ends, its device is signed out or the process ends.
struct StreamConnection: Sendable {
    let caller: Caller
    let tokens: StreamTokens
    let sources: [StreamSource]
    let people: PeopleSource
    let devices: Devices
    let context: EdgeContext
    private let items: AsyncStream<StreamItem>
    private let outlet: StreamOutlet
    private static let heartbeat: Duration = .seconds(15)
    private static let room = 256

    init(
        caller: Caller, tokens: StreamTokens, sources: [StreamSource], people: PeopleSource, devices: Devices,
        context: EdgeContext
    ) {
        self.caller = caller
        self.tokens = tokens
        self.sources = sources
        self.people = people
        self.devices = devices
        self.context = context
        let (items, source) = AsyncStream<StreamItem>.makeStream(bufferingPolicy: .unbounded)
        self.items = items
        outlet = StreamOutlet(source: source, credit: Credit(limit: Self.room))
    }

    /// The app has closed the connection.
    func leave() { outlet.putNow(.left) }

    /// Writes until it is over.
    func run(write: (String) async throws -> Void) async throws {
        let stopWatching = devices.watch(caller) { outlet.putNow(.end($0)) }
        defer { stopWatching() }
        // It may have been signed out before anybody watched.
        guard try await devices.isActive(caller) else {
            return try await write(Self.ended(.signedOut(try await devices.reason(for: caller))))
        }
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for stream in sources { group.addTask { await endOnError { try await follow(stream, outlet) } } }
                group.addTask {
                    await endOnError { try await people.follow(of: caller.account, outlet, context.logger) }
                }
                group.addTask {
                    while true {
                        try await Task.sleep(for: Self.heartbeat)
                        outlet.putNow(.heartbeat)
                    }
                }
                group.addTask { [caller] in
                    try await Task.sleep(until: caller.expiresAt, clock: .continuous)
                    outlet.putNow(.end(.tokenExpired))
                }
                defer { group.cancelAll() }
                do { try await Self.write(items, tokens, outlet, write) } catch {
                    await outlet.credit.close()
                    throw error
                }
                await outlet.credit.close()
            }
        } onGracefulShutdown: {
            outlet.putNow(.end(.serverStopping))
        }
    }

    /// A part that can't go on ends the whole: an app that reconnects is better off than one that waits for ever.
    private func endOnError(_ body: () async throws -> Void) async {
        do { try await body() } catch {
            guard !Task.isCancelled else { return }
            context.logger.error("a stream can't go on", metadata: ["error": "\(error)"])
            outlet.putNow(.end(.serverError))
        }
    }

    // MARK: Writing

    /// What is there already goes out together, up to so many bytes.
    private static let writeLimit = 16 * 1024

    private static func write(
        _ items: AsyncStream<StreamItem>, _ tokens: StreamTokens, _ outlet: StreamOutlet,
        _ write: (String) async throws -> Void
    ) async throws {
        var position = tokens
        var (text, count) = ("", 0)
        for await item in items {
            let hasMore = outlet.taken()
            switch item {
            case .heartbeat: text += ": \n\n"
            case .end(let end): return try await write(text + ended(end))
            case .left: return
            default:
                try append(item, to: &text, &position)
                count += 1
            }
            guard !hasMore || text.utf8.count >= writeLimit else { continue }
            try await write(text)
            await outlet.credit.give(count)
            (text, count) = ("", 0)
        }
    }

    private static func append(
        _ item: StreamItem, to text: inout String, _ position: inout StreamTokens
    ) throws {
        switch item {
        case .heartbeat, .end, .left: break
        case .snapshot(let name, let body, let isRefetched, let token):
            position[name] = token
            text += "id: \(position)\nevent: \(name).snapshot\ndata: {\"refetched\":\(isRefetched),\"state\":"
            append(body, to: &text)
        case .resumed(let name): text += "event: \(name).resumed\ndata: {}\n\n"
        case .event(let name, let message, let token):
            position[name] = token
            text += """
                id: \(position)
                event: \(name).event
                data: {"type":"\(message.message.type)","version":\(message.message.version),\
                "at":\(message.recordedAt.microseconds),"correlation":\(quoted(message.message.correlationID)),\
                "command":\(quoted(message.message.commandID)),"body":
                """
            append(message.message.body, to: &text)
        case .person(let person): text += "event: person\ndata: \(try jsonText(person))\n\n"
        case .personEnded(let account): text += "event: person.ended\ndata: {\"account\":\"\(account)\"}\n\n"
        }
    }

    /// The rest of an event's data. JSON has no raw line breaks inside strings; outside they would end the line.
    private static func append(_ body: [UInt8], to text: inout String) {
        let breaks: [UInt8] = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
        if body.contains(where: breaks.contains) {
            text += String(decoding: body.map { breaks.contains($0) ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
        } else {
            text += String(decoding: body, as: UTF8.self)
        }
        text += "}\n\n"
    }

    private static func ended(_ end: StreamEnd) -> String { "event: end\ndata: \(end.json)\n\n" }

    private static func quoted<Subject>(_ id: ID<Subject>?) -> String { id.map { "\"\($0)\"" } ?? "null" }

    // MARK: Following

    private func follow(_ stream: StreamSource, _ outlet: StreamOutlet) async throws {
        var token = tokens[stream.name]
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
            token = subscription.token
            switch subscription.beginning {
            case .resumed: await outlet.put { .resumed(stream.name) }
            case .snapshot(let body, let isRefetched):
                let begun = token
                await outlet.put { .snapshot(stream.name, body, isRefetched: isRefetched, begun) }
            }
            events: while let element = await subscription.next() {
                switch element {
                case .event(let message, let next):
                    token = next
                    await outlet.put { .event(stream.name, message, next) }
                case .fellBehind: break events
                }
            }
        }
    }
}

/// How many of something may be under way at a time.
actor Credit {
    private var left: Int
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var isClosed = false

    init(limit: Int) { left = limit }

    /// Nobody gives any more: lets everybody go.
    func close() {
        isClosed = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    /// Waits for room and takes it.
    func take() async {
        if isClosed { return }
        if left > 0 {
            left -= 1
        } else {
            await withCheckedContinuation { waiters.append($0) }
        }
    }

    /// Takes room while `body` runs.
    nonisolated func use<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        await take()
        do {
            let value = try await body()
            await give()
            return value
        } catch {
            await give()
            throw error
        }
    }

    /// Makes room for one, or so many.
    func give(_ count: Int = 1) {
        for _ in 0..<count {
            if waiters.isEmpty { left += 1 } else { waiters.removeFirst().resume() }
        }
    }
}
