ALTER TABLE session.group_session ADD COLUMN started_at timestamptz;
COMMENT ON COLUMN session.group_session.started_at IS 'When somebody joined the one who was alone in it, for the first time; NULL before, and if a process of an earlier release handled it.';
-- compatible with 0.1.0
