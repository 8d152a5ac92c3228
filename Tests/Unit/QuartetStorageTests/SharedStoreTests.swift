import Foundation
import QuartetVocabulary
import Testing

@testable import QuartetClient
@testable import QuartetStorage

/// Two stores that are open on one file, as two processes have it.
@Suite
struct SharedStoreTests {
    private static let account = AccountID(high: 0x01A1_0000_0000_7000, low: 0x8000_0000_0000_0001)
    private static let now = Instant(microseconds: 1_800_000_000_000_000)

    private static func with(_ body: (DatabaseStore, DatabaseStore, URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "shared-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "store")
        let (one, two) = (try DatabaseStore(file), try DatabaseStore(file))
        for store in [one, two] { _ = try await store.load(account) }
        try await body(one, two, file)
    }

    private static func item(_ id: Int64, edit: String = "{}", isSent: Bool = false) -> OutboxItem {
        var item = OutboxItem(
            id: id, stream: "contacts", command: "SendPing", acted: now, lifetime: .hours(1), actedAtServer: now,
            edit: Data(edit.utf8))
        if isSent {
            _ = item.key.minted(at: now)
            item.body = Data("{}".utf8)
        }
        return item
    }

    private static func hold(_ holder: String, after: Interval = .seconds(0)) -> SharedUpdate {
        SharedUpdate(holder: holder, now: now + after, until: now + after + SharedUpdate.hold)
    }

    @Test("an item that is added replaces none, and the other store hears of it (F9)")
    func adding() async throws {
        try await Self.with { one, two, _ in
            let version = try await two.version()
            let added: [(DatabaseStore, Int64, String)] = [(one, 1, "one"), (two, 1, "two"), (two, 2, "two")]
            for (store, id, edit) in added {
                _ = try await store.add(Self.item(id, edit: edit), replacing: [], deciding: Data(), of: Self.account)
            }
            for store in [one, two] {
                let kept = try await store.changes(of: Self.account)
                #expect(kept.items.map { String(decoding: $0.edit, as: UTF8.self) } == ["one", "two"])
            }
            #expect(try await two.version() != version)
        }
    }

    @Test("one holds an item at a time; a hold ends with its time, whatever was done to the clock (F9)")
    func holding() async throws {
        try await Self.with { one, two, _ in
            _ = try await one.add(Self.item(1), replacing: [], deciding: Data(), of: Self.account)
            let sent = Self.item(1, isSent: true)
            #expect(try await one.update(sent, Self.hold("one"), of: Self.account) == .done)
            #expect(try await two.update(sent, Self.hold("two"), of: Self.account) == .held)
            // Its key isn't the one that was sent.
            let other = Self.item(1, isSent: true)
            #expect(try await two.update(other, Self.hold("two", after: .seconds(16)), of: Self.account) == .held)
            #expect(try await two.update(sent, Self.hold("two", after: .seconds(16)), of: Self.account) == .done)
            #expect(try await one.update(sent, Self.hold("one", after: .seconds(17)), of: Self.account) == .held)
            #expect(try await one.update(sent, Self.hold("one", after: .days(-9)), of: Self.account) == .done)
        }
    }

    @Test("nothing goes before what waits in its lane, and what was sent keeps its place (F9)")
    func order() async throws {
        try await Self.with { one, two, _ in
            for id in [1, 2] as [Int64] {
                _ = try await one.add(Self.item(id), replacing: [], deciding: Data(), of: Self.account)
            }
            #expect(try await two.update(Self.item(2, isSent: true), Self.hold("two"), of: Self.account) == .held)
            #expect(try await one.update(Self.item(1, isSent: true), Self.hold("one"), of: Self.account) == .done)
            let stays = try await two.add(Self.item(3), replacing: [1, 2], deciding: Data("x".utf8), of: Self.account)
            let kept = try await one.changes(of: Self.account)
            #expect(stays == [1] && kept.items.map(\.id) == [1, 3] && kept.decisions == [2: Data("x".utf8)])
        }
    }

    @Test("what one store has removed the other doesn't write back (F9)")
    func removed() async throws {
        try await Self.with { one, two, _ in
            _ = try await one.add(Self.item(1), replacing: [], deciding: Data(), of: Self.account)
            try await two.end(1, deciding: Data("x".utf8), of: Self.account)
            #expect(try await one.update(Self.item(1), Self.hold("one"), of: Self.account) == .gone)
            var late = Self.hold("one")
            late.isNew = true
            #expect(try await one.update(Self.item(1), late, of: Self.account) == .gone)
            _ = try await one.add(Self.item(1), replacing: [], deciding: Data(), of: Self.account)
            let kept = try await one.changes(of: Self.account)
            #expect(kept.items.isEmpty && kept.decisions == [1: Data("x".utf8)])
        }
    }

    @Test("once one has forgotten an account, the other can write nothing of it until it opens it again (F9, S17)")
    func forgotten() async throws {
        try await Self.with { one, two, file in
            _ = try await one.add(Self.item(1), replacing: [], deciding: Data(), of: Self.account)
            try await two.forget(Self.account)
            await #expect(throws: ForgottenAccount.self) { try await one.save(Self.item(2), of: Self.account) }
            await #expect(throws: ForgottenAccount.self) { try await one.save([], finishing: [], of: Self.account) }
            await #expect(throws: ForgottenAccount.self) { _ = try await one.changes(of: Self.account) }
            #expect(try Data(contentsOf: file).range(of: Data("\(Self.account)".utf8)) == nil)
            #expect(try await one.load(Self.account) == LocalAccount())
            try await one.save(Self.item(2), of: Self.account)
            // Somebody has signed in again: the other one has opened what there was before.
            await #expect(throws: Never.self) { _ = try await two.load(Self.account) }
            #expect(try await two.changes(of: Self.account).items.map(\.id) == [2])
        }
    }

    @Test("a file of 0.1.0 is read, and its items can be held and keep their order (F9)")
    func older() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "older-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "store")
        try #require(storeOfRelease010).write(to: file)
        let store = try DatabaseStore(file)
        let kept = try await store.load(Self.account)
        #expect(kept.items.map(\.id) == [1, 2] && kept.items.map(\.isSent) == [true, false])
        #expect(kept.copies.map(\.place) == ["contacts.log@7-1/3/10"])
        let first = try #require(kept.items.first)
        #expect(try await store.update(first, Self.hold("one"), of: Self.account) == .done)
        #expect(try await DatabaseStore(file).update(first, Self.hold("two"), of: Self.account) == .held)
    }
}
