import Glibc
import TestKit
import Testing

@Suite
struct ReservedPortTests {
    @Test("a reserved port is its server's whenever that begins, and nobody else's while it is away")
    func reserved() throws {
        let port = try ReservedPort()
        for _ in 0..<2 {
            #expect(throws: SpawnFailed.self) { try ReservedPort(port.number) }
            #expect(connects(to: port.number) == false)
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(server) }
            var yes: Int32 = 1
            setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
            try #require(withAddress(port.number) { bind(server, $0, $1) } == 0 && listen(server, 1) == 0)
            #expect(connects(to: port.number))
        }
        #expect(throws: SpawnFailed.self) { try ReservedPort(port.number) }
    }

    private func connects(to port: UInt16) -> Bool {
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(client) }
        return withAddress(port) { connect(client, $0, $1) } == 0
    }

    private func withAddress(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
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
