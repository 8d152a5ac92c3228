import HTTPTypes
import Hummingbird
import Metrics
import NIOCore
import NIOHTTP2
import NIOHTTPTypes
import Synchronization

/// Bytes of answers that the process holds because their readers haven't taken them, whatever carries the answers.
///
/// Who reads nothing for a while is disconnected. Who takes long keeps what a connection may keep, which is less the more all
/// of them keep together: an eighth of what is left. The connections of one address keep an eighth of all at most. So however
/// much one address doesn't read, others still get their answers.
final class UnreadAnswers: Sendable {
    /// What the connections of one address keep.
    fileprivate final class OfAddress: Sendable {
        fileprivate let bytes = Atomic(0)
    }

    /// How much all connections together may keep.
    let limit: Int
    /// How much one of them may keep.
    let limitOfConnection: Int
    /// How long a reader may take nothing.
    let patience: TimeAmount
    private let isSharedOut: Bool
    private let bytes = Atomic(0)
    private let addresses = Mutex<[String: (kept: OfAddress, connections: Int)]>([:])
    private let meter = Meter(label: "quartet_unread_answers_bytes")

    /// - Parameter isSharedOut: Whether an address has a share of its own: not behind proxies, where all connections come from
    ///   theirs.
    init(
        limit: Int, limitOfConnection: Int = EdgeLimits.unreadOfConnection.value, isSharedOut: Bool = true,
        patience: Duration
    ) {
        (self.limit, self.limitOfConnection, self.patience) = (limit, limitOfConnection, TimeAmount(patience))
        self.isSharedOut = isSharedOut
        meter.set(0)
    }

    /// Counts a connection of an address until it leaves.
    fileprivate func enter(_ address: String?) -> (address: String, kept: OfAddress)? {
        guard isSharedOut, let address = address.map(ClientAddress.network(of:)) else { return nil }
        return addresses.withLock { addresses in
            let kept = addresses[address]?.kept ?? OfAddress()
            addresses[address] = (kept, (addresses[address]?.connections ?? 0) + 1)
            return (address, kept)
        }
    }

    fileprivate func leave(_ address: String) {
        addresses.withLock { addresses in
            guard let (kept, connections) = addresses[address] else { return }
            addresses[address] = connections > 1 ? (kept, connections - 1) : nil
        }
    }

    /// How much is kept now.
    var count: Int { bytes.load(ordering: .relaxed) }

    /// The limit that a connection has reached which keeps so much already.
    fileprivate func isReached(by kept: Int, at address: OfAddress?) -> LimitHit.Word? {
        if kept > limitOfConnection { return .unreadOfConnection }
        // Of an address with too much, those go that keep something themselves.
        if kept > 0, let address, address.bytes.load(ordering: .relaxed) > limit / EdgeLimits.unreadOfAddress.value {
            return .unreadOfAddress
        }
        // A connection that reads gets its next answer in any case.
        return kept > max(0, limit - count) / 8 ? .unreadOfServer : nil
    }

    fileprivate func add(_ change: Int, at address: OfAddress?) {
        bytes.add(change, ordering: .relaxed)
        address?.bytes.add(change, ordering: .relaxed)
        meter.increment(by: Double(change))
    }
}

/// What one connection's peer hasn't read. It stands in the connection's pipeline, next to the socket, where the handlers of its
/// answers find it.
final class UnreadOfConnection: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    fileprivate let server: UnreadAnswers
    private var ofAddress: (address: String, kept: UnreadAnswers.OfAddress)?
    private var bytes = 0
    /// How many requests or calls its peer gave up (``Resets``), and since when.
    private var givenUp = (count: 0, since: NIODeadline.uptimeNanoseconds(0))
    private var progressed = NIODeadline.uptimeNanoseconds(0)
    private var deadline: Scheduled<Void>?
    private var context: ChannelHandlerContext?
    /// Those of its answers that wait.
    private var waiting: [ObjectIdentifier: Unread] = [:]

    init(_ server: UnreadAnswers) {
        self.server = server
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        ofAddress = server.enter(context.remoteAddress?.ipAddress)
    }

    func channelInactive(context: ChannelHandlerContext) {
        stop()
        context.fireChannelInactive()
    }

    /// Its peer gave up a request or a call.
    /// - Returns: How many it gave up in these 30 seconds.
    func giveUp() -> Int {
        let now = NIODeadline.now()
        if now - givenUp.since > .seconds(30) { givenUp = (0, now) }
        givenUp.count += 1
        return givenUp.count
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        stop()
        self.context = nil
        if let ofAddress { server.leave(ofAddress.address) }
    }

    private func stop() {
        deadline?.cancel()
        deadline = nil
    }

    /// Whether an answer, or its next part, may be written. Otherwise the connection ends.
    fileprivate func admits() -> Bool {
        guard let word = server.isReached(by: bytes, at: ofAddress?.kept) else { return true }
        end(word)
        return false
    }

    fileprivate func add(_ count: Int, of unread: Unread, _ eventLoop: any EventLoop) {
        bytes += count
        server.add(count, at: ofAddress?.kept)
        if unread.bytes == 0 { waiting[ObjectIdentifier(unread)] = unread }
        if deadline == nil, context != nil { look(after: server.patience, eventLoop) }
    }

    fileprivate func remove(_ count: Int, of unread: Unread, at now: NIODeadline) {
        bytes -= count
        server.add(-count, at: ofAddress?.kept)
        progressed = max(progressed, now)
        if unread.bytes == 0 { waiting[ObjectIdentifier(unread)] = nil }
    }

    private func look(after delay: TimeAmount, _ eventLoop: any EventLoop) {
        deadline = eventLoop.assumeIsolated().scheduleTask(in: delay) { [self] in
            deadline = nil
            look(eventLoop)
        }
    }

    /// Ends what isn't read: an answer while the connection's others are, or else the connection.
    private func look(_ eventLoop: any EventLoop) {
        let last = eventLoop.now - server.patience
        for (id, unread) in waiting where unread.progressed <= last {
            guard progressed > last else { return end(.unread) }
            waiting[id] = nil
            LimitMetrics.hit(.unread)
            unread.end()
        }
        guard let earliest = waiting.values.map(\.progressed).min() else { return }
        look(after: earliest - last, eventLoop)
    }

    private func end(_ word: LimitHit.Word) {
        guard let context else { return }
        LimitMetrics.hit(word)
        // Not by TLS's good order, for which the peer would have to read.
        context.close(promise: nil)
    }
}

