import Glibc

/// A port for a server that a test ends and starts again: nobody else gets it meanwhile.
///
/// It is bound here without listening, so connections are refused while the server is away. The server binds it as well and listens,
/// which Linux allows since both set `SO_REUSEADDR`. A second reservation fails, because that is set only once the port is had.
public final class ReservedPort: Sendable {
    /// Below those that the system gives to outgoing connections (ip(7), `ip_local_port_range`), one of which would else take the
    /// port of a server that is away, and above those of servers that people run.
    private static let range: Range<UInt16> = 12_000..<32_000

    public let number: UInt16
    private let holder: Int32

    /// Reserves a port until this is released.
    /// - Parameter number: Any that is free, unless given.
    /// - Throws: ``SpawnFailed``.
    public init(_ number: UInt16? = nil) throws {
        let candidates = number.map { [$0] } ?? (0..<100).map { _ in .random(in: Self.range) }
        for candidate in candidates {
            guard let holder = try Self.bind(candidate) else { continue }
            (self.number, self.holder) = (candidate, holder)
            return
        }
        throw SpawnFailed(description: "no port of \(candidates) is free")
    }

    deinit { close(holder) }

    /// Nil if somebody has it.
    private static func bind(_ port: UInt16) throws -> Int32? {
        let holder = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard holder >= 0 else {
            throw SpawnFailed(description: "a socket can't be made: \(String(cString: strerror(errno)))")
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(holder, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isBound else {
            close(holder)
            return nil
        }
        var yes: Int32 = 1
        setsockopt(holder, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        return holder
    }
}
