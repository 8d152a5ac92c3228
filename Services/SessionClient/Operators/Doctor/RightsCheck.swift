import Postgres
import ServiceKit

extension OperatorChecks {
    /// How many problems a line names.
    private static let shown = 5

    /// Whether roles are as `deploy/bootstrap.sql` makes them, may use the bus, and write in no other schema.
    static func rights(_ database: Database) throws -> Finding {
        let problems = try database.query(rightsProblems).map { try $0.decode(0, as: String.self) }
        guard !problems.isEmpty else {
            return .well("rights", "each service reads what it must and writes in its own schema alone")
        }
        let more = problems.count > shown ? "; and \(problems.count - shown) more" : ""
        return .wrong(
            "rights",
            problems.prefix(shown).joined(separator: "; ") + more
                + ". As a superuser, run deploy/bootstrap.sql, and take back or give again what was changed by hand")
    }

    /// A sentence for each. The settings are those of `deploy/database.sql`: any role may change its own.
    private static let rightsProblems: Query = """
        WITH service (name) AS (
            VALUES ('session'), ('contacts'), ('notifications'), ('session_client')
        ), login (name) AS (
            SELECT s.name FROM service AS s
             UNION ALL
            VALUES ('quartet_migrator'), ('quartet_reader'), ('quartet_operator')
        ), wanted (name, logs_in) AS (
            SELECT l.name, true FROM login AS l
             UNION ALL
            SELECT s.name || '_owner', false FROM service AS s
             UNION ALL
            VALUES ('quartet_warden', false)
        ), role AS (
            SELECT w.name, w.logs_in, r.oid, r.rolcanlogin,
                   r.rolsuper OR r.rolcreatedb OR r.rolcreaterole OR r.rolreplication OR r.rolbypassrls AS is_mighty
              FROM wanted AS w
              LEFT JOIN pg_roles AS r ON r.rolname = w.name
        ), schema AS (
            SELECT n.oid, n.nspname::text AS name FROM pg_namespace AS n JOIN service AS s ON s.name = n.nspname
        ), relation AS (
            SELECT c.oid, s.name AS schema, c.relname::text AS name
              FROM pg_class AS c
              JOIN schema AS s ON s.oid = c.relnamespace
             WHERE c.relkind IN ('r', 'p', 'v', 'm')
        ), needed (role, relation, privilege) AS (
            SELECT n.role, n.relation, n.privilege
              FROM session_client.logs AS l
             CROSS JOIN LATERAL (VALUES
                   (coalesce(l.consumer, 'session_client'), l.log, 'SELECT'),
                   (coalesce(l.consumer, 'session_client'), l.log || '_partition', 'SELECT'),
                   (split_part(l.log, '.', 1), l.log, 'SELECT'),
                   (split_part(l.log, '.', 1), l.log, 'INSERT'),
                   (split_part(l.log, '.', 1), l.log || '_partition', 'UPDATE')) AS n (role, relation, privilege)
             UNION ALL
            SELECT s.name, s.name || n.suffix, n.privilege
              FROM service AS s
             CROSS JOIN (VALUES ('.batch', 'INSERT'), ('.lease', 'UPDATE'), ('.member', 'UPDATE')) AS n (suffix, privilege)
        ), own_setting (role, setting) AS (
            SELECT r.role, r.setting || '=' || r.value
              FROM (VALUES
                   ('quartet_migrator', 'lock_timeout', '10s'),
                   ('quartet_migrator', 'idle_in_transaction_session_timeout', '60s'),
                   ('quartet_migrator', 'search_path', 'pg_catalog'),
                   ('quartet_reader', 'default_transaction_read_only', 'on'),
                   ('quartet_reader', 'idle_in_transaction_session_timeout', '30s'),
                   ('quartet_operator', 'idle_in_transaction_session_timeout', '3s')) AS r (role, setting, value)
             UNION ALL
            SELECT r.role, a.setting
              FROM (VALUES ('quartet_reader'), ('quartet_operator')) AS r (role)
             CROSS JOIN (VALUES ('statement_timeout=30s'), ('lock_timeout=2s'), ('idle_session_timeout=8h'),
                                ('temp_file_limit=1GB'), ('jit=off')) AS a (setting)
             UNION ALL
            SELECT r.role, a.setting
              FROM (VALUES ('quartet_migrator'), ('quartet_reader'), ('quartet_operator')) AS r (role)
             CROSS JOIN (VALUES ('timezone=UTC'), ('tcp_keepalives_idle=10'), ('tcp_keepalives_interval=5'),
                                ('tcp_keepalives_count=3'), ('tcp_user_timeout=30s')) AS a (setting)
        ), found_setting (role, database, setting) AS (
            SELECT r.name, s.setdatabase, c.setting
              FROM role AS r
              JOIN pg_db_role_setting AS s ON s.setrole = r.oid
              JOIN pg_database AS d ON s.setdatabase IN (0, d.oid) AND d.datname = current_database()
             CROSS JOIN unnest(s.setconfig) AS c (setting)
             WHERE r.name LIKE 'quartet\\_%'
        ), problem (place, text) AS (
            SELECT 1, format('there is no role %s', r.name) FROM role AS r WHERE r.oid IS NULL
             UNION ALL
            SELECT 2, format('%s may do what no role of Quartet needs (SUPERUSER, CREATEDB or the like)', r.name)
              FROM role AS r WHERE r.is_mighty
             UNION ALL
            SELECT 3, format('%s may %slog in', r.name, CASE WHEN r.logs_in THEN 'not ' ELSE '' END)
              FROM role AS r WHERE r.rolcanlogin <> r.logs_in
             UNION ALL
            SELECT 4, format('%s is a member of %s', r.name, m.roleid::regrole)
              FROM role AS r
              JOIN pg_auth_members AS m ON m.member = r.oid
             WHERE r.name NOT LIKE 'quartet%'
             UNION ALL
            SELECT 5, format('quartet_migrator may not become %s', o.name)
              FROM role AS r
              JOIN role AS o ON o.name LIKE '%\\_owner'
             WHERE r.name = 'quartet_migrator' AND NOT pg_has_role(r.oid, o.oid, 'MEMBER')
             UNION ALL
            SELECT 6, format('%s may not connect to this database', r.name)
              FROM role AS r
             WHERE r.logs_in AND NOT has_database_privilege(r.oid, current_database()::text, 'CONNECT')
             UNION ALL
            SELECT 7, format('%s may not look into schema %s', r.name, s.name)
              FROM role AS r
              JOIN schema AS s ON r.name IN (s.name, 'session_client', 'quartet_reader', 'quartet_operator')
                               OR s.name = 'session_client' AND r.name IN (SELECT v.name FROM service AS v)
             WHERE NOT has_schema_privilege(r.oid, s.oid, 'USAGE')
             UNION ALL
            SELECT 8, format('%s may not %s %s.%s', n.role, n.privilege, c.schema, c.name)
              FROM needed AS n
              JOIN role AS r ON r.name = n.role
              JOIN relation AS c ON c.schema || '.' || c.name = n.relation
             WHERE NOT has_any_column_privilege(r.oid, c.oid, n.privilege)
             UNION ALL
            SELECT 9, format('%s may write %s.%s', r.name, c.schema, c.name)
              FROM role AS r
              JOIN relation AS c ON c.schema <> r.name
             WHERE r.logs_in
               AND (has_any_column_privilege(r.oid, c.oid, 'INSERT') OR has_any_column_privilege(r.oid, c.oid, 'UPDATE')
                    OR has_table_privilege(r.oid, c.oid, 'DELETE') OR has_table_privilege(r.oid, c.oid, 'TRUNCATE'))
             UNION ALL
            SELECT 10, format('%s may call %s', r.name, p.oid::regprocedure)
              FROM role AS r
              JOIN pg_proc AS p ON p.pronamespace = 'pg_catalog'::regnamespace
                               AND p.proname IN ('pg_logical_emit_message', 'pg_current_xact_id', 'txid_current',
                                                 'pg_export_snapshot')
             WHERE r.name IN ('quartet_reader', 'quartet_operator') AND has_function_privilege(r.oid, p.oid, 'EXECUTE')
             UNION ALL
            SELECT 11, format('%s has lost its setting %s', s.role, s.setting)
              FROM own_setting AS s
              JOIN role AS r ON r.name = s.role
             WHERE r.oid IS NOT NULL
               AND NOT EXISTS (SELECT FROM found_setting AS f
                                WHERE f.role = s.role AND f.database = 0 AND lower(f.setting) = lower(s.setting))
             UNION ALL
            SELECT 12, format('%1$s has the setting %2$s, which nothing needs; undo it by: ALTER ROLE %1$s%3$s RESET %4$s', f.role,
                              f.setting, CASE WHEN f.database <> 0 THEN format(' IN DATABASE %I', current_database()) END,
                              split_part(f.setting, '=', 1))
              FROM found_setting AS f
             WHERE f.database <> 0
                OR NOT EXISTS (SELECT FROM own_setting AS s
                                WHERE s.role = f.role
                                  AND lower(split_part(s.setting, '=', 1)) = lower(split_part(f.setting, '=', 1)))
             UNION ALL
            SELECT DISTINCT 13, format('%s is a member of %s', r.name, m.roleid::regrole)
              FROM role AS r
              JOIN pg_auth_members AS m ON m.member = r.oid
             WHERE r.name IN ('quartet_reader', 'quartet_operator')
               AND m.roleid::regrole::text NOT IN ('pg_read_all_stats', 'quartet_reader')
             UNION ALL
            -- Tables of messages, as create_shown_views finds them.
            SELECT DISTINCT 14, format('%1$s may read the secrets in %2$s.%3$s; undo it by: REVOKE SELECT ON %2$s.%3$s FROM %1$s; '
                                       'SELECT %2$s.create_shown_views()',
                                       CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE g.grantee::regrole::text END, m.schema, m.name)
              FROM relation AS m
              JOIN pg_class AS c ON c.oid = m.oid AND c.relkind = 'r'
                                AND EXISTS (SELECT FROM pg_proc AS p
                                             WHERE p.pronamespace = c.relnamespace AND p.proname = 'create_shown_views')
              JOIN pg_attribute AS t ON t.attrelid = c.oid AND t.attname = 'type' AND NOT t.attisdropped
              JOIN pg_attribute AS b ON b.attrelid = c.oid AND b.attname = 'body' AND NOT b.attisdropped
             CROSS JOIN LATERAL (SELECT e.grantee FROM aclexplode(c.relacl) AS e WHERE e.privilege_type = 'SELECT'
                                  UNION
                                 SELECT e.grantee FROM aclexplode(b.attacl) AS e WHERE e.privilege_type = 'SELECT') AS g
             WHERE g.grantee = 0
                OR g.grantee IN (SELECT r.oid FROM role AS r WHERE r.name IN ('quartet_reader', 'quartet_operator'))
        )
        SELECT p.text FROM problem AS p ORDER BY p.place, p.text
        """
}
