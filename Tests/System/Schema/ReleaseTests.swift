import Foundation
import QuartetVocabulary
import TestKit
import Testing

/// What releases promised to those who update: their databases migrate. `Releases` has the schema of each, as `make schema-dump`
/// kept it, and its commit.
@Suite("Updates from released versions")
struct ReleaseTests {
    private static let folder = Products.package.appending(path: "Tests/System/Schema/Releases")

    private static let released = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        .filter { $0.hasSuffix(".sql") }.map { String($0.dropLast(4)) }.sorted()

    @Test("the schema of a released version is kept")
    func isKept() throws {
        // A version with a dash isn't released.
        guard !Release.version.contains("-") else { return }
        #expect(try #require(Self.released).contains(Release.version), "make schema-dump")
    }

    @Test("the commit of a released version is named", arguments: (released ?? []).filter { $0 != Release.version })
    func isNamed(version: String) throws {
        let file = Self.folder.appending(path: "\(version).commit")
        let hash = try String(contentsOf: file, encoding: .utf8)
        #expect(hash.count == 41 && hash.last == "\n" && hash.dropLast().allSatisfy(\.isHexDigit), "\(file.path)")
    }

    @Test(
        "a database of a released version migrates to the schema that a new one gets; no released migration changed",
        arguments: released ?? [])
    func update(from version: String) async throws {
        let released = DatabaseTemplate(
            "released_\(version.replacing(".", with: "_"))", services: DatabaseTemplate.productServices,
            dump: Self.folder.appending(path: "\(version).sql"), prepare: DatabaseTemplate.migrate)
        try await TestDatabase.with(.services) { newDatabase in
            try await TestDatabase.with(released) { updatedDatabase in
                let (new, updated) = (try await schema(of: newDatabase), try await schema(of: updatedDatabase))
                #expect(updated.subtracting(new) == [], "only after the update from \(version)")
                #expect(new.subtracting(updated) == [], "only in a new database")
            }
        }
    }

    @Test("after the update, errors that 0.1.0 kept no longer quote the rows that the database refused")
    func errors() async throws {
        let error = #"bad. Key (handle)=(anna \"x\")"#
        let released = DatabaseTemplate(
            "released_errors", services: DatabaseTemplate.productServices,
            dump: Self.folder.appending(path: "0.1.0.sql")
        ) { database in
            try await database.psql(
                """
                INSERT INTO session.dead_letter (message_id, source, partition, position, kind, type, version, key, body,
                                                 command_id, code, error, attempts)
                SELECT gen_random_uuid(), 'session_client.session_commands', 0, 1, 'command', 'SignUp', 1, 'account/x', '{}',
                       '019b0000-0000-7000-8000-000000000001', 'error', '\(error)', 5;
                INSERT INTO session.log (partition, position, kind, type, version, key, body, message_id, command_id, outcome,
                                         command_hash)
                SELECT 0, 1, 'outcome', 'Failed', 1, 'account/x', json_build_object('code', 'error', 'reason', '\(error)'),
                       gen_random_uuid(), '019b0000-0000-7000-8000-000000000001', 'failed', gen_random_uuid();
                """)
            try await DatabaseTemplate.migrate(database)
        }
        try await TestDatabase.with(released) { database in
            let kept = try await database.psql(
                """
                SELECT error FROM session.dead_letter
                 UNION ALL SELECT body ->> 'reason' FROM session.outcome
                 UNION ALL SELECT body ->> 'reason' FROM session.log
                """)
            #expect(kept.split(separator: "\n") == ["bad", "bad", "bad"], "\(kept)")
        }
    }

