import Crypto
import Foundation
import QuartetVocabulary
import Synchronization
import Testing

@testable import QuartetClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

@Suite
struct FileTokenStoreTests {
    private static func withFile(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "tokens-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appending(path: "tokens"))
    }

    private static let credentials = Credentials(
        account: Server.account, device: Server.device, refreshToken: "a refresh token")

    @Test("tokens are in a file that nobody else can read, and are replaced as a whole (S42, R21)")
    func mode() throws {
        try Self.withFile { file in
            let store = FileTokenStore(file)
            #expect(try store.load() == nil && !store.isSealed)
            // What a crash left behind.
            try Data("half".utf8).write(to: file.deletingLastPathComponent().appending(path: ".tokens.new"))
            try store.save(Self.credentials)
            #expect(try FileTokenStore(file).load() == Self.credentials)
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
            #expect(mode.map { $0 & 0o777 } == 0o600)
            #expect(try Self.content(of: file) == ["tokens"])
            try store.save(nil)
            try store.save(nil)
            #expect(try store.load() == nil)
        }
    }

    @Test("the device's backups never have the file (S42)")
    func backups() throws {
        try Self.withFile { file in
            let excluded = Mutex<[String]>([])
            let store = FileTokenStore(
                file, now: { .zero },
                excluding: { url in
                    // It is there by then, has nothing in it, and takes the place of the other one later.
                    let content = try? Data(contentsOf: url)
                    excluded.withLock { $0.append("\(url.lastPathComponent) \(content?.count ?? -1)") }
                })
            try store.save(Self.credentials)
            try store.update { $0?.refreshToken = "next" }
            #expect(excluded.withLock { $0.map { $0 == ".tokens.new 0" } } == [true, false, true])
            // The one that is there at first as well: 0.1.0 didn't do so.
            excluded.withLock { $0 = [] }
            let other = FileTokenStore(
                file, now: { .zero },
                excluding: { url in excluded.withLock { $0.append("\(url.lastPathComponent)") } })
            for _ in 0..<2 { _ = try other.load() }
            #expect(excluded.withLock { $0 } == [file.lastPathComponent])
        }
    }

