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
                   'pausedUntil', CASE WHEN a.missed_alarm IS NULL
                                        AND CASE WHEN own.daily IS NULL THEN a.due_at = a.paused_until + a.check_in_interval
                                                 ELSE (own.daily ->> 'paused')::bigint = session.microseconds(a.paused_until) END
                                       THEN session.microseconds(a.paused_until) END,
                   'daily', valid.daily -> 'times',
                   'opens', CASE WHEN a.missed_alarm IS NULL THEN (own.daily ->> 'opens')::bigint END,
                   'version', nullif(a.check_in_version, 0)),
               'alertRaised', session.microseconds(a.alert_raised_at),
               'alertAlarm', a.alert_alarm,
               'lateCall', CASE WHEN (a.alert_late_call ->> 'alarm')::uuid = a.alert_alarm THEN a.alert_late_call -> 'call' END,
               'trip', CASE WHEN (a.trip #>> '{shown,alarm}') IS NULL
                              OR (a.trip #>> '{shown,alarm}')::uuid = a.alert_alarm THEN a.trip -> 'shown' END,
               'unanswered', CASE WHEN (a.unanswered #>> '{shown,alarm}')::uuid = a.alert_alarm THEN a.unanswered -> 'shown' END,
               'drill', a.drill,
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
  FROM session.account AS a
  LEFT JOIN LATERAL (SELECT a.daily
                      WHERE (a.daily ->> 'interval')::bigint = (extract(epoch FROM a.check_in_interval) * 1000000)::bigint)
            AS valid(daily) ON true
  LEFT JOIN LATERAL (SELECT valid.daily
                      WHERE (valid.daily ->> 'deadline')::bigint = session.microseconds(a.due_at)) AS own(daily) ON true;
-- compatible with 0.1.0
