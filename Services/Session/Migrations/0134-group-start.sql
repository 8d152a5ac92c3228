-- A constant default scans and rewrites nothing. All sessions of before have started, and nobody is to hear of it now.
ALTER TABLE session.group_session ADD COLUMN started_at timestamptz DEFAULT '1970-01-01 00:00:00+00';
ALTER TABLE session.group_session ALTER COLUMN started_at DROP DEFAULT;
COMMENT ON COLUMN session.group_session.started_at IS 'When somebody joined the one who was alone in it, for the first time; NULL before, and if a process of an earlier release handled it. 1970 for sessions that are older than this column.';
-- compatible with 0.1.0
