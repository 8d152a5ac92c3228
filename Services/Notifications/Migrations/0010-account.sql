CREATE TABLE notifications.account (
    account   uuid        CONSTRAINT account_is_known_once PRIMARY KEY,
    unread    int         NOT NULL CONSTRAINT unread_is_not_negative CHECK (unread >= 0),
    total     int         NOT NULL,
    closed_at timestamptz,
    CONSTRAINT unread_ones_are_in_the_history CHECK (unread <= total),
    CONSTRAINT closed_account_has_no_history CHECK (closed_at IS NULL OR total = 0)
) WITH (fillfactor = 70);
COMMENT ON TABLE notifications.account IS 'Every account that notifications ever heard of; closed ones stay, so that a late command revives nobody.';
COMMENT ON COLUMN notifications.account.account IS 'The account.';
COMMENT ON COLUMN notifications.account.unread IS 'How many of its notifications are neither read nor cleared: the one place where that is counted.';
COMMENT ON COLUMN notifications.account.total IS 'How many notifications its history has.';
COMMENT ON COLUMN notifications.account.closed_at IS 'When it was closed, for ever.';

GRANT SELECT, INSERT, UPDATE ON notifications.account TO notifications;
