ALTER TABLE session.group_session ADD COLUMN started_at timestamptz;
-- Those that somebody had joined by then have started, and nobody is to hear of it now.
UPDATE session.group_session SET started_at = created_at WHERE ended_at IS NULL AND joins > 1;
COMMENT ON COLUMN session.group_session.started_at IS 'When somebody joined the one who was alone in it, for the first time; NULL before, and if a process of an earlier release handled it.';
-- compatible with 0.1.0
