public import Crypto
public import Foundation

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
/// user's files can sign in as the user; ``isSealed`` says which it is.
///
/// Any number of processes may have the file: whoever changes it holds a lock of its folder from reading it to replacing it.
public final class FileTokenStore: TokenStore {
    private let file: URL
    private let key: SymmetricKey?

    public var isSealed: Bool { key != nil }

    /// - Parameters:
    ///   - file: Its folder must exist.
    ///   - key: From a keyring or a passphrase; 256 bits.
    public init(_ file: URL, key: SymmetricKey? = nil) {
        self.file = file
        self.key = key
    }

    /// - Throws: If the file can't be read, or was sealed by another key.
    public func load() throws -> Credentials? {
        // Nobody else changes a file that is there: it is replaced.
        try read()
    }

    /// Replaces the file as a whole, so that a crash leaves the old one or the new one.
    public func save(_ credentials: Credentials?) throws {
        try locked { folder in try write(credentials, into: folder) }
    }

    public func update<Value: Sendable>(_ change: (inout Credentials?) throws -> Value) throws -> Value {
        try locked { folder in
            let before = try read()
            var after = before
            let value = try change(&after)
            if after != before { try write(after, into: folder) }
            return value
        }
    }

    private func read() throws -> Credentials? {
        let content: Data
        do { content = try Data(contentsOf: file) } catch CocoaError.fileReadNoSuchFile { return nil }
        let opened = try key.map { try AES.GCM.open(AES.GCM.SealedBox(combined: content), using: $0) } ?? content
        return try JSONDecoder().decode(Credentials.self, from: opened)
    }

    /// Runs `body` while nobody else replaces the file, be it in another process of the app.
    private func locked<Value>(_ body: (Folder) throws -> Value) throws -> Value {
        let folder = open(file.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw Self.failure() }
        // The lock ends with the descriptor, also in a process that is killed.
        defer { close(folder) }
        return try body(Folder(descriptor: folder, isLocked: try Self.lock(folder)))
    }

    /// Others hold the lock for as long as they write a few hundred bytes. A process that the system has frozen with it doesn't hold back a
    /// call for help.
    /// - Returns: False if somebody else keeps it.
    private static func lock(_ folder: Int32) throws -> Bool {
        for _ in 0..<200 {
            if flock(folder, LOCK_EX | LOCK_NB) == 0 { return true }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure() }
            usleep(5000)
        }
        return false
    }

    private struct Folder {
        let descriptor: Int32
        let isLocked: Bool
    }

    private func write(_ credentials: Credentials?, into folder: Folder) throws {
        guard let credentials else {
            do { try FileManager.default.removeItem(at: file) } catch CocoaError.fileNoSuchFile {}
            return
        }
        let plain = try JSONEncoder().encode(credentials)
        try replace(with: try key.map { try Self.sealed(plain, by: $0) } ?? plain, in: folder)
    }

    private static func sealed(_ plain: Data, by key: SymmetricKey) throws -> Data {
        // Nil only for nonces of another size than AES-GCM's own.
        guard let sealed = try AES.GCM.seal(plain, using: key).combined else {
            throw CryptoKitError.incorrectParameterSize
        }
        return sealed
    }

    private func replace(with content: Data, in folder: Folder) throws {
        // Whoever has the lock may be writing.
        let own = folder.isLocked ? "" : ".\(getpid())"
        let new = file.deletingLastPathComponent().appending(path: ".\(file.lastPathComponent)\(own).new")
        // Left by a crash.
        unlink(new.path)
        let descriptor = open(new.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure() }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try handle.write(contentsOf: content)
        try handle.synchronize()
        try handle.close()
        guard rename(new.path, file.path) == 0 else { throw Self.failure() }
        guard fsync(folder.descriptor) == 0 else { throw Self.failure() }
    }

    private static func failure() -> POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
