import QuartetAPI
import QuartetProto
import QuartetSessionContract
import QuartetVocabulary

/// A stream as messages of gRPC.
struct StreamMessages: StreamTransport {
    private let output: @Sendable ([Quartet_V1_StreamMessage]) async throws -> Void
    private var messages: [Quartet_V1_StreamMessage] = []
    private var size = 0
    /// More than this is written before more is added.
    private static let pieceSize = 16 * 1024

    init(write: @escaping @Sendable ([Quartet_V1_StreamMessage]) async throws -> Void) {
        output = write
    }

    var isFull: Bool { size >= Self.pieceSize }

    mutating func next() -> [Quartet_V1_StreamMessage]? {
        guard !messages.isEmpty else { return nil }
        defer { (messages, size) = ([], 0) }
        return messages
    }

    func write(_ piece: [Quartet_V1_StreamMessage]) async throws { try await output(piece) }

    mutating func addHeartbeat(at place: StreamTokens) { add(.heartbeat(.init()), at: place.isEmpty ? nil : place) }

    mutating func add(_ end: StreamEnd) {
        // Nothing that was left unsent belongs before it.
        (messages, size) = ([], 0)
        var message = Quartet_V1_StreamEnd()
        message.reason = end.reason.rawValue
        if let why = end.why { message.why = why.rawValue }
        add(.end(message), at: nil)
    }

    mutating func add(_ event: StreamEvent, at place: StreamTokens?) {
        switch event {
        case .begun(let begun):
            var message = Quartet_V1_StreamBegun()
            message.stream = begun.stream
            message.expiresIn = begun.expiresIn
            add(.begun(message), at: place)
        case .snapshot(let name, let snapshot):
            var message = Quartet_V1_StreamSnapshot()
            message.stream = name.description
            message.refetched = snapshot.isRefetched
            if let hash = snapshot.hash { message.hash = hash }
            message.state = text(snapshot.state)
            add(.snapshot(message), at: place)
        case .resumed(let name):
            var message = Quartet_V1_StreamResumed()
            message.stream = name.description
            add(.resumed(message), at: place)
        case .event(let name, let event): add(.event(.init(name, event, body: text(event.body))), at: place)
        case .groupEnded(let ended):
            var message = Quartet_V1_GroupStreamEnded()
            message.group = ended.group.description
            message.reason = ended.reason.rawValue
            add(.groupEnded(message), at: place)
        case .groups(let groups): add(.groups(text(groups.json)), at: place)
        case .person(let person): add(.person(text(person.json)), at: place)
        case .personEnded(let person): add(.personEnded(person.account.description), at: place)
        case .signal(let signal): add(.signal(text(signal.json)), at: place)
        }
    }

    private mutating func text(_ json: [UInt8]) -> String {
        size += json.count
        return String(decoding: json, as: UTF8.self)
    }

    private mutating func add(_ content: Quartet_V1_StreamMessage.OneOf_Content, at place: StreamTokens?) {
        var message = Quartet_V1_StreamMessage()
        message.content = content
        if let place { message.position = place.description }
        size += 64
        messages.append(message)
    }
}

extension Quartet_V1_StreamEvent {
    fileprivate init(_ name: StreamName, _ event: StreamedEvent, body: String) {
        self.init()
        stream = name.description
        type = event.type
        version = Int32(event.version)
        at = event.at.microseconds
        if let correlation = event.correlation { self.correlation = correlation.description }
        if let command = event.command { self.command = command.description }
        if let hash = event.hash { self.hash = hash }
        self.body = body
    }
}
