/// What a client of HTTP/2 sends, byte by byte (RFC 9113), for what no client does.
public enum RawHTTP2 {
    /// How a client begins.
    /// - Parameter window: How many bytes of each answer it takes before it says more; as many as usual unless given.
    public static func preface(window: UInt32? = nil) -> [UInt8] {
        let settings = window.map { [0, 4] + bytes($0) } ?? []
        return Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + frame(4, on: 0, settings)
    }

    /// The head of a request without a body, whole.
    public static func get(_ path: String, on stream: UInt32, _ token: String? = nil) -> [UInt8] {
        let fields = [(":method", "GET"), (":scheme", "https"), (":path", path), (":authority", "localhost")]
        return frame(1, flags: 5, on: stream, block(fields + (token.map { [("authorization", "Bearer \($0)")] } ?? [])))
    }

    /// The head of a request with a body of JSON, which is to follow.
    /// - Parameter length: How many bytes of it are promised; none if nil.
    public static func post(_ path: String, length: Int? = nil, on stream: UInt32) -> [UInt8] {
        let fields = [
            (":method", "POST"), (":scheme", "https"), (":path", path), (":authority", "localhost"),
            ("content-type", "application/json"),
        ]
        return frame(1, flags: 4, on: stream, block(fields + (length.map { [("content-length", "\($0)")] } ?? [])))
    }

    /// A part of a request's body.
    public static func body(_ text: String, isEnd: Bool = true, on stream: UInt32) -> [UInt8] {
        frame(0, flags: isEnd ? 1 : 0, on: stream, Array(text.utf8))
    }

    /// The head of a call of gRPC, whose message is to follow.
    public static func head(of call: String, on stream: UInt32, _ token: String) -> [UInt8] {
        let fields = [
            (":method", "POST"), (":scheme", "http"), (":path", "/\(call)"),
            (":authority", "localhost"), ("content-type", "application/grpc"), ("te", "trailers"),
            ("authorization", "Bearer \(token)"),
        ]
        return frame(1, flags: 4, on: stream, block(fields))
    }

    /// A call's message without fields, and the end of what the client says.
    public static func emptyMessage(on stream: UInt32) -> [UInt8] { frame(0, flags: 1, on: stream, [0, 0, 0, 0, 0]) }

    /// That the client gives a request up.
    public static func reset(_ stream: UInt32) -> [UInt8] { frame(3, on: stream, bytes(8)) }

    private static func frame(_ type: UInt8, flags: UInt8 = 0, on stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        Array(bytes(UInt32(payload.count)).dropFirst()) + [type, flags] + bytes(stream) + payload
    }

    private static func bytes(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    /// Literal fields that aren't indexed (RFC 7541, section 6.2.2).
    private static func block(_ fields: [(String, String)]) -> [UInt8] {
        func length(_ count: Int) -> [UInt8] {
            guard count >= 127 else { return [UInt8(count)] }
            var rest = count - 127
            var bytes: [UInt8] = [127]
            while rest >= 128 {
                bytes.append(UInt8(rest % 128 + 128))
                rest /= 128
            }
            bytes.append(UInt8(rest))
            return bytes
        }
        var block: [UInt8] = []
        for (name, value) in fields {
            block.append(0)
            for text in [name, value] { block += length(text.utf8.count) + Array(text.utf8) }
        }
        return block
    }
}
