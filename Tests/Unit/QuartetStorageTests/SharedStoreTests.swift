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

    /// The same each time, but for the key.
    private static func item(_ id: Int64, edit: String = "{}") -> OutboxItem {
        OutboxItem(
            id: id, stream: "contacts", command: "SendPing", acted: now, lifetime: .hours(1), actedAtServer: now,
            edit: Data(edit.utf8))
    }

    private static func sent(_ item: OutboxItem) -> OutboxItem {
        var item = item
        _ = item.key.minted(at: now)
        item.body = Data("{}".utf8)
        return item
    }

    private static func add(_ ids: [Int64], to store: DatabaseStore) async throws {
        for id in ids { _ = try await store.add(StoreAddition(item(id)), of: account) }
    }

    private static let decision = Data("x".utf8)

    @Test("an item that is added replaces none, and the other store hears of it (F9)")
    func adding() async throws {
        try await Self.with { one, two, _ in
            let version = try await two.version()
            let added: [(DatabaseStore, Int64, String)] = [(one, 1, "one"), (two, 1, "two"), (two, 2, "two")]
            for (store, id, edit) in added {
                _ = try await store.add(StoreAddition(Self.item(id, edit: edit)), of: Self.account)
            }
            for store in [one, two] {
                let kept = try await store.changes(of: Self.account)
                #expect(kept.items.map { String(decoding: $0.edit, as: UTF8.self) } == ["one", "two"])
                #expect(kept.ids == [1, 2])
            }
            #expect(try await two.version() != version)
        }
    }

    @Test("whoever is the first to prepare an item says what everybody sends (F9)")
    func preparing() async throws {
        try await Self.with { one, two, _ in
            try await Self.add([1], to: one)
            let sent = Self.sent(Self.item(1))
            #expect(try await one.update(sent, StoreUpdate(.prepare, by: "one"), of: Self.account) == .done)
            // Its key isn't the one that is sent.
            let late = Self.sent(Self.item(1))
            let update = StoreUpdate(.prepare, by: "two")
            #expect(try await two.update(late, update, of: Self.account) == .other(sent))
            // Sent by two by now, nobody can say that nothing of it reached the server.
            let unsend = StoreUpdate(.unsend, by: "one", of: sent)
            #expect(try await one.update(Self.item(1), unsend, of: Self.account) == .other(sent))
            // It goes on from what both know.
            let renewed = Self.sent(Self.item(1))
            let renew = { (name: String) in StoreUpdate(.renew, by: name, of: sent) }
            #expect(try await two.update(renewed, renew("two"), of: Self.account) == .done)
            #expect(try await one.update(Self.sent(Self.item(1)), renew("one"), of: Self.account) == .other(renewed))
        }
    }

    @Test("what nobody else has sent can be taken back again (F9)")
    func unsending() async throws {
        try await Self.with { one, _, _ in
            try await Self.add([1], to: one)
            let sent = Self.sent(Self.item(1))
            #expect(try await one.update(sent, StoreUpdate(.prepare, by: "one"), of: Self.account) == .done)
            var unsent = sent
            unsent.body = nil
            let update = StoreUpdate(.unsend, by: "one", of: sent)
            #expect(try await one.update(unsent, update, of: Self.account) == .done)
            #expect(try await one.changes(of: Self.account).items.map(\.canCancel) == [true])
        }
    }

    @Test("nothing goes before what waits in its lane unless that is over; what was sent keeps its place (F9)")
    func order() async throws {
        try await Self.with { one, two, _ in
            try await Self.add([1, 2], to: one)
            var update = StoreUpdate(.prepare, by: "two")
            let second = Self.sent(Self.item(2))
            #expect(try await two.update(second, update, of: Self.account) == .behind)
            update.over = [1]
            #expect(try await two.update(second, update, of: Self.account) == .done)
            let addition = StoreAddition(Self.item(3), others: [1: Self.decision, 2: Self.decision, 7: Self.decision])
            #expect(try await two.add(addition, of: Self.account) == [1])
            let kept = try await one.changes(of: Self.account)
            #expect(kept.items.map(\.id) == [2, 3] && kept.decisions == [1: Self.decision])
        }
    }

    @Test("an item does as well what another was to do only if that one goes (P33, F9)")
    func joining() async throws {
        for isSent in [false, true] {
            try await Self.with { one, two, _ in
                try await Self.add([1], to: one)
                if isSent {
                    let sent = Self.sent(Self.item(1))
                    #expect(try await one.update(sent, StoreUpdate(.prepare, by: "one"), of: Self.account) == .done)
                }
                let joined = StoreAddition.Joined(earlier: 1, item: Self.item(2, edit: "both"))
                let addition = StoreAddition(Self.item(2, edit: "own"), others: [1: Self.decision], joined: joined)
                #expect(try await two.add(addition, of: Self.account) == (isSent ? [] : [1]))
                let kept = try await two.changes(of: Self.account).items
                #expect(kept.map(\.id) == (isSent ? [1, 2] : [2]))
                #expect(kept.last.map { String(decoding: $0.edit, as: UTF8.self) } == (isSent ? "own" : "both"))
            }
        }
    }

    @Test("what can't be read holds nothing back, and isn't taken for gone (F9)")
    func unreadable() async throws {
        try await Self.with { one, two, file in
            try await Self.add([1, 2], to: one)
            _ = try DatabaseStore(
                file, StoreOpening(statements: "UPDATE item SET item = x'7b7d' WHERE id = 1"))
            let kept = try await two.changes(of: Self.account)
            #expect(kept.items.map(\.id) == [2] && kept.ids == [1, 2])
            let second = Self.sent(Self.item(2))
            #expect(try await two.update(second, StoreUpdate(.prepare, by: "two"), of: Self.account) == .done)
        }
    }

    @Test("what one store has removed the other doesn't write back, and what was decided stays so (F9)")
    func removed() async throws {
        try await Self.with { one, two, _ in
            try await Self.add([1], to: one)
            let end = { (store: DatabaseStore, decision: String) in
                try await store.end(1, knownAs: nil, deciding: Data(decision.utf8), of: Self.account)
            }
            #expect(try await end(two, "x") == .done)
            for isNew in [false, true] {
                for step in [StoreUpdate.Step.prepare, .renew, .end] {
                    let update = StoreUpdate(step, by: "one", isNew: isNew, decision: Data("y".utf8))
                    #expect(try await one.update(Self.item(1), update, of: Self.account) == .gone(Self.decision))
                }
            }
            #expect(try await end(one, "y") == .gone(Self.decision))
            try await Self.add([1], to: one)
            let kept = try await one.changes(of: Self.account)
            #expect(kept.items.isEmpty && kept.decisions == [1: Self.decision])
        }
    }

    @Test("what one has removed for another comes back if it was sent meanwhile, and then isn't decided any more (F9)")
    func comingBack() async throws {
        try await Self.with { one, two, _ in
            try await Self.add([1], to: one)
            let addition = StoreAddition(Self.item(2), others: [1: Self.decision])
            #expect(try await one.add(addition, of: Self.account) == [1])
            let sent = Self.sent(Self.item(1))
            let others = StoreUpdate(.prepare, by: "one", isNew: true)
            #expect(try await one.update(sent, others, of: Self.account) == .gone(Self.decision))
            let own = StoreUpdate(.prepare, by: "one", isNew: true, removedAs: Self.decision)
            #expect(try await one.update(sent, own, of: Self.account) == .done)
            let kept = try await two.changes(of: Self.account)
            #expect(kept.ids == [1, 2] && kept.decisions.isEmpty)
        }
    }

    @Test("what one ends that another has sent goes on, and an accepted one takes the place of a card (F9, R12)")
    func ending() async throws {
        try await Self.with { one, two, _ in
            try await Self.add([1], to: one)
            let sent = Self.sent(Self.item(1))
            #expect(try await one.update(sent, StoreUpdate(.prepare, by: "one"), of: Self.account) == .done)
            var card = Self.item(1)
            card.unsent = .expired
            let update = StoreUpdate(.end, by: "two", of: Self.item(1), decision: Self.decision)
            #expect(try await two.update(card, update, of: Self.account) == .other(sent))
            let end = try await two.end(1, knownAs: Self.item(1), deciding: Self.decision, of: Self.account)
            #expect(end == .other(sent))
            (card.key, card.body) = (sent.key, sent.body)
            let known = StoreUpdate(.end, by: "two", of: sent, decision: Self.decision)
            #expect(try await two.update(card, known, of: Self.account) == .done)
            var accepted = sent
            accepted.accepted = CommandID(high: 1, low: 1)
            let answer = StoreUpdate(.end, by: "one", of: sent, decision: Data("y".utf8))
            #expect(try await one.update(accepted, answer, of: Self.account) == .done)
            #expect(try await two.update(card, known, of: Self.account) == .other(accepted))
        }
    }

    private static func edit(_ id: Int64, _ command: String = "UpdateProfile") -> OutboxItem {
        OutboxItem(
            id: id, stream: "user", command: command, acted: now, lifetime: .hours(1), actedAtServer: now,
            edit: Data())
    }

    @Test("an edit that comes after a later one of its lane isn't kept under its number; what is urgent is (R11)")
    func overtaken() async throws {
        try await Self.with { one, two, _ in
            try await two.save(Self.edit(5), of: Self.account)
            let late = await #expect(throws: OvertakenItem.self) {
                _ = try await one.add(StoreAddition(Self.edit(4)), of: Self.account)
            }
            #expect(late?.latest == 5)
            await #expect(throws: Never.self) {
                _ = try await one.add(StoreAddition(Self.edit(3), own: [5]), of: Self.account)
                try await one.remove(3, of: Self.account)
            }
            #expect(try await one.changes(of: Self.account).ids == [5])
            // Once it is there, it isn't made twice.
            for _ in 0..<2 { _ = try await one.add(StoreAddition(Self.edit(6)), of: Self.account) }
            _ = try await two.add(StoreAddition(Self.edit(7)), of: Self.account)
            _ = try await one.add(StoreAddition(Self.edit(6)), of: Self.account)
            #expect(try await one.changes(of: Self.account).ids == [5, 6, 7])
            for id in [2, 1] as [Int64] {
                _ = try await one.add(StoreAddition(Self.edit(id, "RaiseAlert")), of: Self.account)
            }
            #expect(try await one.changes(of: Self.account).ids == [1, 2, 5, 6, 7])
        }
    }

    @Test("an edit doesn't join one that another process has come after (R11, P33)")
    func between() async throws {
        try await Self.with { one, two, _ in
            for id in [1, 2] as [Int64] { try await two.save(Self.edit(id), of: Self.account) }
            let joining = StoreAddition(
                Self.edit(3), others: [1: Self.decision], joined: .init(earlier: 1, item: Self.edit(3)))
            #expect(try await one.add(joining, of: Self.account) == [])
            #expect(try await one.changes(of: Self.account).ids == [1, 2, 3])
            let last = StoreAddition(
                Self.edit(4), others: [3: Self.decision], joined: .init(earlier: 3, item: Self.edit(4)))
            // Once more as after a file that was damaged just then.
            for _ in 0..<2 { #expect(try await one.add(last, of: Self.account) == [3]) }
        }
    }

    @Test("a copy takes the place only of the one that its process knows, or of a clearly older one (F9)")
    func copies() async throws {
        try await Self.with { one, two, _ in
            let copy = { (second: Int64) in
                LocalCopy(
                    sequence: "contacts", place: "\(second)", state: Data(), asOf: Self.now + .seconds(second))
            }
            try await Self.add([1], to: one)
            try await one.save([copy(5)], finishing: [], of: Self.account)
            for second in [1, 9] as [Int64] {
                await #expect(throws: OutdatedCopy.self) {
                    try await two.save([copy(second)], finishing: [1], of: Self.account)
                }
            }
            try await one.save([copy(6)], finishing: [], of: Self.account)
            let kept = try await two.load(Self.account)
            #expect(kept.copies.map(\.place) == ["6"] && kept.items.map(\.id) == [1])
            try await two.save([copy(7)], finishing: [1], of: Self.account)
            try await one.save([copy(30)], finishing: [], of: Self.account)
            let end = try await two.load(Self.account)
            #expect(end.copies.map(\.place) == ["30"] && end.items.isEmpty)
        }
    }

    @Test("once one has forgotten an account, the other can write nothing of it until it opens it again (F9, S17)")
    func forgotten() async throws {
        try await Self.with { one, two, file in
            try await Self.add([1], to: one)
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

    @Test("what somebody keeps who signs in while another process erases what was there stays (F9, S17)")
    func erasing() async throws {
        let (other, third) = (AccountID(high: 1, low: 2), AccountID(high: 1, low: 3))
        try await Self.with { one, two, _ in
            try await Self.add([1], to: one)
            let openings = try await one.openings()
            #expect(openings.count == 1)
            _ = try await two.load(other)
            _ = try await two.add(StoreAddition(Self.item(2)), of: other)
            try await one.forgetOthers(than: third, openedAs: openings)
            #expect(try await two.load(Self.account) == LocalAccount())
            #expect(try await two.load(other).items.map(\.id) == [2])
            try await one.forget(other, openedAs: openings)
            #expect(try await two.changes(of: other).items.map(\.id) == [2])
            try await one.forget(other, openedAs: try await one.openings())
            await #expect(throws: ForgottenAccount.self) { _ = try await two.changes(of: other) }
        }
    }

    private static func withOldFile(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "older-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "store")
        try #require(storeOfRelease010).write(to: file)
        try await body(file)
    }

    @Test("a file of 0.1.0 is read, and its items are sent under their keys and keep their order (F9)")
    func older() async throws {
        try await Self.withOldFile { file in
            let store = try DatabaseStore(file)
            let kept = try await store.load(Self.account)
            #expect(kept.items.map(\.id) == [1, 2] && kept.items.map(\.isSent) == [true, false])
            #expect(kept.copies.map(\.place) == ["contacts.log@7-1/3/10"])
            let (first, second) = (try #require(kept.items.first), try #require(kept.items.last))
            let update = StoreUpdate(.prepare, by: "one")
            #expect(try await store.update(Self.sent(Self.item(1)), update, of: Self.account) == .other(first))
            #expect(try await store.update(Self.sent(second), update, of: Self.account) == .behind)
            try await store.save(kept.copies, finishing: [], of: Self.account)
        }
    }

    @Test("on a full disk a file of 0.1.0 is read, and brought up to date once there is room (F9, S22)")
    func olderOnFullDisk() async throws {
        try await Self.withOldFile { file in
            let full = try DatabaseStore(file, StoreOpening(statements: "PRAGMA max_page_count = 1"))
            let kept = try await full.load(Self.account)
            #expect(kept.items.map(\.id) == [1, 2] && kept.copies.count == 1)
            await #expect(throws: (any Error).self) { try await Self.add([3], to: full) }
            let store = try DatabaseStore(file)
            _ = try await store.load(Self.account)
            try await Self.add([3], to: store)
            #expect(try await full.load(Self.account).items.map(\.id) == [1, 2, 3])
        }
    }
}
