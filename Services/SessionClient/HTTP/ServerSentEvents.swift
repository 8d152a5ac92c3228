import NIOCore
import QuartetAPI
import QuartetVocabulary

/// A stream as server-sent events (WHATWG HTML, section 9.2). An event's id is the place in all sequences, so that
/// `Last-Event-ID` goes on exactly where each was.
struct ServerSentEvents: StreamTransport {
    private let output: @Sendable (ByteBuffer) async throws -> Void
    private var text: String
    private var rest = ByteBuffer()
    /// Larger texts are written in pieces of this size.
    private static let pieceSize = 16 * 1024

    init(write: @escaping @Sendable (ByteBuffer) async throws -> Void) {
        output = write
        // Spreads the apps that all lose their connection when a server restarts.
        text = "retry: \(Int.random(in: 1000...4000))\n"
    }

    var isFull: Bool { text.utf8.count >= Self.pieceSize }

    mutating func next() -> ByteBuffer? {
        if rest.readableBytes == 0, !text.isEmpty {
            rest = ByteBuffer(string: text)
            text = ""
        }
        defer { if rest.readableBytes == 0 { rest = ByteBuffer() } }
        return rest.readableBytes == 0 ? nil : rest.readSlice(length: min(Self.pieceSize, rest.readableBytes))
    }

    func write(_ piece: ByteBuffer) async throws { try await output(piece) }

    mutating func addHeartbeat(at place: StreamTokens) {
        // An empty id would make the app forget where it was.
        if !place.isEmpty { text += "id: \(place)\n" }
        text += "event: heartbeat\ndata: {}\n\n"
    }

    mutating func add(_ end: StreamEnd) {
        // Nothing that was left unsent belongs before it.
        text = "event: end\ndata: \(Self.json(end))\n\n"
    }

    mutating func add(_ event: StreamEvent, at place: StreamTokens?) {
        if let place { text += "id: \(place)\n" }
        switch event {
        case .begun(let begun): text += "event: begun\ndata: \(Self.json(begun))\n\n"
        case .snapshot(let name, let snapshot):
            text += "event: \(name.family).snapshot\ndata: {\(Self.group(name))\"refetched\":\(snapshot.isRefetched),"
            text += "\(Self.hash(snapshot.hash))\"state\":"
            add(snapshot.state)
        case .resumed(let name): text += "event: \(name.family).resumed\ndata: {\(Self.group(name, isAll: true))}\n\n"
        case .event(let name, let event):
            text += """
                event: \(name.family).event
                data: {\(Self.group(name))"type":"\(event.type)","version":\(event.version),\
                "at":\(event.at.microseconds),"correlation":\(Self.quoted(event.correlation)),\
                "command":\(Self.quoted(event.command)),\(Self.hash(event.hash))"body":
                """
            add(event.body)
        case .signal(let signal):
            text += "event: signal\ndata: \(String(decoding: signal.json, as: UTF8.self))\n\n"
        case .groupEnded(let ended): text += "event: group.ended\ndata: \(Self.json(ended))\n\n"
        case .groups(let groups):
            text += "event: groups\ndata: \(String(decoding: groups.json, as: UTF8.self))\n\n"
        case .person(let person):
            text += "event: person\ndata: \(String(decoding: person.json, as: UTF8.self))\n\n"
        case .personEnded(let person): text += "event: person.ended\ndata: \(Self.json(person))\n\n"
        }
    }

    /// The rest of an event's data. JSON has no raw line breaks inside strings; outside they would end the line.
    private mutating func add(_ body: [UInt8]) {
        let breaks: [UInt8] = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
        if body.contains(where: breaks.contains) {
            text += String(decoding: body.map { breaks.contains($0) ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
        } else {
            text += String(decoding: body, as: UTF8.self)
        }
        text += "}\n\n"
    }

    /// The member that names a sequence's group session.
    private static func group(_ name: StreamName, isAll: Bool = false) -> String {
        name.group.map { "\"group\":\"\($0)\"\(isAll ? "" : ",")" } ?? ""
    }

    private static func hash(_ hash: String?) -> String { hash.map { "\"hash\":\"\($0)\"," } ?? "" }

    private static func json(_ value: some Encodable) -> String {
        (try? Encoded(value)).map { String(decoding: $0.json, as: UTF8.self) } ?? "{}"
    }

    private static func quoted<Subject>(_ id: ID<Subject>?) -> String { id.map { "\"\($0)\"" } ?? "null" }
}
