import EdgeClient
import Foundation
import TestKit
import Testing

extension ScriptTests {
    @Test(
        """
        make restore brings back exactly what make backup saved, with all rights, keeps what was there, and refuses while \
        services run, over data, and what isn't whole; apps with later places are refetched, and the doctor is content (T27)
        """
    )
    func backups() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "quartet-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "first.dump")
        try await PrivateCluster.with(isDurable: true) { postgres in
            let cluster = try postgres.cluster()
            try await cluster.psql(file: Products.deploy("bootstrap.sql"), variables: ["database": "quartet"])
            let database = TestDatabase(name: "quartet", cluster: cluster)
            try await Quartet.migrate(try database.url)
            try await Quartet.with(databaseURL: try database.url, database: database) { quartet in
                let (anna, bob) = try await quartet.signUp("anna", "bob")
                try await anna.add(bob)
                try await quartet.waitUntilQuiet()
                try await quartet.stop()
                let saved = try await quartet.run("backup", file.path)
                #expect(saved.isDone && saved.says(file.path) && saved.says("make restore"), "\(saved)")
                let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
                #expect(mode == 0o600)
                let twice = try await quartet.run("backup", file.path)
                #expect(!twice.isDone && twice.says("is there already"), "\(twice)")
                let shown = try await quartet.run(
                    "backup", folder.appending(path: "shown.dump").path,
                    environment: ["DATABASE_URL": "postgresql://postgres:secret@127.0.0.1:1/quartet"])
                #expect(!shown.isDone && shown.says("PGPASSWORD") && !shown.says("secret"), "\(shown)")
                let (contents, rights) = (try await quartet.contents(), try await quartet.rights())

                try await quartet.startAll()
                try await anna.ping(bob)
                let carol = try await quartet.signUp("carol")
                let view = try await LiveView.open(anna)
                let later = try #require(view.lastEventID)
                await view.close()

                // A backup while the services work.
                let second = folder.appending(path: "second.dump")
                let alive = try await quartet.run("backup", second.path)
                #expect(alive.isDone, "\(alive)")
                let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                #expect(names.sorted() == ["first.dump", "second.dump"], "nothing unfinished is left")

                let used = try await quartet.run("restore", file.path, environment: ["REPLACE": "yes"])
                #expect(!used.isDone && used.says("make stop") && used.says("session_client"), "\(used)")
                try await quartet.stop()
                let full = try await quartet.run("restore", file.path)
                #expect(!full.isDone && full.says("REPLACE=yes"), "\(full)")
                for (name, bytes) in [
                    ("cut.dump", try Data(contentsOf: second).dropLast(100)), ("other.dump", Data("no backup".utf8)),
                ] {
                    let broken = folder.appending(path: name)
                    try Data(bytes).write(to: broken)
                    let refused = try await quartet.run("restore", broken.path, environment: ["REPLACE": "yes"])
                    #expect(!refused.isDone, "\(name): \(refused)")
                }
                let databases = "SELECT datname FROM pg_database WHERE datname LIKE 'quartet%' ORDER BY datname"
                #expect(try await quartet.psql(databases) == "quartet")
                #expect(try await quartet.psql("SELECT count(*) FROM session.account") == "3")

                let restored = try await quartet.run("restore", file.path, environment: ["REPLACE": "yes"])
                #expect(restored.isDone, "\(restored)")
                #expect(try await quartet.contents() == contents)
                #expect(try await quartet.rights() == rights)
                let kept = try #require(try await quartet.psql(databases).split(separator: "\n").last.map(String.init))
                #expect(kept.hasPrefix("quartet_before_") && restored.says(kept), "\(restored)")
                #expect(try await cluster.psql("SELECT count(*) FROM session.account", database: kept) == "3")

                try await quartet.startAll()
                let again = try await LiveView.open(anna, after: later)
                for stream in ["account", "contacts", "notifications", "operations"] {
                    let snapshot = try await again.wait("the snapshot of \(stream)") { $0.name == "\(stream).snapshot" }
                    #expect(snapshot.data["refetched"] == true, "\(snapshot)")
                }
                // What is done from now on comes to those who follow, as ever.
                try await anna.ping(bob)
                try await again.wait("PingSent", in: "contacts")
                await again.close()
                let gone = try await quartet.edge.send("GET", "/v1/account", token: carol.token)
                #expect(gone.status == 401, "\(gone)")
                try await quartet.waitUntilQuiet()
                try await quartet.waitForLeases()
                let doctor = try await quartet.doctor()
                #expect(doctor.isHealthy && doctor.subjects == Quartet.Doctor.all, "\(doctor)")
            }
        }
    }
}

