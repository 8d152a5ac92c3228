import Foundation

/// What PostgreSQL can do at all on this machine now: every figure stands beside these.
struct Limits {
    /// The keys of how many rows one client, or eight, insert and commit one by one in a second.
    static let insertsOfOne = "limit_insert_1_clients_per_second"
    static let insertsOfEight = "limit_insert_8_clients_per_second"

    let server: Server
    let seconds: Int

    func measure(_ report: inout Report) async throws {
        say("the machine's limits")
        try server.psql("postgres", ["-c", "DROP DATABASE IF EXISTS limits WITH (FORCE)"])
        try server.psql("postgres", ["-c", "CREATE DATABASE limits TEMPLATE template0 ENCODING 'UTF8'"])
        try server.psql(
            "limits",
            [
                "-c",
                """
                CREATE TABLE plain (id bigserial PRIMARY KEY, body text NOT NULL);
                CREATE TABLE head (partition int PRIMARY KEY);
                INSERT INTO head SELECT generate_series(0, 15);
                CREATE TABLE log (partition int, position bigint, body text NOT NULL, PRIMARY KEY (partition, position));
                CREATE FUNCTION append(p int, bodies text[]) RETURNS void LANGUAGE plpgsql AS $$ BEGIN
                  PERFORM FROM head WHERE partition = p FOR NO KEY UPDATE;
                  INSERT INTO log SELECT p, coalesce((SELECT position FROM log WHERE partition = p
                         ORDER BY position DESC LIMIT 1), 0) + o, b FROM unnest(bodies) WITH ORDINALITY AS u(b, o);
                END $$;
                """,
            ])
        let body = String(repeating: "x", count: 200)
        let insert = "INSERT INTO plain (body) VALUES ('\(body)');"
        report.add(Self.insertsOfOne, try bench(insert, clients: 1))
        report.add(Self.insertsOfEight, try bench(insert, clients: 8))
        report.add(
            "limit_insert_notify_8_clients_per_second",
            try bench("BEGIN;\n\(insert)\nSELECT pg_notify('c', '0');\nCOMMIT;", clients: 8))
        report.add(
            "limit_gap_free_append_rows_per_second",
            100
                * (try bench(
                    "\\set p random(0, 15)\nSELECT append(:p, array_fill('\(body)'::text, ARRAY[100]));", clients: 2)))
        report.add("limit_fsync_ms", try fsync())
    }

    private func bench(_ script: String, clients: Int) throws -> Double {
        let file = FileManager.default.temporaryDirectory.appending(path: "quartet-limit-\(getpid()).sql")
        try Data(script.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let said = try server.run(
            "pgbench",
            [
                "-n", "-M", "prepared", "-c", "\(clients)", "-j", "\(min(2, clients))", "-T", "\(seconds)", "-f",
                file.path, server.url("limits"),
            ])
        guard let line = said.split(separator: "\n").first(where: { $0.hasPrefix("tps = ") }),
            let rate = Double(line.dropFirst("tps = ".count).prefix { $0 != " " })
        else { throw Failure("pgbench said \(said)") }
        return rate
    }

    /// An 8 kB page written and flushed, as at each commit.
    private func fsync() throws -> Double {
        let path = FileManager.default.temporaryDirectory.appending(path: "quartet-fsync-\(getpid())").path
        let descriptor = open(path, O_CREAT | O_RDWR, 0o600)
        guard descriptor >= 0 else { throw Failure("can't write \(path)") }
        defer {
            close(descriptor)
            unlink(path)
        }
        let page = [UInt8](repeating: 1, count: 8192)
        var times: [Double] = []
        for _ in 0..<200 {
            let begun = ContinuousClock.now
            guard pwrite(descriptor, page, page.count, 0) == page.count, fdatasync(descriptor) == 0 else {
                throw Failure("can't flush \(path)")
            }
            times.append((ContinuousClock.now - begun).milliseconds)
        }
        return times.sorted().percentile(0.5)
    }
}
