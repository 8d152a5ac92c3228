import ServiceKit
import Testing

@Suite("Migration templates")
struct MigrationTemplateTests {
    private let templates = MigrationTemplates { name throws(MigrationError) in
        switch name {
        case "bus/log.sql": "CREATE TABLE {{schema}}.{{log}} ();\nGRANT SELECT ON {{schema}}.{{log}} TO {{reader}};"
        case "bus/due.sql": "-- Timers.\n--! include bus/log.sql schema={{schema}} log=due reader={{schema}}"
        case "bus/loop.sql": "--! include bus/loop.sql"
        default: throw .unreadable(file: name, reason: "there is none")
        }
    }

    @Test("an include is replaced by the template with its values, and the rest stays as it is")
    func include() throws {
        let text = "-- A log.\n--! include bus/log.sql schema=contacts log=log reader=session_client\nSELECT 1;\n"
        #expect(
            try templates.render(text, file: "0001-log.sql") == """
                -- A log.
                CREATE TABLE contacts.log ();
                GRANT SELECT ON contacts.log TO session_client;
                SELECT 1;

                """)
    }

    @Test("a template includes another with the values it was given")
    func nested() throws {
        #expect(
            try templates.render("--! include bus/due.sql schema=contacts", file: "0001-due.sql") == """
                -- Timers.
                CREATE TABLE contacts.due ();
                GRANT SELECT ON contacts.due TO contacts;
                """)
    }

    @Test(
        "a mistake is an error that names file and line",
        arguments: [
            (
                "--! include bus/log.sql schema=a log=b",
                "template bus/log.sql, line 2 needs reader=…, which is missing"
            ),
            ("--! include bus/log.sql schema=a log=b reader=c size=4", "template bus/log.sql has no {{size}}"),
            ("--! include bus/log.sql schema=a schema=b", "schema occurs twice"),
            (
                "--! include bus/log.sql schema=a;drop",
                "expected name=value of letters, digits and underscores, found 'schema=a;drop'"
            ),
            ("--! include bus/loop.sql", "template bus/loop.sql includes itself"),
            ("--! include bus/nothing.sql", "template bus/nothing.sql: bus/nothing.sql can't be read: there is none"),
            (
                "--! inlcude bus/log.sql",
                "expected '--! include TEMPLATE name=value …', found '--! inlcude bus/log.sql'"
            ),
            ("CREATE TABLE {{schema}}.x ();", "{{schema}} has no meaning outside a template"),
        ])
    func mistakes(line: String, reason: String) {
        #expect(throws: MigrationError.badLine(file: "0002-x.sql", line: 2, reason: reason)) {
            try templates.render("SELECT 1;\n\(line)\n", file: "0002-x.sql")
        }
    }
}

@Suite("Migration history")
struct MigrationHistoryTests {
    private func set(_ files: String...) throws -> MigrationSet {
        try MigrationSet(schema: "kept", migrations: files.map { try Migration(file: $0, sql: "-- \($0)") })
    }

    private func applied(_ set: MigrationSet) -> MigrationHistory {
        MigrationHistory(
            applied: set.migrations.map {
                .init(
                    number: $0.number, file: $0.file, checksum: $0.checksum, appliedAt: "yesterday",
                    compatibleWith: $0.compatibleWith?.description)
            })
    }

    @Test("what isn't applied is pending, in the order of the numbers")
    func pending() throws {
        let all = try set("0010-c.sql", "0001-a.sql", "0002-b.sql")
        let pending = try applied(set("0001-a.sql")).pending(of: all)
        #expect(pending.map(\.file) == ["0002-b.sql", "0010-c.sql"])
        #expect(try applied(all).pending(of: all) == [])
    }

