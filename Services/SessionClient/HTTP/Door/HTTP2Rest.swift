import Hummingbird
import NIOCore
import NIOHTTP2

/// Closes an HTTP/2 connection without requests, whatever its client does: after a minute it is asked to leave, and 15 seconds
/// later it is closed.
///
/// Besides, it lets clients ping as often as they like. Hummingbird closes a connection on which a third ping comes sooner
/// than 30 seconds after another, which would cut the streams of apps that ping every ten. Floods of pings end a connection
/// in NIO. Nor does Hummingbird hear of requests that end before all that their heads promised, as curl ends one when it is refused:
/// NIO resets these, and Hummingbird would close the connection, with everybody else's requests on it.
final class HTTP2Rest: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    /// Fired in a connection's pipeline by its requests.
    enum Event: Sendable {
        case began, ended
    }

    private var requests = 0
    private var patience: TimeAmount = .seconds(75)
    private var deadline: Scheduled<Void>?

    func handlerAdded(context: ChannelHandlerContext) { rest(context) }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // NIO has answered it.
        if case .ping(_, ack: false) = unwrapInboundIn(data).payload { return }
        context.fireChannelRead(data)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case let event as Event:
            requests += event == .began ? 1 : -1
            if requests == 0 { rest(context) } else { deadline?.cancel() }
        case is ChannelShouldQuiesceEvent:
            patience = .seconds(5)
            if requests == 0 { rest(context) }
            context.fireUserInboundEventTriggered(event)
        default: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !(error is NIOHTTP2Errors.ContentLengthViolated) else { return }
        context.fireErrorCaught(error)
    }

    private func rest(_ context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: patience) { context.close(promise: nil) }
    }
}

/// Tells an HTTP/2 connection's ``HTTP2Rest`` of a request's beginning and end. There is one for each request.
final class RequestCount: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    private var isCounted = false

    func handlerAdded(context: ChannelHandlerContext) {
        isCounted = true
        context.channel.parent?.pipeline.fireUserInboundEventTriggered(HTTP2Rest.Event.began)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(context)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { end(context) }

    private func end(_ context: ChannelHandlerContext) {
        guard isCounted else { return }
        isCounted = false
        context.channel.parent?.pipeline.fireUserInboundEventTriggered(HTTP2Rest.Event.ended)
    }
}