extension Quartet {
    /// What a script did.
    fileprivate struct Outcome: CustomStringConvertible {
        let isDone: Bool
        let lines: [String]

        func says(_ text: String) -> Bool { lines.contains { $0.contains(text) } }
        var description: String { lines.joined(separator: "\n") }
    }

    /// Runs `deploy/run.sh` for this database, as make does.
    fileprivate func run(
        _ arguments: String..., environment: [String: String] = [:]
    ) async throws -> Outcome {
        let process = try await ChildProcess.start(
            "/bin/sh", [Products.deploy("run.sh").path] + arguments,
            environment: ["DATABASE_URL": databaseURL].merging(environment) { $1 }, name: "run.sh")
        let status = try await process.waitForExit()
        let lines = process.lines()
        await process.end()
        return Outcome(isDone: status == .exited(0), lines: lines)
    }

    /// Stops all services, and waits until their sessions have ended.
    fileprivate func stop() async throws {
        for service in Service.allCases { try await kill(service) }
        try await wait(
            for: "all sessions to end",
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ) { $0 == "0" }
    }

    /// Starts all services, with leases that a busy machine keeps.
    fileprivate func startAll() async throws {
        for service in Service.allCases {
            try await start(
                service,
                environment: try (service == .sessionClient ? forOperators : [:]).merging(["CONSUMER_LEASE": "5s"]) {
                    $1
                })
        }
    }

    /// How many rows each table has, and what is in them.
    fileprivate func contents() async throws -> String {
        let queries = try await psql(
            """
            SELECT format('SELECT %L, count(*), md5(coalesce(string_agg(t::text, '','' ORDER BY t::text), '''')) FROM %I.%I AS t',
                          c.oid::regclass, n.nspname, c.relname)
              FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE c.relkind = 'r' AND n.nspname IN ('session', 'contacts', 'notifications', 'session_client')
            """)
        return try await psql("\(queries.split(separator: "\n").joined(separator: " UNION ALL ")) ORDER BY 1")
    }

    /// Who owns each schema, relation and function, and who may do what with it.
    fileprivate func rights() async throws -> String {
        let ours = "IN ('session', 'contacts', 'notifications', 'session_client', 'quartet')"
        return try await psql(
            """
            SELECT format('%s %s: %s %s', o.name, o.owner::regrole, a.grantee::regrole, a.privilege_type)
              FROM (SELECT n.nspname::text AS name, n.nspowner AS owner, coalesce(n.nspacl, acldefault('n', n.nspowner)) AS acl
                      FROM pg_namespace AS n WHERE n.nspname \(ours)
                     UNION ALL
                    SELECT c.oid::regclass::text, c.relowner, coalesce(c.relacl, acldefault('r', c.relowner))
                      FROM pg_class AS c
                     WHERE c.relkind IN ('r', 'v') AND c.relnamespace::regnamespace::text \(ours)
                     UNION ALL
                    SELECT p.oid::regprocedure::text, p.proowner, coalesce(p.proacl, acldefault('f', p.proowner))
                      FROM pg_proc AS p WHERE p.pronamespace::regnamespace::text \(ours)
                     UNION ALL
                    SELECT 'database', d.datdba, coalesce(d.datacl, acldefault('d', d.datdba))
                      FROM pg_database AS d WHERE d.datname = current_database()) AS o (name, owner, acl)
             CROSS JOIN LATERAL aclexplode(o.acl) AS a
             ORDER BY 1
            """)
    }
}