    /// Locks the folder as another process would.
    private static func withFolder(of file: URL, _ body: (Int32) throws -> Void) throws {
        let folder = open(file.deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(folder >= 0)
        defer { close(folder) }
        try body(folder)
    }

    @Test("between reading credentials and replacing them nobody else does either (F9, S42)")
    func updating() throws {
        try Self.withFile { file in
            let store = FileTokenStore(file)
            try store.save(Self.credentials)
            try Self.withFolder(of: file) { folder in
                try store.update { stored in
                    #expect(stored == Self.credentials)
                    #expect(flock(folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
                    stored?.refreshToken = "next"
                }
                #expect(try FileTokenStore(file).load()?.refreshToken == "next")
                #expect(flock(folder, LOCK_EX | LOCK_NB) == 0)
            }
        }
    }

    @Test(
        "nothing is changed while another process has the lock, unless that is frozen with it for long (F9, S22, S42)")
    func frozen() throws {
        try Self.withFile { file in
            let time = Mutex(Duration.zero)
            let store = FileTokenStore(file, now: { time.withLock { $0 } })
            try store.save(Self.credentials)
            var next = Self.credentials
            next.exchange = .new()
            try Self.withFolder(of: file) { folder in
                try #require(flock(folder, LOCK_EX | LOCK_NB) == 0)
                // It is in the middle of writing.
                let new = file.deletingLastPathComponent().appending(path: ".tokens.new")
                try Data("half".utf8).write(to: new)
                // Who asks that rarely doesn't know whether it was there in between.
                for seconds in [0, 94, 100, 101, 105] {
                    time.withLock { $0 = .seconds(seconds) }
                    #expect(throws: TokenStoreBusy.self) { try store.update { $0 = next } }
                    #expect(throws: TokenStoreBusy.self) { try store.save(next) }
                }
                #expect(try store.load() == Self.credentials)
                time.withLock { $0 = .seconds(106) }
                try store.update { $0 = next }
                #expect(try store.load() == next)
                #expect(try Data(contentsOf: new) == Data("half".utf8))
            }
            try store.save(Self.credentials)
            #expect(try store.load() == Self.credentials)
        }
    }

    @Test("whoever goes on without the lock undoes nothing of somebody whose disk stalled with it (F9, S17, S42)")
    func stalled() throws {
        try Self.withFile { file in
            let time = Mutex(Duration.zero)
            let store = FileTokenStore(file, now: { time.withLock { $0 } }, lock: { _ in EWOULDBLOCK })
            let holder = FileTokenStore(file)
            try holder.save(Self.credentials)
            #expect(throws: TokenStoreBusy.self) { try store.update { $0 = nil } }
            for seconds in [5, 6] {
                time.withLock { $0 = .seconds(seconds) }
                try? store.update { _ in }
            }
            let other = Credentials(account: Server.person(9), device: Server.device, refreshToken: "other")
            var seen: [String?] = []
            try store.update { stored in
                seen.append(stored?.refreshToken)
                if seen.count == 1 { try holder.save(other) }
                if stored?.account == Self.credentials.account { stored?.refreshToken = "next" }
            }
            #expect(seen == [Self.credentials.refreshToken, "other"])
            #expect(try store.load() == other)
        }
    }

    @Test("whoever was frozen with the lock reads again before they change what others changed without it (F9, S42)")
    func thawed() throws {
        try Self.withFile { file in
            let time = Mutex(Duration.zero)
            let store = FileTokenStore(file, now: { time.withLock { $0 } })
            try store.save(Self.credentials)
            var others = Self.credentials
            others.exchange = .new()
            var calls = 0
            try store.update { stored in
                calls += 1
                if calls == 1 {
                    try JSONEncoder().encode(others).write(to: file)
                    time.withLock { $0 += .seconds(30) }
                }
                if stored?.exchange == nil { stored?.exchange = .new() }
            }
            #expect(try store.load() == others && calls == 2)
            #expect(try Self.content(of: file) == ["tokens"])
        }
    }

    private static func content(of file: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
    }

    @Test(
        "where the file system has no locks, tokens are kept all the same, one thing after the other (S42)",
        arguments: FileTokenStore.lockless)
    func lockless(error: Int32) throws {
        try Self.withFile { file in
            let stores = (0..<2).map { _ in FileTokenStore(file, now: { .zero }, lock: { _ in error }) }
            try stores[0].save(Self.credentials)
            try stores[1].update { stored in
                stored?.refreshToken = "next"
                // Another thread.
                #expect(throws: TokenStoreBusy.self) { try stores[0].save(nil) }
            }
            #expect(try stores[0].load()?.refreshToken == "next")
            #expect(try Self.content(of: file) == ["tokens"])
            try stores[0].save(nil)
            #expect(try stores[1].load() == nil)
        }
    }

    @Test("a lock that fails for another reason changes nothing (S42)")
    func noLock() throws {
        try Self.withFile { file in
            let store = FileTokenStore(file, now: { .zero }, lock: { _ in EIO })
            #expect(throws: POSIXError.self) { try store.save(Self.credentials) }
            let kept = try store.load()
            #expect(kept == nil)
        }
    }

    @Test("with a key, the file says nothing, and another key opens nothing (R21)")
    func sealing() throws {
        try Self.withFile { file in
            let key = SymmetricKey(size: .bits256)
            let store = FileTokenStore(file, key: key)
            try store.save(Self.credentials)
            #expect(store.isSealed)
            #expect(try FileTokenStore(file, key: key).load() == Self.credentials)
            let content = try Data(contentsOf: file)
            #expect(content.range(of: Data("refresh".utf8)) == nil)
            for wrong in [SymmetricKey(size: .bits256), nil] {
                #expect(throws: TokensUnreadable.self) { try FileTokenStore(file, key: wrong).load() }
            }
        }
    }

    @Test("what is damaged differs from what can't be read now, and saving replaces it (S42)")
    func damaged() throws {
        try Self.withFile { file in
            let key = SymmetricKey(size: .bits256)
            for content in ["", "{}", "not the tokens"] {
                try Data(content.utf8).write(to: file)
                for key in [key, nil] {
                    #expect(throws: TokensUnreadable.self) { try FileTokenStore(file, key: key).load() }
                    #expect(throws: TokensUnreadable.self) { try FileTokenStore(file, key: key).update { $0 = nil } }
                }
            }
            try FileTokenStore(file, key: key).save(Self.credentials)
            #expect(try FileTokenStore(file, key: key).load() == Self.credentials)
            // A later try may find a file.
            try FileManager.default.removeItem(at: file)
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            #expect {
                try FileTokenStore(file).load()
            } throws: {
                !($0 is TokensUnreadable)
            }
        }
    }
}