    @Test("a changed file is refused by its name")
    func changed() throws {
        let history = MigrationHistory(
            applied: [.init(number: 1, file: "0001-a.sql", checksum: "other", appliedAt: "yesterday")])
        #expect(throws: MigrationError.changed(file: "0001-a.sql", appliedAt: "yesterday")) {
            try history.pending(of: set("0001-a.sql"))
        }
    }

    @Test("a newer history is refused, with what this build doesn't know")
    func newer() throws {
        #expect(throws: MigrationError.newer(schema: "kept", applied: ["0002-b.sql"])) {
            try applied(set("0001-a.sql", "0002-b.sql")).pending(of: set("0001-a.sql"))
        }
    }

    @Test("a newer history is accepted once all that this build doesn't know says that it is compatible with it")
    func compatible() throws {
        let newer = try MigrationSet(
            schema: "kept",
            migrations: [
                Migration(file: "0001-a.sql", sql: "-- 0001-a.sql"),
                Migration(file: "0002-b.sql", sql: "-- compatible with 0.2.0\nSELECT 1;"),
                Migration(file: "0003-c.sql", sql: "SELECT 1;\n-- compatible with 0.10.0\n"),
            ])
        let old = try set("0001-a.sql")
        let history = applied(newer)
        for accepted in ["0.10.0", "0.10.1-dev", "1.0.0"] {
            #expect(try history.pending(of: old, build: ReleaseVersion(accepted)) == [], "\(accepted)")
        }
        for (build, unknown) in [
            ("0.9.0", ["0003-c.sql"]), ("0.10.0-dev", ["0003-c.sql"]), ("0.2.0-dev", ["0002-b.sql", "0003-c.sql"]),
            ("what is this", ["0002-b.sql", "0003-c.sql"]),
        ] {
            #expect(throws: MigrationError.newer(schema: "kept", applied: unknown), "\(build)") {
                try history.pending(of: old, build: ReleaseVersion(build))
            }
        }
        // What this build lacks isn't applied beneath what it doesn't know.
        #expect(throws: MigrationError.tooLate(file: "0002-x.sql", after: "0003-c.sql")) {
            let applied = MigrationHistory(applied: history.applied.filter { $0.number != 2 })
            return try applied.pending(of: set("0001-a.sql", "0002-x.sql"), build: ReleaseVersion("0.10.0"))
        }
        #expect(ReleaseVersion.current != nil)
    }

    @Test(
        "a statement of compatibility that isn't one is refused, with its line",
        arguments: [
            "-- compatible with", "-- compatible with 0.2", "-- compatible with 0.2.0-dev", "-- compatible with 0.2.0 ",
            "-- compatible with all", "-- compatible with 0.2.0\n-- compatible with 0.3.0",
        ])
    func badCompatibility(line: String) {
        let error = #expect(throws: MigrationError.self) {
            try Migration(file: "0002-x.sql", sql: "SELECT 1;\n\(line)\nSELECT 2;")
        }
        let lines = line.split(separator: "\n").count
        #expect(error?.description.hasPrefix("0002-x.sql:\(lines + 1): ") == true, "\(String(describing: error))")
    }

    @Test("a renamed file is refused")
    func renamed() throws {
        #expect(throws: MigrationError.renamed(file: "0001-b.sql", appliedAs: "0001-a.sql")) {
            try applied(set("0001-a.sql")).pending(of: set("0001-b.sql"))
        }
    }

    @Test("a file that was put before an applied one is refused")
    func tooLate() throws {
        #expect(throws: MigrationError.tooLate(file: "0001-a.sql", after: "0002-b.sql")) {
            try applied(set("0002-b.sql")).pending(of: set("0001-a.sql", "0002-b.sql"))
        }
    }

    @Test("a file that says why it may come late is applied after later ones")
    func late() throws {
        let late = try Migration(file: "0001-a.sql", sql: "-- Late: 0002 needs it in a new database.")
        let set = try MigrationSet(
            schema: "kept", migrations: [late, try Migration(file: "0002-b.sql", sql: "-- 0002-b.sql")])
        #expect(try applied(self.set("0002-b.sql")).pending(of: set) == [late])
    }

    @Test("two files of one number are refused")
    func sameNumber() throws {
        #expect(throws: MigrationError.sameNumber(1, "0001-a.sql", "0001-b.sql")) {
            try set("0001-b.sql", "0001-a.sql")
        }
    }

    @Test(
        "a name that isn't one is refused", arguments: ["1-a.sql", "0001a.sql", "0001-.sql", "0001-a.txt", "README.md"])
    func badName(file: String) {
        #expect(throws: MigrationError.badName(file: file)) { try Migration(file: file, sql: "") }
    }
}
