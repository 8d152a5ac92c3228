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
           'responderTiersVersion', CASE WHEN a.closed_at IS NULL THEN nullif(a.responder_tiers_version, 0) END,
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
           'responderTiersVersion', CASE WHEN a.closed_at IS NULL THEN nullif(a.responder_tiers_version, 0) END,
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
