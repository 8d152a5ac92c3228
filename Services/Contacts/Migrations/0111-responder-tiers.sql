-- Responders who hear of a missed check-in later than others. No row is rewritten: what is null says that all hear at once.
ALTER TABLE contacts.account
    ADD COLUMN responder_tiers json,
    ADD COLUMN next_tier_at    timestamptz;
COMMENT ON COLUMN contacts.account.responder_tiers IS 'Who hears of a missed check-in later than the other responders: an array of tiers with after (microseconds from when the first hear) and responders. Null if all hear at once.';
COMMENT ON COLUMN contacts.account.next_tier_at IS 'When the next tier of responders is told of the alarm that is on; null if none waits. A timer is set for it.';

ALTER TABLE contacts.alarm
    ADD COLUMN later_tiers      json,
    ADD COLUMN tiers_begun      int      NOT NULL DEFAULT 0,
    ADD COLUMN first_tier_at    timestamptz,
    ADD COLUMN tiers_held       interval NOT NULL DEFAULT '0 seconds',
    ADD COLUMN tiers_held_since timestamptz,
    ADD COLUMN tiers_held_until timestamptz,
    ADD CONSTRAINT no_more_tiers_begin_than_there_are
        CHECK (tiers_begun BETWEEN 0 AND coalesce(json_array_length(later_tiers), 0)) NOT VALID,
    ADD CONSTRAINT tiers_count_from_the_first CHECK ((later_tiers IS NULL) = (first_tier_at IS NULL)) NOT VALID,
    ADD CONSTRAINT hold_of_tiers_has_both_ends
        CHECK ((tiers_held_since IS NULL) = (tiers_held_until IS NULL) AND tiers_held_since < tiers_held_until) NOT VALID;
COMMENT ON COLUMN contacts.alarm.later_tiers IS 'contacts.account.responder_tiers as it was when the alarm began. Like the others of answered_alarm it says nothing about another alarm.';
COMMENT ON COLUMN contacts.alarm.tiers_begun IS 'How many of the later tiers have been told.';
COMMENT ON COLUMN contacts.alarm.first_tier_at IS 'When the first tier was told; null if all are told at once.';
COMMENT ON COLUMN contacts.alarm.tiers_held IS 'For how long the later tiers have waited because somebody was on it, without the time since tiers_held_since. At most four hours in all.';
COMMENT ON COLUMN contacts.alarm.tiers_held_since IS 'Since when they wait because somebody is on it.';
COMMENT ON COLUMN contacts.alarm.tiers_held_until IS 'Until when they wait for that.';

ALTER TABLE contacts.alarm_recipient ADD COLUMN is_out_of_reach boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN contacts.alarm_recipient.is_out_of_reach IS 'Whether nothing had reached the responder for long when they were told. The next tier doesn''t wait for them.';

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
           'responderTiers', CASE WHEN a.closed_at IS NULL THEN a.responder_tiers END,
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
           'responderTiers', CASE WHEN a.closed_at IS NULL THEN a.responder_tiers END,
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
