--! include bus/canary.sql schema=contacts reader=session_client
--! include bus/canary-support.sql schema=contacts reader=session_client

CREATE VIEW contacts.canary AS
SELECT r.low AS account, r.high AS responder, a.alarm
  FROM contacts.relation AS r
  LEFT JOIN LATERAL (SELECT x.alarm FROM contacts.alarm_recipient AS x
                      WHERE x.account = r.low AND x.responder = r.high
                      ORDER BY x.alarm DESC LIMIT 1) AS a ON true
 WHERE contacts.is_canary(r.low);
COMMENT ON VIEW contacts.canary IS 'The synthetic persons with their responders. A person''s id is less than that of its responder.';
COMMENT ON COLUMN contacts.canary.account IS 'The person.';
COMMENT ON COLUMN contacts.canary.responder IS 'Its responder.';
COMMENT ON COLUMN contacts.canary.alarm IS 'The alarm that the responder was alerted to; null if it has ended.';
GRANT SELECT ON contacts.canary TO session_client;
