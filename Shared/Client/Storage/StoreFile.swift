import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One of the files that a store has had: the one that the app named and, where that was broken, the next.
///
/// A broken file keeps its name. SQLite finds a log by the name of its file, so a process that still has a renamed one open would share a
/// log with the file that took its place. The next one appears at once, whichever process makes it.
struct StoreFile: Hashable, Sendable {
    /// As the app named it.
    let base: URL
    /// 0 for that one.
    let number: Int

    private static let infix = ".renewed-"

    var url: URL { number == 0 ? base : URL(fileURLWithPath: "\(base.path)\(Self.infix)\(number)") }

    /// The file, and what SQLite has beside it while it is open.
    var all: [URL] { ["", "-wal", "-shm"].map { URL(fileURLWithPath: url.path + $0) } }

    var exists: Bool { FileManager.default.fileExists(atPath: url.path) }

    var next: StoreFile { StoreFile(base: base, number: number + 1) }

    /// Whether no process has found it broken.
    var isNewest: Bool { exists && !next.exists }

    /// The one in use: the last that is there.
    static func newest(of base: URL) throws -> StoreFile {
        StoreFile(base: base, number: try numbers(of: base).max() ?? 0)
    }

    /// What was set aside before it and is still there, the newest last.
    func former() throws -> [StoreFile] {
        try ([0] + Self.numbers(of: base).sorted()).filter { $0 < number }
            .map { StoreFile(base: base, number: $0) }.filter(\.exists)
    }

    private static func numbers(of base: URL) throws -> [Int] {
        let prefix = base.lastPathComponent + infix
        return try FileManager.default.contentsOfDirectory(atPath: base.deletingLastPathComponent().path)
            .compactMap { $0.hasPrefix(prefix) ? Int($0.dropFirst(prefix.count)) : nil }.filter { $0 > 0 }
    }

    /// Makes it, empty, unless it is there.
    func create() throws {
        // To open and close one that is there would give up the locks that this process has on it.
        let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            close(descriptor)
        } else if errno != EEXIST {
            throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
        }
    }

    func remove() throws {
        for file in all.reversed() {
            do { try FileManager.default.removeItem(at: file) } catch CocoaError.fileNoSuchFile {}
        }
    }
}
