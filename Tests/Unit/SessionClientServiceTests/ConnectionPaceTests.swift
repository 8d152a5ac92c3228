import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import SessionClientService

/// When a connection that is slow is closed, by a clock that the test sets.
@Suite("Session-client: slow requests")
struct ConnectionPaceTests {
    private static func connection() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: ConnectionPace())
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private static let head = HTTPRequestPart.head(
        HTTPRequest(method: .post, scheme: "http", authority: "localhost", path: "/v1/sign-in"))

    private static func body(_ count: Int) -> HTTPRequestPart {
        .body(ByteBuffer(bytes: [UInt8](repeating: 1, count: count)))
    }

    @Test("a request head that takes longer than ten seconds ends the connection; an idle connection stays")
    func slowHead() throws {
        let channel = try Self.connection()
        channel.embeddedEventLoop.advanceTime(by: .seconds(50))
        #expect(channel.isActive, "idle, which has a limit of its own")
        channel.pipeline.fireChannelReadComplete()
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(channel.isActive)
        channel.pipeline.fireChannelReadComplete()
        channel.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(!channel.isActive)
    }

    @Test("a body that trickles in by the byte ends the connection; a kilobyte a second doesn't")
    func slowBody() throws {
        let (slow, steady) = (try Self.connection(), try Self.connection())
        for channel in [slow, steady] { try channel.writeInbound(Self.head) }
        for _ in 0..<60 {
            if slow.isActive { try slow.writeInbound(Self.body(1)) }
            try steady.writeInbound(Self.body(1100))
            for channel in [slow, steady] { channel.embeddedEventLoop.advanceTime(by: .seconds(1)) }
        }
        #expect(!slow.isActive && steady.isActive)
        try steady.writeInbound(HTTPRequestPart.end(nil))
        steady.embeddedEventLoop.advanceTime(by: .seconds(50))
        #expect(steady.isActive)
        _ = try steady.finish()
    }

    @Test("the rest of a request that is already answered has five seconds")
    func answered() throws {
        let channel = try Self.connection()
        try channel.writeInbound(Self.head)
        try channel.writeOutbound(HTTPResponsePart.end(nil))
        for _ in 0..<4 {
            try channel.writeInbound(Self.body(100_000))
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(!channel.isActive)
    }

    @Test("what still comes of a request that is answered is thrown away, up to its end")
    func thrownAway() throws {
        let channel = try Self.connection()
        try channel.writeInbound(Self.head)
        try channel.writeInbound(Self.body(1))
        try channel.writeOutbound(HTTPResponsePart.end(nil))
        for part in [Self.body(2), Self.body(3), .end(nil), Self.head] { try channel.writeInbound(part) }
        var read: [HTTPRequestPart] = []
        while let part = try channel.readInbound(as: HTTPRequestPart.self) { read.append(part) }
        #expect(read == [Self.head, Self.body(1), .end(nil), Self.head])
    }

    @Test("a request answered after all of it came leaves the connection open")
    func ordinary() throws {
        let channel = try Self.connection()
        for _ in 0..<3 {
            try channel.writeInbound(Self.head)
            try channel.writeInbound(Self.body(10))
            try channel.writeInbound(HTTPRequestPart.end(nil))
            try channel.writeOutbound(HTTPResponsePart.end(nil))
            channel.embeddedEventLoop.advanceTime(by: .seconds(30))
        }
        #expect(channel.isActive)
        _ = try channel.finish()
    }

    @Test("what is heard of a stream of HTTP/2 after its request isn't the beginning of another")
    func oneRequest() throws {
        let channel = EmbeddedChannel(handler: ConnectionPace(carries: .oneRequest))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        try channel.writeInbound(Self.head)
        try channel.writeInbound(HTTPRequestPart.end(nil))
        // As when the client makes room for more of the answer.
        channel.pipeline.fireChannelReadComplete()
        channel.embeddedEventLoop.advanceTime(by: .minutes(10))
        #expect(channel.isActive)
        _ = try channel.finish()
    }
}
