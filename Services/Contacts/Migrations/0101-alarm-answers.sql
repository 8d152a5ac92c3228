-- What responders answer to alarms. A process of an earlier release, which doesn't know these columns, may let a row of
-- contacts.alarm be about the next alarm without changing them: then they say nothing.
ALTER TABLE contacts.alarm
    ADD COLUMN answered_alarm uuid,
    ADD COLUMN unanswered_at timestamptz,
    ADD COLUMN first_safe_at timestamptz,
    ADD COLUMN told_again_at timestamptz,
    ADD COLUMN called_again_at timestamptz,
    ADD COLUMN hold_version  int NOT NULL DEFAULT 0,
    ADD COLUMN closing_at    timestamptz;
COMMENT ON COLUMN contacts.alarm.answered_alarm IS 'The alarm that the following columns are about. They say nothing about another one.';
COMMENT ON COLUMN contacts.alarm.unanswered_at IS 'When it was said that nobody is on it; null if it wasn''t, or if somebody has been since.';
COMMENT ON COLUMN contacts.alarm.first_safe_at IS 'When a responder first said that the dependent is safe. For a day from then on that holds repetitions back.';
COMMENT ON COLUMN contacts.alarm.told_again_at IS 'When all responders were told again last, because one said that help is needed.';
COMMENT ON COLUMN contacts.alarm.called_again_at IS 'When the dependent last called for help again. What was answered before counts no more, unless it is that help is needed.';
COMMENT ON COLUMN contacts.alarm.hold_version IS 'How often what holds repetitions back has changed. Session takes a change only if it is a later one.';
COMMENT ON COLUMN contacts.alarm.closing_at IS 'When it was decided that the alarm is closed, because a responder said that the dependent is safe. For ten minutes it can''t be answered.';

ALTER TABLE contacts.alarm_recipient
    ADD COLUMN is_responder boolean  NOT NULL DEFAULT true,
    ADD COLUMN answer       text,
    ADD COLUMN answered_at  timestamptz,
    ADD COLUMN pressed_at   timestamptz,
    ADD COLUMN on_it_until  timestamptz,
    ADD COLUMN on_it_used   interval NOT NULL DEFAULT '0 seconds',
    ADD COLUMN said_safe_at timestamptz,
    ADD COLUMN answers      int      NOT NULL DEFAULT 0,
    ADD COLUMN hidden_from  json,
    ADD CONSTRAINT answer_is_known CHECK (answer IN ('onIt', 'safe', 'needsHelp', 'cannot')) NOT VALID,
    ADD CONSTRAINT answer_has_times
        CHECK ((answer IS NULL) = (answered_at IS NULL) AND (answer IS NULL) = (pressed_at IS NULL)) NOT VALID,
    ADD CONSTRAINT only_who_is_on_it_is_so_until CHECK (on_it_until IS NULL OR answer = 'onIt') NOT VALID,
    ADD CONSTRAINT only_who_said_safe_said_it_at_a_time CHECK (said_safe_at IS NULL OR answer = 'safe') NOT VALID;
COMMENT ON COLUMN contacts.alarm_recipient.is_responder IS 'Whether the one who was told is still the dependent''s responder, and so sees what others answer.';
COMMENT ON COLUMN contacts.alarm_recipient.answer IS 'What the responder answered: onIt, safe, needsHelp or cannot. Null if nothing that stands.';
COMMENT ON COLUMN contacts.alarm_recipient.answered_at IS 'When that was handled.';
COMMENT ON COLUMN contacts.alarm_recipient.pressed_at IS 'When the responder gave it, as the app says. One that was given before, and comes late, changes nothing.';
COMMENT ON COLUMN contacts.alarm_recipient.on_it_until IS 'Until when the responder is on it, as far as that holds repetitions back.';
COMMENT ON COLUMN contacts.alarm_recipient.on_it_used IS 'For how long the responder was on it before. Two hours of each hold repetitions back.';
COMMENT ON COLUMN contacts.alarm_recipient.said_safe_at IS 'When the responder last said that the dependent is safe; null if that closes no alarm, because somebody has said the opposite. A day later the alarm is closed.';
COMMENT ON COLUMN contacts.alarm_recipient.answers IS 'How often the responder answered. After some answers there must be a pause between two.';
COMMENT ON COLUMN contacts.alarm_recipient.hidden_from IS 'The responders whom this one had blocked when answering, as an array: they don''t see it, unless help is needed.';

