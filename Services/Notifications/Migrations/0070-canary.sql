--! include bus/canary-support.sql schema=notifications reader=session_client

-- Where the pushes of canaries end, instead of at the system that sends pushes to devices. A row for each responder, so their
-- number doesn't grow.
CREATE TABLE notifications.canary_receipt (
    account     uuid        CONSTRAINT last_receipt_of_a_canary PRIMARY KEY
                            CONSTRAINT only_a_canary_is_received CHECK (notifications.is_canary(account)),
    alarm       uuid        NOT NULL,
    received_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE notifications.canary_receipt IS 'The newest alarm that was pushed to each synthetic responder.';
COMMENT ON COLUMN notifications.canary_receipt.account IS 'The responder.';
COMMENT ON COLUMN notifications.canary_receipt.alarm IS 'The alarm.';
COMMENT ON COLUMN notifications.canary_receipt.received_at IS 'When its push came in.';
GRANT SELECT, INSERT, UPDATE ON notifications.canary_receipt TO notifications;

CREATE VIEW notifications.canary AS
SELECT a.account,
       EXISTS (SELECT FROM notifications.push_device AS d WHERE d.account = a.account AND NOT d.is_leaving) AS is_registered,
       r.alarm, r.received_at
  FROM notifications.account AS a
  LEFT JOIN notifications.canary_receipt AS r ON r.account = a.account
 WHERE notifications.is_canary(a.account);
COMMENT ON VIEW notifications.canary IS 'The synthetic accounts, and which alarm was last pushed to them.';
COMMENT ON COLUMN notifications.canary.account IS 'The account.';
COMMENT ON COLUMN notifications.canary.is_registered IS 'Whether notifications are pushed to it.';
COMMENT ON COLUMN notifications.canary.alarm IS 'The newest alarm that was pushed to it.';
COMMENT ON COLUMN notifications.canary.received_at IS 'When that push came in.';
GRANT SELECT ON notifications.canary TO session_client;