/// What the peer hasn't read of the answers of one channel: a connection of HTTP/1.1, or a stream of HTTP/2.
private final class Unread {
    private(set) var bytes = 0
    private(set) var progressed = NIODeadline.uptimeNanoseconds(0)
    private let connection: UnreadOfConnection
    private let context: ChannelHandlerContext
    /// Answers are written in pieces, so that a slow reader is told from one that doesn't read.
    static let piece = 65_536

    init?(_ context: ChannelHandlerContext, isStream: Bool) {
        let channel = isStream ? context.channel.parent : context.channel
        guard
            let connection = try? channel?.pipeline.syncOperations.handler(type: UnreadOfConnection.self)
        else { return nil }
        (self.connection, self.context) = (connection, context)
    }

    func end() { context.close(promise: nil) }

    /// Writes bytes in pieces.
    /// - Parameter write: Writes one of them.
    func write(
        _ buffer: ByteBuffer, _ promise: EventLoopPromise<Void>?,
        _ write: (_ piece: ByteBuffer, _ isLast: Bool, EventLoopPromise<Void>?) -> Void
    ) {
        guard connection.admits() else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        var rest = buffer
        while rest.readableBytes > Self.piece, let piece = rest.readSlice(length: Self.piece) {
            write(piece, false, tracked(piece.readableBytes, nil))
        }
        write(rest, true, rest.readableBytes == 0 ? promise : tracked(rest.readableBytes, promise))
    }

    /// - Returns: A promise that is kept once the bytes have left the process, or never will.
    private func tracked(_ count: Int, _ promise: EventLoopPromise<Void>?) -> EventLoopPromise<Void> {
        let promise = promise ?? context.eventLoop.makePromise()
        if bytes == 0 { progressed = context.eventLoop.now }
        connection.add(count, of: self, context.eventLoop)
        bytes += count
        promise.futureResult.assumeIsolated().whenComplete { [self] result in
            bytes -= count
            if case .success = result { progressed = context.eventLoop.now }
            connection.remove(count, of: self, at: progressed)
        }
        return promise
    }
}

/// Counts what isn't read of HTTP's answers.
final class UnreadParts: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let carries: ConnectionPace.Carries
    private var unread: Unread?

    init(carries: ConnectionPace.Carries = .requests) {
        self.carries = carries
    }

    func handlerAdded(context: ChannelHandlerContext) {
        unread = Unread(context, isStream: carries == .oneRequest)
    }

    func handlerRemoved(context: ChannelHandlerContext) { unread = nil }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard let unread, case .body(let buffer) = unwrapOutboundIn(data) else {
            return context.write(data, promise: promise)
        }
        unread.write(buffer, promise) { context.write(wrapOutboundOut(.body($0)), promise: $2) }
    }
}

/// Counts what isn't read of gRPC's answers, in each of a connection's streams.
final class UnreadFrames: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private var unread: Unread?

    /// Between the stream and what gRPC's transport has set up for it.
    static func add(to stream: any Channel) throws {
        try stream.pipeline.syncOperations.addHandler(UnreadFrames(), position: .first)
    }

    func handlerAdded(context: ChannelHandlerContext) { unread = Unread(context, isStream: true) }

    func handlerRemoved(context: ChannelHandlerContext) { unread = nil }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard let unread, case .data(let frame) = unwrapOutboundIn(data), case .byteBuffer(let buffer) = frame.data
        else {
            return context.write(data, promise: promise)
        }
        unread.write(buffer, promise) { piece, isLast, promise in
            let part = HTTP2Frame.FramePayload.Data(
                data: .byteBuffer(piece), endStream: isLast && frame.endStream,
                paddingBytes: isLast ? frame.paddingBytes : nil)
            context.write(wrapOutboundOut(.data(part)), promise: promise)
        }
    }
}
