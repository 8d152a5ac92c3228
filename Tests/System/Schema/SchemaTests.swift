import Foundation
import Postgres
import QuartetVocabulary
import ServiceKit
import TestKit
import Testing

@testable import SessionClientService

extension DatabaseTemplate {
    /// The four services' schemas, migrated as an operator does it.
    static let services = DatabaseTemplate("services", services: productServices, prepare: migrate)

    /// Applies today's migrations.
    static func migrate(_ database: TestDatabase) async throws {
        for (schema, target) in [
            ("session", "SessionService"), ("contacts", "ContactsService"), ("notifications", "NotificationsService"),
            ("session_client", "SessionClientService"),
        ] {
            let migrator = Migrator(
                try MigrationSet(schema: schema, target: target),
                configuration: Configuration(try database.url(as: "quartet_migrator")))
            try await migrator.apply()
            // A second time changes nothing.
            guard try await migrator.apply().isEmpty else { throw AppliedTwice(schema: schema) }
        }
    }
}

private struct AppliedTwice: Error {
    let schema: String
}

/// What holds for the tables of all services, by the catalog.
@Suite
struct SchemaTests {
    private static let ours = "('session', 'contacts', 'notifications', 'session_client')"

    @Test("append-only tables are analyzed after a million new rows at the earliest, and no hot query needs it")
    func analyze() async throws {
        try await TestDatabase.with(.services) { database in
            let often = try await database.psql(
                """
                SELECT c.oid::regclass FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                 WHERE n.nspname IN \(Self.ours) AND c.relkind = 'r'
                   AND (c.relname IN ('log', 'batch', 'outcome', 'operations', 'due') OR c.relname LIKE '%\\_commands')
                   AND NOT coalesce(c.reloptions, '{}') @> '{autovacuum_analyze_threshold=1000000}'
                """)
            #expect(often == "")
            // Without any statistics, the newest row, a read and a look-up are found by keys alone.
            for query in [
                "SELECT position FROM session.log WHERE partition = 0 ORDER BY position DESC LIMIT 1",
                "SELECT * FROM session.log WHERE partition = 0 AND position > 7 ORDER BY position LIMIT 64",
                "SELECT * FROM session.outcome WHERE command_id = ANY (ARRAY['01a1fc74-0000-7000-8000-000000000000'::uuid])",
                "SELECT * FROM session.batch WHERE source = 's' AND partition = 0 ORDER BY number DESC LIMIT 1",
            ] {
                let plan = try await database.psql("SET enable_seqscan = off; EXPLAIN (COSTS OFF) \(query)")
                #expect(plan.contains("Index") && !plan.contains("Sort") && !plan.contains("Seq Scan"), "\(plan)")
            }
        }
    }

    @Test("no role has more than SELECT on another's schema, and logs, batches and outcomes are never changed (S3)")
    func oneWriter() async throws {
        try await TestDatabase.with(.services) { database in
            let privileges = """
                SELECT r.rolname AS role, n.nspname AS schema, c.relname AS relation, p.privilege
                  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname IN \(Self.ours)
                 CROSS JOIN (SELECT rolname FROM pg_roles WHERE rolname IN \(Self.ours)
                             OR rolname IN ('quartet_reader', 'quartet_migrator')) AS r
                 CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'])
                       AS p(privilege)
                 WHERE c.relkind IN ('r', 'v', 'm', 'p')
                   AND CASE WHEN p.privilege IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
                            THEN has_any_column_privilege(r.rolname, c.oid, p.privilege)
                            ELSE has_table_privilege(r.rolname, c.oid, p.privilege) END
                """
            let foreign = try await database.psql(
                "SELECT * FROM (\(privileges)) AS p WHERE role <> schema AND privilege <> 'SELECT'")
            #expect(foreign.isEmpty, "\(foreign)")
            let past = try await database.psql(
                """
                SELECT * FROM (\(privileges)) AS p
                 WHERE (relation IN ('log', 'batch', 'outcome', 'operations', 'due') OR relation LIKE '%\\_commands') AND privilege NOT IN ('SELECT', 'INSERT')
                """)
            #expect(past.isEmpty, "\(past)")
            let strangers = try await database.psql(
                """
                SELECT * FROM (\(privileges)) AS p
                 WHERE role IN ('session', 'contacts', 'notifications') AND schema NOT IN (role, 'session_client')
                """)
            #expect(strangers.isEmpty, "services are strangers, but: \(strangers)")
        }
    }

