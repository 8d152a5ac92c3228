--! include bus/canary.sql schema=session reader=session_client
--! include bus/canary-support.sql schema=session reader=session_client

-- A canary is a person as far as its deadline goes. It has no handle, so nobody finds it, and no deadline while it rests.
-- 0086-valid-canaries.sql validates the constraints, which then keep nobody waiting.
ALTER TABLE session.account
    DROP CONSTRAINT open_account_has_a_handle,
    DROP CONSTRAINT open_account_has_a_deadline,
    ADD CONSTRAINT open_account_has_a_handle
        CHECK (CASE WHEN session.is_canary(account) THEN handle IS NULL ELSE closed_at IS NOT NULL OR handle IS NOT NULL END)
        NOT VALID,
    ADD CONSTRAINT open_account_has_a_deadline
        CHECK (session.is_canary(account) OR (closed_at IS NULL) = (due_at IS NOT NULL)) NOT VALID;
COMMENT ON TABLE session.account IS
    'Every account. A closed one keeps its id permanently and its handle for a month, but no personal data. The canaries are here, too (session.is_canary).';

CREATE OR REPLACE VIEW session.handle AS
SELECT a.handle, a.account
  FROM session.account AS a
 WHERE a.closed_at IS NULL AND a.handle IS NOT NULL;

CREATE OR REPLACE VIEW session.profile AS
SELECT a.account, a.handle, a.name, a.emergency_note, a.profile_version AS version
  FROM session.account AS a
 WHERE a.closed_at IS NULL AND a.handle IS NOT NULL;

CREATE VIEW session.canary AS
SELECT a.account, a.check_in_interval, a.opened_at, a.last_check_in_at, a.due_at, a.missed_alarm AS alarm
  FROM session.account AS a
 WHERE session.is_canary(a.account);
COMMENT ON VIEW session.canary IS 'The synthetic persons whose alarms show that the chain works: one for each partition.';
COMMENT ON COLUMN session.canary.account IS 'The canary''s account.';
COMMENT ON COLUMN session.canary.check_in_interval IS 'How often it is missed.';
COMMENT ON COLUMN session.canary.opened_at IS 'When it was opened.';
COMMENT ON COLUMN session.canary.last_check_in_at IS 'When its last alarm ended.';
COMMENT ON COLUMN session.canary.due_at IS 'When it is missed next, or was; null while it rests.';
COMMENT ON COLUMN session.canary.alarm IS 'The alarm that is on; null if none is.';
GRANT SELECT ON session.canary TO session_client;
