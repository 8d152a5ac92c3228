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
    private static let other = AccountID(high: 0x01A1_0000_0000_7000, low: 0x8000_0000_0000_0002)

    /// How a file gets damaged.
    enum Damage: CaseIterable {
        case notDatabase, head, pages, halved, copies, oneItem

        /// Whether nothing of it can be read.
        var isTotal: Bool { self == .notDatabase || self == .head }

        func damage(_ file: URL) throws {
            var content = try Data(contentsOf: file)
            let half = content.count / 2
            try #require(half > 8192)
            func spoil(_ range: Range<Int>) {
                content.replaceSubrange(range, with: Data(repeating: 0xFF, count: range.count))
            }
            func spoilPages(with pattern: Data) throws {
                let pages = stride(from: 0, to: content.count, by: 4096).map { $0..<$0 + 4096 }
                    .filter { content.range(of: pattern, in: $0) != nil }
                try #require(!pages.isEmpty)
                pages.forEach(spoil)
            }
            switch self {
            case .notDatabase: content = Data("not a database ".utf8) + Data(repeating: 0, count: 8192 - 15)
            case .head: spoil(0..<4096)
            case .pages: spoil(half..<content.count)
            case .halved: content = content.prefix(half)
            case .copies: try spoilPages(with: BrokenStoreTests.copy.state.prefix(100))
            case .oneItem: try spoilPages(with: BrokenStoreTests.edit(15).prefix(30).base64EncodedData())
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

    private static func edit(_ id: Int64) -> Data { Data(repeating: UInt8(id) + 0x40, count: 2000) }

    private static func item(_ id: Int64) -> OutboxItem {
        OutboxItem(
            id: id, stream: "contacts", command: "SendPing", acted: Instant(microseconds: 5), lifetime: .hours(1),
            actedAtServer: Instant(microseconds: 7), edit: edit(id))
    }

    private static let copy = LocalCopy(
        sequence: "contacts", place: "5", state: Data(repeating: 0x7E, count: 9000), asOf: Instant(microseconds: 5))

    private static func decide(_ id: Int64, in store: DatabaseStore) async throws {
        _ = try await store.end(id, knownAs: nil, deciding: Data("decided".utf8), of: account)
    }

    /// Has the file itself hold thirty items, a copy and a decision, and nothing beside it.
    private static func fill(_ store: DatabaseStore) async throws {
        for id in 1...31 { try await store.save(item(Int64(id)), of: account) }
        try await decide(31, in: store)
        try await store.save([copy], finishing: [], of: account)
        try await store.forgetOthers(than: account)
    }

    private static func damaged(_ file: URL, _ damage: Damage) async throws {
        do { try await fill(try DatabaseStore(file)) }
        try damage.damage(file)
    }

    private static func names(beside file: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
            .filter { !$0.hasSuffix("-wal") && !$0.hasSuffix("-shm") }.sorted()
    }

    private static func ids(_ store: DatabaseStore) async throws -> [Int64] {
        let items = try await store.load(account).items
        #expect(items.allSatisfy { $0.id == 77 || $0.edit == edit($0.id) })
        return items.map(\.id)
    }

    @Test(
        "a damaged file is set aside as it is, and another one is begun with what can be read (F9)",
        arguments: Damage.allCases)
    func settingAside(damage: Damage) async throws {
        try await Self.withFile { file in
            try await Self.damaged(file, damage)
            let broken = try Data(contentsOf: file)
            let kept: [Int64]
            do {
                let store = try DatabaseStore(file)
                #expect(try store.setAside.map { try Data(contentsOf: $0) } == [broken])
                kept = try await Self.ids(store)
                #expect(try await store.load(Self.account).copies.isEmpty)
                try await store.save(Self.item(77), of: Self.account)
            }
            switch damage {
            case .notDatabase, .head: #expect(kept.isEmpty)
            case .copies: #expect(kept == Array(1...30))
            // What is behind it, too.
            case .oneItem: #expect(kept.count > 20 && kept.first == 1 && kept.last == 30 && !kept.contains(15))
            case .pages, .halved: break
            }
            let again = try DatabaseStore(file)
            #expect(try await Self.ids(again) == kept + [77])
            #expect(again.setAside.map(\.path) == [file.path])
            #expect(try Self.names(beside: file) == ["store", "store.renewed-1"])
            try again.removeSetAside()
            #expect(try again.setAside.isEmpty && Self.names(beside: file) == ["store.renewed-1"])
            #expect(try await Self.ids(again) == kept + [77])
        }
    }

    @Test("what was decided stays so in the next file, and what 0.1.0 kept is carried over (F9)")
    func carriedOver() async throws {
        try await Self.withFile { file in
            try await Self.damaged(file, .copies)
            let store = try DatabaseStore(file)
            #expect(try await store.changes(of: Self.account).decisions == [31: Data("decided".utf8)])
        }
        try await Self.withFile { file in
            try #require(storeOfRelease010).write(to: file)
            // As it is before it was ever brought up to date.
            let orphan = ["Page 9 is never used"]
            let complaints = Mutex([orphan, orphan, ["ok"]])
            let opening = StoreOpening(complaints: { _ in complaints.withLock { $0.removeFirst() } })
            let store = try DatabaseStore(file, opening)
            #expect(store.number == 1)
            #expect(try await store.load(Self.account).items.map(\.id) == [1, 2])
        }
    }

    @Test(
        "of files that are damaged one after the other, the oldest and the last stay until its person signs out (F9, S17)"
    )
    func erasing() async throws {
        try await Self.withFile { file in
            try await Self.damaged(file, .pages)
            let files = (0...3).map { StoreFile(base: file, number: $0).url }
            for number in 1...2 {
                let store = try DatabaseStore(file)
                #expect(store.number == number)
                try await Self.fill(store)
                try Damage.head.damage(files[number])
            }
            let store = try DatabaseStore(file)
            #expect(store.number == 3 && store.setAside.map(\.path) == [files[0].path, files[2].path])
            #expect(!StoreFile(base: file, number: 0).isNewest && !StoreFile(base: file, number: 1).isNewest)
            try await store.forgetOthers(than: Self.account)
            #expect(store.setAside.count == 2)
            try await store.forget(Self.account)
            let all = try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
            #expect(store.setAside.isEmpty && all.allSatisfy { $0.hasPrefix("store.renewed-3") })
            try await store.save(Self.item(7), of: Self.account)
            #expect(try await Self.ids(try DatabaseStore(file)) == [7])
        }
    }

    @Test("what was set aside goes with a sign-in of somebody else, and where nobody knows whose it is (F9, S17)")
    func others() async throws {
        for damage in [Damage.copies, .head] {
            try await Self.withFile { file in
                try await Self.damaged(file, damage)
                // Nobody knows who was signed in before, and somebody signs in.
                let store = try DatabaseStore(file)
                try await store.forgetSetAside(unlessOf: Self.account)
                #expect(store.setAside.isEmpty == damage.isTotal)
                try await store.forgetSetAside(unlessOf: Self.other)
                #expect(store.setAside.isEmpty)
            }
            try await Self.withFile { file in
                try await Self.damaged(file, damage)
                let store = try DatabaseStore(file)
                // A start of the same person's.
                try await store.forgetOthers(than: Self.account, openedAs: store.openings())
                try await store.forgetSetAside(unlessOf: Self.account)
                #expect(store.setAside.count == 1)
                try await store.forgetOthers(than: Self.other, openedAs: store.openings())
                #expect(store.setAside.isEmpty)
            }
        }
        try await Self.withFile { file in
            try await Self.damaged(file, .halved)
            let store = try DatabaseStore(file)
            try await store.forgetOthers(than: nil, openedAs: [])
            #expect(try store.setAside.isEmpty && Self.names(beside: file) == ["store.renewed-1"])
        }
    }

    @Test(
        "a process that has the damaged file open goes on with the new one, which gets what that one knows (F9)",
        arguments: Damage.allCases)
    func beside(damage: Damage) async throws {
        try await Self.withFile { file in
            let one = try DatabaseStore(file)
            _ = try await one.load(Self.account)
            try await Self.fill(one)
            let known = try await one.load(Self.account).items
            let version = try await one.version()
            try damage.damage(file)
            let (two, third) = (try DatabaseStore(file), try DatabaseStore(file))
            #expect([one, two, third].map(\.number) == [0, 1, 1])
            // It begins with this where it shows what there is.
            try await two.forgetOthers(than: Self.account, openedAs: two.openings())
            await #expect(throws: RenewedStore.self) { try await one.save(Self.item(77), of: Self.account) }
            #expect(one.number == 1 && one.setAside.map(\.path) == [file.path])
            #expect(try await one.version() != version)
            await #expect(throws: RenewedStore.self) { _ = try await one.changes(of: Self.account) }
            try await one.carryOn(known, of: Self.account)
            try await one.save(Self.item(77), of: Self.account)
            for store in [one, two, third] {
                let ids = try await Self.ids(store)
                #expect(ids == Array(1...30) + [77])
            }
            #expect(try await one.changes(of: Self.account).ids.count == 31)
        }
    }

    @Test(
        "after a sign-out in the new file, nobody carries on what they know of the old one (F9, S17)",
        arguments: Damage.allCases)
    func forgotten(damage: Damage) async throws {
        try await Self.withFile { file in
            let one = try DatabaseStore(file)
            _ = try await one.load(Self.account)
            try await Self.fill(one)
            try damage.damage(file)
            let two = try DatabaseStore(file)
            let openings = try await two.openings()
            _ = try await two.load(Self.account)
            try await two.forget(Self.account, openedAs: openings)
            await #expect(throws: ForgottenAccount.self) { try await one.carryOn([Self.item(1)], of: Self.account) }
            await #expect(throws: RenewedStore.self) { _ = try await one.changes(of: Self.account) }
            #expect(try await one.load(Self.account) == LocalAccount())
        }
    }

    @Test("nobody writes into a damaged file while it is read for the next one (F9)")
    func locked() async throws {
        try await Self.withFile { file in
            try await Self.damaged(file, .copies)
            let isLocked = Mutex<Bool?>(nil)
            let opening = StoreOpening(exclude: { url in
                guard url.lastPathComponent.contains("renewing") else { return }
                let other = StoreOpening(
                    statements: "PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK", complaints: { _ in ["ok"] })
                isLocked.withLock { $0 = (try? other.open(file)) == nil }
            })
            #expect(try DatabaseStore(file, opening).number == 1 && isLocked.withLock { $0 } == true)
        }
    }

    @Test("what is written while another process begins the next file isn't taken for kept (F9)")
    func between() async throws {
        try await Self.withFile { file in
            let store = try DatabaseStore(file)
            _ = try await store.load(Self.account)
            await #expect(throws: RenewedStore.self) {
                try await store.write(Self.account) { _ in try StoreFile(base: file, number: 1).create() }
            }
            // It is empty, so it is none, and says nothing of a sign-out.
            try await store.carryOn([Self.item(1)], of: Self.account)
            #expect(try await Self.ids(store) == [1] && store.number == 2)
        }
    }

    /// How a file is lost under whoever has it open.
    enum Loss: CaseIterable {
        case removed, removedAlone, replaced, emptied

        func lose(_ file: URL) async throws {
            guard self != .emptied else {
                let handle = try FileHandle(forWritingTo: file)
                defer { try? handle.close() }
                return try handle.truncate(atOffset: 0)
            }
            for file in StoreFile(base: file, number: 0).all where self != .removedAlone || file.path.hasSuffix("store")
            {
                try FileManager.default.removeItem(at: file)
            }
            // Another process begins, and finds nothing.
            if self == .replaced { _ = try await DatabaseStore(file).load(BrokenStoreTests.account) }
        }
    }

    @Test(
        "a file that goes under a process is no sign-out: what the process knows is written again (F9, S22)",
        arguments: Loss.allCases)
    func lost(loss: Loss) async throws {
        try await Self.withFile { file in
            let one = try DatabaseStore(file)
            _ = try await one.load(Self.account)
            try await Self.fill(one)
            let known = try await one.load(Self.account).items
            let version = try await one.version()
            try await loss.lose(file)
            #expect(try await one.version() != version)
            await #expect(throws: RenewedStore.self) { _ = try await one.changes(of: Self.account) }
            await #expect(throws: RenewedStore.self) { try await one.save(Self.item(77), of: Self.account) }
            try await one.carryOn(known, of: Self.account)
            try await one.save(Self.item(77), of: Self.account)
            let two = try DatabaseStore(file)
            for store in [one, two] { #expect(try await Self.ids(store) == Array(1...30) + [77]) }
            // What is one stays one.
            try await two.forget(Self.account)
            await #expect(throws: ForgottenAccount.self) { try await one.carryOn(known, of: Self.account) }
        }
    }

    @Test("a row that is lost is no sign-out, and a sign-out leaves a mark that is nobody's name (F9, S17)")
    func marks() async throws {
        try await Self.withFile { file in
            let (one, two) = (try DatabaseStore(file), try DatabaseStore(file))
            for store in [one, two] { _ = try await store.load(Self.account) }
            let run = { (statements: String) throws in
                _ = try DatabaseStore(file, StoreOpening(statements: statements))
            }
            try run("DELETE FROM opened")
            await #expect(throws: RenewedStore.self) { _ = try await one.changes(of: Self.account) }
            try await one.carryOn([Self.item(1)], of: Self.account)
            // The other one knows the same mark.
            #expect(try await two.changes(of: Self.account).ids == [1])
            try await two.forget(Self.account)
            await #expect(throws: ForgottenAccount.self) { _ = try await one.changes(of: Self.account) }
            let content = try Data(contentsOf: file)
            #expect(content.range(of: Data("gone-".utf8)) != nil)
            #expect(content.range(of: Data("\(Self.account)".utf8)) == nil)
            try run(
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 150)
                INSERT INTO opened SELECT 'gone-' || i, printf('%020d', i) FROM n
                """)
            for store in [one, two] { _ = try await store.load(Self.account) }
            try await two.forget(Self.account)
            await #expect(throws: ForgottenAccount.self) { _ = try await one.changes(of: Self.account) }
            // There are no more of them than that.
            try run("CREATE TEMP TABLE t (x CHECK (x = 100)); INSERT INTO t SELECT count(*) FROM opened")
            #expect(try await two.openings().isEmpty)
        }
    }

    @Test("a sign-out before the damage stays one (F9, S17)")
    func forgottenBefore() async throws {
        try await Self.withFile { file in
            let (one, two) = (try DatabaseStore(file), try DatabaseStore(file))
            for store in [one, two] { _ = try await store.load(Self.account) }
            try await Self.fill(one)
            try await two.forget(Self.account)
            let orphan = ["Page 9 is never used"]
            let complaints = Mutex([orphan, orphan, ["ok"]])
            let damaged = StoreOpening(complaints: { _ in complaints.withLock { $0.removeFirst() } })
            #expect(try DatabaseStore(file, damaged).number == 1)
            await #expect(throws: ForgottenAccount.self) { try await one.carryOn([Self.item(1)], of: Self.account) }
        }
    }

    @Test("what was taken back long before the damage isn't written again by a process that slept (F9)")
    func takenBack() async throws {
        for (isAwake, damage) in [(false, Damage.copies), (true, .head)] {
            try await Self.withFile { file in
                let now = Mutex(Instant.now)
                let opening = StoreOpening(
                    now: { now.withLock { $0 } }, uptime: { .microseconds(now.withLock { $0 }.microseconds) })
                let (one, two) = (try DatabaseStore(file, opening), try DatabaseStore(file, opening))
                _ = try await one.load(Self.account)
                try await Self.fill(one)
                let known = try await one.load(Self.account).items
                if !isAwake { try await Self.decide(5, in: two) }
                now.withLock { $0 = $0 + .minutes(11) }
                if isAwake { _ = try await one.version() } else { try await Self.decide(6, in: two) }
                now.withLock { $0 = $0 + .minutes(5) }
                try damage.damage(file)
                #expect(try DatabaseStore(file, opening).number == 1)
                _ = try await one.version()
                await #expect(throws: RenewedStore.self) { _ = try await one.changes(of: Self.account) }
                try await one.carryOn(known, of: Self.account)
                let ids = try await one.changes(of: Self.account).ids
                #expect(ids == Set(1...30).subtracting(isAwake ? [] : [5, 6]))
            }
        }
    }

    /// What there was between a process's last look and the next one.
    enum Pause: CaseIterable {
        case sleep, setClock, sleepAndRemoval
    }

    @Test(
        """
        a process says what it holds back, which is nothing where a clock was set or a file is gone, and no card; of a call for help it \
        keeps one (F9, S22)
        """,
        arguments: Pause.allCases)
    func heldBack(pause: Pause) async throws {
        try await Self.withFile { file in
            let now = Mutex(Instant.now)
            let uptime = Mutex(Duration.zero)
            let opening = StoreOpening(now: { now.withLock { $0 } }, uptime: { uptime.withLock { $0 } })
            let one = try DatabaseStore(file, opening)
            _ = try await one.load(Self.account)
            try await Self.fill(one)
            var card = Self.item(32)
            card.unsent = .expired
            for item in [card, Self.call] { try await one.save(item, of: Self.account) }
            try await one.forgetOthers(than: Self.account)
            let known = try await one.load(Self.account).items
            now.withLock { $0 = $0 + .minutes(11) }
            if pause != .setClock { uptime.withLock { $0 += .seconds(660) } }
            if pause == .sleepAndRemoval {
                try await Loss.replaced.lose(file)
            } else {
                try Damage.head.damage(file)
                #expect(try DatabaseStore(file, opening).number == 1)
            }
            await #expect(throws: RenewedStore.self) { try await one.save(Self.item(77), of: Self.account) }
            let heldBack = try await one.carryOn(known, of: Self.account)
            #expect(heldBack == (pause == .sleep ? Set(1...30).union([33]) : []))
            let changes = try await one.changes(of: Self.account)
            #expect(changes.ids == Set(1...30).subtracting(heldBack).union([32, 33]))
            let decision = OutboxDecision(.failure(.unknown)).encoded
            #expect(changes.items.last?.unsent == (pause == .sleep ? .unknown : nil))
            #expect(changes.decisions[33] == (pause == .sleep ? decision : nil))
        }
    }

    private static let call = OutboxItem(
        id: 33, stream: "account", command: "RaiseAlert", acted: Instant(microseconds: 5), lifetime: .days(1),
        actedAtServer: Instant(microseconds: 7), edit: edit(33))

    @Test(
        "a call for help that was held back waits again once a process that didn't sleep knows it, unless its card was read (F9, S22)",
        arguments: [false, true])
    func heldBackNoMore(isRead: Bool) async throws {
        try await Self.withFile { file in
            let uptime = Mutex(Duration.zero)
            let one = try DatabaseStore(file, StoreOpening(uptime: { uptime.withLock { $0 } }))
            let two = try DatabaseStore(file)
            _ = try await one.load(Self.account)
            try await Self.fill(one)
            try await one.save(Self.call, of: Self.account)
            try await one.forgetOthers(than: Self.account)
            let known = try await one.load(Self.account).items
            #expect(try await two.load(Self.account).items == known)
            uptime.withLock { $0 += .seconds(660) }
            try Damage.head.damage(file)
            #expect(try DatabaseStore(file).number == 1)
            #expect(try await one.carryOn(known, of: Self.account) == Set(known.map(\.id)))
            #expect(try await one.changes(of: Self.account).items.map(\.unsent) == [.unknown])
            if isRead { try await one.remove(33, of: Self.account) }
            #expect(try await two.carryOn(known, of: Self.account).isEmpty)
            let changes = try await one.changes(of: Self.account)
            #expect(changes.items.filter { $0.id == 33 }.map(\.isOver) == (isRead ? [] : [false]))
            #expect((changes.decisions[33] == nil) == !isRead)
        }
    }

    @Test("a start erases nothing of whoever stays for what the device fails to read for a moment (F9, S22)")
    func stayingWhole() async throws {
        try await Self.withFile { file in
            let whole = Mutex(Data())
            let opening = StoreOpening(read: { file in
                let handle = try FileHandle(forWritingTo: file.url)
                defer { try? handle.close() }
                try handle.write(contentsOf: whole.withLock { $0 })
                return try file.read()
            })
            let store = try DatabaseStore(file, opening)
            _ = try await store.load(Self.account)
            // It has read nothing of what another process writes.
            try await Self.fill(try DatabaseStore(file))
            let content = try Data(contentsOf: file)
            whole.withLock { $0 = content }
            try Damage.copies.damage(file)
            await #expect(throws: (any Error).self) { try await store.forgetOthers(than: Self.account) }
            #expect(try store.number == 0 && Self.names(beside: file) == ["store"])
            let (one, two) = (try DatabaseStore(file), try DatabaseStore(file))
            #expect(try await Self.ids(two) == Array(1...30))
            // Damage that lasts is found.
            try await Self.fill(two)
            try Damage.copies.damage(file)
            try await one.forgetOthers(than: Self.account)
            #expect(try await Self.ids(one) == Array(1...30) && one.number == 1)
        }
    }

    @Test(
        "a sign-out stays one where the mark was lost before, and the same person has signed in again (F9, S17)",
        arguments: [false, true])
    func forgottenUnmarked(isRemoved: Bool) async throws {
        try await Self.withFile { file in
            let (one, two) = (try DatabaseStore(file), try DatabaseStore(file))
            for store in [one, two] { _ = try await store.load(Self.account) }
            if isRemoved {
                try await Loss.removed.lose(file)
            } else {
                _ = try DatabaseStore(file, StoreOpening(statements: "DELETE FROM opened"))
            }
            try await two.forget(Self.account, openedAs: [])
            _ = try await two.load(Self.account)
            await #expect(throws: ForgottenAccount.self) { try await one.carryOn([Self.item(1)], of: Self.account) }
            try await two.save(Self.item(2), of: Self.account)
            #expect(try await Self.ids(two) == [2])
        }
    }

    @Test("a process that is killed while it begins the next file leaves nothing of anybody's behind (F9, S17)")
    func killed() async throws {
        try await Self.withFile { file in
            try await Self.damaged(file, .copies)
            // Half of it is written, and has no name yet.
            try Data("half".utf8).write(to: StoreFile(base: file, number: 0).makeNew())
            let store = try DatabaseStore(file)
            #expect(try await Self.ids(store) == Array(1...30))
            #expect(try Self.names(beside: file) == ["store", "store.renewed-1"])
            _ = try StoreFile(base: file, number: 0).makeNew()
            try await store.forget(Self.account)
            #expect(try Self.names(beside: file) == ["store.renewed-1"])
        }
    }

    @Test("where the next file can't be made, what can be read of the damaged one is used meanwhile (F9, S22)")
    func noRoom() async throws {
        try await Self.withFile { file in
            try await Self.damaged(file, .copies)
            let full = StoreOpening(name: { _, _ in throw POSIXError(.ENOSPC) })
            let store = try DatabaseStore(file, full)
            #expect(try await store.changes(of: Self.account).ids == Set(1...30) && store.number == 0)
            #expect(try Self.names(beside: file) == ["store"])
            #expect(try await Self.ids(try DatabaseStore(file)) == Array(1...30))
        }
    }

    @Test(
        "a sign-out erases what a damaged file has that is in use, whether or not there is room by then (F9, S17)",
        arguments: [false, true])
    func erasedInUse(isFull: Bool) async throws {
        try await Self.withFile { file in
            try await Self.damaged(file, .copies)
            let hasRoom = Mutex(false)
            let opening = StoreOpening(name: { new, file in
                guard hasRoom.withLock({ $0 }) else { throw POSIXError(.ENOSPC) }
                try file.take(new)
            })
            let store = try DatabaseStore(file, opening)
            // What somebody still has isn't erased for want of room.
            await #expect(throws: (any Error).self) { try await store.forgetOthers(than: Self.account) }
            #expect(try await store.changes(of: Self.account).ids == Set(1...30) && store.number == 0)
            hasRoom.withLock { $0 = !isFull }
            try await store.forget(Self.account)
            #expect(try Self.names(beside: file) == [isFull ? "store" : "store.renewed-1"])
            let folder = file.deletingLastPathComponent()
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                let content = try Data(contentsOf: folder.appending(path: name))
                #expect(content.range(of: Self.copy.state.prefix(100)) == nil)
                #expect(content.range(of: Self.edit(14).prefix(30).base64EncodedData()) == nil)
            }
            // Somebody else signs in.
            try await store.forget(Self.other)
            try await store.save(Self.item(7), of: Self.account)
            #expect(try await Self.ids(store) == [7])
        }
    }

    #if os(Linux)
        @Test("a file that stays unusable costs one descriptor, however often it is tried (F9)")
        func descriptors() async throws {
            try await Self.withFile { file in
                try Data(repeating: 0x61, count: 5000).write(to: file)
                for _ in 0..<20 { #expect(throws: StoreUnreadable.self) { try DatabaseStore(file) } }
                let folder = "/proc/self/fd"
                let open = try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
                    try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
                }
                #expect(open.count { $0.hasSuffix(file.path) } == 1)
            }
        }
    #endif

    @Test("only damage counts as damage: a full disk, a lock or a missing right doesn't (S22)")
    func codes() {
        // CORRUPT, CORRUPT_INDEX, NOTADB
        for code in [11, 11 | 3 << 8, 26] as [Int32] { #expect(StoreOpening.meansDamage(code)) }
        // ERROR, PERM, BUSY, LOCKED, NOMEM, READONLY, IOERR, IOERR_READ, FULL, CANTOPEN, PROTOCOL, SCHEMA, AUTH
        for code in [1, 3, 5, 6, 7, 8, 10, 10 | 1 << 8, 13, 14, 15, 17, 23] as [Int32] {
            #expect(!StoreOpening.meansDamage(code), "\(code)")
        }
    }

    @Test("what a device fails to read for a moment, or for want of memory, isn't damage (S22)")
    func passing() async throws {
        try await Self.withFile { file in
            do { try await Self.fill(try DatabaseStore(file)) }
            let complaints = Mutex([["Page 4: btreeInitPage() returns error code 11"], ["ok"]])
            let moment = StoreOpening(complaints: { _ in complaints.withLock { $0.removeFirst() } })
            #expect(try DatabaseStore(file, moment).number == 0 && complaints.withLock { $0.isEmpty })
            // The device says so when it is asked for the bytes, or SQLite says why.
            let unread = StoreOpening(
                complaints: { _ in ["Page 4: unable to get the page. error code=11"] },
                read: { _ in throw POSIXError(.EIO) })
            #expect(try await Self.ids(try DatabaseStore(file, unread)) == Array(1...30))
            for code in [7, 10, 8458] {
                let said = StoreOpening(complaints: { _ in ["ok?\nunable to get the page. error code=\(code)"] })
                #expect(try await Self.ids(try DatabaseStore(file, said)) == Array(1...30))
            }
            #expect(try Self.names(beside: file) == ["store"])
            #expect(try await Self.ids(try DatabaseStore(file)) == Array(1...30))
        }
    }

    @Test("a file of a newer version, on a full disk, or that can't be opened stays in use (S22)")
    func inOrder() async throws {
        try await Self.withFile { file in
            do { try await Self.fill(try DatabaseStore(file)) }
            let newer = "INSERT OR IGNORE INTO grdb_migrations VALUES ('9'); CREATE TABLE IF NOT EXISTS later (x)"
            for statements in [nil, newer, "PRAGMA max_page_count = 1"] {
                let store = try DatabaseStore(file, StoreOpening(statements: statements))
                #expect(try await store.load(Self.account).items.count == 30 && store.setAside.isEmpty)
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

    @Test("a file that only a later SQLite can read isn't set aside, nor one that never was a store's (S22)")
    func foreign() async throws {
        let later = """
            PRAGMA writable_schema = ON;
            INSERT INTO sqlite_master VALUES ('table', 'later', 'later', 0, 'CREATE TABLE later (x) FROM LATER')
            """
        try await Self.withFile { file in
            do { try await Self.fill(try DatabaseStore(file)) }
            _ = try? DatabaseStore(file, StoreOpening(statements: later))
            #expect(throws: (any Error).self) { try DatabaseStore(file) }
            #expect(try Self.names(beside: file) == ["store"])
        }
        try await Self.withFile { file in
            do { try await Self.fill(try DatabaseStore(file)) }
            var content = try Data(contentsOf: file)
            content[19] = 3
            try content.write(to: file)
            #expect(throws: StoreUnreadable.self) { try DatabaseStore(file) }
            let text = Data(repeating: 0x61, count: 5000)
            try text.write(to: file)
            #expect(throws: StoreUnreadable.self) { try DatabaseStore(file) }
            #expect(try Self.names(beside: file) == ["store"] && Data(contentsOf: file) == text)
        }
    }

    @Test("names that the store doesn't make are nobody's, and a link leads to the files beside its target (F9, S17)")
    func names() async throws {
        try await Self.withFile { file in
            for name in ["+1", "01", "0", "x", "1000000", "9223372036854775807"] {
                try Data().write(to: URL(fileURLWithPath: "\(file.path).renewed-\(name)"))
            }
            #expect(try DatabaseStore(file).number == 0)
        }
        try await Self.withFile { link in
            let file = link.deletingLastPathComponent().appending(path: "target")
            try Data().write(to: file)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            do { try await Self.fill(try DatabaseStore(link)) }
            try Damage.copies.damage(file)
            let store = try DatabaseStore(link)
            try await store.forget(Self.account)
            #expect(try Self.names(beside: link) == ["store", "target.renewed-1"])
        }
    }

    @Test("the device's backups have no file of it (F9)")
    func backups() async throws {
        try await Self.withFile { file in
            let excluded = Mutex<Set<String>>([])
            let open = { () throws -> DatabaseStore in
                excluded.withLock { $0 = [] }
                return try DatabaseStore(
                    file, StoreOpening(exclude: { url in excluded.withLock { _ = $0.insert(url.lastPathComponent) } }))
            }
            do { try await Self.fill(try open()) }
            #expect(excluded.withLock { $0 } == ["store", "store-wal", "store-shm"])
            try Damage.head.damage(file)
            let store = try open()
            try await store.save(Self.item(1), of: Self.account)
            let all = try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path)
            // The damaged one, of which 0.1.0 didn't say it, as well.
            #expect(excluded.withLock { $0.isSuperset(of: all) } && all.contains("store.renewed-1-wal"))
        }
    }
}
