import EdgeClient
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import TestKit

/// A connection over TLS of which nothing is understood, for what no client does. Of what comes, the beginning is kept.
struct SecureConnection: Sendable {
    private let channel: any Channel
    private let heard: Heard

    /// Connects, and waits for the handshake.
    /// - Parameters:
    ///   - source: Which of this machine's own addresses it comes from, as in `127.0.0.2`.
    ///   - protocols: What it offers to speak.
    ///   - ciphers: What it offers in TLS 1.2, which is then the only version; all, unless given.
    static func open(
        port: UInt16, from source: String = "127.0.0.1", speaking protocols: [String] = ["h2"],
        ciphers: [NIOTLSCipher]? = nil
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
            try await handshake.futureResult.get()
            return SecureConnection(channel: channel, heard: heard)
        } catch {
            handshake.fail(error)
            throw error
        }
    }

    func send(_ bytes: [UInt8]) async throws { try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get() }

    /// Waits until the connection is over.
    func waitForEnd() async throws { try await channel.closeFuture.get() }

    /// Waits until the connection is over, and returns what the other side said before.
    func rest() async throws -> String {
        try await waitForEnd()
        return String(decoding: heard.bytes.value, as: UTF8.self)
    }

    /// Waits until the other side has said a text.
    func hear(_ text: String) async throws {
        try await heard.bytes.wait("the other side to say \(text)") { bytes in
            String(decoding: bytes, as: UTF8.self).contains(text) ? true : nil
        }
    }

    func close() async { try? await channel.close().get() }
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
