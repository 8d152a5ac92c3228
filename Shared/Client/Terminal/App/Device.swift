import Foundation
import QuartetAsyncHTTP
import QuartetClient
import QuartetStorage
import Synchronization

/// What the app keeps on this computer, which one process at a time may use: two that exchanged the same token would look like
/// a thief's.
final class Device {
    struct InUse: Error, CustomStringConvertible {
        let folder: String
        var description: String {
            "another quartet-tui uses \(folder); end it, or give this one another --folder"
        }
    }

    private let settings: Settings
    private let lock: FileHandle
    let stores = Stores()

    /// - Throws: ``InUse``, or why the folder can't be used.
    init(_ settings: Settings) throws {
        self.settings = settings
        let folder = settings.folder.path
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let descriptor = open("\(folder)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        lock = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw InUse(folder: folder) }
    }

    /// Those who are signed in on this computer, with whoever was before the app had several accounts; nil without a server.
    func accounts() -> DeviceAccounts? {
        guard let server = settings.server else { return nil }
        let folder = settings.folder
        return DeviceAccounts(
            in: settings.folder.appending(path: "accounts"),
            transport: { [certificates = settings.certificates] in
                HTTPTransport(asyncHTTP: server, trusting: certificates)
            },
            adopting: FormerAccount(tokens: FileTokenStore(folder.appending(path: "tokens"))) { [stores] in
                try stores.open(folder.appending(path: "state"))
            },
            store: { [stores] in try stores.open($0.url.appending(path: "state")) })
    }

    /// Whether what it kept for anybody was found damaged when it was opened, and nobody has read that yet.
    var hasSetAside: Bool { stores.hasSetAside }

    func removeSetAside() throws { try stores.removeSetAside() }

    /// Opens the accounts' stores.
    final class Stores: Sendable {
        /// Each once, however often it is opened.
        private let damaged = Mutex<[URL: DatabaseStore]>([:])

        var hasSetAside: Bool { damaged.withLock { !$0.isEmpty } }

        func open(_ file: URL) throws -> DatabaseStore {
            let store = try DatabaseStore(file)
            if !store.setAside.isEmpty { damaged.withLock { $0[file] = store } }
            return store
        }

        func removeSetAside() throws {
            for store in damaged.withLock({ Array($0.values) }) { try store.removeSetAside() }
            damaged.withLock { $0 = [:] }
        }
    }
}
