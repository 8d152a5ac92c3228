-- What all services of one database share: who may connect, who migrates, who reads. Included by bootstrap.sql; the
-- tests use it for databases of their own. Idempotent. Run it with psql as a superuser, connected to the database.
--
-- It makes:
--   quartet_migrator   logs in to apply migrations; may become the owner of each schema, and has no right before it does
--   quartet_reader     what `make psql` logs in as: may read everything, write nothing, and hold nothing back
--   quartet_warden     nobody logs in as it: what ends transactions of the two above that take too long
--   quartet_operator   what `make operate` logs in as: reads the same, and may call the functions that are made for
--                      operators, such as session_client.retry_dead_letter; changes nothing else
\set ON_ERROR_STOP on
SET client_min_messages = warning;

SELECT current_setting('server_version_num')::int < 150000 AS too_old, current_setting('server_version') AS version \gset
\if :too_old
  \warn 'Quartet needs PostgreSQL 15 or newer; this server is' :version
  DO $$ BEGIN RAISE EXCEPTION 'PostgreSQL is older than 15'; END $$;
\endif

SELECT format('CREATE ROLE %I LOGIN', name)
  FROM (VALUES ('quartet_migrator'), ('quartet_reader'), ('quartet_operator'), ('quartet_warden')) AS wanted (name)
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) \gexec

-- NOINHERIT: a membership gives the right to become the owner, nothing before that.
ALTER ROLE quartet_migrator LOGIN NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
ALTER ROLE quartet_migrator SET lock_timeout = '10s';
ALTER ROLE quartet_migrator SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE quartet_migrator SET timezone = 'UTC';
ALTER ROLE quartet_migrator SET search_path = pg_catalog;
COMMENT ON ROLE quartet_migrator IS 'Applies migrations: becomes the owner of each schema by SET ROLE.';

-- A forgotten psql must not keep PostgreSQL from cleaning up: each way of holding a snapshot has an end.
ALTER ROLE quartet_reader LOGIN INHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 20;
ALTER ROLE quartet_reader SET default_transaction_read_only = on;
ALTER ROLE quartet_reader SET statement_timeout = '30s';
ALTER ROLE quartet_reader SET lock_timeout = '2s';
ALTER ROLE quartet_reader SET idle_in_transaction_session_timeout = '30s';
ALTER ROLE quartet_reader SET idle_session_timeout = '8h';
ALTER ROLE quartet_reader SET jit = off;
ALTER ROLE quartet_reader SET timezone = 'UTC';
COMMENT ON ROLE quartet_reader IS 'For people at psql: reads what all services own, writes nothing.';
-- Who holds what back shows in pg_stat_activity, which hides other roles' sessions otherwise.
GRANT pg_read_all_stats TO quartet_reader;

ALTER ROLE quartet_operator LOGIN INHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 20;
ALTER ROLE quartet_operator SET statement_timeout = '30s';
ALTER ROLE quartet_operator SET lock_timeout = '2s';
ALTER ROLE quartet_operator SET idle_in_transaction_session_timeout = '30s';
ALTER ROLE quartet_operator SET idle_session_timeout = '8h';
ALTER ROLE quartet_operator SET jit = off;
ALTER ROLE quartet_operator SET timezone = 'UTC';
COMMENT ON ROLE quartet_operator IS 'For people who put things right: reads what quartet_reader does and calls the functions made for operators.';
GRANT quartet_reader TO quartet_operator;

-- Over TCP, a client that vanished holds nothing for long.
SELECT format('ALTER ROLE %I SET %s', role, setting)
  FROM (VALUES ('quartet_migrator'), ('quartet_reader'), ('quartet_operator')) AS roles (role),
       (VALUES ('tcp_keepalives_idle = 10'), ('tcp_keepalives_interval = 5'), ('tcp_keepalives_count = 3'),
               ('tcp_user_timeout = ''30s''')) AS behaviour (setting) \gexec

-- A session can change the time-outs above for itself. What it can't change: it is ended from outside.
ALTER ROLE quartet_warden NOLOGIN INHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
COMMENT ON ROLE quartet_warden IS 'Owns quartet.end_long_reads and nothing else; may end sessions of quartet_reader and quartet_operator.';
GRANT quartet_reader, quartet_operator TO quartet_warden;
CREATE SCHEMA IF NOT EXISTS quartet;
REVOKE ALL ON SCHEMA quartet FROM PUBLIC;
COMMENT ON SCHEMA quartet IS 'What all services of a database share: functions made by a superuser.';
CREATE OR REPLACE FUNCTION quartet.end_long_reads(older_than interval DEFAULT interval '1 minute') RETURNS bigint
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT count(*) FILTER (WHERE pg_terminate_backend(a.pid))
      FROM pg_stat_activity AS a
     WHERE a.datname = current_database() AND a.usename IN ('quartet_reader', 'quartet_operator')
       AND a.xact_start < clock_timestamp() - older_than AND a.pid <> pg_backend_pid();
END;
ALTER FUNCTION quartet.end_long_reads(interval) OWNER TO quartet_warden;
REVOKE EXECUTE ON FUNCTION quartet.end_long_reads(interval) FROM PUBLIC;
COMMENT ON FUNCTION quartet.end_long_reads(interval) IS
    'Ends sessions of people at psql whose transaction is older than that, and returns how many: an old snapshot keeps PostgreSQL from cleaning up.';

-- What everybody may do unless told otherwise, and with which one holds up or fills a database that one may only read:
-- take advisory locks, which the services use, and make large objects.
SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', p.oid::regprocedure)
  FROM pg_proc AS p
 WHERE p.pronamespace = 'pg_catalog'::regnamespace
   AND (p.proname ~ '^pg_(try_)?advisory_' OR p.proname ~ '^lo_' OR p.proname IN ('loread', 'lowrite')) \gexec
SELECT format('GRANT EXECUTE ON FUNCTION %s TO quartet_migrator', p.oid::regprocedure)
  FROM pg_proc AS p
 WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname ~ '^pg_(try_)?advisory_' \gexec

-- Nobody gets in by being somebody.
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database()) \gexec
SELECT format('GRANT CONNECT ON DATABASE %I TO quartet_migrator, quartet_reader, quartet_operator', current_database()) \gexec
REVOKE ALL ON SCHEMA public FROM PUBLIC;

RESET client_min_messages;
