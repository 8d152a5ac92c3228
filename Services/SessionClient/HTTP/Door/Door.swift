import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import Metrics
import NIOCore
import NIOHTTP2
import NIOSSL
import NIOTLS

#if canImport(Glibc)
    import Glibc
#endif

/// What stands between an accepted connection and its requests: how many connections there may be, TLS, and which HTTP the
/// client speaks. Over TLS, ALPN chooses between HTTP/2 and HTTP/1.1; without TLS it is HTTP/1.1.
struct Door: ServerChildChannel {
    /// A connection and, unless it is refused, the HTTP that it speaks once that is known.
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        fileprivate let spoken: EventLoopFuture<Spoken>?
    }

    fileprivate typealias Spoken = NIONegotiatedHTTPVersion<HTTP1Channel.Value, HTTP2Channel.Value>

    private let admissions: Admissions
    private let unread: UnreadAnswers
    private let certificates: Certificates?
    private let http1: HTTP1Channel
    private let http2: HTTP2Channel
    /// How long a peer may leave bytes unacknowledged, in milliseconds. A stream's heartbeats find a dead peer in this time.
    private static let acknowledgementLimit = 45_000

    init(
        admissions: Admissions, unread: UnreadAnswers, certificates: Certificates?,
        responder: @escaping HTTPChannelHandler.Responder
    ) {
        self.admissions = admissions
        self.unread = unread
        self.certificates = certificates
        let inFlight = Meter(label: "quartet_http_requests_in_flight")
        http1 = HTTP1Channel(
            responder: responder,
            configuration: .init(
                additionalChannelHandlers: [UnreadParts(), ConnectionPace(), InFlight(inFlight)],
                idleTimeout: .seconds(Int64(EdgeLimits.idle.value)),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: EdgeLimits.headerField.value, maxHeaderListSize: EdgeLimits.headers.value,
                    maxHeaderFieldCount: EdgeLimits.headerCount.value)))
        http2 = HTTP2Channel(
            responder: responder,
            configuration: .init(
                idleTimeout: .seconds(Int64(EdgeLimits.idle.value)), gracefulCloseTimeout: .seconds(30),
                streamConfiguration: .init(
                    additionalChannelHandlers: ResetCount.handlers(admissions.resets)
                        + [
                            RequestCount(), UnreadParts(carries: .oneRequest), ConnectionPace(carries: .oneRequest),
                            InFlight(inFlight),
                        ])))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        do {
            return channel.eventLoop.makeSucceededFuture(
                Value(channel: channel, spoken: try spoken(on: channel, logger)))
        } catch {
            // NIO forgets a connection that fails to be set up, and leaves its socket open.
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(error)
        }
    }

    private func spoken(on channel: any Channel, _ logger: Logger) throws -> EventLoopFuture<Spoken>? {
        let pipeline = channel.pipeline.syncOperations
        Self.findDeadPeers(on: channel)
        switch admissions.admit(channel) {
        case .turnedAway:
            channel.close(promise: nil)
            return nil
        case .refused(let error):
            if let certificates { try pipeline.addHandler(NIOSSLServerHandler(context: certificates.refusing)) }
            try pipeline.addHandler(Refusal(Refusal.http(error), isEncrypted: certificates != nil))
            return nil
        case .admitted: try pipeline.addHandler(UnreadOfConnection(unread))
        }
        guard let certificates else { return http1.setup(channel: channel, logger: logger).map { .http1_1($0) } }
        try pipeline.addHandler(NIOSSLServerHandler(context: certificates.serving))
        try pipeline.addHandler(Handshake())
        return channel.configureHTTP2AsyncSecureUpgrade { channel in
            http1.setup(channel: channel, logger: logger)
        } http2ConnectionInitializer: { channel in
            http2.setup(channel: channel, logger: logger).flatMapThrowing { value in
                let pipeline = channel.pipeline.syncOperations
                // Before the one that Hummingbird adds.
                try pipeline.addHandler(
                    HTTP2Rest(), position: .after(pipeline.handler(type: NIOHTTP2Handler.self)))
                return value
            }
        }.flatMap { $0 }
    }

    /// Closes a connection whose peer leaves what is sent unacknowledged.
    static func findDeadPeers(on channel: any Channel) {
        #if canImport(Glibc)
            try? channel.syncOptions?.setOption(
                .tcpOption(.init(rawValue: CInt(TCP_USER_TIMEOUT))), value: acknowledgementLimit)
        #endif
    }

    func handle(value: Value, logger: Logger) async {
        guard let spoken = value.spoken else { return }
        do {
            switch try await spoken.get() {
            case .http1_1(let connection): await http1.handle(value: connection, logger: logger)
            case .http2(let connection): await http2.handle(value: connection, logger: logger)
            }
        } catch {
            logger.debug("a connection ended before its first request", metadata: ["error": "\(error)"])
        }
    }
}

/// Gives the TLS handshake ten seconds. A server that stops doesn't wait for it.
final class Handshake: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    static let limit: TimeAmount = .seconds(Int64(EdgeLimits.handshake.value))
    private var deadline: Scheduled<Void>?

    func handlerAdded(context: ChannelHandlerContext) {
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: Self.limit) {
            LimitMetrics.hit(.handshake)
            context.close(promise: nil)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        switch event {
        case is ChannelShouldQuiesceEvent: context.close(promise: nil)
        case is TLSUserEvent: context.pipeline.syncOperations.removeHandler(self, promise: nil)
        default: break
        }
    }
}
