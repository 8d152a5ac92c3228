-- No constraint ties these to the deadline: a process of an earlier release, which doesn't know them, moves that.
ALTER TABLE session.account
    ADD COLUMN paused_until      timestamptz,
    ADD COLUMN pause_counts_from timestamptz,
    ADD COLUMN pause_used        interval NOT NULL DEFAULT '0 seconds',
    ADD COLUMN pauses_counted_since timestamptz,
    ADD COLUMN pauses            int      NOT NULL DEFAULT 0,
    ADD COLUMN pause_reminded    boolean  NOT NULL DEFAULT false;
COMMENT ON COLUMN session.account.paused_until IS 'Until when check-ins are paused. It says nothing unless due_at is one interval later.';
COMMENT ON COLUMN session.account.pause_counts_from IS 'From when the pause counts: its beginning, its last change or, if that was later, the last check-in. Without a pause, when the last one ended; null after a check-in.';
COMMENT ON COLUMN session.account.pause_used IS 'How long check-ins were paused before that and since the last one. All together are at most 30 days.';
COMMENT ON COLUMN session.account.pauses_counted_since IS 'The start of the day in which beginnings and changes of pauses are counted.';
COMMENT ON COLUMN session.account.pauses IS 'How many there were in that day.';
COMMENT ON COLUMN session.account.pause_reminded IS 'Whether the person was reminded of its end.';

CREATE OR REPLACE VIEW session.account_state AS
SELECT a.account,
       CASE WHEN a.closed_at IS NULL THEN
           json_strip_nulls(json_build_object(
               'account', a.account,
               'handle', a.handle,
               'name', a.name,
               'emergencyNote', a.emergency_note,
               'profileVersion', a.profile_version,
               'phone', CASE WHEN a.phone IS NOT NULL THEN
                            json_build_object('number', a.phone, 'region', a.phone_region) END,
               'avatar', a.avatar,
               'onboarding', CASE WHEN a.name IS NULL THEN 'needsProfile' ELSE 'done' END,
               'isSingleDevice', a.is_single_device,
               'isConfirmationRequired', a.is_confirmation_required,
               'recoveryCodes', coalesce((SELECT octet_length(r.hashes) / 32 FROM session.recovery AS r
                                           WHERE r.account = a.account), 0),
               'checkIn', json_build_object(
                   'interval', (extract(epoch FROM a.check_in_interval) * 1000000)::bigint,
                   'reminders', array_remove(ARRAY[CASE WHEN a.reminds_two_hours THEN 'twoHours' END,
                                                   CASE WHEN a.reminds_thirty_minutes THEN 'thirtyMinutes' END], NULL),
                   'last', session.microseconds(a.last_check_in_at),
                   'due', session.microseconds(a.due_at),
                   'missed', a.missed_alarm IS NOT NULL,
                   'alarm', a.missed_alarm,
                   'grace', CASE WHEN a.check_in_grace > interval '0' THEN
                                (extract(epoch FROM a.check_in_grace) * 1000000)::bigint END,
                   'graceEnds', CASE WHEN a.missed_alarm IS NULL AND a.graced_due_at = a.due_at
                                      AND a.grace_ends_at > a.due_at THEN session.microseconds(a.grace_ends_at) END,
                   'pausedUntil', CASE WHEN a.missed_alarm IS NULL AND a.due_at = a.paused_until + a.check_in_interval
                                       THEN session.microseconds(a.paused_until) END),
               'alertRaised', session.microseconds(a.alert_raised_at),
               'alertAlarm', a.alert_alarm,
               'devices', coalesce((
                   SELECT json_agg(json_build_object(
                              'id', d.device, 'name', d.name, 'signedIn', session.microseconds(d.signed_in_at),
                              'lastSeen', session.microseconds(d.last_seen_at)) ORDER BY d.device)
                     FROM session.device AS d
                    WHERE d.account = a.account AND d.signed_out_at IS NULL), '[]'),
               'isClosed', false))
       ELSE
           json_build_object(
               'account', a.account, 'emergencyNote', '', 'profileVersion', 0, 'isSingleDevice', false,
               'isConfirmationRequired', false, 'recoveryCodes', 0,
               'checkIn', json_build_object('interval', 86400000000, 'reminders', ARRAY['twoHours', 'thirtyMinutes'],
                                            'missed', false),
               'devices', '[]'::json, 'isClosed', true)
       END AS state
  FROM session.account AS a;
-- compatible with 0.1.0
