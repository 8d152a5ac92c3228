public import Foundation
public import QuartetVocabulary
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Where one account of a device keeps its tokens and its store.
public struct AccountFolder: Hashable, Sendable {
    public let account: AccountID
    /// Its user alone can read it. It goes as a whole once its account was removed.
    public let url: URL

    /// What the account's tokens are called where they aren't in the folder, as in a keychain.
    public var name: String { "\(account)" }
}

/// Why the list of a device's accounts can't be read. Nothing is deleted or replaced meanwhile, and accounts that were known stay.
public enum AccountListProblem: Error, Hashable, Sendable, CustomStringConvertible {
    /// It may be readable later.
    case unavailable(String)
    /// No later try reads it either. ``DeviceAccounts/repair()`` makes another list of the accounts that are there.
    case damaged(String)

    public var description: String {
        switch self {
        case .unavailable(let reason):
            "The list of accounts can't be read now (\(reason)). Unlock the device, or free its disk; it is tried again."
        case .damaged(let reason): "The list of accounts is damaged (\(reason)). Repair it: no account is lost by that."
        }
    }
}

/// The accounts of a device, as they are kept.
struct AccountListing: Hashable, Sendable {
    struct Entry: Codable, Hashable, Sendable {
        let account: AccountID
        var handle: String?
        var name: String?
    }

    /// In the order in which they were added.
    var accounts: [Entry] = []
    /// Which one was shown last.
    var shown: AccountID?

    func has(_ account: AccountID) -> Bool { accounts.contains { $0.account == account } }
}

/// A change of the list, which is made of whatever the list is by then.
enum AccountListChange: Sendable {
    case add(AccountID, handle: String?)
    case describe(AccountID, handle: String?, name: String?)
    case show(AccountID?)
    case drop(AccountID)

    func apply(to listing: inout AccountListing) {
        switch self {
        case .add(let account, let handle):
            if let index = listing.accounts.firstIndex(where: { $0.account == account }) {
                listing.accounts[index].handle = handle ?? listing.accounts[index].handle
            } else {
                listing.accounts.append(AccountListing.Entry(account: account, handle: handle))
            }
        case .describe(let account, let handle, let name):
            guard let index = listing.accounts.firstIndex(where: { $0.account == account }) else { return }
            (listing.accounts[index].handle, listing.accounts[index].name) = (handle, name)
        case .show(let account): listing.shown = account
        case .drop(let account):
            listing.accounts.removeAll { $0.account == account }
            if listing.shown == account { listing.shown = nil }
        }
    }
}

/// Where a device has its accounts: the list, and a folder each.
///
/// Only who has the lock may change anything.
protocol AccountShelf: Sendable {
    /// Whether other processes may change it.
    var isShared: Bool { get }
    /// Differs from what it was if the list or the set of folders may have changed.
    var stamp: String { get }
    func url(of account: AccountID) -> URL
    /// - Returns: Nil if there is none.
    func list() throws(AccountListProblem) -> AccountListing?
    func save(_ listing: AccountListing) throws
    /// Keeps a damaged list under another name.
    func setListAside() throws
    /// Whose folders there are, in the order of their names.
    func folders() throws -> [AccountID]
    /// Makes a folder, unless it is there, for somebody who is signed in. It isn't marked then. Needs no lock.
    func make(_ account: AccountID) throws
    /// Marks a folder as that of an account that has signed out. Needs no lock.
    func leave(_ account: AccountID) throws
    /// Whether a folder is marked, or isn't there.
    func hasLeft(_ account: AccountID) throws -> Bool
    /// Erases a folder if it is marked. No other one is ever erased: tokens that aren't found may be somewhere else.
    func erase(_ account: AccountID) throws
    /// - Returns: Nil if somebody else has it.
    func lock() throws -> AccountLock?
}

/// The right to change a shelf, until it is let go.
final class AccountLock: Sendable {
    /// Of what is locked; nil where nobody else is.
    private let descriptor: Int32?

    init(_ descriptor: Int32?) { self.descriptor = descriptor }

    deinit { if let descriptor { close(descriptor) } }
}

/// Accounts in a folder of the device, which any number of processes may have.
///
/// The list is replaced as a whole, and a folder appears and goes by one change of a name: a process that is killed leaves what there was
/// or what there is to be. An account is in the folder that has its name, so somebody who signs in again is where they were.
struct FolderShelf: AccountShelf {
    let root: URL

    private struct File: Codable {
        /// Of what is written here.
        static let format = 1

        var format = File.format
        var accounts: [AccountListing.Entry]
        var shown: AccountID?
    }

    private struct Format: Decodable {
        let format: Int
    }

    private static let erasedSuffix = ".erased"
    /// Is in a folder whose account has signed out.
    private static let mark = "left"
    private var file: URL { root.appending(path: "accounts.json") }

    var isShared: Bool { true }

