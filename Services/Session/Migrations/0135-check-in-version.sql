-- The view is replaced in a migration of its own: its readers lock it before the table.
ALTER TABLE session.account ADD COLUMN check_in_version bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN session.account.check_in_version IS 'Counts the changes of the interval and of daily times. A process of an earlier release doesn''t count its own.';
-- compatible with 0.1.0
