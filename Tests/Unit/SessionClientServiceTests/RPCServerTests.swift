import GRPCNIOTransportHTTP2Posix
import NIOCore
import NIOEmbedded
import Testing

@testable import SessionClientService

@Suite("Connections of gRPC")
struct RPCServerTests {
    @Test("quiet connections stay: pings from ten seconds on are welcome, and a dead peer is found in 45 seconds (T13)")
    func keepalive() {
        let configuration = RPCServer.configuration(nil)
        let keepalive = configuration.connection.keepalive
        #expect(keepalive.clientBehavior.allowWithoutCalls)
        #expect(keepalive.clientBehavior.minPingIntervalWithoutCalls < .seconds(10))
        #expect(keepalive.time + keepalive.timeout < .seconds(42) && SilentPeer.limit < .seconds(45))
        #expect(configuration.connection.maxIdleTime == nil && configuration.connection.maxGraceTime == nil)
        let ages = (0..<100).compactMap { _ in RPCServer.configuration(nil).connection.maxAge }
        #expect(
            ages.allSatisfy { (Duration.seconds(27 * 60) ... .seconds(33 * 60)).contains($0) } && Set(ages).count > 1)
    }

    @Test("a connection whose peer is silent for longer than an answer to a ping takes is closed (T13)")
    func silence() throws {
        let channel = EmbeddedChannel()
        try SilentPeer.add(to: channel)
        try channel.connect(to: NIOCore.SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        let idle = try channel.pipeline.syncOperations.handler(type: IdleStateHandler.self)
        #expect(idle.readTimeout == SilentPeer.limit)
        #expect(channel.isActive)
        channel.pipeline.fireUserInboundEventTriggered(IdleStateHandler.IdleStateEvent.read)
        #expect(!channel.isActive)
    }
}
