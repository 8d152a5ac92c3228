import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Closes connections (of HTTP/2: streams) whose requests come too slowly, so that nobody keeps thousands of them by sending a
/// byte now and then.
///
/// A request's head has ten seconds from its first byte. A body must bring a kilobyte a second on average, after ten
/// seconds. Once a request is answered, what is still missing of it has five seconds. It is taken and thrown away here, whoever
/// reads the body: closing with bytes unread would make the client's system drop the answer (RFC 9112, section 9.6).
final class ConnectionPace: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The limits.
    struct Limits: Sendable {
        var head: TimeAmount = .seconds(Int64(EdgeLimits.head.value))
        /// How long a body may come at any rate.
        var grace: TimeAmount = .seconds(Int64(EdgeLimits.grace.value))
        /// Bytes a second.
        var rate = EdgeLimits.pace.value
        var rest: TimeAmount = .seconds(Int64(EdgeLimits.rest.value))
    }

    private enum Phase {
        /// Nothing has come since the last request.
        case idle
        case head
        case body(began: NIODeadline, bytes: Int)
        /// It is answered, though its body isn't whole.
        case rest
    }

    /// What is sent over its channel.
    enum Carries {
        /// HTTP/1.1: one request after the other.
        case requests
        /// A stream of HTTP/2, whose head comes whole. What else is heard of it isn't the beginning of another request.
        case oneRequest
    }

    private let limits: Limits
    private let carries: Carries
    private var phase = Phase.idle
    /// Whether something was heard that was no whole part of a request.
    private var hasReadPart = false
    private var deadline: Scheduled<Void>?

    init(limits: Limits = Limits(), carries: Carries = .requests) {
        self.limits = limits
        self.carries = carries
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasReadPart = true
        switch unwrapInboundIn(data) {
        case .head:
            phase = .body(began: context.eventLoop.now, bytes: 0)
            close(context, after: limits.grace)
        case .body(let buffer):
            switch phase {
            case .body(let began, let bytes): phase = .body(began: began, bytes: bytes + buffer.readableBytes)
            case .rest: return
            case .idle, .head: break
            }
        case .end:
            phase = .idle
            cancel()
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !hasReadPart, carries == .requests, case .idle = phase {
            phase = .head
            close(context, after: limits.head)
        }
        hasReadPart = false
        context.fireChannelReadComplete()
        // Nobody else may ask for more.
        if case .rest = phase { context.read() }
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data), case .body = phase {
            phase = .rest
            close(context, after: limits.rest)
            context.write(data, promise: promise)
            return context.read()
        }
        context.write(data, promise: promise)
    }

    func channelInactive(context: ChannelHandlerContext) {
        cancel()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case HTTPParserError.headerOverflow = error { LimitMetrics.hit(.headers) }
        context.fireErrorCaught(error)
    }

    func handlerRemoved(context: ChannelHandlerContext) { cancel() }

    private func cancel() {
        deadline?.cancel()
        deadline = nil
    }

    private func close(_ context: ChannelHandlerContext, after delay: TimeAmount) {
        cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: delay) { [self] in
            func giveUp() {
                LimitMetrics.hit(.pace)
                context.close(promise: nil)
            }
            guard case .body(let began, let bytes) = phase else { return giveUp() }
            let seconds = (context.eventLoop.now - began).nanoseconds / 1_000_000_000
            guard bytes / limits.rate < Int(seconds) - Int(limits.grace.nanoseconds / 1_000_000_000) + 1 else {
                return close(context, after: .seconds(1))
            }
            giveUp()
        }
    }
}
