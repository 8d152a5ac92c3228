import Foundation
import ServiceLifecycle

#if canImport(Glibc)
    import Glibc
#endif

/// Gives memory that was freed back to the system. glibc keeps it for what the same thread allocates next, so a process that was
/// attacked or had to serve a crowd would stay as large as it once was.
struct MemoryTrim: Service {
    private static let interval: Duration = .seconds(30)
    /// In bytes. Trimming looks at all that is free, so it isn't done for less.
    private static let worthwhile = 32 << 20

    func run() async throws {
        #if canImport(Glibc)
            try? await cancelWhenGracefulShutdown {
                // As little as it has been since it was last trimmed.
                var least = Int.max
                while true {
                    try await Task.sleep(for: Self.interval)
                    let resident = Self.resident
                    least = min(least, resident)
                    guard resident - least > Self.worthwhile else { continue }
                    _ = Self.trim?(0)
                    least = Self.resident
                }
            }
        #else
            try? await gracefulShutdown()
        #endif
    }

    #if canImport(Glibc)
        /// malloc_trim(3), which Swift's module of the C library lacks.
        private static let trim = dlsym(nil, "malloc_trim").map {
            unsafeBitCast($0, to: (@convention(c) (Int) -> CInt).self)
        }

        /// The bytes of the process that are in memory (proc(5), statm).
        private static var resident: Int {
            let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
            return (fields?.dropFirst().first.flatMap { Int($0) } ?? 0) * Int(getpagesize())
        }
    #endif
}
