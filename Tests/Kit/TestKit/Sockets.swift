import Foundation
import Glibc

/// How many sockets this process has open.
public func openSockets() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"))?
            .hasPrefix("socket:") ?? false
    }
}

/// What stands between a client and a server has to do with sockets and threads.
enum Sockets {
    typealias Pair = (client: Int32, server: Int32)

    static func make() -> Int32 {
        let made = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var isOn: Int32 = 1
        setsockopt(made, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        return made
    }

    static func withAddress(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    static func listen(at port: UInt16) throws -> Int32 {
        let listener = make()
        var isOn: Int32 = 1
        setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        guard withAddress(port, { bind(listener, $0, $1) }) == 0, Glibc.listen(listener, 64) == 0 else {
            let reason = String(cString: strerror(errno))
            close(listener)
            throw SpawnFailed(description: "a server of the test can't listen: \(reason)")
        }
        return listener
    }

    /// Accepts connections until the listener is shut down, and closes it.
    static func accept(on listener: Int32, _ body: (_ client: Int32) -> Void) {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            if client < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                break
            }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            body(client)
        }
        close(listener)
    }

    /// Passes on what both sides of a pair say, each direction on a thread of its own: with one for both, full buffers on both
    /// sides would block it. When one direction ends, the other does, too.
    /// - Parameters:
    ///   - pass: Goes on until its direction ends.
    ///   - end: Called when both have ended.
    static func join(
        _ pair: Pair, as name: String,
        _ pass: @escaping @Sendable (_ source: Int32, _ target: Int32, _ isRequest: Bool) -> Void,
        end: @escaping @Sendable () -> Void
    ) {
        let finished = Observed(0)
        for (source, target, isRequest) in [(pair.client, pair.server, true), (pair.server, pair.client, false)] {
            start("\(name)-\(isRequest ? "request" : "answer")") {
                pass(source, target, isRequest)
                shut(pair)
                let count = finished.update {
                    $0 += 1
                    return $0
                }
                if count == 2 { end() }
            }
        }
    }

    /// - Returns: Whether all of it was sent.
    static func send(_ bytes: ArraySlice<UInt8>, to target: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.send(target, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if written < 0 && errno == EINTR { continue }
            guard written > 0 else { return false }
            rest = rest.dropFirst(written)
        }
        return true
    }

    static func shut(_ pair: Pair) {
        shutdown(pair.client, Int32(SHUT_RDWR))
        shutdown(pair.server, Int32(SHUT_RDWR))
    }

    /// Ends a connection as a network does that has forgotten it: the other side's next read fails.
    static func reset(_ socket: Int32) {
        var nobody = sockaddr()
        nobody.sa_family = sa_family_t(AF_UNSPEC)
        // Unlike closing it, that can be done while a thread reads from it.
        _ = connect(socket, &nobody, socklen_t(MemoryLayout<sockaddr>.size))
    }

    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        let thread = Thread(block: body)
        thread.name = name
        thread.start()
    }
}
