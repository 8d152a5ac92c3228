import Hummingbird
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import SessionClientService

@Suite("Answers that aren't read")
struct UnreadAnswersTests {
    /// Stands for a peer that takes bytes when it is told to.
    private final class Reader: ChannelOutboundHandler {
        typealias OutboundIn = HTTPResponsePart

        private var waiting: [EventLoopPromise<Void>] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            if let promise { waiting.append(promise) }
        }

        /// Takes the oldest pieces.
        func read(_ count: Int = 1) { for _ in 0..<min(count, waiting.count) { waiting.removeFirst().succeed() } }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            for promise in waiting { promise.fail(ChannelError.ioOnClosedChannel) }
            waiting = []
            context.close(mode: mode, promise: promise)
        }
    }

    private static func connection(
        _ unread: UnreadAnswers, _ reader: Reader, from address: String = "127.0.0.1"
    ) throws -> EmbeddedChannel {
        // The reader is nearer to the connection's end, so it hears of that first.
        let channel = EmbeddedChannel()
        channel.remoteAddress = try SocketAddress(ipAddress: address, port: 1)
        try channel.pipeline.syncOperations.addHandlers([reader, UnreadOfConnection(unread), UnreadParts()])
        try channel.connect(to: SocketAddress(ipAddress: address, port: 1)).wait()
        return channel
    }

    private static func answer(_ bytes: Int, on channel: EmbeddedChannel) {
        channel.write(HTTPResponsePart.body(ByteBuffer(repeating: 0, count: bytes)), promise: nil)
    }

    @Test("who takes a piece now and then is served to the end; who takes none in the time is cut off")
    func time() throws {
        let unread = UnreadAnswers(limit: 64 << 20, patience: .seconds(10))
        let (slow, dead) = (Reader(), Reader())
        let (slowly, never) = (try Self.connection(unread, slow), try Self.connection(unread, dead))
        for channel in [slowly, never] { Self.answer(640 << 10, on: channel) }
        #expect(unread.count == 1280 << 10)
        for _ in 0..<10 {
            for channel in [slowly, never] { channel.embeddedEventLoop.advanceTime(by: .seconds(9)) }
            slow.read()
        }
        #expect(slowly.isActive && !never.isActive)
        #expect(unread.count == 0)
        // Nothing waits, however long it lasts.
        slowly.embeddedEventLoop.advanceTime(by: .hours(1))
        Self.answer(1, on: slowly)
        slowly.embeddedEventLoop.advanceTime(by: .seconds(9))
        #expect(slowly.isActive && unread.count == 1)
        slowly.embeddedEventLoop.advanceTime(by: .seconds(2))
        #expect(!slowly.isActive && unread.count == 0)
    }

    @Test("one address keeps its part only, with however many connections; a slow reader elsewhere is served")
    func addresses() throws {
        let unread = UnreadAnswers(limit: 8 << 20, limitOfConnection: 1 << 20, patience: .seconds(3600))
        let hoarders = try (0..<64).map { _ in try Self.connection(unread, Reader(), from: "10.0.0.1") }
        for _ in 0..<50 { for channel in hoarders where channel.isActive { Self.answer(20 << 10, on: channel) } }
        #expect(unread.count <= (1 << 20) + 20 << 10)
        let reader = Reader()
        let slow = try Self.connection(unread, reader, from: "10.0.0.2")
        // It takes one piece of four.
        for _ in 0..<3 {
            Self.answer(256 << 10, on: slow)
            reader.read()
        }
        #expect(slow.isActive)
        for channel in hoarders + [slow] where channel.isActive { channel.close(promise: nil) }
        #expect(unread.count == 0)
    }

    @Test(
        "one connection keeps its part only, and the more don't read, the less each of them may keep; others are served"
    )
    func shares() throws {
        let unread = UnreadAnswers(limit: 8 << 20, limitOfConnection: 1 << 20, patience: .seconds(3600))
        let greedy = try Self.connection(unread, Reader())
        for _ in 0..<20 where greedy.isActive { Self.answer(100 << 10, on: greedy) }
        #expect(!greedy.isActive && unread.count == 0)

        let crowd = try (0..<200).map { try Self.connection(unread, Reader(), from: "10.0.0.\($0)") }
        for _ in 0..<20 { for channel in crowd where channel.isActive { Self.answer(20 << 10, on: channel) } }
        #expect(unread.count < 9 << 20)
        let reader = Reader()
        let one = try Self.connection(unread, reader)
        for _ in 0..<100 {
            Self.answer(200 << 10, on: one)
            reader.read(4)
        }
        #expect(one.isActive)
        for channel in crowd + [one] where channel.isActive { channel.close(promise: nil) }
        #expect(unread.count == 0)
    }
}
