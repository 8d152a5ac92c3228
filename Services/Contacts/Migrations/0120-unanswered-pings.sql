-- Pings that raise an alert when they aren't answered. No row is rewritten: what is null says that nothing was chosen, so pings that
-- wait for an answer raise none.
ALTER TABLE contacts.account
    ADD COLUMN ping_escalation json,
    ADD COLUMN next_ping_at    timestamptz;
COMMENT ON COLUMN contacts.account.ping_escalation IS 'How long responders'' pings may stay unanswered before an alert is raised (after, in microseconds), and when none is (quietHours, in minutes of the day in UTC). Null if nothing is chosen.';
COMMENT ON COLUMN contacts.account.next_ping_at IS 'When it is looked at next whether a ping wasn''t answered in time; null if none may be. A timer is set for it.';

ALTER TABLE contacts.relation
    ADD COLUMN low_ping_watch       json,
    ADD COLUMN low_ping_escalation  interval,
    ADD COLUMN high_ping_watch      json,
    ADD COLUMN high_ping_escalation interval,
    ADD CONSTRAINT ping_escalation_is_a_day_at_most
        CHECK (low_ping_escalation BETWEEN '0 seconds' AND '24 hours'
               AND high_ping_escalation BETWEEN '0 seconds' AND '24 hours') NOT VALID;
COMMENT ON COLUMN contacts.relation.low_ping_watch IS 'What is kept of the lesser side''s pings that may raise an alert: the ping (sent), when it is due, what was done about it, and when one last raised an alert or was added to one. If sent isn''t low_pinged_at, it says nothing about the ping that waits.';
COMMENT ON COLUMN contacts.relation.low_ping_escalation IS 'How long the greater side''s pings to the lesser may stay unanswered before an alert is raised, zero for ever; null for as long as everybody''s.';
COMMENT ON COLUMN contacts.relation.high_ping_watch IS 'What is kept of the greater side''s pings that may raise an alert: the ping (sent), when it is due, what was done about it, and when one last raised an alert or was added to one. If sent isn''t high_pinged_at, it says nothing about the ping that waits.';
COMMENT ON COLUMN contacts.relation.high_ping_escalation IS 'How long the lesser side''s pings to the greater may stay unanswered before an alert is raised, zero for ever; null for as long as everybody''s.';

ALTER TABLE contacts.alarm ADD COLUMN pinged_at timestamptz;
COMMENT ON COLUMN contacts.alarm.pinged_at IS 'When the ping was sent that made an alert because it wasn''t answered, or the first of several. Null once the person has called for help, too.';

-- What is kept of a ping (watch) says nothing of another, or once nothing comes of it any more. Each half reads one table and joins
-- nothing: otherwise PostgreSQL finds no order in the indexes, and a page of contacts reads all of them.
CREATE OR REPLACE VIEW contacts.contact AS
SELECT r.low AS account, r.high AS contact, r.low_nickname AS nickname, r.low_notes AS notes,
       r.high_is_responder AS is_my_responder, r.low_is_responder AS i_am_responder,
       r.low_send_pings AS send_pings, r.low_receive_pings AS receive_pings,
       r.low_notify_on_check_in AS notify_on_check_in, r.low_notify_on_missed_check_in AS notify_on_missed_check_in,
       r.low_pinged_at AS outgoing_ping_at, r.high_pinged_at AS incoming_ping_at,
       r.low_role_requested_at AS outgoing_role_request_at, r.high_role_requested_at AS incoming_role_request_at,
       r.added_at, r.low_updated_at AS updated_at, r.low_version AS version,
       CASE WHEN (r.low_ping_watch ->> 'sent')::bigint = contacts.microseconds(r.low_pinged_at)
             AND r.low_ping_watch ->> 'isOver' IS DISTINCT FROM 'true' AND r.low_ping_watch ->> 'isQuiet' IS DISTINCT FROM 'true'
            THEN (r.low_ping_watch ->> 'due')::bigint END AS outgoing_ping_due,
       CASE WHEN (r.low_ping_watch ->> 'sent')::bigint = contacts.microseconds(r.low_pinged_at)
             AND r.low_ping_watch ->> 'isOver' IS DISTINCT FROM 'true' AND r.low_ping_watch ->> 'isQuiet' = 'true'
            THEN true END AS is_outgoing_ping_later,
       CASE WHEN (r.high_ping_watch ->> 'sent')::bigint = contacts.microseconds(r.high_pinged_at)
             AND r.high_ping_watch ->> 'isOver' IS DISTINCT FROM 'true'
            THEN (r.high_ping_watch ->> 'due')::bigint END AS incoming_ping_due,
       (extract(epoch FROM r.low_ping_escalation) * 1000000)::bigint AS ping_escalation,
       CASE WHEN (r.low_ping_watch ->> 'sent')::bigint = contacts.microseconds(r.low_pinged_at)
             AND r.low_ping_watch ->> 'isOver' = 'true' AND r.low_ping_watch ->> 'due' IS NOT NULL
            THEN true END AS is_outgoing_ping_over
  FROM contacts.relation AS r