    var stamp: String {
        [root, file].map { url -> String in
            guard let found = try? FileManager.default.attributesOfItem(atPath: url.path) else { return "-" }
            let changed = (found[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0
            return "\(found[.systemFileNumber] ?? 0)/\(changed)/\(found[.size] ?? 0)"
        }.joined(separator: " ")
    }

    func url(of account: AccountID) -> URL { root.appending(path: "\(account)") }

    // MARK: The list

    func list() throws(AccountListProblem) -> AccountListing? {
        let content: Data
        do { content = try Data(contentsOf: file) } catch {
            if Self.meansMissing(error) { return nil }
            throw .unavailable("\(error)")
        }
        do {
            let format = try JSONDecoder().decode(Format.self, from: content).format
            guard format <= File.format else {
                throw AccountListProblem.unavailable("a newer version of the app wrote it; update this one")
            }
            let found = try JSONDecoder().decode(File.self, from: content)
            return AccountListing(accounts: found.accounts, shown: found.shown)
        } catch let problem as AccountListProblem { throw problem } catch { throw .damaged("\(error)") }
    }

    func save(_ listing: AccountListing) throws {
        let content = try JSONEncoder().encode(File(accounts: listing.accounts, shown: listing.shown))
        let new = root.appending(path: ".accounts-\(getpid()).new")
        // Left by a crash.
        unlink(new.path)
        // Nothing is there any more once it has taken the list's place.
        defer { unlink(new.path) }
        let descriptor = open(new.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure() }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        DeviceBackup.exclude(new)
        try handle.write(contentsOf: content)
        try handle.synchronize()
        try handle.close()
        guard rename(new.path, file.path) == 0 else { throw Self.failure() }
        try synchronize()
    }

    func setListAside() throws {
        guard rename(file.path, root.appending(path: "accounts.damaged.json").path) == 0 || errno == ENOENT else {
            throw Self.failure()
        }
        try synchronize()
    }

    // MARK: Folders

    func folders() throws -> [AccountID] {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: root.path) } catch {
            if Self.meansMissing(error) { return [] }
            throw error
        }
        return names.sorted().compactMap { name in
            // What has another name isn't touched.
            AccountID(name).flatMap { "\($0)" == name ? $0 : nil }
        }
    }

    func make(_ account: AccountID) throws {
        try makeRoot()
        let url = url(of: account)
        // Before anything else: from here on nobody erases it.
        guard unlink(url.appending(path: Self.mark).path) == 0 || errno == ENOENT else { throw Self.failure() }
        if mkdir(url.path, 0o700) == 0 {
            DeviceBackup.exclude(url)
        } else if errno != EEXIST {
            throw Self.failure()
        }
        // It outlasts a power cut before it has what its account is signed in with.
        try synchronize()
    }

    func leave(_ account: AccountID) throws {
        let descriptor = open(
            url(of: account).appending(path: Self.mark).path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            throw Self.failure()
        }
        close(descriptor)
        try synchronize(url(of: account))
    }

    func hasLeft(_ account: AccountID) throws -> Bool {
        let url = url(of: account)
        return try !isThere(url) || isThere(url.appending(path: Self.mark))
    }

    private func isThere(_ url: URL) throws -> Bool {
        if access(url.path, F_OK) == 0 { return true }
        guard errno == ENOENT else { throw Self.failure() }
        return false
    }

    func erase(_ account: AccountID) throws {
        guard try hasLeft(account) else { return }
        let (url, gone) = (url(of: account), root.appending(path: "\(account)\(Self.erasedSuffix)"))
        // Left by a crash.
        try removeIfThere(gone)
        if rename(url.path, gone.path) == 0 {
            guard try isThere(gone.appending(path: Self.mark)) else {
                // Somebody has signed in meanwhile.
                guard rename(gone.path, url.path) == 0 else { throw Self.failure() }
                throw POSIXError(.EBUSY)
            }
        } else if errno != ENOENT {
            throw Self.failure()
        }
        try synchronize()
        try removeIfThere(gone)
    }

    private func removeIfThere(_ url: URL) throws {
        do { try FileManager.default.removeItem(at: url) } catch {
            guard Self.meansMissing(error) else { throw error }
        }
    }

    // MARK: The lock

    /// A process that is killed loses it. Where the file system has none, as that of some networks, one process can have the folder at a
    /// time.
    func lock() throws -> AccountLock? {
        try makeRoot()
        let descriptor = open(root.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure() }
        let lock = AccountLock(descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0, !FileTokenStore.lockless.contains(errno) else { return lock }
        guard errno == EWOULDBLOCK || errno == EINTR else { throw Self.failure() }
        return nil
    }

    private func makeRoot() throws {
        try FileManager.default.createDirectory(
            at: root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    private func synchronize(_ folder: URL? = nil) throws {
        let descriptor = open((folder ?? root).path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure() }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw Self.failure() }
    }

    /// Whether something isn't there. What the device can't say now may be.
    private static func meansMissing(_ error: any Error) -> Bool {
        let code = (error as? CocoaError)?.code
        return code == .fileReadNoSuchFile || code == .fileNoSuchFile
    }

    private static func failure() -> POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}

/// Accounts that are forgotten when the process ends, or by a test.
package final class MemoryShelf: AccountShelf {
    private struct State: Sendable {
        var listing: AccountListing?
        var folders: Set<AccountID> = []
        var left: Set<AccountID> = []
        var changes = 0
    }

    private let state = Mutex(State())

    package init() {}

    var isShared: Bool { false }
    var stamp: String { state.withLock { "\($0.changes)" } }

    func url(of account: AccountID) -> URL { URL(filePath: "/dev/null/\(account)") }
    func list() -> AccountListing? { state.withLock { $0.listing } }
    func save(_ listing: AccountListing) { change { $0.listing = listing } }
    func setListAside() { change { $0.listing = nil } }
    func folders() -> [AccountID] { state.withLock { $0.folders.sorted { "\($0)" < "\($1)" } } }

    func make(_ account: AccountID) {
        change { state in
            state.folders.insert(account)
            state.left.remove(account)
        }
    }

    func leave(_ account: AccountID) { change { $0.left.formUnion($0.folders.intersection([account])) } }
    func hasLeft(_ account: AccountID) -> Bool {
        state.withLock { $0.left.contains(account) || !$0.folders.contains(account) }
    }

    func erase(_ account: AccountID) {
        change { state in
            if state.left.remove(account) != nil { state.folders.remove(account) }
        }
    }

    func lock() -> AccountLock? { AccountLock(nil) }

    private func change(_ change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            state.changes += 1
        }
    }
}
