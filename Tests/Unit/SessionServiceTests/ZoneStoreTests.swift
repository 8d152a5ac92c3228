import Bus
import Foundation
import Postgres
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@testable import SessionService

@Suite("Session: time zones in the database")
struct ZoneStoreTests {
    private static let tables = DatabaseTemplate.session

    private static func asOwner<Value: Sendable>(
        of database: TestDatabase, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let connection = try await Connection.connect(Configuration(try database.url(as: "quartet_migrator")))
        let value = try await connection.run { database in
            try database.execute("SET ROLE session_owner")
            return try body(database)
        }
        await connection.close()
        return value
    }

    private static func replace(by files: ZoneFiles, in database: TestDatabase) async throws -> Int {
        try await asOwner(of: database) { database in
            let former = try StoredZones.name(database)
            // Another process was first.
            let other = try StoredZones.replace(by: files, over: "2020a", database)
            let changed = try StoredZones.replace(by: files, over: former, database)
            _ = try StoredZones.setReviews(database)
            return other == nil ? changed ?? -1 : -1
        }
    }

    /// A folder with some files, which are made of texts or are those of time zones.
    private static func withFolder(
        _ files: [String: [UInt8]], _ body: (URL) throws -> Void
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "zones-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, bytes) in files {
            let file = folder.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(bytes).write(to: file)
        }
        try body(folder)
    }

    @Test("the zones of a folder are found and nothing else in it is, and a folder without any is refused (A6)")
    func files() throws {
        let zone = Zones.file(posix: "UTC0")
        let files = [
            "Etc/UTC": zone, "Europe/Berlin": try Zones.file("Europe/Berlin"), "Factory": zone, "posix/Etc/UTC": zone,
            "right/Etc/UTC": zone, "localtime": zone, "Etc/Broken": Array(zone.dropLast()),
            "+VERSION": Array("2024b\n".utf8),
        ]
        try Self.withFolder(files) { folder in
            let found = try ZoneFiles(folder: folder)
            #expect(found.name == "2024b" && Set(found.zones.keys) == ["Etc/UTC", "Europe/Berlin"])
            #expect(found.zones["Europe/Berlin"] == files["Europe/Berlin"])
        }
        let mine = try ZoneFiles(folder: Products.zones)
        #expect(mine.name == "tests" && mine.zones["Europe/Berlin"] == Zones.some["Europe/Berlin"])
        // It is replaced while it is read.
        try Self.withFolder(files) { folder in
            #expect(throws: ZoneFilesError.changing(folder: folder.path)) {
                try ZoneFiles(folder: folder) {
                    try Data("2025a\n".utf8).write(to: folder.appending(path: "+VERSION"))
                }
            }
        }
        try Self.withFolder(["zone.tab": Array("DE".utf8)]) { folder in
            #expect(throws: ZoneFilesError.none(folder: folder.path)) { try ZoneFiles(folder: folder) }
            #expect(throws: ZoneFilesError.self) { try ZoneFiles(folder: folder.appending(path: "nowhere")) }
        }
    }

    @Test("names that zones had before are understood though the folder has no files of them (A6)")
    func links() throws {
        let kyiv = Zones.file(posix: "EET-2EEST,M3.5.0/3,M10.5.0/4")
        let source = """
            # version 2025b
            L Europe/Kyiv Europe/Kiev
            L Europe/Kiev Europe/Uzhgorod
            L Europe/Nowhere Europe/Atlantis
            L Europe/Loop Europe/Circle
            L Europe/Circle Europe/Loop
            L Europe/Kyiv ../../etc/passwd
            """
        let files = ["Europe/Kyiv": kyiv, "tzdata.zi": Array(source.utf8)]
        try Self.withFolder(files) { folder in
            let found = try ZoneFiles(folder: folder)
            #expect(
                found.name == "2025b" && found.zones.keys.sorted() == ["Europe/Kiev", "Europe/Kyiv", "Europe/Uzhgorod"])
            #expect(found.zones.values.allSatisfy { $0 == kyiv })
        }
    }

    @Test("versions are in the order in which they are published, and other names in none (A6)")
    func releases() throws {
        let names = ["1996l", "2009a", "2024b", "2025a", "2025b", "2025z", "2025za", "2026a"]
        let releases = try names.map { try #require(ZoneRelease($0)) }
        for (earlier, later) in zip(releases, releases.dropFirst()) {
            #expect(earlier < later && !(later < earlier) && earlier == earlier)
        }
        for name in ["", "tests", "2025B", "20250101", "2025b-1", "25b", "２０２５b"] {
            #expect(ZoneRelease(name) == nil, "\(name)")
        }
    }

    private static let reviews =
        "SELECT string_agg(key, ' ' ORDER BY key) FROM session.timer WHERE type = 'ReviewDailyCheckIns'"

    /// Has the store look at an account's daily times.
    private static func review(
        _ account: AccountID, at time: Instant, _ trial: StoreTrial<SessionStore>
    ) async throws -> [any EventBody] {
        let context = CommandContext(
            commandID: .new(), account: nil, key: .account(account), time: time, recordedAt: nil)
        let ended = try await trial.handle([.init(ReviewDailyCheckIns(account: account), context)])
        return try #require(try? ended.first?.get()).map(\.event.body)
    }

    @Test("only accounts in a zone that differs are looked at, and a zone keeps what somebody in it goes by (A6)")
    func concerned() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var household = Household()
            let (anna, ben) = (try household.person(), try household.person("ben"))
            for (account, zone) in [(anna, "Europe/Berlin"), (ben, "Pacific/Auckland")] {
                try household.ask(account, SetDailyCheckIns(times: [1320], weekdays: Weekday.allCases, zone: zone))
            }
            household.pass(.seconds(1))
            let trial = try await StoreTrial(SessionStore(), in: database, as: "session")
            var random = SeededRandom(seed: 1)
            try await trial.replay(household, using: &random)

            var zones = Zones.some
            zones["Europe/Berlin"] = Zones.file(posix: "XXX-13")
            #expect(try await Self.replace(by: ZoneFiles(name: "2026a", zones: zones), in: database) == 1)
            #expect(try await database.psql(Self.reviews) == "account/\(anna)")
            #expect(try await database.psql("SELECT zones_reviewing FROM session.limits") == "00:00:00.02")
            // Who repairs timers sees the same.
            let timers = "SELECT key, due_at FROM session.timer WHERE type = 'ReviewDailyCheckIns'"
            let setReviews: @Sendable (Database) throws -> Int = { try StoredZones.setReviews($0) }
            let set = try await database.psql(timers)
            #expect(try await Self.asOwner(of: database, setReviews) == 0)
            // A process of an earlier release deletes what it doesn't know, and storing the same zones once more finds nothing that is newer.
            for loss in ["DELETE FROM session.timer", "UPDATE session.timer SET due_at = due_at + interval '1 day'"] {
                try await database.psql("\(loss) WHERE type = 'ReviewDailyCheckIns'")
                #expect(try await Self.asOwner(of: database, setReviews) == 1)
                #expect(try await database.psql(timers) == set)
            }
            let connection = try await Connection.connect(Configuration(try database.url(as: "session")))
            let wanted = try await connection.run { database in
                try database.pipeline { pipeline in
                    try SessionStore().wantedTimers(of: .locked([.account(anna), .account(ben)]), in: pipeline)
                }
            }
            await connection.close()
            let reviewed = wanted.filter { $0.value.contains { $0.name == ReviewDailyCheckIns.type } }
            #expect(wanted.count == 2 && Array(reviewed.keys) == [.account(anna)])
            #expect(try await Self.review(ben, at: household.time, trial).isEmpty)
            _ = try await Self.review(anna, at: household.time, trial)

            // Ben still goes by the first version, which is the newest of his zone.
            for (name, zone) in [("2026b", "Europe/Berlin"), ("2026c", "Pacific/Auckland")] {
                zones[zone] = Zones.file(posix: "XXX-12")
                #expect(try await Self.replace(by: ZoneFiles(name: name, zones: zones), in: database) == 1)
            }
            let editions = "SELECT string_agg(name || version, ' ' ORDER BY name, version) FROM session.zone"
            #expect(
                try await database.psql(editions)
                    == "Europe/Berlin2 Europe/Berlin3 Pacific/Auckland1 Pacific/Auckland4 UTC1")
            // Anna wasn't looked at in between.
            #expect(
                try await database.psql(Self.reviews)
                    == [anna, ben].sorted().map { "account/\($0)" }.joined(separator: " "))
            #expect(try await database.psql("SELECT zones_reviewing FROM session.limits") == "00:00:00.04")
            await trial.close()
        }
    }

    @Test("a deadlock with a process that sets timers, too, doesn't end the migration (A6)")
    func deadlock() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var household = Household()
            let anna = try household.person()
            try household.ask(
                anna, SetDailyCheckIns(times: [1320], weekdays: Weekday.allCases, zone: "Europe/Berlin"))
            household.pass(.seconds(1))
            let trial = try await StoreTrial(SessionStore(), in: database, as: "session")
            var random = SeededRandom(seed: 1)
            try await trial.replay(household, using: &random)
            await trial.close()
            // Numbers of a sequence stay taken, so it comes twice.
            try await database.psql(
                """
                CREATE SEQUENCE session.deadlocks;
                GRANT USAGE ON session.deadlocks TO session_owner;
                CREATE FUNCTION session.deadlock() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    IF nextval('session.deadlocks') <= 2 THEN RAISE 'deadlock detected' USING ERRCODE = '40P01'; END IF;
                    RETURN new;
                END
                $$;
                CREATE TRIGGER deadlock BEFORE INSERT ON session.timer FOR EACH ROW
                    WHEN (new.type = 'ReviewDailyCheckIns') EXECUTE FUNCTION session.deadlock();
                """)
            var zones = Zones.some
            zones["Europe/Berlin"] = Zones.file(posix: "X-13")
            #expect(try await Self.replace(by: ZoneFiles(name: "2026a", zones: zones), in: database) == 1)
            #expect(try await database.psql(Self.reviews) == "account/\(anna)")
            #expect(try await database.psql("SELECT last_value FROM session.deadlocks") == "3")
        }
    }

    @Test("of one version a process reads each zone once, and a name that there is no zone of once, too (A6)")
    func read() async throws {
        try await TestDatabase.with(Self.tables) { database in
            let connection = try await Connection.connect(Configuration(try database.url(as: "session")))
            let cache = ZoneCache()
            let zones: @Sendable (Set<String>, Int) async throws -> (ZoneBook, Int) = { names, number in
                try await connection.run { database in
                    try database.pipeline { pipeline in
                        var version = ZoneVersion()
                        version.number = number
                        let zones = try cache.zones(names, of: &version, in: pipeline)
                        return (zones, version.number)
                    }
                }
            }
            let first = try await zones(["UTC", "Europe/Nowhere"], 1)
            #expect(first.0.names == ["UTC"] && first.1 == 1)
            // Without another version the table doesn't change, so what comes of that shows whether it was read.
            try await database.psql(
                """
                INSERT INTO session.zone SELECT 'Europe/Nowhere', 1, z.data FROM session.zone AS z WHERE z.name = 'UTC';
                UPDATE session.zone AS z SET data = o.data FROM session.zone AS o
                 WHERE z.name = 'UTC' AND o.name = 'Europe/Berlin'
                """)
            let second = try await zones(["UTC", "Europe/Nowhere"], 1).0
            #expect(second == first.0)
            let third = try await zones(["UTC", "Europe/Nowhere", "Pacific/Auckland"], 1).0
            #expect(third.names == ["UTC", "Pacific/Auckland"] && third["UTC", 1] == first.0["UTC", 1])
            // Of a newer one, which it sees when it reads a name that it doesn't know, it reads all of them.
            try await database.psql("UPDATE session.limits SET zones = 2")
            let newer = try await zones(["UTC", "Europe/Nowhere", "Europe/Berlin"], 1)
            #expect(newer.0.names == ["UTC", "Europe/Nowhere", "Europe/Berlin"] && newer.1 == 2)
            #expect(newer.0["UTC", 2] == newer.0["Europe/Berlin", 2])
            await connection.close()
        }
    }

    @Test(
        "an interval that an earlier release sets ends daily times, though it is set back to their longest gap later (A6)"
    )
    func setBack() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var household = Household()
            let anna = try household.person()
            try household.ask(
                anna, SetDailyCheckIns(times: [1320], weekdays: Weekday.allCases, zone: "Europe/Berlin"))
            household.pass(.seconds(1))
            let trial = try await StoreTrial(SessionStore(), in: database, as: "session")
            var random = SeededRandom(seed: 1)
            try await trial.replay(household, using: &random)
            await trial.close()
            let daily = "SELECT count(daily) || ' ' || sum(daily_changes) FROM session.account"
            try await database.psql("UPDATE session.account SET due_at = due_at + interval '1 hour'")
            #expect(try await database.psql(daily) == "1 1")
            for interval in ["12 hours", "24 hours"] {
                try await database.psql("UPDATE session.account SET check_in_interval = interval '\(interval)'")
                #expect(try await database.psql(daily) == "0 1")
            }
        }
    }

    @Test(
        "daily times that an earlier release's interval has ended keep no edition of a zone, and aren't looked at (A6)")
    func ended() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var household = Household()
            let anna = try household.person()
            try household.ask(
                anna, SetDailyCheckIns(times: [1320], weekdays: Weekday.allCases, zone: "Europe/Berlin"))
            household.pass(.seconds(1))
            let trial = try await StoreTrial(SessionStore(), in: database, as: "session")
            var random = SeededRandom(seed: 1)
            try await trial.replay(household, using: &random)
            await trial.close()
            // Without the trigger that ends them.
            try await database.psql(
                "SET session_replication_role = replica; UPDATE session.account SET check_in_interval = interval '5 hours'"
            )
            var zones = Zones.some
            for (name, rule) in [("2026a", "X-13"), ("2026b", "X-12")] {
                zones["Europe/Berlin"] = Zones.file(posix: rule)
                #expect(try await Self.replace(by: ZoneFiles(name: name, zones: zones), in: database) == 1)
                #expect(try await database.psql("SELECT zones_reviewing FROM session.limits") == "00:00:00")
                #expect(
                    try await database.psql("SELECT count(*) FROM session.timer WHERE type = 'ReviewDailyCheckIns'")
                        == "0")
            }
            let editions =
                "SELECT string_agg(version::text, ' ' ORDER BY version) FROM session.zone WHERE name = 'Europe/Berlin'"
            #expect(try await database.psql(editions) == "2 3")
        }
    }

    @Test(
        "newer data count up, all replicas use them, and each account in a zone that differs is looked at again, once (A6)"
    )
    func versions() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var household = Household()
            let anna = try household.person()
            let ben = try household.person("ben")
            try household.ask(
                anna, SetDailyCheckIns(times: [1320], weekdays: Weekday.allCases, zone: "Europe/Berlin"))
            household.pass(.seconds(1))
            let store = SessionStore()
            let trial = try await StoreTrial(store, in: database, as: "session")
            var random = SeededRandom(seed: 1)
            try await trial.replay(household, using: &random)
            #expect(try await database.psql(Self.reviews) == "")
            #expect(try await Self.replace(by: ZoneFiles(name: "2026a", zones: Zones.some), in: database) == 0)
            #expect(try await database.psql("SELECT zones || zones_name FROM session.limits") == "12026a")

            var zones = Zones.some
            zones["Europe/Berlin"] = Zones.file(posix: "XXX-13")
            #expect(try await Self.replace(by: ZoneFiles(name: "2026b", zones: zones), in: database) == 1)
            #expect(try await database.psql("SELECT zones || zones_name FROM session.limits") == "22026b")
            // What was known before stays: the account is still to be looked at.
            let editions =
                "SELECT string_agg(version::text, ' ' ORDER BY version) FROM session.zone WHERE name = 'Europe/Berlin'"
            #expect(try await database.psql(editions) == "1 2")
            let reviewing = try await database.psql("SELECT zones_reviewing FROM session.limits")
            #expect(reviewing == "00:00:00.02")
            #expect(try await database.psql(Self.reviews) == "account/\(anna)")
            let since = try await database.psql("SELECT session.microseconds(zones_since) FROM session.limits")
            household.rows.zones.add(try ZoneRules(tzif: Zones.file(posix: "XXX-13")), "Europe/Berlin", version: 2)
            household.rows.limits.zones.number = 2
            household.rows.limits.zones.since = Instant(microseconds: try #require(Int64(since)))
            household.rows.limits.zones.reviewing = Interval(microseconds: 20_000)
            let wanted = [anna, ben].flatMap { account in
                household.rows.wantedTimers(of: account).filter { $0.command.body is ReviewDailyCheckIns }
                    .map { "\($0.name) account/\(account) \($0.due.microseconds)" }
            }
            let set = try await database.psql(
                """
                SELECT name || ' ' || key || ' ' || session.microseconds(due_at) FROM session.timer
                 WHERE type = 'ReviewDailyCheckIns' AND body ->> 'account' = '\(anna)' AND version = 1
                """)
            #expect([set] == wanted)

            // The store had used the former ones before.
            let moved = try #require(
                try await Self.review(anna, at: household.time, trial).first as? DailyCheckInsMoved)
            // Clocks are twelve hours ahead of where they are in November.
            #expect(moved.former - moved.due == .hours(12))
            #expect(try await database.psql(Self.reviews) == "")

            // One is missing, and stays; of the other, what nobody goes by any more is dropped with the next version.
            zones = ["Europe/Berlin": Zones.file(posix: "XXX-12")]
            let third = ZoneFiles(name: "2026c", zones: zones)
            let missing = try await Self.asOwner(of: database) { try StoredZones.missing(in: third, $0) }
            #expect(missing == ["Pacific/Auckland", "UTC"])
            #expect(try await Self.replace(by: third, in: database) == 1)
            #expect(try await database.psql(editions) == "2 3")
            #expect(try await database.psql("SELECT count(*) FROM session.zone WHERE name = 'UTC'") == "1")
            await trial.close()
        }
    }
}
