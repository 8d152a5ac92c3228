import NIOCore
import NIOEmbedded
import NIOHTTP2
import NIOTLS
import QuartetAPI
import ServiceKit
import Testing

@testable import SessionClientService

/// What stands between connections and requests, by a clock that the test sets.
@Suite("Session-client: connections")
struct ConnectionTests {
    private static func connection(_ handlers: any ChannelHandler...) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handlers: handlers)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private static func channel(from address: String) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        channel.remoteAddress = try SocketAddress(ipAddress: address, port: 1)
        return channel
    }

    @Test("an address has a limit of connections; others' don't count, and one that closes makes room")
    func perAddress() throws {
        let admissions = Admissions(limit: 3, perAddress: 2)
        let (first, second) = (try Self.channel(from: "192.0.2.1"), try Self.channel(from: "192.0.2.1"))
        for channel in [first, second] {
            guard case .admitted = admissions.admit(channel) else { throw Unexpected() }
        }
        guard case .refused(let error) = admissions.admit(try Self.channel(from: "192.0.2.1")) else {
            throw Unexpected()
        }
        #expect(error.code == .tooManyConnections && error.retryAfter != nil)
        guard case .admitted = admissions.admit(try Self.channel(from: "198.51.100.1")) else { throw Unexpected() }
        guard case .refused(let all) = admissions.admit(try Self.channel(from: "198.51.100.1")) else {
            throw Unexpected()
        }
        #expect(all.code == .overloaded, "three in all")
        _ = try first.finish(acceptAlreadyClosed: true)
        guard case .admitted = admissions.admit(try Self.channel(from: "192.0.2.1")) else { throw Unexpected() }
    }

    private struct Unexpected: Error {}

    @Test("a thousand connections are answered that there are too many; beyond that they are closed unheard")
    func turnedAway() throws {
        let admissions = Admissions(limit: 1, perAddress: nil)
        let channels = try (0..<1002).map { _ in try Self.channel(from: "192.0.2.1") }
        var refused = 0
        for channel in channels.dropLast() {
            if case .refused = admissions.admit(channel) { refused += 1 }
        }
        guard case .turnedAway = admissions.admit(try #require(channels.last)) else { throw Unexpected() }
        #expect(refused == 1000)
    }

    @Test("connections leave the process as many files as it needs for itself, however few the system allows")
    func openFiles() {
        for (files, admitted, refused) in [(Int.max, 20_000, 1000), (20_000, 18_744, 1000), (1024, 614, 154)] {
            let places = Admissions.places(20_000, openFiles: files)
            #expect(places.admitted == admitted && places.refused == refused, "\(files): \(places)")
        }
        for files in 0..<2000 {
            let places = Admissions.places(1000, openFiles: files)
            #expect(places.admitted > 0 && places.refused > 0)
            #expect(files < 300 || places.admitted + places.refused + 256 <= files, "\(files): \(places)")
        }
    }

    @Test(
        """
        a connection that is one too many gets a whole answer and hears that nothing follows; what it still sends is read, and \
        it is closed two seconds later
        """)
    func refusal() throws {
        let ends = OutputEnds()
        let channel = try Self.connection(
            ends, Refusal(Refusal.http(APIError(.overloaded, retryAfter: 5)), isEncrypted: false))
        let answer = try #require(try channel.readOutbound(as: ByteBuffer.self))
        let text = String(buffer: answer)
        #expect(text.hasPrefix("HTTP/1.1 503 \r\n") && text.contains("Retry-After: 5\r\n"))
        #expect(text.contains("\r\nConnection: close\r\n") && text.contains("\"code\":\"overloaded\""))
        #expect(ends.count == 1)
        try channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\n"))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(3))
        #expect(!channel.isActive)
    }

    @Test(
        "a connection of gRPC that is one too many is asked to leave, with the reason, by a peer that speaks HTTP/2 (T21)"
    )
    func goAway() throws {
        let client = EmbeddedChannel(handler: NIOHTTP2Handler(mode: .client))
        try client.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 1)).wait()
        try client.writeInbound(ByteBuffer(bytes: Refusal.goAway(APIError(.tooManyConnections))))
        guard case .settings? = try client.readInbound(as: HTTP2Frame.self)?.payload,
            case .goAway(_, let code, let reason?)? = try client.readInbound(as: HTTP2Frame.self)?.payload
        else { throw Unexpected() }
        #expect(code == .enhanceYourCalm)
        #expect(String(buffer: reason).hasPrefix("tooManyConnections: Too many connections"))
        _ = try client.finish(acceptAlreadyClosed: true)
    }

    @Test("over TLS, the refusal waits for the handshake")
    func encryptedRefusal() throws {
        let ends = OutputEnds()
        let channel = try Self.connection(ends, Refusal(Refusal.http(APIError(.overloaded)), isEncrypted: true))
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1500))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil && ends.count == 0)
        channel.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: nil))
        #expect(try channel.readOutbound(as: ByteBuffer.self) != nil && ends.count == 1)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1500))
        #expect(channel.isActive, "it has the same time, however long the handshake took")
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
        _ = try channel.finish(acceptAlreadyClosed: true)
    }

    @Test("a TLS handshake has ten seconds")
    func handshake() throws {
        let (silent, good) = (try Self.connection(Handshake()), try Self.connection(Handshake()))
        good.pipeline.fireUserInboundEventTriggered(TLSUserEvent.handshakeCompleted(negotiatedProtocol: "h2"))
        for channel in [silent, good] { channel.embeddedEventLoop.advanceTime(by: .seconds(11)) }
        #expect(!silent.isActive && good.isActive)
        _ = try good.finish()
    }

    @Test("a connection of HTTP/2 without requests is closed, one with a request isn't, however quiet it is")
    func rest() throws {
        let channel = try Self.connection(HTTP2Rest())
        channel.embeddedEventLoop.advanceTime(by: .seconds(70))
        channel.pipeline.fireUserInboundEventTriggered(HTTP2Rest.Event.began)
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        channel.pipeline.fireUserInboundEventTriggered(HTTP2Rest.Event.ended)
        channel.embeddedEventLoop.advanceTime(by: .seconds(74))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(!channel.isActive)
    }

    @Test("a request of HTTP/2 that ends too early concerns nobody else on its connection")
    func shortRequest() throws {
        let channel = try Self.connection(HTTP2Rest())
        channel.pipeline.fireErrorCaught(NIOHTTP2Errors.contentLengthViolated())
        try channel.throwIfErrorCaught()
        channel.pipeline.fireErrorCaught(NIOHTTP2Errors.unableToParseFrame())
        #expect(throws: NIOHTTP2Errors.UnableToParseFrame.self) { try channel.throwIfErrorCaught() }
        _ = try channel.finish()
    }

    @Test("clients may ping as often as they like")
    func pings() throws {
        let channel = try Self.connection(HTTP2Rest())
        func frame(ack: Bool) -> HTTP2Frame {
            HTTP2Frame(streamID: .rootStream, payload: .ping(HTTP2PingData(withInteger: 1), ack: ack))
        }
        try channel.writeInbound(frame(ack: false))
        #expect(try channel.readInbound(as: HTTP2Frame.self) == nil)
        try channel.writeInbound(frame(ack: true))
        #expect(try channel.readInbound(as: HTTP2Frame.self) != nil, "answers to the server's own pings")
        _ = try channel.finish()
    }

    @Test(
        "origins are written as browsers send them",
        arguments: [
            ("https://app.example.org", WebOrigins.listed(["https://app.example.org"])),
            ("https://a.example, http://localhost:3000", .listed(["https://a.example", "http://localhost:3000"])),
            ("*", .all), ("", .none),
        ] as [(String, WebOrigins)])
    func origins(_ text: String, _ expected: WebOrigins) throws {
        #expect(try WebOrigins(text) == expected)
    }

    @Test(
        "what isn't an origin is refused",
        arguments: [
            "app.example.org", "https://app.example.org/", "https://App.example.org", "file:///",
            "*, https://a.example",
            "https://user@a.example",
        ])
    func notAnOrigin(_ text: String) {
        #expect(throws: SettingProblem.self) { try WebOrigins(text) }
    }
}

/// Counts how often the end of what is sent is said. An embedded channel would close.
private final class OutputEnds: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private(set) var count = 0

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output else { return context.close(mode: mode, promise: promise) }
        count += 1
        promise?.succeed()
    }
}
