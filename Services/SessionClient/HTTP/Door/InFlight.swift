import Hummingbird
import Metrics
import NIOCore
import NIOHTTPTypes

/// Counts the requests that have begun and aren't answered whole. A stream is one as long as it is open.
final class InFlight: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let meter: Meter
    private var count = 0

    init(_ meter: Meter) {
        self.meter = meter
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .head = unwrapInboundIn(data) { add(1) }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data), count > 0 { add(-1) }
        context.write(data, promise: promise)
    }

    func channelInactive(context: ChannelHandlerContext) {
        add(-count)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { add(-count) }

    private func add(_ change: Int) {
        guard change != 0 else { return }
        count += change
        meter.increment(by: Double(change))
    }
}
