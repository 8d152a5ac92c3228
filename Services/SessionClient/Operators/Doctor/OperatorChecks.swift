import Foundation
import Postgres
import QuartetAPI
import ServiceKit

/// What `session-client doctor` finds out as `quartet_operator`, who reads the tables of all services.
enum OperatorChecks {
    /// One that is done in a single look at the database.
    struct Check: Sendable {
        let subject: String
        let look: @Sendable (Database) throws -> Finding

        func findings(_ configuration: Postgres.Configuration) async -> [Finding] {
            await Finding.of(subject) { try await Connection.with(configuration, look) }
        }
    }

    static let all = [
        Check(subject: "rights", look: rights), Check(subject: "failures", look: failures),
        Check(subject: "alarms", look: alarms), Check(subject: "retention", look: retention),
        Check(subject: "durability", look: durability), Check(subject: "connections", look: connections),
    ]

    // MARK: Migrations

    /// The services by their schemas, with the targets that have their migrations.
    private static let targets = [
        (schema: "session", target: "SessionService"), (schema: "contacts", target: "ContactsService"),
        (schema: "notifications", target: "NotificationsService"),
        (schema: "session_client", target: "SessionClientService"),
    ]

    /// Whether each schema has exactly this release's migrations.
    static func migrations(_ configuration: Postgres.Configuration, _ settings: Settings) async -> [Finding] {
        var (newest, problems, missing): ([String], [String], [Finding]) = ([], [], [])
        for (schema, target) in targets {
            let command = schema.replacing("_", with: "-")
            do {
                let set = try MigrationSet(
                    schema: schema, target: target,
                    templates: settings[CommonSettings.templatesFolder].map { URL(filePath: $0) })
                try await SchemaVersion(set, command: command).verify(configuration)
                newest.append("\(schema) \(set.migrations.last?.file ?? "none")")
            } catch MigrationError.folderMissing(let folder) {
                missing.append(
                    .unknown(
                        "migrations",
                        "those of \(command) aren't in \(folder), so they weren't compared; run \(command) plan"))
            } catch {
                problems.append(error.advice)
            }
        }
        if !problems.isEmpty { return missing + [.wrong("migrations", problems.joined(separator: "; "))] }
        return newest.isEmpty ? missing : missing + [.well("migrations", newest.joined(separator: ", "))]
    }

    // MARK: Services

    /// A line of the named query `health`.
    private struct Health: Decodable {
        let service: String
        let state: String
        let partitions: String
        let behind: Int
    }

    private static let pause: Duration = .milliseconds(250)
    /// Leases change hands when services start and stop, so what looks wrong is looked at again, for three seconds.
    private static let looks = 12

    /// How each service is, by `health`, and whether its leases are held.
    static func services(_ configuration: Postgres.Configuration) async -> [Finding] {
        do {
            guard let query = try NamedQueryFile()["health"] else {
                return [.wrong("services", "psqlrc has no :health")]
            }
            let connection = try await Connection.connect(configuration)
            let result: Result<[Finding], any Error>
            do {
                var findings = try await connection.run { try health(query, $0) }
                for _ in 1..<looks where findings.contains(where: { $0.state != .well }) {
                    try await Task.sleep(for: pause)
                    findings = try await connection.run { try health(query, $0) }
                }
                result = .success(findings)
            } catch {
                result = .failure(error)
            }
            await connection.close()
            return try result.get()
        } catch {
            return [.wrong("services", error.advice)]
        }
    }

    private static func health(_ query: NamedQuery, _ database: Database) throws -> [Finding] {
        let lost = try database.query(
            """
            SELECT l.consumer, count(*) FROM session_client.leases AS l WHERE l.state = 'run out' GROUP BY l.consumer
            """
        ).map { try $0.decode(String.self, Int64.self) }
        let silent = Dictionary(lost) { first, _ in first }
        let document = try database.query(NamedQueryFile.statement(query, [:], limit: 100)).only
        let states = try JSONDecoder().decode(
            [Health].self, from: Data(document?.decode(0, as: JSON.self).bytes ?? []))
        return states.map { service -> Finding in
            let work = "\(service.partitions) partitions, \(service.behind) messages behind"
            let advice = "see its log and /health/ready, and :lag and :leases in psql"
            if let count = silent[service.service] {
                return .wrong(
                    service.service, "\(count) of its leases have run out: it was killed or is stuck. \(advice)")
            }
            return service.state == "well"
                ? .well(service.service, work)
                : .wrong(service.service, "\(service.state) (\(work)): is it running? \(advice)")
        }
    }

