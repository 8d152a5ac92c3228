import Foundation
import QuartetVocabulary
import Synchronization
import Testing

@testable import QuartetClient
@testable import QuartetStorage

/// Files that are damaged, and those that merely can't be used now.
@Suite
struct BrokenStoreTests {
    private static let account = AccountID(high: 0x01A1_0000_0000_7000, low: 0x8000_0000_0000_0001)

    /// How a file gets broken.
    enum Damage: CaseIterable {
        case notDatabase, head, pages, halved

        func damage(_ file: URL) throws {
            var content = try Data(contentsOf: file)
            let half = content.count / 2
            try #require(half > 8192)
            switch self {
            case .notDatabase: content = Data("not a database".utf8)
            case .head: content.replaceSubrange(0..<4096, with: Data(repeating: 0xFF, count: 4096))
            case .pages: content.replaceSubrange(half..., with: Data(repeating: 0xFF, count: content.count - half))
            case .halved: content = content.prefix(half)
            }
            // As a disk does it: under whoever has it open.
            let handle = try FileHandle(forWritingTo: file)
            defer { try? handle.close() }
            try handle.truncate(atOffset: UInt64(content.count))
            try handle.seek(toOffset: 0)
            try handle.write(contentsOf: content)
        }
    }

    private static func withFile(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "broken-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appending(path: "store"))
    }

    private static func item(_ id: Int64) -> OutboxItem {
        OutboxItem(
            id: id, stream: "contacts", command: "SendPing", acted: Instant(microseconds: 5), lifetime: .hours(1),
            actedAtServer: Instant(microseconds: 7), edit: Data(repeating: 0x41, count: 2000))
    }

    /// Has the file itself hold a few items, and nothing beside it.
    private static func fill(_ store: DatabaseStore) async throws {
        for id in 1...30 { try await store.save(item(Int64(id)), of: account) }
        try await store.forgetOthers(than: account)
    }

