-- No constraint ties the last two to the deadline: a process of an earlier release, which doesn't know them, moves that.
ALTER TABLE session.account
    ADD COLUMN check_in_grace interval NOT NULL DEFAULT '0 seconds',
    ADD COLUMN graced_due_at  timestamptz,
    ADD COLUMN grace_ends_at  timestamptz,
    ADD CONSTRAINT grace_is_at_most_an_hour CHECK (check_in_grace BETWEEN interval '0' AND interval '60 minutes');
COMMENT ON COLUMN session.account.check_in_grace IS 'How long after a deadline others hear that it was missed.';
COMMENT ON COLUMN session.account.graced_due_at IS 'The deadline that has passed, after which nothing changes its grace any more. If it isn''t due_at, it and grace_ends_at say nothing.';
COMMENT ON COLUMN session.account.grace_ends_at IS 'When the grace of that deadline ends: until then nobody but the person is told.';
-- compatible with 0.1.0