    // MARK: What it keeps

    /// Messages that failed.
    private static func failures(_ database: Database) throws -> Finding {
        let row = try database.query(
            """
            SELECT (SELECT count(*) FROM session_client.dead_letters AS d WHERE d.state = 'open'),
                   (SELECT count(*) FROM session_client.all_parked)
            """
        ).only
        guard let (dead, parked) = try row?.decode(Int64.self, Int64.self) else { return .wrong("failures", "unknown") }
        var problems: [String] = []
        if dead > 0 {
            let alarms = try database.alarmDeadLetters()
            problems.append(
                "\(dead) dead letters to decide about, \(alarms) of them about alarms: "
                    + "see :dead_letters, retry or discard them by make operate")
        }
        if parked > 0 { problems.append("\(parked) messages are parked, and retried by themselves: see :parked") }
        return problems.isEmpty
            ? .well("failures", "no dead letters to decide about, nothing parked")
            : .wrong("failures", problems.joined(separator: "; "))
    }

    /// Alarms that a service hasn't noticed, or can't handle. What the edge has to hand on is at its `/health/ready`.
    private static func alarms(_ database: Database) throws -> Finding {
        let complaints = try database.alarmsInServices().compactMap(\.complaint)
        return complaints.isEmpty
            ? .well("alarms", "none waits in a service")
            : .wrong("alarms", complaints.joined(separator: "; "))
    }

    /// Rows that should have been deleted or emptied a day ago. The newest of each partition is always kept.
    private static func retention(_ database: Database) throws -> Finding {
        let late = try database.query(
            """
            WITH late (what, consumer) AS (
                SELECT h.log, coalesce(max(s.held_back_by), '')
                  FROM session_client.heads AS h
                  JOIN session_client.retention_state AS s ON s.log = h.log
                 CROSS JOIN LATERAL (SELECT m.recorded_at FROM session_client.messages AS m
                                      WHERE m.log = h.log AND m.partition = h.partition AND m.position = h.base + 1
                                      LIMIT 1) AS m
                 WHERE h.head > h.base + 1 AND m.recorded_at < clock_timestamp() - s.keep - interval '1 day'
                 GROUP BY h.log
                 UNION ALL
                SELECT DISTINCT l.consumer || '.batch', ''
                  FROM session_client.all_leases AS l
                  JOIN session_client.all_retention AS r ON r.service = l.consumer AND r.subject = 'batch'
                 CROSS JOIN LATERAL (SELECT b.given_time, b.number FROM session_client.batches AS b
                                      WHERE b.consumer = l.consumer AND b.source = l.source AND b.partition = l.partition
                                      ORDER BY b.number LIMIT 1) AS first
                 CROSS JOIN LATERAL (SELECT b.number FROM session_client.batches AS b
                                      WHERE b.consumer = l.consumer AND b.source = l.source AND b.partition = l.partition
                                      ORDER BY b.number DESC LIMIT 1) AS newest
                 WHERE first.number < newest.number AND first.given_time < clock_timestamp() - r.keep - interval '1 day'
                 UNION ALL
                SELECT o.service || '.outcome', ''
                  FROM (\(oldestOutcomes)) AS o
                  JOIN session_client.all_retention AS r ON r.service = o.service AND r.subject = 'outcome'
                 WHERE session_client.time_of(o.command_id) < clock_timestamp() - r.keep - interval '1 day'
                 UNION ALL
                SELECT 'secrets in ' || c.log, c.consumer
                  FROM (SELECT 'session_client.session_commands', 'session',
                               (SELECT min(m.recorded_at) FROM session_client.session_commands AS m
                                 WHERE session_client.carries_secrets(m.type))
                         UNION ALL
                        SELECT 'session_client.notifications_commands', 'notifications',
                               (SELECT min(m.recorded_at) FROM session_client.notifications_commands AS m
                                 WHERE session_client.carries_secrets(m.type))) AS c (log, consumer, recorded_at)
                  JOIN session_client.all_retention AS r ON r.service = 'session_client' AND r.subject = 'secrets'
                 WHERE c.recorded_at < clock_timestamp() - r.keep - interval '1 day'
                 UNION ALL
                SELECT 'reminders in notifications.log', 'session_client'
                  FROM (SELECT min(t.recorded_at) AS recorded_at FROM notifications.reminder_text AS t) AS s
                  JOIN session_client.all_retention AS r ON r.service = 'notifications' AND r.subject = 'secrets'
                 WHERE s.recorded_at < clock_timestamp() - r.keep - interval '1 day'
            )
            SELECT l.what, l.consumer FROM late AS l ORDER BY l.what
            """
        ).map { row in
            let (what, consumer) = try row.decode(String.self, String.self)
            return consumer.isEmpty ? what : "\(what) (perhaps \(consumer) hasn't handled them)"
        }
        return late.isEmpty
            ? .well("retention", "no rows are left that should have been deleted or emptied")
            : .wrong(
                "retention",
                "should have been deleted or emptied a day ago: \(late.joined(separator: ", ")); see :retention, and look for "
                    + "\"a step of retention failed\" in the services' logs")
    }

