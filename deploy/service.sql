-- Creates a service's roles and schema. Included by bootstrap.sql once per service; the tests run it for services of
-- their own. Idempotent. Run it with psql as a superuser, connected to the database:
--
--   psql -v service=ledger -f deploy/service.sql
--
-- It creates:
--   <service>_owner   owns the schema and everything in it. It can't log in; only migrations become it
--   <service>         the role of the running service. It has only the privileges that migrations grant it
--   schema <service>
--
-- The roles of database.sql must exist. bootstrap.sql decides which other services may use the schema.
\set ON_ERROR_STOP on
\if :{?service}
\else
  \warn 'service.sql: set the service, as in: psql -v service=ledger -f deploy/service.sql'
  DO $$ BEGIN RAISE EXCEPTION 'psql variable "service" is missing'; END $$;
\endif
SET client_min_messages = warning;

SELECT format('CREATE ROLE %I NOLOGIN', :'service' || '_owner')
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'service' || '_owner') \gexec
SELECT format('CREATE ROLE %I LOGIN', :'service')
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'service') \gexec

-- Set on every run: a role of this name may have existed before, with more rights.
SELECT format('ALTER ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS',
              :'service' || '_owner') \gexec
SELECT format('ALTER ROLE %I LOGIN NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS',
              :'service') \gexec
SELECT format('COMMENT ON ROLE %I IS %L', :'service' || '_owner',
              'Owns schema ' || :'service' || '. Only migrations become it; the running service can''t.') \gexec
SELECT format('COMMENT ON ROLE %I IS %L', :'service',
              'The role of the running service ' || :'service' || '.') \gexec

-- Neither role is a member of another. Memberships granted by hand are revoked.
SELECT format('REVOKE %I FROM %I', granted.rolname, member.rolname)
  FROM pg_auth_members
  JOIN pg_roles AS granted ON granted.oid = pg_auth_members.roleid
  JOIN pg_roles AS member  ON member.oid  = pg_auth_members.member
 WHERE member.rolname IN (:'service', :'service' || '_owner') \gexec

-- The settings of the service's sessions. A session that hangs must not hold others up, so every time-out is shorter
-- than a lease.
SELECT format('ALTER ROLE %I SET %s', :'service', setting)
  FROM (VALUES
    -- PostgreSQL would read a table of one page sequentially, through all its dead versions.
    ('enable_seqscan = off'),
    -- Because of the line above, a plan without an index has a cost of 1e10, which would start the JIT compiler.
    ('jit = off'),
    -- The statements are few, prepared, and look rows up by key: one plan each is enough.
    ('plan_cache_mode = force_generic_plan'),
    ('statement_timeout = ''10s'''),
    ('lock_timeout = ''4s'''),
    ('idle_in_transaction_session_timeout = ''4s'''),
    -- A TCP client that has vanished holds its locks no longer than one that hangs.
    ('tcp_keepalives_idle = 2'), ('tcp_keepalives_interval = 1'), ('tcp_keepalives_count = 3'),
    ('tcp_user_timeout = ''5s'''),
    ('timezone = ''UTC'''),
    -- Parameters are never logged: they include people's texts, phone numbers and proofs.
    ('log_parameter_max_length = 0'),
    ('log_parameter_max_length_on_error = 0'),
    -- Statements qualify their tables, so nothing is found by accident.
    ('search_path = pg_catalog')
  ) AS behaviour (setting) \gexec

SELECT format('CREATE SCHEMA %I AUTHORIZATION %I', :'service', :'service' || '_owner')
 WHERE NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = :'service') \gexec
SELECT format('ALTER SCHEMA %I OWNER TO %I', :'service', :'service' || '_owner') \gexec
SELECT format('COMMENT ON SCHEMA %I IS %L', :'service',
              'The tables of service ' || :'service' || '. No other service writes here.') \gexec
SELECT format('REVOKE ALL ON SCHEMA %I FROM PUBLIC', :'service') \gexec
SELECT format('GRANT USAGE ON SCHEMA %I TO %I, quartet_reader, quartet_operator', :'service', :'service') \gexec
SELECT format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), :'service') \gexec

SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I, %I', p.oid::regprocedure, :'service', :'service' || '_owner')
  FROM pg_proc AS p
 WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname ~ '^pg_(try_)?advisory_' \gexec
SELECT format('GRANT USAGE ON SCHEMA quartet TO %I', :'service') \gexec
SELECT format('GRANT EXECUTE ON FUNCTION quartet.end_long_reads(interval) TO %I', :'service') \gexec

-- quartet_migrator applies migrations: it becomes the owner by SET ROLE, and doesn't inherit its rights.
SELECT format('GRANT %I TO quartet_migrator', :'service' || '_owner') \gexec

-- Privileges of what the owner will create: people at psql may read tables, and PUBLIC may execute no function.
SELECT format('ALTER DEFAULT PRIVILEGES FOR ROLE %I REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC',
              :'service' || '_owner') \gexec
SELECT format('ALTER DEFAULT PRIVILEGES FOR ROLE %I IN SCHEMA %I GRANT SELECT ON TABLES TO quartet_reader',
              :'service' || '_owner', :'service') \gexec

RESET client_min_messages;
