-- compatible with 0.1.0
-- No stored command changes its place in an index by this: the new type has none yet.
CREATE OR REPLACE FUNCTION session_client.carries_secrets(type text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN type IN ('SignUp', 'SignIn', 'RefreshDevice', 'ChangePassword', 'ResetPassword', 'ConfirmIdentity', 'RequestSignInCode',
                    'SignInByPhone', 'RequestPhoneChange', 'ChangePhone', 'RenamePhone', 'MakeRecoveryCodes', 'SignInByRecoveryCode',
                    'ConfirmByRecoveryCode', 'UndoSecurityChanges', 'RegisterPush', 'ScheduleReminder');
COMMENT ON FUNCTION session_client.carries_secrets(text) IS
    'Whether commands of this type carry a proof of identity, a push token or what somebody wrote for themselves alone. This is the only list of such types.';

CREATE OR REPLACE FUNCTION session_client.secret_members(of_type text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
               WHEN of_type = 'SignUp' THEN ARRAY['verifier', 'device']
               WHEN of_type = 'SignIn' THEN ARRAY['verifier', 'device', 'known']
               WHEN of_type = 'SignInByPhone' THEN ARRAY['proof', 'device', 'known']
               WHEN of_type = 'SignInByRecoveryCode' THEN ARRAY['proof', 'device']
               WHEN of_type = 'RequestSignInCode' THEN ARRAY['proof', 'known']
               WHEN of_type IN ('RequestPhoneChange', 'ChangePhone', 'ConfirmByRecoveryCode') THEN ARRAY['proof']
               WHEN of_type = 'RefreshDevice' THEN ARRAY['token', 'next']
               WHEN of_type = 'MakeRecoveryCodes' THEN ARRAY['proofs']
               WHEN of_type = 'ChangePassword' THEN ARRAY['verifier', 'next']
               WHEN of_type = 'ResetPassword' THEN ARRAY['next']
               WHEN of_type = 'ConfirmIdentity' THEN ARRAY['verifier']
               WHEN of_type = 'UndoSecurityChanges' THEN ARRAY['token']
               WHEN of_type IN ('OpenAccount', 'ResetContactCode', 'AddContact', 'ContactsOpened', 'ContactCodeReset') THEN ARRAY['code']
               WHEN of_type IN ('RegisterPush', 'ForgetPush') THEN ARRAY['token']
               WHEN of_type = 'ScheduleReminder' THEN ARRAY['text']
               WHEN of_type = 'NotificationScheduled' THEN ARRAY['scheduled']
           END;

-- People at psql may ask for it, and read no notification's text by that.
CREATE OR REPLACE VIEW session_client.alarm_receipts WITH (security_invoker = true) AS
SELECT n.alarm, coalesce(n.subject, n.account) AS person, n.account AS recipient, n.kind,
       (n.details ->> 'count')::int AS repetition, n.id AS notification, h.due_at, h.happened_at,
       n.created_at AS notified_at, p.attempts AS push_attempts, p.pushed_at, p.answer AS push_answer, s.shown_at,
       n.read_at, n.created_at - h.since AS notified_after, p.pushed_at - h.since AS pushed_after,
       s.shown_at - h.since AS shown_after, n.read_at - h.since AS read_after, t.grace_ended_at
  FROM notifications.shown_notification AS n
 CROSS JOIN LATERAL (SELECT timestamptz 'epoch' + (n.details ->> 'deadline')::bigint * interval '1 microsecond' AS due_at,
                            timestamptz 'epoch' + (n.details ->> 'at')::bigint * interval '1 microsecond' AS happened_at,
                            -- A repetition doesn't say it, but the person's own first notification does.
                            (SELECT timestamptz 'epoch' + max((g.details ->> 'graceEnds')::bigint) * interval '1 microsecond'
                               FROM notifications.shown_notification AS g
                              WHERE g.alarm = n.alarm
                                AND n.kind IN ('checkInMissed', 'dependentCheckInMissed')) AS grace_ended_at
                    ) AS t
 CROSS JOIN LATERAL (SELECT t.due_at, t.happened_at,
                            CASE WHEN n.kind IN ('checkInMissed', 'dependentCheckInMissed')
                                 THEN coalesce(t.grace_ended_at, t.due_at, t.happened_at) ELSE t.happened_at END AS since) AS h
  LEFT JOIN LATERAL (SELECT count(*) AS attempts, min(a.began_at + a.took) FILTER (WHERE a.result = 'done') AS pushed_at,
                            (array_agg(a.result || ': ' || a.answer ORDER BY a.began_at DESC))[1] AS answer
                       FROM notifications.push_attempt AS a
                      WHERE a.account = n.account AND a.notification = n.id) AS p ON true
  LEFT JOIN LATERAL (SELECT min(s.shown_at) AS shown_at
                       FROM notifications.shown AS s
                      WHERE s.account = n.account AND s.notification = n.id) AS s ON true
 WHERE n.alarm IS NOT NULL AND NOT session_client.is_canary(n.account);