UNION ALL
SELECT r.high AS account, r.low AS contact, r.high_nickname AS nickname, r.high_notes AS notes,
       r.low_is_responder AS is_my_responder, r.high_is_responder AS i_am_responder,
       r.high_send_pings AS send_pings, r.high_receive_pings AS receive_pings,
       r.high_notify_on_check_in AS notify_on_check_in, r.high_notify_on_missed_check_in AS notify_on_missed_check_in,
       r.high_pinged_at AS outgoing_ping_at, r.low_pinged_at AS incoming_ping_at,
       r.high_role_requested_at AS outgoing_role_request_at, r.low_role_requested_at AS incoming_role_request_at,
       r.added_at, r.high_updated_at AS updated_at, r.high_version AS version,
       CASE WHEN (r.high_ping_watch ->> 'sent')::bigint = contacts.microseconds(r.high_pinged_at)
             AND r.high_ping_watch ->> 'isOver' IS DISTINCT FROM 'true' AND r.high_ping_watch ->> 'isQuiet' IS DISTINCT FROM 'true'
            THEN (r.high_ping_watch ->> 'due')::bigint END AS outgoing_ping_due,
       CASE WHEN (r.high_ping_watch ->> 'sent')::bigint = contacts.microseconds(r.high_pinged_at)
             AND r.high_ping_watch ->> 'isOver' IS DISTINCT FROM 'true' AND r.high_ping_watch ->> 'isQuiet' = 'true'
            THEN true END AS is_outgoing_ping_later,
       CASE WHEN (r.low_ping_watch ->> 'sent')::bigint = contacts.microseconds(r.low_pinged_at)
             AND r.low_ping_watch ->> 'isOver' IS DISTINCT FROM 'true'
            THEN (r.low_ping_watch ->> 'due')::bigint END AS incoming_ping_due,
       (extract(epoch FROM r.high_ping_escalation) * 1000000)::bigint AS ping_escalation,
       CASE WHEN (r.high_ping_watch ->> 'sent')::bigint = contacts.microseconds(r.high_pinged_at)
             AND r.high_ping_watch ->> 'isOver' = 'true' AND r.high_ping_watch ->> 'due' IS NOT NULL
            THEN true END AS is_outgoing_ping_over
  FROM contacts.relation AS r;
COMMENT ON COLUMN contacts.contact.outgoing_ping_due IS 'When an alert is raised unless the other has answered this side''s ping, in microseconds; null if none is, or is_outgoing_ping_later.';
COMMENT ON COLUMN contacts.contact.is_outgoing_ping_later IS 'True if the other''s quiet hours put that alert off; otherwise null.';
COMMENT ON COLUMN contacts.contact.is_outgoing_ping_over IS 'True if that alert might have been raised, and isn''t any more; otherwise null.';
COMMENT ON COLUMN contacts.contact.incoming_ping_due IS 'When an alert is raised unless this side has answered the other''s ping, in microseconds; null if none is.';
COMMENT ON COLUMN contacts.contact.ping_escalation IS 'How long the other''s pings may stay unanswered before an alert is raised, in microseconds, zero for ever; null for as long as everybody''s.';

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
           'pingEscalation', CASE WHEN a.closed_at IS NULL THEN a.ping_escalation END,
           'contacts', coalesce((
               SELECT json_agg(json_build_object(
                          'account', c.contact, 'nickname', c.nickname, 'notes', c.notes, 'isMyResponder', c.is_my_responder,
                          'iAmResponder', c.i_am_responder, 'sendPings', c.send_pings, 'receivePings', c.receive_pings,
                          'notifyOnCheckIn', c.notify_on_check_in, 'notifyOnMissedCheckIn', c.notify_on_missed_check_in,
                          'outgoingPing', contacts.microseconds(c.outgoing_ping_at),
                          'incomingPing', contacts.microseconds(c.incoming_ping_at),
                          'outgoingPingDue', c.outgoing_ping_due,
                          'isOutgoingPingLater', c.is_outgoing_ping_later,
                          'isOutgoingPingOver', c.is_outgoing_ping_over, 'incomingPingDue', c.incoming_ping_due,
                          'pingEscalation', c.ping_escalation,
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
           'pingEscalation', CASE WHEN a.closed_at IS NULL THEN a.ping_escalation END,
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