    private static func names(beside file: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
            .filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }.sorted()
    }

    @Test(
        "a broken file is set aside as it is, which is said, and another one is begun (F9)", arguments: Damage.allCases)
    func settingAside(damage: Damage) async throws {
        try await Self.withFile { file in
            do { try await Self.fill(try DatabaseStore(file)) }
            try damage.damage(file)
            let broken = try Data(contentsOf: file)
            do {
                let store = try DatabaseStore(file)
                #expect(
                    try store.setAside.map { try Data(contentsOf: $0) } == broken && store.setAside?.path == file.path)
                #expect(try await store.load(Self.account) == LocalAccount())
                try await store.save(Self.item(7), of: Self.account)
            }
            let again = try DatabaseStore(file)
            #expect(try await again.load(Self.account).items.map(\.id) == [7])
            #expect(again.setAside?.path == file.path)
            #expect(try Self.names(beside: file) == ["store", "store.renewed-1"])
            try again.removeSetAside()
            #expect(try again.setAside == nil && Self.names(beside: file) == ["store.renewed-1"])
            #expect(try await again.load(Self.account).items.map(\.id) == [7])
        }
    }

    @Test("signing out erases what was set aside, and another one takes its place (F9, S17)")
    func erasing() async throws {
        try await Self.withFile { file in
            do { try await Self.fill(try DatabaseStore(file)) }
            try Damage.pages.damage(file)
            do { try await Self.fill(try DatabaseStore(file)) }
            let second = URL(fileURLWithPath: file.path + ".renewed-1")
            try Damage.notDatabase.damage(second)
            let store = try DatabaseStore(file)
            #expect(store.setAside == second && store.number == 2)
            #expect(try Self.names(beside: file) == ["store.renewed-1", "store.renewed-2"])
            try await store.forgetOthers(than: Self.account)
            #expect(store.setAside == second)
            try await store.forget(Self.account)
            #expect(store.setAside == nil)
            #expect(try Self.names(beside: file) == ["store.renewed-2"])
            try await store.save(Self.item(7), of: Self.account)
            let again = try DatabaseStore(file)
            #expect(try await again.load(Self.account).items.map(\.id) == [7])
        }
    }

    @Test("where nobody knows whose data the device has, what was set aside goes as well (F9, S17)")
    func erasingAll() async throws {
        try await Self.withFile { file in
            do { try await Self.fill(try DatabaseStore(file)) }
            try Damage.halved.damage(file)
            let store = try DatabaseStore(file)
            try await store.forgetOthers(than: nil, openedAs: [])
            #expect(try store.setAside == nil && Self.names(beside: file) == ["store.renewed-1"])
        }
    }

    @Test("a process that has the broken file open goes on with the new one, as after a sign-out in the other (F9)")
    func beside() async throws {
        try await Self.withFile { file in
            let one = try DatabaseStore(file)
            _ = try await one.load(Self.account)
            try await Self.fill(one)
            let version = try await one.version()
            try Damage.pages.damage(file)
            let two = try DatabaseStore(file)
            let third = try DatabaseStore(file)
            #expect([one, two, third].map(\.number) == [0, 1, 1])
            await #expect(throws: ForgottenAccount.self) { try await one.save(Self.item(31), of: Self.account) }
            #expect(one.number == 1 && one.setAside?.path == file.path)
            #expect(try await one.version() != version)
            #expect(try await one.load(Self.account) == LocalAccount())
            try await one.save(Self.item(32), of: Self.account)
            #expect(try await two.load(Self.account).items.map(\.id) == [32])
        }
    }

    @Test("what is written while another process sets the file aside isn't taken for kept (F9)")
    func between() async throws {
        try await Self.withFile { file in
            let store = try DatabaseStore(file)
            _ = try await store.load(Self.account)
            let count = Mutex(0)
            await #expect(throws: ForgottenAccount.self) {
                try await store.write(Self.account) { _ in
                    count.withLock { $0 += 1 }
                    try StoreFile(base: file, number: 1).create()
                }
            }
            #expect(store.number == 1 && count.withLock { $0 } == 1)
        }
    }

    @Test("a look at the others' changes finds the new file (F9)")
    func looking() async throws {
        try await Self.withFile { file in
            let store = try DatabaseStore(file)
            _ = try await store.load(Self.account)
            try StoreFile(base: file, number: 1).create()
            _ = try await store.version()
            #expect(store.number == 1)
            await #expect(throws: ForgottenAccount.self) { _ = try await store.changes(of: Self.account) }
        }
    }

    @Test("only damage counts as damage: a full disk, a lock or a missing right doesn't (S22)")
    func codes() {
        // CORRUPT, CORRUPT_INDEX, NOTADB
        for code in [11, 11 | 3 << 8, 26] as [Int32] { #expect(DatabaseStore.meansBroken(code)) }
        // ERROR, PERM, BUSY, LOCKED, NOMEM, READONLY, IOERR, IOERR_READ, FULL, CANTOPEN, PROTOCOL, SCHEMA, AUTH
        for code in [1, 3, 5, 6, 7, 8, 10, 10 | 1 << 8, 13, 14, 15, 17, 23] as [Int32] {
            #expect(!DatabaseStore.meansBroken(code), "\(code)")
        }
    }

    @Test("a file of a newer version, on a full disk, or that can't be opened stays in use (S22)")
    func inOrder() async throws {
        try await Self.withFile { file in
            do { try await Self.fill(try DatabaseStore(file)) }
            let newer = "INSERT OR IGNORE INTO grdb_migrations VALUES ('9'); CREATE TABLE IF NOT EXISTS later (x)"
            for statements in [nil, newer, "PRAGMA max_page_count = 1"] {
                let store = try DatabaseStore(file, running: statements)
                #expect(try await store.load(Self.account).items.count == 30 && store.setAside == nil)
            }
            let store = try DatabaseStore(file)
            #expect(try await store.load(Self.account).items.count == 30 && store.number == 0)
        }
        try await Self.withFile { file in
            try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
            #expect(throws: (any Error).self) { try DatabaseStore(file) }
            #expect(try Self.names(beside: file) == ["store"])
        }
    }

    @Test("the device's backups have no file of it (F9)")
    func backups() async throws {
        try await Self.withFile { file in
            let excluded = Mutex<Set<String>>([])
            let open = {
                try DatabaseStore(file, running: nil) { url in
                    excluded.withLock { _ = $0.insert(url.lastPathComponent) }
                }
            }
            do { try await Self.fill(try open()) }
            #expect(excluded.withLock { $0 } == ["store", "store-wal", "store-shm"])
            try Damage.head.damage(file)
            let store = try open()
            try await store.save(Self.item(1), of: Self.account)
            let all = try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
            #expect(excluded.withLock { $0.isSuperset(of: all) } && all.contains("store.renewed-1-wal"))
        }
    }
}
