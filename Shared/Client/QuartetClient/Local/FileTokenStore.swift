public import Crypto
public import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Keeps credentials in a file that only the user who runs the app can read, for systems without a keychain.
///
/// With a key, the file is sealed by AES-GCM, so a copy of it is worth nothing without the key. Without one, whoever can read the
/// user's files can sign in as the user; ``isSealed`` says which it is. The device's backups don't have it.
///
/// Any number of processes may have the file: whoever changes it holds a lock of its folder from reading it to replacing it. While
/// somebody else does, saving throws; a connection then tries again. Where the file system has no locks, as that of some networks, one
/// process can have it at a time.
public final class FileTokenStore: TokenStore {
    private let file: URL
    private let key: SymmetricKey?
    /// Goes on while a process is frozen, and while the device sleeps.
    private let now: @Sendable () -> Duration
    /// Takes a folder's lock.
    /// - Returns: The error's number; nil if there was none.
    private let lock: @Sendable (Int32) -> Int32?
    /// Keeps a file out of the device's backups.
    private let exclude: @Sendable (URL) -> Void
    /// Whether it was told of the file that there was at first, which may be one of 0.1.0.
    private let hasExcluded = Mutex(false)
    /// Since when the lock has been refused on end, and when it last was; nil if it was there.
    private let refusals = Mutex<(since: Duration, last: Duration)?>(nil)

    public var isSealed: Bool { key != nil }

    /// - Parameters:
    ///   - file: Its folder must exist.
    ///   - key: From a keyring or a passphrase; 256 bits.
    public convenience init(_ file: URL, key: SymmetricKey? = nil) {
        self.init(file, key: key, now: Timekeeper.live.now)
    }

    init(
        _ file: URL, key: SymmetricKey? = nil, now: @escaping @Sendable () -> Duration,
        lock: @escaping @Sendable (Int32) -> Int32? = { flock($0, LOCK_EX | LOCK_NB) == 0 ? nil : errno },
        excluding exclude: @escaping @Sendable (URL) -> Void = DeviceBackup.exclude
    ) {
        self.file = file
        self.key = key
        self.now = now
        self.lock = lock
        self.exclude = exclude
    }

    /// - Throws: ``TokensUnreadable`` if the file is damaged or was sealed by another key.
    public func load() throws -> Credentials? {
        // Nobody else changes a file that is there: it is replaced.
        try read()
    }

    /// Replaces the file as a whole, so that a crash leaves the old one or the new one.
    public func save(_ credentials: Credentials?) throws {
        try locked { folder in _ = try write(credentials, into: folder) { true } }
    }

    public func update<Value: Sendable>(_ change: (inout Credentials?) throws -> Value) throws -> Value {
        for _ in 0..<2 {
            let begun = now()
            let changed = try locked { folder -> Value? in
                let before = try read()
                var after = before
                let value = try change(&after)
                // Whoever took long may have been frozen, and others have gone on without the lock: it begins again, lock and all.
                let isWritten =
                    try after == before
                    || write(after, into: folder) {
                        // Without the lock, somebody whose disk stalled may have written at last.
                        now() - begun < Self.holdLimit && (folder.isLocked || (try? read() == before) == true)
                    }
                return isWritten ? value : nil
            }
            if let changed { return changed }
        }
        throw TokenStoreBusy()
    }

    private func read() throws -> Credentials? {
        let content: Data
        do { content = try Data(contentsOf: file) } catch CocoaError.fileReadNoSuchFile { return nil }
        let isFirst = hasExcluded.withLock { hasExcluded in
            defer { hasExcluded = true }
            return !hasExcluded
        }
        if isFirst { exclude(file) }
        do {
            let opened = try key.map { try AES.GCM.open(AES.GCM.SealedBox(combined: content), using: $0) } ?? content
            return try JSONDecoder().decode(Credentials.self, from: opened)
        } catch { throw TokensUnreadable() }
    }

