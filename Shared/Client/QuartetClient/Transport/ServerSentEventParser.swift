/// One server-sent event (WHATWG HTML, section 9.2.6).
struct ServerSentEvent: Hashable, Sendable {
    var name = "message"
    /// The `Last-Event-ID` to resume with. Nil for an event that moves no sequence.
    var id: String?
    var data: [UInt8] = []
}

/// Makes events of the bytes that arrive, however these are cut.
struct ServerSentEventParser {
    enum Item: Hashable, Sendable {
        case event(ServerSentEvent)
        /// A comment line.
        case heartbeat
    }

    /// A longer line is no event of ours.
    static let lineLimit = 32 << 20

    private var line: [UInt8] = []
    private var event = ServerSentEvent()
    private var hasData = false
    private var endedWithReturn = false

    /// - Throws: ``TransportError/malformed(_:)`` for a line that doesn't end.
    mutating func read(_ bytes: some Sequence<UInt8>) throws(TransportError) -> [Item] {
        var items: [Item] = []
        for byte in bytes {
            // A line ends with CR, LF or both.
            defer { endedWithReturn = byte == 0x0D }
            if byte == 0x0A, endedWithReturn { continue }
            if byte == 0x0A || byte == 0x0D {
                if let item = take() { items.append(item) }
                line.removeAll(keepingCapacity: true)
                continue
            }
            guard line.count < Self.lineLimit else { throw .malformed("a line of the stream is too long") }
            line.append(byte)
        }
        return items
    }

    private mutating func take() -> Item? {
        guard !line.isEmpty else {
            defer { (event, hasData) = (ServerSentEvent(), false) }
            return hasData ? .event(event) : nil
        }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        guard colon != line.startIndex else { return .heartbeat }
        var value = line[(colon.map { $0 + 1 } ?? line.endIndex)...]
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self) {
        case "event": event.name = String(decoding: value, as: UTF8.self)
        case "id": event.id = String(decoding: value, as: UTF8.self)
        case "data":
            if hasData { event.data.append(0x0A) }
            event.data += value
            hasData = true
        default: break
        }
        return nil
    }
}
