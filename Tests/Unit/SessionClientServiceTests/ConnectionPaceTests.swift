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

    @Test("an address has a limit of connections; others' don't count, and one that closes makes room")
    func perAddress() throws {
        let places = Places<String>(limit: 2)
        func connect(_ address: String) throws -> EmbeddedChannel {
            let channel = EmbeddedChannel()
            channel.remoteAddress = try SocketAddress(ipAddress: address, port: 1)
            try channel.pipeline.syncOperations.addHandler(ConnectionsPerAddress(places))
            return channel
        }
        let first = try connect("192.0.2.1")
        _ = try first.connect(to: SocketAddress(ipAddress: "192.0.2.9", port: 1))
        let second = try connect("192.0.2.1")
        #expect(places.enter("192.0.2.1") == nil)
        let other = try connect("198.51.100.1")
        #expect(places.enter("198.51.100.1") != nil)
        _ = try first.finish(acceptAlreadyClosed: true)
        #expect(places.enter("192.0.2.1") != nil)
        _ = (second, other)
    }
}
