-- Creates a test's database as a copy of a template. Variables: template, database, run.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
SELECT format('CREATE DATABASE %I TEMPLATE %I', :'database', :'template') \gexec
SELECT format('COMMENT ON DATABASE %I IS %L', :'database', 'Quartet test run ' || :'run') \gexec

-- PostgreSQL doesn't copy the database's own privileges.
SELECT format('REVOKE ALL ON DATABASE %I FROM PUBLIC', :'database') \gexec
SELECT format('GRANT %s ON DATABASE %I TO %s', granted.privilege_type, :'database', granted.grantee::regrole)
  FROM pg_database, aclexplode(datacl) AS granted
 WHERE datname = :'template' AND granted.grantee <> 0 AND granted.grantee <> datdba \gexec
