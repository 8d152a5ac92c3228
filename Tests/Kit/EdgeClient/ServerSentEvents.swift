import AsyncHTTPClient
import NIOCore

/// One server-sent event (WHATWG HTML, section 9.2.6).
public struct ServerSentEvent: Sendable, CustomStringConvertible {
    public var name = "message"
    /// The `Last-Event-ID` with which to resume after it.
    public var id: String?
    public var data: JSON = .null

    public init() {}

    /// For failures.
    public var description: String { "\(name) \(data)" }
}

/// The events of one connection, in order. Read once; the connection is closed when nobody reads any more.
public struct ServerSentEvents: AsyncSequence, Sendable {
    private let stream: AsyncThrowingStream<ServerSentEvent, any Error>

    init(body: HTTPClientResponse.Body) {
        let (stream, continuation) = AsyncThrowingStream<ServerSentEvent, any Error>.makeStream()
        self.stream = stream
        let reading = Task {
            do {
                var parser = ServerSentEventParser()
                for try await chunk in body {
                    for event in try parser.read(chunk.readableBytesView) { continuation.yield(event) }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        continuation.onTermination = { _ in reading.cancel() }
    }

    /// Reads events one after the other; ends when the server ends the connection in good order.
    public func makeAsyncIterator() -> AsyncThrowingStream<ServerSentEvent, any Error>.AsyncIterator {
        stream.makeAsyncIterator()
    }
}

/// Makes events of what arrives.
private struct ServerSentEventParser {
    private var buffer: [UInt8] = []
    private var event = ServerSentEvent()
    private var data = ""
    private var lastID: String?

    mutating func read(_ bytes: some Sequence<UInt8>) throws -> [ServerSentEvent] {
        buffer += bytes
        var events: [ServerSentEvent] = []
        var start = buffer.startIndex
        while let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
            if let event = try take(String(decoding: buffer[start..<end], as: UTF8.self)) { events.append(event) }
            start = end + 1
        }
        buffer.removeSubrange(..<start)
        return events
    }

    private mutating func take(_ line: String) throws -> ServerSentEvent? {
        guard !line.isEmpty else {
            defer { (event, data) = (ServerSentEvent(), "") }
            guard !data.isEmpty else { return nil }
            event.id = lastID
            event.data = try JSON(parsing: data)
            return event
        }
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count == 2 ? String(parts[1].hasPrefix(" ") ? parts[1].dropFirst() : parts[1]) : ""
        switch parts[0] {
        case "event": event.name = value
        case "id": lastID = value
        case "data": data += data.isEmpty ? value : "\n" + value
        default: break
        }
        return nil
    }
}
