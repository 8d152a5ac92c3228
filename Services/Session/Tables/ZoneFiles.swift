package import Foundation
package import Postgres
import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary

/// The database of time zones of a machine, as `zic` compiles it into a folder.
package struct ZoneFiles: Sendable {
    /// What its publisher calls it, such as 2025b; empty if the folder doesn't say.
    package let name: String
    /// By their names.
    package let zones: [String: [UInt8]]

    package static let usualFolder = "/usr/share/zoneinfo"
    /// What may be larger isn't a zone.
    private static let longest = 65_536

    package init(name: String, zones: [String: [UInt8]]) { (self.name, self.zones) = (name, zones) }

    /// Reads a folder. Files in it that are no zones are left out. Names that zones had before count as well: some systems have them in a
    /// package of its own, and apps propose them.
    /// - Parameter beforeVersion: For tests: runs once all is read but the version.
    /// - Throws: ``ZoneFilesError`` if there are none, or the folder becomes another version while it is read.
    package init(folder: URL, beforeVersion: () throws -> Void = {}) throws {
        let root = folder.resolvingSymlinksInPath()
        let before = Self.version(Self.source(in: root), in: root)
        var zones: [String: [UInt8]] = [:]
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: root.path)) ?? []
        for name in names where Self.isPlace(name) {
            let file = root.appending(path: name)
            guard let data = try? Data(contentsOf: file), data.count <= Self.longest else { continue }
            let bytes = [UInt8](data)
            if (try? ZoneRules(tzif: bytes)) != nil { zones[name] = bytes }
        }
        try beforeVersion()
        let source = Self.source(in: root)
        let links = Self.links(source ?? "")
        for name in links.keys where zones[name] == nil && Self.isPlace(name) {
            // A name may stand for one that stands for another.
            var other = links[name]
            for _ in 0..<4 where other.map({ zones[$0] == nil }) == true { other = other.flatMap { links[$0] } }
            if let other, let bytes = zones[other] { zones[name] = bytes }
        }
        guard !zones.isEmpty else { throw ZoneFilesError.none(folder: folder.path) }
        let name = Self.version(source, in: root)
        // Some of one version and some of another, under the newer one's name, would stay until the next.
        guard name == before else { throw ZoneFilesError.changing(folder: folder.path) }
        self.init(name: name, zones: zones)
    }

    private static func source(in folder: URL) -> String? {
        (try? Data(contentsOf: folder.appending(path: "tzdata.zi"))).map { String(decoding: $0, as: UTF8.self) }
    }

    /// What stands for what, by the names that are no zones of their own: `L Europe/Kyiv Europe/Kiev`.
    private static func links(_ source: String) -> [String: String] {
        var links: [String: String] = [:]
        for line in source.split(whereSeparator: \.isNewline) where line.hasPrefix("L ") {
            let words = line.split(separator: " ")
            if words.count == 3 { links[String(words[2])] = String(words[1]) }
        }
        return links
    }

    /// Whether it is such as `Europe/Berlin`. Others hold what is no place: leap seconds, the same zones once more, the machine's own.
    private static func isPlace(_ name: String) -> Bool {
        name.utf8.first.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) } == true && DailyTimes.isName(name)
            && name != "Factory"
    }

    private static func version(_ source: String?, in folder: URL) -> String {
        let first = source?.split(whereSeparator: \.isNewline).first
        if let first, first.hasPrefix("# version ") { return String(first.dropFirst(10).prefix(100)) }
        let other = (try? Data(contentsOf: folder.appending(path: "+VERSION"))).map {
            String(decoding: $0.prefix(100), as: UTF8.self)
        }
        return other?.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
    }
}

/// A version of IANA's database: 2025a, 2025b and so on, after 2025z 2025za.
package struct ZoneRelease: Comparable, Sendable {
    private let year: Int
    private let letters: String

    /// Nil for any other name.
    package init?(_ name: String) {
        let digits = name.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        let letters = name.utf8.dropFirst(digits.count)
        guard digits.count == 4, letters.count <= 4, let year = Int(name.prefix(4)),
            letters.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) })
        else { return nil }
        (self.year, self.letters) = (year, String(name.dropFirst(4)))
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.year, left.letters.count, left.letters) < (right.year, right.letters.count, right.letters)
    }
}

package enum ZoneFilesError: Error, Hashable, Sendable, CustomStringConvertible {
    case none(folder: String)
    case changing(folder: String)

    package var description: String {
        switch self {
        case .changing(let folder):
            "the time zones in \(folder) are just being replaced. Run it again once that is done"
        case .none(let folder):
            "there are no compiled time zones in \(folder). Install the system's package tzdata, or set --zones-dir to a folder of them"
        }
    }
}

