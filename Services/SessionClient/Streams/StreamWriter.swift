import NIOCore
import Synchronization
import Vocabulary

/// Writes one connection's items as server-sent events (WHATWG HTML, section 9.2).
struct StreamWriter: Sendable {
    /// The app doesn't read: a piece wasn't written before its deadline.
    struct Stuck: Error {}

    private let outlet: StreamOutlet
    private let tokens: StreamTokens
    private let deadline: Duration
    private let write: @Sendable (ByteBuffer) async throws -> Void
    private let progress = Progress()

    /// When the write in progress began.
    private final class Progress: Sendable {
        let begun = Mutex<ContinuousClock.Instant?>(nil)
    }

    /// Waiting items are written together, up to about this many bytes. Larger ones are written in pieces of this size, each
    /// with a deadline of its own.
    private static let pieceSize = 16 * 1024
    /// How long the last write may take once the stream is over. Whoever doesn't read holds no place after that.
    static let endDeadline: Duration = .seconds(1)

    /// - Parameters:
    ///   - tokens: where the app was.
    ///   - deadline: how long a write may take.
    ///   - write: called with one piece after the other.
    init(
        _ outlet: StreamOutlet, after tokens: StreamTokens, deadline: Duration,
        write: @Sendable @escaping (ByteBuffer) async throws -> Void
    ) {
        self.outlet = outlet
        self.tokens = tokens
        self.deadline = deadline
        self.write = write
    }

    /// Writes until the end or until the app has left.
    func run() async throws {
        var position = tokens
        // Spreads the apps that all lose their connection when a server restarts.
        var (text, count) = ("retry: \(Int.random(in: 1000...4000))\n", 0)
        for await item in outlet.items where outlet.end == nil {
            let hasMore = outlet.taken()
            switch item {
            case .heartbeat: text += ": \n\n"
            case .left: return
            default:
                Self.append(item, to: &text, &position)
                count += 1
            }
            guard !hasMore || text.utf8.count >= Self.pieceSize else { continue }
            try await send(text)
            await outlet.giveRoom(count)
            (text, count) = ("", 0)
        }
        if let end = outlet.end { try await send("event: end\ndata: \(end.json)\n\n") }
    }

    /// Waits for a write that takes too long.
    /// - Throws: ``Stuck``.
    func watch() async throws -> Never {
        while true {
            let begun = progress.begun.withLock { $0 }
            try await Task.sleep(until: (begun ?? .now) + deadline, clock: .continuous)
            if let begun, progress.begun.withLock({ $0 }) == begun { throw Stuck() }
        }
    }

    private func send(_ text: String) async throws {
        var rest = ByteBuffer(string: text)
        while let piece = rest.readSlice(length: min(Self.pieceSize, rest.readableBytes)), piece.readableBytes > 0 {
            progress.begun.withLock { $0 = .now }
            try await write(piece)
        }
        progress.begun.withLock { $0 = nil }
    }

    private static func append(_ item: StreamItem, to text: inout String, _ position: inout StreamTokens) {
        switch item {
        case .heartbeat, .left: break
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
        case .person(let person): text += "event: person\ndata: \(person)\n\n"
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

    private static func quoted<Subject>(_ id: ID<Subject>?) -> String { id.map { "\"\($0)\"" } ?? "null" }
}
