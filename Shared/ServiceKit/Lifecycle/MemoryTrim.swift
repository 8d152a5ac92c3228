import Foundation
import ServiceLifecycle

#if canImport(Glibc)
    import Glibc
#endif

/// Gives memory that was freed back to the system. glibc keeps it for what the same thread allocates next, so a process that was
/// attacked or had to serve a crowd would stay as large as it once was.
///
/// It looks at what the process holds beyond what it uses, not at how much it once held: a crowd may come before the first look,
/// or may be there still while memory of others is given back. Looking goes through all that is free, while threads wait that
/// allocate. So it looks soon after the process has grown, and then ever more rarely as long as that gives nothing back.
struct MemoryTrim: Service {
    private static let interval: Duration = .seconds(10)
    /// In intervals.
    private static let longest = 30
    /// In bytes. Trimming goes through all that is free, so it isn't done for less.
    private static let worthwhile = 32 << 20

    func run() async throws {
        #if canImport(Glibc)
            try? await cancelWhenGracefulShutdown {
                var (seen, rest, left) = (0, 1, 1)
                while true {
                    try await Task.sleep(for: Self.interval)
                    left -= 1
                    let resident = Self.resident
                    let hasGrown = resident > seen + Self.worthwhile
                    guard hasGrown || left <= 0 else { continue }
                    let free = resident - Self.used
                    if free > Self.worthwhile { _ = Self.trim?(0) }
                    seen = Self.resident
                    let isWorthIt = free > Self.worthwhile && resident - seen >= free / 2
                    rest = hasGrown || isWorthIt ? 1 : min(rest * 2, Self.longest)
                    left = rest
                }
            }
        #else
            try? await gracefulShutdown()
        #endif
    }

    /// The bytes that malloc(3) has given out.
    /// - Parameter report: What malloc_info(3) writes. The totals are at its end: what malloc has got from the system in blocks,
    ///   what of that is free, and what it got for one allocation alone.
    static func used(in report: String) -> Int? {
        func size(_ element: String) -> Int? {
            guard let start = report.range(of: "<\(element)\"", options: .backwards)?.upperBound,
                let size = report[start...].firstRange(of: "size=\"")?.upperBound
            else { return nil }
            return Int(report[size...].prefix { $0.isNumber })
        }
        guard let held = size("system type=\"current"), let mapped = size("total type=\"mmap"),
            let fast = size("total type=\"fast"), let rest = size("total type=\"rest")
        else { return nil }
        return held - fast - rest + mapped
    }

    /// The same of this process; 0 where that can't be known.
    static var used: Int {
        #if canImport(Glibc)
            // The stream keeps both addresses until it is closed.
            let text = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: 1)
            let count = UnsafeMutablePointer<Int>.allocate(capacity: 1)
            text.initialize(to: nil)
            count.initialize(to: 0)
            defer {
                free(text.pointee)
                text.deallocate()
                count.deallocate()
            }
            guard let info, let stream = open_memstream(text, count) else { return 0 }
            let status = info(0, stream)
            fclose(stream)
            guard status == 0, let report = text.pointee else { return 0 }
            return used(in: String(cString: report)) ?? 0
        #else
            0
        #endif
    }

    /// The process's own bytes that are in memory (proc(5), statm), without those of files.
    static var resident: Int {
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        guard let numbers = fields?.prefix(3).map({ Int($0) ?? 0 }), numbers.count == 3 else { return 0 }
        return (numbers[1] - numbers[2]) * Int(getpagesize())
    }

    #if canImport(Glibc)
        // Swift's module of the C library lacks malloc.h.
        private static let trim = dlsym(nil, "malloc_trim").map {
            unsafeBitCast($0, to: (@convention(c) (Int) -> CInt).self)
        }
        private static let info = dlsym(nil, "malloc_info").map {
            unsafeBitCast($0, to: (@convention(c) (CInt, UnsafeMutablePointer<FILE>) -> CInt).self)
        }
    #endif
}
