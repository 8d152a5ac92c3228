import Glibc

/// Ports for servers that tests end and start again.
public enum Ports {
    /// Below those that the system gives to outgoing connections (ip(7), `ip_local_port_range`), one of which would else take the
    /// port of a server that is away, and above those of servers that people run.
    private static let range: Range<UInt16> = 12_000..<32_000

    /// A port at which nobody listens. Nobody is kept from it either: two who ask may get the same one, one time in 20,000.
    public static func free() throws -> UInt16 {
        for _ in 0..<100 {
            let port = UInt16.random(in: range)
            if try isFree(port) { return port }
        }
        throw SpawnFailed(description: "no port in \(range) is free")
    }

    private static func isFree(_ port: UInt16) throws -> Bool {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard listener >= 0 else {
            throw SpawnFailed(description: "a socket can't be made: \(String(cString: strerror(errno)))")
        }
        defer { close(listener) }
        var yes: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