    /// Runs `body` while nobody else replaces the file, be it in another process of the app.
    private func locked<Value>(_ body: (Folder) throws -> Value) throws -> Value {
        let folder = open(file.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw Self.failure() }
        // The lock ends with the descriptor, also in a process that is killed.
        defer { close(folder) }
        if try isLocked(folder) { return try body(Folder(descriptor: folder, isLocked: true)) }
        let path = file.standardizedFileURL.path
        guard Self.unlocked.withLock({ $0.insert(path).inserted }) else { throw TokenStoreBusy() }
        defer { Self.unlocked.withLock { _ = $0.remove(path) } }
        return try body(Folder(descriptor: folder, isLocked: false))
    }

    /// The files that somebody in this process changes without their folders' lock: what is written first has a name of the process.
    private static let unlocked = Mutex<Set<String>>([])

    /// Others hold the lock for as long as they write a few hundred bytes, which takes a slow disk seconds. Whoever holds it for longer was
    /// frozen by the system, and doesn't hold back a call for help, which is sent within ``Timekeeper/callLimit``.
    private static let frozenLimit: Duration = .seconds(6)
    /// After this, nobody changes anything by a lock that others may be about to do without.
    private static let holdLimit: Duration = .seconds(5)
    /// Who asks more rarely doesn't know whether somebody has had it in between. What is urgent is tried every five seconds. To ask twice
    /// isn't enough to go on without the lock.
    private static let longestGap: Duration = .milliseconds(5500)

    /// What a file system says that has no locks.
    static let lockless: Set<Int32> = [EBADF, ENOLCK, EOPNOTSUPP, ENOTSUP, ENOSYS]

    /// - Returns: False if somebody keeps it who was frozen, or if there are no locks: somebody has to be able to sign in there as well.
    /// - Throws: ``TokenStoreBusy`` if somebody has it. Nobody waits here: the caller may have other things to do.
    private func isLocked(_ folder: Int32) throws -> Bool {
        guard let error = lock(folder) else {
            refusals.withLock { $0 = nil }
            return true
        }
        if Self.lockless.contains(error) { return false }
        guard error == EWOULDBLOCK || error == EINTR else { throw Self.failure(error) }
        let now = now()
        let isFrozen = refusals.withLock { refusals in
            let since = refusals.flatMap { now - $0.last < Self.longestGap ? $0.since : nil } ?? now
            refusals = (since, now)
            return now - since >= Self.frozenLimit
        }
        guard isFrozen else { throw TokenStoreBusy() }
        return false
    }

    private struct Folder {
        let descriptor: Int32
        let isLocked: Bool
    }

    /// - Parameter isInTime: Asked just before it counts.
    /// - Returns: False if it wasn't in time, and nothing has changed.
    private func write(_ credentials: Credentials?, into folder: Folder, if isInTime: () -> Bool) throws -> Bool {
        guard let credentials else {
            guard isInTime() else { return false }
            do { try FileManager.default.removeItem(at: file) } catch CocoaError.fileNoSuchFile {}
            return true
        }
        let plain = try JSONEncoder().encode(credentials)
        return try replace(with: try key.map { try Self.sealed(plain, by: $0) } ?? plain, in: folder, if: isInTime)
    }

    private static func sealed(_ plain: Data, by key: SymmetricKey) throws -> Data {
        // Nil only for nonces of another size than AES-GCM's own.
        guard let sealed = try AES.GCM.seal(plain, using: key).combined else {
            throw CryptoKitError.incorrectParameterSize
        }
        return sealed
    }

    private func replace(with content: Data, in folder: Folder, if isInTime: () -> Bool) throws -> Bool {
        // Whoever has the lock may be writing.
        let own = folder.isLocked ? "" : ".\(getpid())"
        let new = file.deletingLastPathComponent().appending(path: ".\(file.lastPathComponent)\(own).new")
        // Left by a crash.
        unlink(new.path)
        // Nothing is there any more once it has taken the file's place.
        defer { unlink(new.path) }
        let descriptor = open(new.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure() }
        exclude(new)
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try handle.write(contentsOf: content)
        try handle.synchronize()
        try handle.close()
        guard isInTime() else { return false }
        guard rename(new.path, file.path) == 0 else { throw Self.failure() }
        guard fsync(folder.descriptor) == 0 else { throw Self.failure() }
        return true
    }

    private static func failure(_ error: Int32 = errno) -> POSIXError {
        POSIXError(POSIXErrorCode(rawValue: error) ?? .EIO)
    }
}
