import Glibc
import TestKit
import Testing

@Suite
struct RoughNetworkTests {
    @Test(
        "a network that is stopped ends its connections and refuses others, and passes them on again once it starts, at the same port"
    )
    func returns() throws {
        let server = try Listener()
        let network = try RoughNetwork(to: server.port.number, random: SeededRandom(seed: 0))
        defer { network.stop() }
        for _ in 0..<3 {
            let client = try #require(Listener.connected(to: network.port))
            defer { close(client) }
            let accepted = accept(server.socket, nil, nil)
            defer { close(accepted) }
            #expect(send(client, "a", 1, 0) == 1)
            var byte: UInt8 = 0
            #expect(recv(accepted, &byte, 1, 0) == 1 && byte == UInt8(ascii: "a"))
            network.stop()
            #expect(recv(client, &byte, 1, 0) <= 0)
            #expect(Listener.connected(to: network.port) == nil && errno == ECONNREFUSED)
            try network.start()
        }
    }

    @Test("a network passes a chosen request on and resets its connection instead of answering; others are answered")
    func resetsAnswer() throws {
        let server = try Listener()
        let network = try RoughNetwork(to: server.port.number, random: SeededRandom(seed: 0))
        defer { network.stop() }
        network.resetAnswer(to: "a")
        for (request, isAnswered) in [("b", true), ("a", false), ("a", true)] {
            let client = try #require(Listener.connected(to: network.port))
            defer { close(client) }
            let accepted = accept(server.socket, nil, nil)
            defer { close(accepted) }
            var byte: UInt8 = 0
            #expect(send(client, request, 1, 0) == 1 && recv(accepted, &byte, 1, 0) == 1)
            #expect(send(accepted, "c", 1, 0) == 1)
            let count = recv(client, &byte, 1, 0)
            #expect(isAnswered ? count == 1 && byte == UInt8(ascii: "c") : count == -1 && errno == ECONNRESET)
        }
        #expect(network.counts.reset == 1)
    }

    @Test("a rough network passes a request on and resets the connection instead of answering")
    func resets() throws {
        let server = try Listener()
        // What it draws with this seed.
        let network = try RoughNetwork(to: server.port.number, random: SeededRandom(seed: 129))
        defer { network.stop() }
        network.roughen()
        let client = try #require(Listener.connected(to: network.port))
        defer { close(client) }
        let accepted = accept(server.socket, nil, nil)
        defer { close(accepted) }
        var byte: UInt8 = 0
        #expect(send(client, "a", 1, 0) == 1 && recv(accepted, &byte, 1, 0) == 1 && byte == UInt8(ascii: "a"))
        #expect(send(accepted, "b", 1, 0) == 1)
        #expect(recv(client, &byte, 1, 0) == -1 && errno == ECONNRESET)
        #expect(network.counts.reset == 1)
    }
}

/// A server that listens, for as long as this is kept.
private final class Listener {
    let port: ReservedPort
    let socket: Int32

    init() throws {
        port = try ReservedPort()
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        let socket = socket
        try #require(Self.withAddress(port.number) { bind(socket, $0, $1) } == 0 && listen(socket, 8) == 0)
    }

    deinit { close(socket) }

    /// - Returns: Nil if it is refused; `errno` says why.
    static func connected(to port: UInt16) -> Int32? {
        let client = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard withAddress(port, { connect(client, $0, $1) }) != 0 else { return client }
        let reason = errno
        close(client)
        errno = reason
        return nil
    }

    private static func withAddress(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
