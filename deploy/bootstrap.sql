-- Roles, database and schemas of Quartet. Run it once as a superuser, before the first migration, and again whenever
-- you like: it is idempotent and takes back what was granted beside it.
--
--   psql 'postgresql://postgres@db.example.com/postgres' -v database=quartet -f deploy/bootstrap.sql
--
-- No passwords are set here. On a private socket (deploy/postgres.sh) none are needed. On a server of yours say how each
-- role gets in, in pg_hba.conf, and give passwords to those that need one: session, contacts, notifications,
-- session_client, quartet_migrator, quartet_reader, quartet_operator. In psql, `\password contacts` sends only the hash.
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

-- The law: session-client may look at what owners publish, and each service at the commands addressed to it. USAGE only
-- opens the door; which tables may be read is granted beside each table, in the migrations.
GRANT USAGE ON SCHEMA session, contacts, notifications TO session_client, session_client_owner;
GRANT USAGE ON SCHEMA session_client
   TO session, contacts, notifications, session_owner, contacts_owner, notifications_owner;
