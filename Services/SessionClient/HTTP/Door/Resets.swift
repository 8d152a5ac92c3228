import NIOCore
import NIOHTTP2

/// Requests of HTTP/2, and calls of gRPC, that their clients gave up, by address.
///
/// Giving one up costs a client nothing and the process nearly as much as answering it. NIO ends a connection on which that
/// happens 200 times in 30 seconds, so whoever wants more of it opens another one. Here an address has a budget for all of its
/// connections. Once that is used up, the request that is given up ends its connection; but not one of those who give up little: one
/// address may have many people. New connections are admitted at a small pace until a quarter of the budget is there again.
struct Resets: Sendable {
    /// So many a connection may give up in 30 seconds, whatever others of its address do.
    static let own = 20

    private let limit: RateLimit<String>

    init(_ rate: Rate = EdgeLimits.resets.value) { limit = RateLimit(rate) }

    /// Counts one.
    /// - Returns: Whether the connection may go on.
    func admit(_ address: String, at now: ContinuousClock.Instant = .now) -> Bool { limit.admit(address, at: now) }

    /// Seconds until the address may have as many new connections as it wants; 0 if it may now.
    func rest(of address: String, at now: ContinuousClock.Instant = .now) -> Int {
        let missing = limit.rate.burst / 4 - limit.left(of: address, at: now)
        return missing > 0 ? Int((Double(missing) * 60 / limit.rate.perMinute).rounded(.up)) : 0
    }
}

/// Counts a request, or a call, that its client gives up. There is one in each stream's pipeline.
final class ResetCount: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny
    typealias OutboundIn = NIOAny

    private let resets: Resets
    /// The process itself gives the request up, after a refusal for instance.
    private var isClosing = false

    init(_ resets: Resets) { self.resets = resets }

    /// For the streams of a door; none where nothing is counted.
    static func handlers(_ resets: Resets?) -> [any RemovableChannelHandler] { resets.map { [ResetCount($0)] } ?? [] }

    /// Between a stream and what gRPC's transport has set up for it.
    static func add(_ resets: Resets?, to stream: any Channel) throws {
        guard let resets else { return }
        try stream.pipeline.syncOperations.addHandler(ResetCount(resets), position: .first)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        if mode == .all { isClosing = true }
        context.close(mode: mode, promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isClosing, error is NIOHTTP2Errors.StreamClosed, let connection = context.channel.parent {
            count(connection)
        }
        context.fireErrorCaught(error)
    }

    private func count(_ connection: any Channel) {
        guard let address = connection.remoteAddress?.ipAddress.map(ClientAddress.network(of:)),
            let door = try? connection.pipeline.syncOperations.handler(type: UnreadOfConnection.self)
        else { return }
        let own = door.giveUp()
        guard !resets.admit(address) else { return }
        LimitMetrics.hit(.resets)
        guard own > Resets.own else { return }
        // Next to the socket: by TLS's good order, what the client sent already would still be read.
        try? connection.pipeline.syncOperations.context(handler: door).close(promise: nil)
    }
}
