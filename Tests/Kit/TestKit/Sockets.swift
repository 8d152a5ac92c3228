import Foundation

/// How many sockets this process has open.
public func openSockets() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"))?
            .hasPrefix("socket:") ?? false
    }
}
