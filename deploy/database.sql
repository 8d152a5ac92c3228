-- Creates the roles that all services of a database share, and sets who may connect. Included by bootstrap.sql; the
-- tests run it for databases of their own. Idempotent. Run it with psql as a superuser, connected to the database.
--
-- It creates:
--   quartet_migrator   logs in to apply migrations. It may become the owner of each schema; before that it has no rights
--   quartet_reader     the role of `make psql`: reads everything that isn't secret, and writes nothing
--   quartet_operator   the role of `make operate`: reads the same and may call the functions for operators, such as
--                      session_client.retry_dead_letter, but changes nothing else
--   quartet_warden     can't log in. It owns the function that ends long transactions of the reader and the operator
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

-- NOINHERIT: a membership is the right to become the owner by SET ROLE, and no more.
ALTER ROLE quartet_migrator LOGIN NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
ALTER ROLE quartet_migrator SET lock_timeout = '10s';
ALTER ROLE quartet_migrator SET idle_in_transaction_session_timeout = '60s';
ALTER ROLE quartet_migrator SET timezone = 'UTC';
ALTER ROLE quartet_migrator SET search_path = pg_catalog;
COMMENT ON ROLE quartet_migrator IS 'Applies migrations: becomes the owner of each schema by SET ROLE.';

-- A forgotten psql must not keep PostgreSQL from cleaning up, so every way of holding a snapshot has a time-out.
ALTER ROLE quartet_reader LOGIN INHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 20;
ALTER ROLE quartet_reader SET default_transaction_read_only = on;
ALTER ROLE quartet_reader SET statement_timeout = '30s';
ALTER ROLE quartet_reader SET lock_timeout = '2s';
ALTER ROLE quartet_reader SET idle_in_transaction_session_timeout = '30s';
ALTER ROLE quartet_reader SET idle_session_timeout = '8h';
-- Only a superuser can change this one: sorts and cursors spill no more than this onto the disk.
ALTER ROLE quartet_reader SET temp_file_limit = '1GB';
ALTER ROLE quartet_reader SET jit = off;
ALTER ROLE quartet_reader SET timezone = 'UTC';
COMMENT ON ROLE quartet_reader IS 'For people at psql: reads the tables of all services, writes nothing.';
-- Without this, pg_stat_activity hides the sessions of other roles.
GRANT pg_read_all_stats TO quartet_reader;

ALTER ROLE quartet_operator LOGIN INHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 20;
ALTER ROLE quartet_operator SET statement_timeout = '30s';
ALTER ROLE quartet_operator SET lock_timeout = '2s';
-- What an act has locked, others wait for.
ALTER ROLE quartet_operator SET idle_in_transaction_session_timeout = '3s';
ALTER ROLE quartet_operator SET idle_session_timeout = '8h';
ALTER ROLE quartet_operator SET temp_file_limit = '1GB';
ALTER ROLE quartet_operator SET jit = off;
ALTER ROLE quartet_operator SET timezone = 'UTC';
COMMENT ON ROLE quartet_operator IS 'For operators: reads what quartet_reader does and calls the functions for operators.';
GRANT quartet_reader TO quartet_operator;

-- A TCP client that has vanished must not hold anything for long.
SELECT format('ALTER ROLE %I SET %s', role, setting)
  FROM (VALUES ('quartet_migrator'), ('quartet_reader'), ('quartet_operator')) AS roles (role),
       (VALUES ('tcp_keepalives_idle = 10'), ('tcp_keepalives_interval = 5'), ('tcp_keepalives_count = 3'),
               ('tcp_user_timeout = ''30s''')) AS behaviour (setting) \gexec

-- A session can change the time-outs above for itself, so long transactions are also ended from outside.
ALTER ROLE quartet_warden NOLOGIN INHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
COMMENT ON ROLE quartet_warden IS 'Owns quartet.end_long_reads and nothing else. May end sessions of quartet_reader and quartet_operator.';
GRANT quartet_reader, quartet_operator TO quartet_warden;
CREATE SCHEMA IF NOT EXISTS quartet;
REVOKE ALL ON SCHEMA quartet FROM PUBLIC;
COMMENT ON SCHEMA quartet IS 'Functions that all services of a database share, created by a superuser.';
-- Statements of these roles may take 30 seconds. While a session that listens has a transaction open, nothing leaves the
-- server's notification queue, which a flood fills within a minute or two; so one that does nothing ends much sooner.
CREATE OR REPLACE FUNCTION quartet.end_long_reads(older_than interval DEFAULT interval '40 seconds') RETURNS bigint
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT count(*) FILTER (WHERE pg_terminate_backend(a.pid))
      FROM pg_stat_activity AS a
     WHERE a.datname = current_database() AND a.usename IN ('quartet_reader', 'quartet_operator')
       AND (a.xact_start < clock_timestamp() - older_than
            OR a.state LIKE 'idle in transaction%'
               AND a.state_change < clock_timestamp() - least(older_than, interval '10 seconds'))
       AND a.pid <> pg_backend_pid();
END;
ALTER FUNCTION quartet.end_long_reads(interval) OWNER TO quartet_warden;
REVOKE EXECUTE ON FUNCTION quartet.end_long_reads(interval) FROM PUBLIC;
COMMENT ON FUNCTION quartet.end_long_reads(interval) IS
    'Ends sessions of quartet_reader and quartet_operator whose transaction is older than older_than, or has done nothing for ten seconds, because an old snapshot keeps PostgreSQL from cleaning up and a listener in a transaction keeps the notification queue from being emptied. Returns how many.';

-- By default every role may take advisory locks, which the services use, create large objects, write messages of any size to
-- the WAL, use up transaction ids, and export snapshots, each a file. With these a role that may only read could hold up or
-- fill the database. Only services and migrations lock; nothing needs the others.
SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', p.oid::regprocedure)
  FROM pg_proc AS p
 WHERE p.pronamespace = 'pg_catalog'::regnamespace
   AND (p.proname ~ '^pg_(try_)?advisory_' OR p.proname ~ '^lo_'
        OR p.proname IN ('loread', 'lowrite', 'pg_logical_emit_message', 'pg_current_xact_id', 'txid_current',
                         'pg_export_snapshot')) \gexec
SELECT format('GRANT EXECUTE ON FUNCTION %s TO quartet_migrator', p.oid::regprocedure)
  FROM pg_proc AS p
 WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname ~ '^pg_(try_)?advisory_' \gexec

-- No right comes from PUBLIC.
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database()) \gexec
SELECT format('GRANT CONNECT ON DATABASE %I TO quartet_migrator, quartet_reader, quartet_operator', current_database()) \gexec
REVOKE ALL ON SCHEMA public FROM PUBLIC;

RESET client_min_messages;