    /// By the primary key, which begins with the time.
    private static let oldestOutcomes: Query = """
        SELECT 'session' AS service, (SELECT o.command_id FROM session.outcome AS o ORDER BY o.command_id LIMIT 1) AS command_id
         UNION ALL
        SELECT 'contacts', (SELECT o.command_id FROM contacts.outcome AS o ORDER BY o.command_id LIMIT 1)
         UNION ALL
        SELECT 'notifications', (SELECT o.command_id FROM notifications.outcome AS o ORDER BY o.command_id LIMIT 1)
        """

    // MARK: The server

    /// Whether what was acknowledged survives a crash of the machine.
    private static func durability(_ database: Database) throws -> Finding {
        let row = try database.query(
            """
            SELECT concat_ws(', ',
                       CASE WHEN current_setting('fsync') <> 'on' THEN 'fsync is off' END,
                       CASE WHEN current_setting('full_page_writes') <> 'on' THEN 'full_page_writes is off' END,
                       CASE WHEN current_setting('synchronous_commit') = 'off' THEN 'synchronous_commit is off' END,
                       (SELECT 'synchronous_commit is off for ' || string_agg(DISTINCT r.rolname::text, ', ')
                          FROM pg_db_role_setting AS s
                          JOIN pg_roles AS r ON r.oid = s.setrole
                         CROSS JOIN unnest(s.setconfig) AS c (setting)
                         WHERE r.rolname IN ('session', 'contacts', 'notifications', 'session_client')
                           AND (s.setdatabase = 0
                                OR s.setdatabase = (SELECT d.oid FROM pg_database AS d
                                                     WHERE d.datname = current_database()))
                           AND lower(c.setting) IN ('synchronous_commit=off', 'synchronous_commit=false',
                                                    'synchronous_commit=no', 'synchronous_commit=0')))
            """
        ).only
        let problems = try row?.decode(0, as: String.self) ?? "unknown"
        return problems.isEmpty
            ? .well("durability", "fsync, full_page_writes and synchronous_commit are on")
            : .wrong("durability", "\(problems): what was acknowledged may be lost when the machine fails")
    }

    /// How many connections are left, and how large the database is.
    private static func connections(_ database: Database) throws -> Finding {
        let row = try database.query(
            """
            SELECT count(*), (current_setting('max_connections')::int
                              - current_setting('superuser_reserved_connections')::int)::bigint,
                   pg_size_pretty(pg_database_size(current_database()))
              FROM pg_stat_activity WHERE backend_type = 'client backend'
            """
        ).only
        guard let (used, limit, size) = try row?.decode(Int64.self, Int64.self, String.self) else {
            return .wrong("connections", "unknown")
        }
        let text = "\(used) of \(limit) in use; the database takes \(size), and its machine knows how much room is left"
        return used * 10 > limit * 9
            ? .wrong("connections", "\(text). Raise max_connections, or run fewer replicas")
            : .well("connections", text)
    }
}
