-- Creates Quartet's roles, database and schemas. Run it as a superuser before the first migration. It can be repeated
-- at any time: it is idempotent, and revokes memberships that were granted by hand.
--
--   psql 'postgresql://postgres@db.example.com/postgres' -v database=quartet -f deploy/bootstrap.sql
--
-- It sets no passwords. On a private socket (deploy/postgres.sh) none are needed. On your own server, configure how
-- each role logs in (pg_hba.conf) and set a password for each that needs one: session, contacts, notifications,
-- session_client, quartet_migrator, quartet_reader, quartet_operator. In psql, `\password contacts` sends only the
-- hash.
\set ON_ERROR_STOP on
\set QUIET on
\if :{?database}
\else
  \set database quartet
\endif

SELECT format('CREATE DATABASE %I TEMPLATE template0 ENCODING ''UTF8''', :'database')
 WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'database') \gexec
\connect :"database"
SELECT format('COMMENT ON DATABASE %I IS %L', :'database',
              'Quartet: state that people share, live and exactly once.') \gexec

\ir database.sql

\set service session
\ir service.sql
\set service contacts
\ir service.sql
\set service notifications
\ir service.sql
\set service session_client
\ir service.sql

-- session-client may read what the other services publish, and each service the commands addressed to it. USAGE on the
-- schema is only the precondition; the migrations grant SELECT on each table.
GRANT USAGE ON SCHEMA session, contacts, notifications TO session_client, session_client_owner;
GRANT USAGE ON SCHEMA session_client
   TO session, contacts, notifications, session_owner, contacts_owner, notifications_owner;
