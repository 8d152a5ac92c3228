CREATE VIEW contacts.contact AS
SELECT r.low AS account, r.high AS contact, r.low_nickname AS nickname, r.low_notes AS notes,
       r.high_is_responder AS is_my_responder, r.low_is_responder AS i_am_responder,
       r.low_send_pings AS send_pings, r.low_receive_pings AS receive_pings,
       r.low_notify_on_check_in AS notify_on_check_in, r.low_notify_on_missed_check_in AS notify_on_missed_check_in,
       r.low_pinged_at AS outgoing_ping_at, r.high_pinged_at AS incoming_ping_at,
       r.low_role_requested_at AS outgoing_role_request_at, r.high_role_requested_at AS incoming_role_request_at,
       r.added_at, r.low_updated_at AS updated_at, r.low_version AS version
  FROM contacts.relation AS r
UNION ALL
SELECT r.high AS account, r.low AS contact, r.high_nickname AS nickname, r.high_notes AS notes,
       r.low_is_responder AS is_my_responder, r.high_is_responder AS i_am_responder,
       r.high_send_pings AS send_pings, r.high_receive_pings AS receive_pings,
       r.high_notify_on_check_in AS notify_on_check_in, r.high_notify_on_missed_check_in AS notify_on_missed_check_in,
       r.high_pinged_at AS outgoing_ping_at, r.low_pinged_at AS incoming_ping_at,
       r.high_role_requested_at AS outgoing_role_request_at, r.low_role_requested_at AS incoming_role_request_at,
       r.added_at, r.high_updated_at AS updated_at, r.high_version AS version
  FROM contacts.relation AS r;
COMMENT ON VIEW contacts.contact IS 'Each relation as each of its two sides sees it.';
COMMENT ON COLUMN contacts.contact.account IS 'Whose view this is.';
COMMENT ON COLUMN contacts.contact.contact IS 'The other account.';
COMMENT ON COLUMN contacts.contact.nickname IS 'What this side calls the other.';
COMMENT ON COLUMN contacts.contact.notes IS 'What this side wrote about the other.';
COMMENT ON COLUMN contacts.contact.is_my_responder IS 'The other is this side''s responder.';
COMMENT ON COLUMN contacts.contact.i_am_responder IS 'This side is the other''s responder: it may see the other''s check-ins and alerts.';
COMMENT ON COLUMN contacts.contact.send_pings IS 'This side wants to be able to ping.';
COMMENT ON COLUMN contacts.contact.receive_pings IS 'This side lets the other ping it.';
COMMENT ON COLUMN contacts.contact.notify_on_check_in IS 'This side wants to hear of the other''s check-ins.';
COMMENT ON COLUMN contacts.contact.notify_on_missed_check_in IS 'This side wants to hear of the other''s missed check-ins.';
COMMENT ON COLUMN contacts.contact.outgoing_ping_at IS 'When this side pinged the other, while no answer came.';
COMMENT ON COLUMN contacts.contact.incoming_ping_at IS 'When the other pinged this side, while no answer went out.';
COMMENT ON COLUMN contacts.contact.outgoing_role_request_at IS 'When this side asked to become the other''s responder, while no answer came.';
COMMENT ON COLUMN contacts.contact.incoming_role_request_at IS 'When the other asked to become this side''s responder, while no answer went out.';
COMMENT ON COLUMN contacts.contact.added_at IS 'Since when they are contacts.';
COMMENT ON COLUMN contacts.contact.updated_at IS 'When this side''s fields were set.';
COMMENT ON COLUMN contacts.contact.version IS 'How often they were set.';

GRANT SELECT ON contacts.contact TO contacts, session_client;
