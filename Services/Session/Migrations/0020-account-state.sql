-- The JSON is AccountState of the contract; a test compares the two.
CREATE VIEW session.account_state AS
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
                   'alarm', a.missed_alarm),
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
COMMENT ON VIEW session.account_state IS 'The state of the stream account/<account>, as JSON, without secrets. Read it together with the log''s position, in one statement.';
COMMENT ON COLUMN session.account_state.account IS 'The account.';
COMMENT ON COLUMN session.account_state.state IS 'AccountState of the contract, with times in microseconds.';

GRANT SELECT ON session.account_state TO session_client;
