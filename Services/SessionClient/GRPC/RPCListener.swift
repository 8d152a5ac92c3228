import GRPCNIOTransportHTTP2Posix
import NIOCore
import NIOPosix
import NIOSSL

/// Accepts connections for gRPC: what ``Door`` is for HTTP. Both count them together.
struct RPCListener: HTTP2ServerTransport.ListenerFactory {
    let host: String
    let port: Int
    let admissions: Admissions
    let unread: UnreadAnswers
    let certificates: Certificates?
    var eventLoopGroup: any EventLoopGroup { MultiThreadedEventLoopGroup.singleton }

    /// The connection is one too many, and so are those that are told so. It is closed unheard.
    private struct TurnedAway: Error {}

    func makeListeningChannel(
        listenerConfigurator: HTTP2ServerTransport.ListenerConfigurator,
        connectionConfigurator: HTTP2ServerTransport.ConnectionConfigurator
    ) async throws -> NIOAsyncChannel<HTTP2ServerTransport.ConnectionConfigurator.ConnectionChannel, Never> {
        try await ServerBootstrap(group: eventLoopGroup)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .serverChannelInitializer { listenerConfigurator.configure(channel: $0) }
            .bind(to: NIOCore.SocketAddress.makeAddressResolvingHost(host, port: port)) { channel in
                channel.eventLoop.makeCompletedFuture { try admit(channel) }.flatMap {
                    connectionConfigurator.configure(
                        channel: channel, tls: certificates == nil ? .none : .configured(requireALPN: true))
                }.flatMapErrorThrowing { error in
                    // NIO forgets a connection that fails to be set up, and leaves its socket open.
                    channel.close(promise: nil)
                    throw error
                }
            }
    }

    private func admit(_ channel: any Channel) throws {
        Door.findDeadPeers(on: channel)
        try channel.pipeline.syncOperations.addHandler(UnreadOfConnection(unread))
        try SilentPeer.add(to: channel)
        let admission = admissions.admit(channel)
        if case .turnedAway = admission { throw TurnedAway() }
        let pipeline = channel.pipeline.syncOperations
        if let certificates {
            try pipeline.addHandler(NIOSSLServerHandler(context: certificates.serving))
            try pipeline.addHandler(Handshake())
        }
        if case .refused(let error) = admission {
            try pipeline.addHandler(Refusal(Refusal.goAway(error), isEncrypted: certificates != nil))
        }
    }
}

/// Closes a connection whose peer says nothing although it is asked: a live one answers the transport's pings, which come
/// after 30 seconds of silence. The transport itself only asks a peer that doesn't answer to leave, and so waits forever.
final class SilentPeer: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    static let limit: TimeAmount = .seconds(Int64(EdgeLimits.silence.value))

    static func add(to channel: any Channel) throws {
        try channel.pipeline.syncOperations.addHandlers([IdleStateHandler(readTimeout: limit), SilentPeer()])
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let idle = event as? IdleStateHandler.IdleStateEvent, idle == .read {
            LimitMetrics.hit(.silence)
            context.close(promise: nil)
        }
        context.fireUserInboundEventTriggered(event)
    }
}
