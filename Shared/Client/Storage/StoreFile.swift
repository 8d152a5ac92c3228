import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One of the files that a store has had: the one that the app named and, where that was damaged, the next.
///
/// A damaged file keeps its name. SQLite finds a log by the name of its file, so a process that still has a renamed one open would share a
/// log with the file that took its place. The next one appears at once and whole, whichever process makes it.
struct StoreFile: Hashable, Sendable {
    /// As the app named it.
    let base: URL
    /// 0 for that one.
    let number: Int

    private static let (infix, newInfix) = (".renewed-", ".renewing-")
    private static let range = 1..<1_000_000

    var url: URL { number == 0 ? base : URL(fileURLWithPath: "\(base.path)\(Self.infix)\(number)") }

    /// The file, and what SQLite has beside it while it is open.
    var all: [URL] { ["", "-wal", "-shm"].map { URL(fileURLWithPath: url.path + $0) } }

    /// Whether it is there. What the device can't say now isn't gone.
    var exists: Bool { access(url.path, F_OK) == 0 || ![ENOENT, ENOTDIR].contains(errno) }

    var next: StoreFile { StoreFile(base: base, number: number + 1) }

    /// Whether no process has found it damaged.
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

    private static func names(beside base: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: base.deletingLastPathComponent().path)
            .filter { $0.hasPrefix(base.lastPathComponent) }
    }

    private static func numbers(of base: URL) throws -> [Int] {
        let prefix = base.lastPathComponent + infix
        return try names(beside: base).compactMap { name in
            guard name.hasPrefix(prefix), let number = Int(name.dropFirst(prefix.count)), range.contains(number),
                name == "\(prefix)\(number)"
            else { return nil }
            return number
        }
    }

    private static var failure: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

    /// Makes it, empty, unless it is there.
    func create() throws { try Self.create(url) }

    private static func create(_ file: URL) throws {
        // To open and close one that is there would give up the locks that this process has on it.
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor >= 0 {
            close(descriptor)
        } else if errno != EEXIST {
            throw failure
        }
    }

    func remove() throws { try Self.remove(all.reversed()) }

    private static func remove(_ files: [URL]) throws {
        for file in files {
            do { try FileManager.default.removeItem(at: file) } catch CocoaError.fileNoSuchFile {}
        }
    }

    /// Leaves only its name, by which a process that has it open finds that it isn't the newest.
    func empty() throws {
        try remove()
        try create()
    }

    var isEmpty: Bool {
        var status = stat()
        return stat(url.path, &status) == 0 && status.st_size == 0
    }

    /// Whether nobody has anything in it.
    var hasNothing: Bool { !exists || isEmpty }

    /// Whether what it had is gone. SQLite puts nothing beside a file in which there is nothing yet, and only a whole one is called the
    /// next.
    var isEmptied: Bool {
        isEmpty && (number > 0 || all.dropFirst().contains { access($0.path, F_OK) == 0 })
    }

    // MARK: Which file it is

    /// A file on the disk, whatever it is called.
    struct Identity: Hashable, Sendable {
        private let device: UInt64
        private let inode: UInt64

        fileprivate init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            inode = UInt64(truncatingIfNeeded: status.st_ino)
        }
    }

    func identity() throws -> Identity {
        var status = stat()
        guard stat(url.path, &status) == 0 else { throw Self.failure }
        return Identity(status)
    }

    /// Whether this still is the name of a file that was opened, and that has something in it. What the device can't say now is so.
    func isStill(_ opened: Identity) -> Bool {
        var status = stat()
        guard stat(url.path, &status) == 0 else { return ![ENOENT, ENOTDIR].contains(errno) }
        return Identity(status) == opened && status.st_size > 0
    }

    // MARK: Reading what may be damaged

    struct Content {
        /// The first 100 bytes, or all of it.
        let head: Data
        let size: Int

        private static let magic = Data("SQLite format 3\0".utf8)
        var isDatabase: Bool { head.prefix(16) == Self.magic }
        /// Whether a later release of SQLite is needed to read it.
        var isLater: Bool { isDatabase && head.count > 19 && head[19] > 2 }
        /// Whether SQLite writes files of such a size.
        var isWhole: Bool { size % 512 == 0 }
    }

    /// Reads all of it and of its log.
    /// - Throws: What the device says of a part that it can't read.
    func read() throws -> Content {
        let content = try Self.read(descriptor())
        let log = open(url.path + "-wal", O_RDONLY | O_CLOEXEC)
        guard log >= 0 else {
            if errno == ENOENT { return content }
            throw Self.failure
        }
        defer { close(log) }
        _ = try Self.read(log)
        return content
    }

    /// Those of the files that were read. They stay open: to close one would give up the locks that this process has on its file.
    private static let descriptors = Mutex<[Identity: Int32]>([:])

    private func descriptor() throws -> Int32 {
        try Self.descriptors.withLock { descriptors in
            // What is open is no other file's meanwhile.
            let identity = try self.identity()
            if let known = descriptors[identity] { return known }
            let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Self.failure }
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw Self.failure }
            descriptors[Identity(status)] = descriptor
            return descriptor
        }
    }

    private static func read(_ descriptor: Int32) throws -> Content {
        var (head, size) = (Data(), 0)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = buffer.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(size)) }
            guard count >= 0 else {
                if errno == EINTR { continue }
                throw failure
            }
            guard count > 0 else { return Content(head: head, size: size) }
            if size == 0 { head = Data(buffer.prefix(min(count, 100))) }
            size += count
        }
    }

    // MARK: The next one

    /// Where the next one is made before it gets its name.
    func makeNew() throws -> URL {
        let new = URL(fileURLWithPath: "\(base.path)\(Self.newInfix)\(UUID().uuidString)")
        try Self.create(new)
        return new
    }

    /// Removes what a process that was killed left of making the next one; one that is at it has to begin again.
    func removeNew() throws {
        let prefix = base.lastPathComponent + Self.newInfix
        let folder = base.deletingLastPathComponent()
        try Self.remove(Self.names(beside: base).filter { $0.hasPrefix(prefix) }.map { folder.appending(path: $0) })
    }

    /// Gives what was made its name, unless another process was quicker.
    func take(_ new: URL) throws {
        if link(new.path, url.path) != 0 {
            if errno == EEXIST { return }
            // Some file systems have no links.
            guard !exists, rename(new.path, url.path) == 0 else { throw Self.failure }
        }
        let folder = open(base.deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        fsync(folder)
        close(folder)
    }
}
