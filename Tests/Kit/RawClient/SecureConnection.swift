import NIOCore
import NIOPosix
public import NIOSSL
import NIOTLS
import TestKit

/// A connection over TLS of which nothing is understood, for what no client does. Of what comes, the beginning is kept.
public struct SecureConnection: Sendable {
    private let channel: any Channel
    private let heard: Heard

    /// Connects, and waits for the handshake.
    /// - Parameters:
    ///   - source: Which of this machine's own addresses it comes from, as in `127.0.0.2`.
    ///   - protocols: What it offers to speak.
    ///   - ciphers: What it offers in TLS 1.2, which is then the only version; all, unless given.
    ///   - patience: How long the handshake may take.
    public static func open(
        port: UInt16, from source: String = "127.0.0.1", speaking protocols: [String] = ["h2"],
        ciphers: [NIOTLSCipher]? = nil, within patience: Duration = .seconds(120)
    ) async throws -> SecureConnection {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        configuration.applicationProtocols = protocols
        if let ciphers {
            configuration.maximumTLSVersion = .tlsv12
            configuration.cipherSuiteValues = ciphers
        }
        let context = try NIOSSLContext(configuration: configuration)
        let group = MultiThreadedEventLoopGroup.singleton
        let handshake = group.any().makePromise(of: Void.self)
        let heard = Heard()
        do {
            let channel = try await ClientBootstrap(group: group)
                .bind(to: try SocketAddress(ipAddress: source, port: 0))
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        let pipeline = channel.pipeline.syncOperations
                        try pipeline.addHandler(NIOSSLClientHandler(context: context, serverHostname: nil))
                        try pipeline.addHandler(HandshakeWait(handshake, heard))
                    }
                }.connect(host: "127.0.0.1", port: Int(port)).get()
            let tooLate = channel.eventLoop.scheduleTask(in: TimeAmount(patience)) { channel.close(promise: nil) }
            defer { tooLate.cancel() }
            try await handshake.futureResult.get()
            return SecureConnection(channel: channel, heard: heard)
        } catch {
            handshake.fail(error)
            throw error
        }
    }

    public func send(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get() }

    /// Waits until the connection is over.
    public func waitForEnd() async throws { try await channel.closeFuture.get() }

    /// Waits until the connection is over, and returns what the other side said before.
    public func rest() async throws -> String {
        try await waitForEnd()
        return String(decoding: heard.bytes.value, as: UTF8.self)
    }

    /// Waits until the other side has said a text.
    public func hear(_ text: String) async throws {
        try await heard.bytes.wait("the other side to say \(text)") { bytes in
            String(decoding: bytes, as: UTF8.self).contains(text) ? true : nil
        }
    }

    public func close() async { try? await channel.close().get() }

    /// Reads nothing any more, so that what the other side says stays with it.
    public func stopReading() async throws { try await channel.setOption(ChannelOptions.autoRead, value: false).get() }

    /// Leaves without a word: TLS isn't told, so nothing waits for the other side's goodbye.
    public func breakOff() async {
        try? await channel.eventLoop.submit { [channel] in
            try channel.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self).close(promise: nil)
        }.get()
    }
}

private final class Heard: Sendable {
    let bytes = Observed<[UInt8]>([])
    static let limit = 65_536
}

private final class HandshakeWait: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let promise: EventLoopPromise<Void>
    private let heard: Heard

    init(_ promise: EventLoopPromise<Void>, _ heard: Heard) { (self.promise, self.heard) = (promise, heard) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        heard.bytes.update { $0 += buffer.readableBytesView.prefix(Heard.limit - $0.count) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent { promise.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(ChannelError.eof)
        context.fireChannelInactive()
    }
}