/// The time zones in the database.
package enum StoredZones {
    /// How many accounts are looked at in a second.
    private static let reviewsPerSecond: Int64 = 50
    private static let portion: Int64 = 1000

    /// What the publisher calls the version that is there; nil if there is none.
    package static func name(_ database: Database) throws -> String? {
        let row = try database.query("SELECT l.zones, l.zones_name FROM session.limits AS l WHERE l.only_row").only
        guard let (number, name) = try row?.decode(Int.self, String.self), number > 0 else { return nil }
        return name
    }

    private static func number(_ database: Database) throws -> Int {
        let row = try database.query("SELECT l.zones FROM session.limits AS l WHERE l.only_row").only
        return try row?.decode(0, as: Int.self) ?? 0
    }

    /// The zones that are there and that others don't have: they go on by what was known before.
    package static func missing(in files: ZoneFiles, _ database: Database) throws -> [String] {
        try database.query("SELECT DISTINCT z.name FROM session.zone AS z ORDER BY z.name")
            .map { try $0.decode(0, as: String.self) }.filter { files.zones[$0] == nil }
    }

    /// Stores zones as a new version, if any differs; ``setReviews(_:)`` has the daily times in these looked at again. Zones that are
    /// missing stay: somebody may have chosen them.
    ///
    /// Call it as the schema's owner.
    /// - Parameter former: The ``name(_:)`` of what is to be replaced.
    /// - Returns: How many zones differ; nil if somebody else has replaced them.
    package static func replace(by files: ZoneFiles, over former: String?, _ database: Database) throws -> Int? {
        let number = try number(database)
        let uses = try Uses(database)
        return try database.transaction { try store(files, over: former, uses, since: number, $0) }
    }

    /// Sets the timers by which daily times are looked at again, where some are missing: those of a version that was just stored, and those
    /// that a process of an earlier release has deleted or an earlier call that died hasn't set. The services find these, too, but that
    /// takes hours where there are millions of accounts.
    ///
    /// Call it as the schema's owner.
    /// - Returns: How many it has set.
    package static func setReviews(_ database: Database) throws -> Int {
        let isAnyBehind = try database.query(
            "SELECT EXISTS (SELECT FROM session.account AS a WHERE a.daily IS NOT NULL AND \(unescaped: wantsReview))"
        ).only?.decode(0, as: Bool.self)
        guard isAnyBehind == true else { return 0 }
        var count = 0
        var last: AccountID?
        repeat {
            let portion = try again { try setReviews(after: last, database) }
            (last, count) = (portion.last, count + portion.count)
        } while last != nil
        return count
    }

    /// A deadlock with a process that sets the same timers ends one of the two, and what this one does can be done once more.
    private static func again<Value>(_ body: () throws -> Value) throws -> Value {
        for _ in 0..<9 {
            do { return try body() } catch let error as PostgresError where error.sqlState == "40P01" {}
        }
        return try body()
    }

    /// Whether the rules want an account's daily times looked at because of its zone.
    private static let wantsReview =
        """
        a.closed_at IS NULL AND a.missed_alarm IS NULL AND a.due_at IS NOT NULL AND a.alarm_held_since IS NULL
        AND (a.graced_due_at IS DISTINCT FROM a.due_at OR a.grace_ends_at IS NULL) AND \(isValid)
        AND (a.daily ->> 'zones')::int < (SELECT max(z.version) FROM session.zone AS z WHERE z.name = a.daily #>> '{times,zone}')
        """

    /// By which versions of which zones deadlines are made, and of how many accounts. Daily times that an interval of an earlier release
    /// has ended make none.
    private struct Uses {
        var names: [String] = []
        var versions: [Int] = []
        var accounts: [Int] = []

        init(_ database: Database) throws {
            let rows = try database.query(
                """
                SELECT a.daily #>> '{times,zone}', (a.daily ->> 'zones')::int, count(*)
                  FROM session.account AS a
                 WHERE a.daily IS NOT NULL AND a.closed_at IS NULL AND \(unescaped: isValid)
                 GROUP BY 1, 2
                """)
            for row in rows {
                let (name, version, count) = try row.decode(String.self, Int.self, Int.self)
                names.append(name)
                versions.append(version)
                accounts.append(count)
            }
        }
    }

    private static let isValid =
        "(a.daily ->> 'interval')::bigint = (extract(epoch FROM a.check_in_interval) * 1000000)::bigint"

    /// - Parameters:
    ///   - uses: As they were when the zones had the number. All accounts are read for them, so it is done before anything is locked.
    private static func store(
        _ files: ZoneFiles, over former: String?, _ uses: Uses, since number: Int, _ database: Database
    ) throws -> Int? {
        let names = files.zones.keys.sorted()
        // One after the other, so that versions count up, and an older one doesn't replace a newer one.
        try database.execute("SELECT FROM session.limits FOR UPDATE")
        guard try name(database) == former, try self.number(database) == number else { return nil }
        let changed = try database.query(
            """
            INSERT INTO session.zone (name, version, data)
            SELECT f.name, l.zones + 1, f.data
              FROM unnest(\(names), \(names.map { Bytes(files.zones[$0] ?? []) })) AS f(name, data)
             CROSS JOIN session.limits AS l
             WHERE f.data IS DISTINCT FROM (SELECT z.data FROM session.zone AS z WHERE z.name = f.name
                                             ORDER BY z.version DESC LIMIT 1)
            RETURNING true
            """
        ).map { _ in true }.count
        guard changed > 0 else {
            try database.execute("UPDATE session.limits SET zones_name = \(files.name)")
            return 0
        }
        // What no account goes by any more; the last version stays for commands that are being handled.
        try database.execute(
            """
            DELETE FROM session.zone AS z
             USING session.limits AS l
             WHERE EXISTS (SELECT FROM session.zone AS n
                            WHERE n.name = z.name AND n.version > z.version
                              AND n.version <= least(l.zones, (SELECT min(u.version)
                                                                 FROM unnest(\(uses.names), \(uses.versions)) AS u(name, version)
                                                                WHERE u.name = z.name)))
            """)
        try database.execute(
            """
            UPDATE session.limits
               SET zones = zones + 1, zones_since = clock_timestamp(), zones_name = \(files.name),
                   zones_reviewing = make_interval(secs => (
                       SELECT coalesce(sum(u.accounts), 0)
                         FROM unnest(\(uses.names), \(uses.versions), \(uses.accounts)) AS u(name, version, accounts)
                        WHERE u.version < (SELECT max(z.version) FROM session.zone AS z WHERE z.name = u.name))
                       / \(reviewsPerSecond)::float8)
            """)
        return changed
    }

    /// Sets the timers that the rules want, for some accounts in the order of their ids.
    /// - Returns: The last of them, nil if there are no more; and how many timers were missing.
    private static func setReviews(
        after last: AccountID?, _ database: Database
    ) throws -> (last: AccountID?, count: Int) {
        try database.transaction { database in
            let rows = try database.query(
                """
                SELECT a.account, a.daily IS NOT NULL, l.zones, l.zones_since, l.zones_reviewing
                  FROM session.account AS a
                 CROSS JOIN session.limits AS l
                 WHERE a.account > \(last ?? AccountID(high: 0, low: 0))
                 ORDER BY a.account
                 LIMIT \(portion)
                """
            ).map { row in
                var version = ZoneVersion()
                let account: AccountID
                let isDaily: Bool
                (account, isDaily, version.number, version.since, version.reviewing) = try row.decode(
                    AccountID.self, Bool.self, Int.self, Instant.self, Interval.self)
                return (account: account, isDaily: isDaily, due: version.review(of: account))
            }
            let reviews = rows.filter(\.isDaily)
            var count = 0
            if !reviews.isEmpty {
                let review = ReviewDailyCheckIns.self
                count = try database.query(
                    """
                    INSERT INTO session.timer AS t (key, name, due_at, type, version, body)
                    SELECT 'account/' || a.account, \(review.type),
                           least(r.due_at, CASE WHEN (a.daily ->> 'deadline')::bigint <> session.microseconds(a.due_at)
                                                THEN least(a.last_check_in_at, a.due_at) END),
                           \(review.type), \(review.version), json_build_object('account', a.account)
                      FROM unnest(\(reviews.map(\.account)), \(reviews.map(\.due))) AS r(account, due_at)
                      JOIN session.account AS a USING (account)
                     WHERE \(unescaped: wantsReview)
                     ORDER BY a.account
                    ON CONFLICT ON CONSTRAINT timer_is_set_once DO UPDATE SET due_at = excluded.due_at
                     WHERE t.due_at <> excluded.due_at
                    RETURNING true
                    """
                ).map { _ in true }.count
            }
            return (rows.count < Int(portion) ? nil : rows.last?.account, count)
        }
    }
}