    @Test("group sessions from before the update have started, and one that is created after it hasn't (S36)")
    func groups() async throws {
        let released = DatabaseTemplate(
            "released_groups", services: DatabaseTemplate.productServices,
            dump: Self.folder.appending(path: "0.1.0.sql")
        ) { database in
            try await database.psql(
                """
                INSERT INTO session.group_session (group_id, creator, activity, capacity, seats, is_open_to_contacts, host,
                                                   joins, created_at, ended_at, end_reason)
                SELECT gen_random_uuid(), gen_random_uuid(), s.name, 8, 2, false, s.host, s.joins,
                       '2026-03-14 08:00Z', s.ended_at, s.reason
                  FROM (VALUES ('joined', gen_random_uuid(), 2, NULL::timestamptz, NULL),
                               ('alone', gen_random_uuid(), 1, NULL, NULL),
                               ('over', NULL, 3, timestamptz '2026-03-15 08:00Z', 'expired'))
                       AS s(name, host, joins, ended_at, reason);
                """)
            try await DatabaseTemplate.migrate(database)
        }
        try await TestDatabase.with(released) { database in
            try await database.psql(
                """
                INSERT INTO session.group_session (group_id, creator, activity, capacity, seats, is_open_to_contacts, host,
                                                   joins, created_at)
                VALUES (gen_random_uuid(), gen_random_uuid(), 'new', 8, 2, false, gen_random_uuid(), 1, '2026-03-16 08:00Z');
                """)
            let started = try await database.psql(
                """
                SELECT activity || coalesce(' ' || extract(epoch FROM started_at)::bigint, '')
                  FROM session.group_session ORDER BY activity
                """)
            #expect(started.split(separator: "\n") == ["alone 0", "joined 0", "new", "over 0"], "\(started)")
        }
    }

    @Test("a migration neither goes through a table that it has locked everybody out of nor replaces a view then (S36)")
    func scans() throws {
        let services = Products.package.appending(path: "Services")
        let files = try FileManager.default.subpathsOfDirectory(atPath: services.path)
            .filter { $0.wholeMatch(of: /.*\/Migrations\/013[4-9]-.*\.sql/) != nil }
        #expect(!files.isEmpty)
        for file in files {
            let sql = try String(contentsOf: services.appending(path: file), encoding: .utf8)
            let altered = Set(sql.matches(of: /ALTER TABLE (\S+)/).map { String($0.output.1) })
            let updated = Set(sql.matches(of: /UPDATE (\S+) SET/).map { String($0.output.1) })
            #expect(altered.isDisjoint(with: updated), "\(file)")
            // Readers of a view lock it before its tables.
            #expect(altered.isEmpty || !sql.contains("CREATE OR REPLACE VIEW"), "\(file)")
        }
    }

    /// The statements of a dump and the migrations of the four schemas, whatever their order.
    private func schema(of database: TestDatabase) async throws -> Set<String> {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(database.name).sql")
        defer { try? FileManager.default.removeItem(at: file) }
        let schemas = DatabaseTemplate.productServices.map(\.name)
        let arguments = ["--schema-only", "--file", file.path, "--dbname", try database.url]
        try await ChildProcess.with(
            "/usr/bin/env", ["pg_dump"] + arguments + schemas.flatMap { ["--schema", $0] }, name: "pg_dump"
        ) { try await $0.waitForExit(.exited(0)) }
        var objects = Self.objects(of: try String(contentsOf: file, encoding: .utf8))
        for schema in schemas {
            let migrations = try await database.psql(
                "SELECT format('%s %s %s', file, number, checksum) FROM \(schema).migration")
            objects.formUnion(migrations.split(separator: "\n").map { "\(schema) \($0)" })
        }
        return objects
    }

    /// Each object of a dump: the comment that names it, and the statements that follow.
    private static func objects(of dump: String) -> Set<String> {
        var objects: [[Substring]] = []
        for line in dump.split(separator: "\n") {
            if line.hasPrefix("-- Name: ") {
                objects.append([line])
            } else if !objects.isEmpty, !isAboutTheDump(line) {
                objects[objects.count - 1].append(line)
            }
        }
        return Set(
            objects.map { lines in
                // Privileges come in the order in which they were granted.
                let isAboutPrivileges = lines[0].contains("; Type: ACL;")
                return (isAboutPrivileges ? lines.sorted() : lines).joined(separator: "\n")
            })
    }

    /// Lines that belong to no object: comments, settings for what follows, and psql's commands with a random key.
    private static func isAboutTheDump(_ line: Substring) -> Bool {
        line == "--" || line.hasPrefix("-- PostgreSQL database dump") || line.hasPrefix("SET default_table")
            || line.hasPrefix("\\restrict ") || line.hasPrefix("\\unrestrict ")
    }
}