CREATE OR REPLACE VIEW contacts.contacts_state AS
SELECT a.account,
       json_strip_nulls(json_build_object(
           'account', a.account,
           'code', a.code,
           'isApprovalRequired', a.is_approval_required,
           'isClosed', a.closed_at IS NOT NULL,
           'responderReach',
               CASE WHEN a.closed_at IS NOT NULL THEN NULL
                    WHEN a.responder_reach IS NOT NULL THEN a.responder_reach
                    WHEN EXISTS (SELECT FROM contacts.relation AS r
                                  WHERE r.low = a.account AND r.high_is_responder AND r.high_notify_on_missed_check_in)
                      OR EXISTS (SELECT FROM contacts.relation AS r
                                  WHERE r.high = a.account AND r.low_is_responder AND r.low_notify_on_missed_check_in)
                    THEN 'reachable'
                    ELSE 'nobody' END,
           'alarmAnswers', (
               SELECT json_agg(json_build_object(
                          'dependent', w.account, 'alarm', w.alarm, 'responder', w.responder, 'answer', w.answer,
                          'until', contacts.microseconds(w.on_it_until), 'answered', contacts.microseconds(w.answered_at))
                          ORDER BY w.alarm, w.responder)
                 FROM (SELECT r.* FROM contacts.alarm_recipient AS r WHERE r.account = a.account
                        UNION ALL
                       SELECT r.*
                         FROM contacts.alarm_recipient AS t
                         JOIN contacts.alarm_recipient AS r ON r.account = t.account AND r.alarm = t.alarm
                        WHERE t.responder = a.account AND t.is_responder) AS w
                WHERE w.answer IS NOT NULL
                  AND (w.hidden_from IS NULL OR w.answer = 'needsHelp' OR NOT w.hidden_from::jsonb ? a.account::text)),
           'contacts', coalesce((
               SELECT json_agg(json_build_object(
                          'account', c.contact, 'nickname', c.nickname, 'notes', c.notes, 'isMyResponder', c.is_my_responder,
                          'iAmResponder', c.i_am_responder, 'sendPings', c.send_pings, 'receivePings', c.receive_pings,
                          'notifyOnCheckIn', c.notify_on_check_in, 'notifyOnMissedCheckIn', c.notify_on_missed_check_in,
                          'outgoingPing', contacts.microseconds(c.outgoing_ping_at),
                          'incomingPing', contacts.microseconds(c.incoming_ping_at),
                          'outgoingRoleRequest', contacts.microseconds(c.outgoing_role_request_at),
                          'incomingRoleRequest', contacts.microseconds(c.incoming_role_request_at),
                          'added', contacts.microseconds(c.added_at), 'updated', contacts.microseconds(c.updated_at),
                          'version', c.version) ORDER BY c.contact)
                 FROM contacts.contact AS c
                WHERE c.account = a.account), '[]'),
           'requests', coalesce((
               SELECT json_agg(json_build_object(
                          'account', w.contact, 'direction', w.direction, 'isMyResponder', w.is_my_responder,
                          'iAmResponder', w.i_am_responder, 'requested', contacts.microseconds(w.requested_at)) ORDER BY w.contact)
                 FROM (SELECT r.asked AS contact, 'outgoing' AS direction, r.is_my_responder, r.i_am_responder, r.requested_at
                         FROM contacts.request AS r
                        WHERE r.asker = a.account
                        UNION ALL
                       SELECT r.asker, 'incoming' AS direction, r.i_am_responder, r.is_my_responder, r.requested_at
                         FROM contacts.request AS r
                        WHERE r.asked = a.account) AS w), '[]'),
           'blocked', coalesce((
               SELECT json_agg(b.blocked ORDER BY b.blocked)
                 FROM contacts.block AS b
                WHERE b.blocker = a.account), '[]'))) AS state
  FROM contacts.account AS a;

CREATE OR REPLACE VIEW contacts.contacts_summary AS
SELECT a.account,
       json_strip_nulls(json_build_object(
           'account', a.account,
           'code', a.code,
           'isApprovalRequired', a.is_approval_required,
           'isClosed', a.closed_at IS NOT NULL,
           'responderReach',
               CASE WHEN a.closed_at IS NOT NULL THEN NULL
                    WHEN a.responder_reach IS NOT NULL THEN a.responder_reach
                    WHEN EXISTS (SELECT FROM contacts.relation AS r
                                  WHERE r.low = a.account AND r.high_is_responder AND r.high_notify_on_missed_check_in)
                      OR EXISTS (SELECT FROM contacts.relation AS r
                                  WHERE r.high = a.account AND r.low_is_responder AND r.low_notify_on_missed_check_in)
                    THEN 'reachable'
                    ELSE 'nobody' END,
           'alarmAnswers', (
               SELECT json_agg(json_build_object(
                          'dependent', w.account, 'alarm', w.alarm, 'responder', w.responder, 'answer', w.answer,
                          'until', contacts.microseconds(w.on_it_until), 'answered', contacts.microseconds(w.answered_at))
                          ORDER BY w.alarm, w.responder)
                 FROM (SELECT r.* FROM contacts.alarm_recipient AS r WHERE r.account = a.account
                        UNION ALL
                       SELECT r.*
                         FROM contacts.alarm_recipient AS t
                         JOIN contacts.alarm_recipient AS r ON r.account = t.account AND r.alarm = t.alarm
                        WHERE t.responder = a.account AND t.is_responder) AS w
                WHERE w.answer IS NOT NULL
                  AND (w.hidden_from IS NULL OR w.answer = 'needsHelp' OR NOT w.hidden_from::jsonb ? a.account::text)),
           'contacts', '[]'::json,
           'requests', coalesce((
               SELECT json_agg(json_build_object(
                          'account', w.contact, 'direction', w.direction, 'isMyResponder', w.is_my_responder,
                          'iAmResponder', w.i_am_responder, 'requested', contacts.microseconds(w.requested_at)) ORDER BY w.contact)
                 FROM (SELECT r.asked AS contact, 'outgoing' AS direction, r.is_my_responder, r.i_am_responder, r.requested_at
                         FROM contacts.request AS r
                        WHERE r.asker = a.account
                        UNION ALL
                       SELECT r.asker, 'incoming' AS direction, r.i_am_responder, r.is_my_responder, r.requested_at
                         FROM contacts.request AS r
                        WHERE r.asked = a.account) AS w), '[]'),
           'blocked', coalesce((
               SELECT json_agg(b.blocked ORDER BY b.blocked)
                 FROM contacts.block AS b
                WHERE b.blocker = a.account), '[]'))) AS state
  FROM contacts.account AS a;
-- compatible with 0.1.0