    @Test(
        "session-client reads what the owners publish, and nothing else of theirs (S3)",
        arguments: [
            (
                "session",
                "account_state attachment_chunk avatar_chunk canary canary_support device_status group_attachment "
                    + "group_participant group_state handle kept_message log log_partition message_range open_group "
                    + "outcome phone profile"
            ),
            (
                "contacts",
                "blocking canary canary_support contact contact_code contacts_state contacts_summary log "
                    + "log_partition outcome"
            ),
            (
                "notifications",
                "canary canary_support drill_receipt log log_partition notification notifications_state outcome "
                    + "reminder unread"
            ),
        ])
    func published(schema: String, relations: String) async throws {
        try await TestDatabase.with(.services) { database in
            let readable = try await database.psql(
                """
                SELECT string_agg(c.relname, ' ' ORDER BY c.relname)
                  FROM pg_class AS c
                 WHERE c.relnamespace = '\(schema)'::regnamespace AND c.relkind IN ('r', 'v')
                   AND has_table_privilege('session_client', c.oid, 'SELECT')
                """)
            #expect(readable == relations)
        }
    }

    @Test("a contact's card and a page of contacts read the same however many contacts there are besides (S7)")
    func contactCards() async throws {
        try await TestDatabase.with(.services) { database in
            let anna = AccountID.new()
            func befriend(_ count: Int) async throws {
                try await database.psql(
                    """
                    INSERT INTO contacts.relation
                    SELECT least(a, o), greatest(a, o), true, '', '', true, true, true, true, NULL, NULL, NULL, 1, now(),
                           true, '', '', true, true, true, true, NULL, NULL, NULL, 1, now(), now()
                      FROM (SELECT '\(anna)'::uuid AS a, gen_random_uuid() AS o FROM generate_series(1, \(count))) AS v;
                    ANALYZE contacts.relation
                    """)
            }
            try await befriend(20)
            let some = try await database.psql(
                "SELECT contact FROM contacts.contact WHERE account = '\(anna)' ORDER BY contact LIMIT 1")
            let contact = try #require(AccountID(some))
            let connection = try await Connection.connect(Configuration(try database.url(as: "session_client")))
            func cost(of condition: Query, limit: Int) async throws -> (rows: Int, buffers: Int) {
                let query = Reads.contacts(of: anna, where: condition, limit: limit)
                let (rows, plan) = try await connection.run { database in
                    (
                        try database.query(query).map { _ in true }.count,
                        try database.query("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) \(query)").only?
                            .decode(0, as: JSON.self).bytes
                    )
                }
                let explained = try #require(
                    try JSONSerialization.jsonObject(with: Data(plan ?? [])) as? [[String: Any]])
                let top = try #require(explained.first?["Plan"] as? [String: Any])
                let counts = ["Shared Hit Blocks", "Shared Read Blocks"].compactMap { top[$0] as? Int }
                return (rows, counts.reduce(0, +))
            }
            let few = (
                card: try await cost(of: "c.contact = \(contact)", limit: 1),
                page: try await cost(of: "c.contact >= \(contact)", limit: 10)
            )
            #expect(few.card.rows == 1 && few.page.rows == 10)
            try await befriend(5000)
            let many = (
                card: try await cost(of: "c.contact = \(contact)", limit: 1),
                page: try await cost(of: "c.contact >= \(contact)", limit: 10)
            )
            #expect(many.card.rows == 1 && many.page.rows == 10)
            // The indexes are a level higher, and the rows of a page lie on more pages.
            #expect(many.card.buffers <= few.card.buffers + 6, "\(few) \(many)")
            #expect(many.page.buffers <= few.page.buffers + 60, "\(few) \(many)")
            await connection.close()
        }
    }

    @Test("only session reads its secrets (R21)")
    func secrets() async throws {
        try await TestDatabase.with(.services) { database in
            let readers = try await database.psql(
                """
                SELECT c.relname, r.rolname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                 CROSS JOIN pg_roles AS r
                 WHERE n.nspname = 'session' AND c.relname IN ('credential', 'device')
                   AND r.rolname IN ('session_client', 'contacts', 'notifications', 'quartet_reader', 'quartet_migrator')
                   AND has_any_column_privilege(r.rolname, c.oid, 'SELECT')
                """)
            #expect(readers.isEmpty, "\(readers)")
        }
    }

    @Test(
        "functions for operators are for quartet_operator alone: no service's role can call them or read API keys (T22)"
    )
    func operators() async throws {
        try await TestDatabase.with(.services) { database in
            let called = try await database.psql(
                """
                SELECT r.rolname, p.oid::regprocedure FROM pg_proc AS p
                  JOIN pg_namespace AS n ON n.oid = p.pronamespace AND n.nspname IN \(Self.ours)
                 CROSS JOIN pg_roles AS r
                 WHERE r.rolname IN ('session', 'contacts', 'notifications', 'session_client', 'quartet_reader')
                   AND has_function_privilege('quartet_operator', p.oid, 'EXECUTE')
                   AND NOT has_function_privilege('quartet_reader', p.oid, 'EXECUTE')
                   AND has_function_privilege(r.oid, p.oid, 'EXECUTE')
                """)
            #expect(called == "session_client|session.group_at(uuid,bigint)", "\(called)")
            let acts = try await database.psql(
                """
                SELECT count(*) FROM pg_proc AS p
                  JOIN pg_namespace AS n ON n.oid = p.pronamespace AND n.nspname IN \(Self.ours)
                 WHERE obj_description(p.oid, 'pg_proc') LIKE 'For operators%'
                   AND (NOT has_function_privilege('quartet_operator', p.oid, 'EXECUTE') AND p.proname NOT LIKE 'retry\\_%\\_commands'
                        OR p.prosrc || coalesce(pg_get_function_sqlbody(p.oid), '') NOT LIKE '%record_act%'
                           AND p.proname <> 'retry_dead_letter')
                """)
            #expect(acts == "0", "each is granted, and records what it does")
            let readers = try await database.psql(
                """
                SELECT r.rolname, a.attname FROM pg_roles AS r
                 CROSS JOIN pg_attribute AS a
                 WHERE a.attrelid = 'session_client.operator_key'::regclass AND a.attnum > 0
                   AND (r.rolname = 'session_client' OR r.rolname IN ('quartet_reader', 'quartet_operator') AND a.attname = 'hash')
                   AND has_column_privilege(r.oid, a.attrelid, a.attnum, 'SELECT')
                """)
            #expect(readers.isEmpty, "\(readers)")
        }
    }

    @Test("parameters that services bind never reach the server's log (R21)")
    func parametersAreNotLogged() async throws {
        try await TestDatabase.with(.services) { database in
            let logging = try await database.psql(
                """
                SELECT r.rolname, s.setting FROM pg_roles AS r
                 CROSS JOIN unnest(ARRAY['log_parameter_max_length=0', 'log_parameter_max_length_on_error=0']) AS s(setting)
                 WHERE r.rolname IN ('session', 'contacts', 'notifications', 'session_client')
                   AND s.setting <> ALL (r.rolconfig)
                """)
            #expect(logging.isEmpty, "\(logging)")
        }
    }

    @Test(
        """
        roles for people at psql can't take advisory locks, make large objects, write to the WAL, spill without limit or \
        use up all connections
        """)
    func readers() async throws {
        try await TestDatabase.with(.services) { database in
            let allowed = try await database.psql(
                """
                SELECT r.rolname, p.oid::regprocedure FROM pg_proc AS p CROSS JOIN pg_roles AS r
                 WHERE r.rolname IN ('quartet_reader', 'quartet_operator')
                   AND (p.proname LIKE '%advisory%' OR p.proname LIKE 'lo\\_%' OR p.proname LIKE '%emit_message%'
                        OR p.proname IN ('loread', 'lowrite', 'pg_current_xact_id', 'txid_current', 'pg_export_snapshot'))
                   AND has_function_privilege(r.oid, p.oid, 'EXECUTE')
                """)
            #expect(allowed.isEmpty, "\(allowed)")
            let unlimited = try await database.psql(
                """
                SELECT rolname, rolconnlimit FROM pg_roles
                 WHERE rolname IN ('quartet_reader', 'quartet_operator')
                   AND (rolconnlimit NOT BETWEEN 1 AND 20 OR 'temp_file_limit=1GB' <> ALL (rolconfig))
                """)
            #expect(unlimited.isEmpty, "\(unlimited)")
        }
    }

    /// Functions that every role may execute although they have effects, and why that does no harm.
    private static let harmless = [
        // They ask for rights of their own: on the relation, on the session, to replicate, or to be a superuser.
        "^(brin_|gin_clean_pending_list|currtid2|nextval|setval|currval|lastval|pg_sequence_last_value|pg_nextoid)",
        "^(pg_cancel_backend|pg_terminate_backend|pg_(drop|copy|create)_.*slot|pg_replication_slot_advance)",
        "^(pg_logical_slot_|pg_extension_config_dump|pg_import_system_collations|pg_stop_making_pinned_objects)",
        "^(pg_rotate_logfile_old|pg_read_file_old|binary_upgrade_)",
        // What they change is the session's own, or they run a statement that the role could run itself.
        "^(set_config|setseed|random|timeofday|clock_timestamp|gen_random_uuid|query_to_xml|cursor_to_xml)",
        "^(ts_rewrite|ts_stat)",
        "^(pg_sleep|pg_notify|pg_stat_(clear_snapshot|force_next_flush|get_)|current_query)",
        // They tell something.
        "^(pg_(lock_status|blocking_pids|safe_snapshot|isolation_test|prepared_xact|get_|xact_|last_|current_wal|is_))",
        "^(pg_(control_|jit_available|tablespace_size|database_size|relation_size|total_relation_size|table_size))",
        "^(pg_(indexes_size|notification_queue_usage|partition_|collation_actual|database_collation))|^txid_status",
        // They can't be called by a statement.
        "(handler|_lexize|_init|_validator)$|^(bernoulli|system|amvalidate)$",
    ]

    @Test("every function with effects that PUBLIC may execute is known to do no harm")
    func functionsOfPublic() async throws {
        try await TestDatabase.with(.services) { database in
            let unknown = try await database.psql(
                """
                SELECT p.oid::regprocedure FROM pg_proc AS p
                 WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.provolatile = 'v'
                   AND p.prorettype NOT IN ('trigger'::regtype, 'event_trigger'::regtype)
                   AND has_function_privilege('quartet_reader', p.oid, 'EXECUTE')
                   -- Later versions have more.
                   AND current_setting('server_version_num')::int < 160000
                   AND p.proname !~ ALL (ARRAY[\(Self.harmless.map { "'\($0)'" }.joined(separator: ", "))])
                """)
            #expect(unknown.isEmpty, "\(unknown)")
        }
    }

    @Test("a reader that listens and then does nothing in a transaction is ended after ten seconds")
    func idleReads() async throws {
        try await TestDatabase.with(.services) { database in
            let reader = try await Connection.connect(Configuration(try database.url(as: "quartet_reader")))
            let watching = try await Connection.connect(Configuration(try database.url(as: "session_client")))
            try await reader.run { database in
                for statement in [
                    "SET idle_in_transaction_session_timeout = 0", "LISTEN anything", "BEGIN", "SELECT 1",
                ] {
                    try database.execute(Query(stringLiteral: statement))
                }
            }
            // It isn't ended for its age, which the services tolerate for longer.
            var ended: Int64 = 0
            for _ in 0..<2400 where ended == 0 {
                ended = try await watching.run { database in
                    try database.query("SELECT quartet.end_long_reads()").only?.decode(0, as: Int64.self) ?? 0
                }
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(ended == 1)
            await #expect(throws: PostgresError.self) { try await reader.run { try $0.execute("SELECT") } }
            for connection in [reader, watching] { await connection.close() }
        }
    }

    @Test("a reader's old transaction is ended, even if its session turned time-outs off; others are not")
    func longReads() async throws {
        try await TestDatabase.with(.services) { database in
            func connect(_ role: String) async throws -> Connection {
                try await Connection.connect(Configuration(try database.url(as: role)))
            }
            let (reader, service) = (try await connect("quartet_reader"), try await connect("session_client"))
            for connection in [reader, service] {
                try await connection.run { database in
                    try database.execute("SET statement_timeout = 0")
                    try database.execute("SET idle_in_transaction_session_timeout = 0")
                    try database.execute("BEGIN")
                }
            }
            let watching = try await connect("session_client")
            let ended = try await watching.run { database in
                try database.query("SELECT quartet.end_long_reads(interval '0')").only?.decode(0, as: Int64.self)
            }
            #expect(ended == 1)
            await #expect(throws: PostgresError.self) { try await reader.run { try $0.execute("SELECT") } }
            try await service.run { database in _ = try database.execute("COMMIT") }
            for connection in [reader, service, watching] { await connection.close() }
        }
    }

    @Test("every log has its line in session_client.logs, with the service that handles it, and shows in the views")
    func logs() async throws {
        try await TestDatabase.with(.services) { database in
            let tables = """
                SELECT n.nspname || '.' || c.relname AS log FROM pg_class AS c
                  JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname IN \(Self.ours)
                 WHERE c.relkind = 'r' AND to_regclass(format('%I.%I', n.nspname, c.relname || '_partition')) IS NOT NULL
                """
            for listed in ["logs", "heads", "retention_state"] {
                let differing = try await database.psql(
                    """
                    SELECT coalesce(t.log, 'too much: ' || l.log) FROM (\(tables)) AS t
                      FULL JOIN (SELECT DISTINCT log FROM session_client.\(listed)) AS l ON l.log = t.log
                     WHERE t.log IS NULL OR l.log IS NULL
                    """)
                #expect(differing.isEmpty, "in session_client.\(listed): \(differing)")
            }
            // Retention waits for the consumer that the views name.
            let others = try await database.psql(
                """
                SELECT l.log FROM session_client.logs AS l
                 WHERE pg_get_functiondef((l.log || '_handled(int)')::regprocedure)
                       NOT LIKE '%FROM ' || coalesce(l.consumer, 'session_client') || '.lease %'
                """)
            #expect(others.isEmpty, "\(others)")
        }
    }

    @Test("PUBLIC may execute no function of ours")
    func functions() async throws {
        try await TestDatabase.with(.services) { database in
            let open = try await database.psql(
                """
                SELECT p.oid::regprocedure FROM pg_proc AS p
                  JOIN pg_namespace AS n ON n.oid = p.pronamespace AND n.nspname IN \(Self.ours)
                 WHERE has_function_privilege('public', p.oid, 'EXECUTE')
                """)
            #expect(open.isEmpty, "\(open)")
        }
    }

    @Test(
        "the log of each service records outcomes in the same way; that of notifications says besides where texts are (S39)"
    )
    func outcomes() async throws {
        try await TestDatabase.with(.services) { database in
            let triggers = try await database.psql(
                """
                WITH function AS (
                    SELECT n.nspname AS schema,
                           btrim(split_part(replace(p.prosrc, n.nspname || '.', ''), 'RETURN NULL', 1), E' \\n') AS body
                      FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
                     WHERE p.proname = 'record_outcome' AND n.nspname IN \(Self.ours)
                )
                SELECT f.schema, f.body = s.body, starts_with(f.body, s.body),
                       strpos(substr(f.body, length(s.body) + 1), 'INSERT INTO reminder_text ') > 0
                  FROM function AS f CROSS JOIN (SELECT o.body FROM function AS o WHERE o.schema = 'session') AS s
                 ORDER BY f.schema
                """)
            #expect(triggers == "contacts|t|t|f\nnotifications|f|t|t\nsession|t|t|f")
        }
    }

    @Test("everything that psql shows has a comment")
    func comments() async throws {
        try await TestDatabase.with(.services) { database in
            let bare = try await database.psql(
                """
                SELECT n.nspname || '.' || c.relname || coalesce('.' || a.attname, '')
                  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname IN \(Self.ours)
                  LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                 WHERE c.relkind IN ('r', 'v')
                   AND (obj_description(c.oid, 'pg_class') IS NULL OR col_description(c.oid, a.attnum) IS NULL)
                UNION ALL
                SELECT p.oid::regprocedure::text
                  FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace AND n.nspname IN \(Self.ours)
                 WHERE obj_description(p.oid, 'pg_proc') IS NULL
                """)
            #expect(bare.isEmpty, "\(bare)")
        }
    }
}
