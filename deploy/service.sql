-- One service's roles and schema. Included by bootstrap.sql once per service; the tests use it for services of
-- their own. Idempotent. Run it with psql as a superuser, connected to the database:
--
--   psql -v service=ledger -f deploy/service.sql
--
-- It makes:
--   <service>_owner   owns the schema and everything in it; nobody logs in as it; migrations alone become it
--   <service>         what the service runs as: sees the schema, has only the privileges that migrations grant it
--   schema <service>
--
-- The roles that database.sql makes must exist. Who else may look into the schema is the law of the product, not of
-- one service: see bootstrap.sql.
\set ON_ERROR_STOP on
\if :{?service}
\else
  \warn 'service.sql: say which service, as in: psql -v service=ledger -f deploy/service.sql'
  DO $$ BEGIN RAISE EXCEPTION 'psql variable "service" is missing'; END $$;
\endif
SET client_min_messages = warning;

SELECT format('CREATE ROLE %I NOLOGIN', :'service' || '_owner')
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'service' || '_owner') \gexec
SELECT format('CREATE ROLE %I LOGIN', :'service')
 WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'service') \gexec

-- Said again each time: a role of that name may have been here before, with more rights.
SELECT format('ALTER ROLE %I NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS',
              :'service' || '_owner') \gexec
SELECT format('ALTER ROLE %I LOGIN NOINHERIT NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS',
              :'service') \gexec
SELECT format('COMMENT ON ROLE %I IS %L', :'service' || '_owner',
              'Owns schema ' || :'service' || '. Migrations alone become it; the running service can not.') \gexec
SELECT format('COMMENT ON ROLE %I IS %L', :'service',
              'What service ' || :'service' || ' runs as.') \gexec

-- The running role is a member of nothing; whatever somebody granted by hand is taken back.
SELECT format('REVOKE %I FROM %I', granted.rolname, member.rolname)
  FROM pg_auth_members
  JOIN pg_roles AS granted ON granted.oid = pg_auth_members.roleid
  JOIN pg_roles AS member  ON member.oid  = pg_auth_members.member
 WHERE member.rolname IN (:'service', :'service' || '_owner') \gexec

-- How the service's sessions behave. A session that hangs must not hold others up: every time-out here is shorter
-- than a lease.
SELECT format('ALTER ROLE %I SET %s', :'service', setting)
  FROM (VALUES
    -- A table of one page is otherwise read sequentially, through all of its dead versions.
    ('enable_seqscan = off'),
    -- A plan without an index costs 1e10 because of the line above, which would send it through the JIT compiler.
    ('jit = off'),
    -- Statements are prepared, few, and found by key: one plan each, no planning per execution.
    ('plan_cache_mode = force_generic_plan'),
    ('statement_timeout = ''10s'''),
    ('lock_timeout = ''4s'''),
    ('idle_in_transaction_session_timeout = ''4s'''),
    -- Over TCP, a client that vanished holds its locks no longer than one that is there.
    ('tcp_keepalives_idle = 2'), ('tcp_keepalives_interval = 1'), ('tcp_keepalives_count = 3'),
    ('tcp_user_timeout = ''5s'''),
    ('timezone = ''UTC'''),
    -- What is bound never reaches the server's log: among it are people's texts and numbers, and proofs.
    ('log_parameter_max_length = 0'),
    ('log_parameter_max_length_on_error = 0'),
    -- Statements name their schema; nothing is found by accident.
    ('search_path = pg_catalog')
  ) AS behaviour (setting) \gexec

SELECT format('CREATE SCHEMA %I AUTHORIZATION %I', :'service', :'service' || '_owner')
 WHERE NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = :'service') \gexec
SELECT format('ALTER SCHEMA %I OWNER TO %I', :'service', :'service' || '_owner') \gexec
SELECT format('COMMENT ON SCHEMA %I IS %L', :'service',
              'What service ' || :'service' || ' owns. Nobody else writes here.') \gexec
SELECT format('REVOKE ALL ON SCHEMA %I FROM PUBLIC', :'service') \gexec
SELECT format('GRANT USAGE ON SCHEMA %I TO %I, quartet_reader, quartet_operator', :'service', :'service') \gexec
SELECT format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), :'service') \gexec

SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I, %I', p.oid::regprocedure, :'service', :'service' || '_owner')
  FROM pg_proc AS p
 WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.proname ~ '^pg_(try_)?advisory_' \gexec
SELECT format('GRANT USAGE ON SCHEMA quartet TO %I', :'service') \gexec
SELECT format('GRANT EXECUTE ON FUNCTION quartet.end_long_reads(interval) TO %I', :'service') \gexec

-- Migrations are applied by quartet_migrator, who becomes the owner (SET ROLE) and never inherits its rights.
SELECT format('GRANT %I TO quartet_migrator', :'service' || '_owner') \gexec

-- What the owner will create: people at psql may read it; PUBLIC may not execute it.
SELECT format('ALTER DEFAULT PRIVILEGES FOR ROLE %I REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC',
              :'service' || '_owner') \gexec
SELECT format('ALTER DEFAULT PRIVILEGES FOR ROLE %I IN SCHEMA %I GRANT SELECT ON TABLES TO quartet_reader',
              :'service' || '_owner', :'service') \gexec

RESET client_min_messages;
