CREATE TABLE session_client.closure (
    account      uuid        CONSTRAINT account_is_closed_once PRIMARY KEY,
    operation    uuid        NOT NULL,
    requested_at timestamptz NOT NULL,
    closed_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE session_client.closure IS 'Accounts that every service has closed. This is what remains of an account, to answer later questions about it.';
COMMENT ON COLUMN session_client.closure.account IS 'The account. Nothing else about it is kept here.';
COMMENT ON COLUMN session_client.closure.operation IS 'The saga that closed it.';
COMMENT ON COLUMN session_client.closure.requested_at IS 'When the person asked to close it.';
COMMENT ON COLUMN session_client.closure.closed_at IS 'When the last service closed it.';

GRANT SELECT, INSERT ON session_client.closure TO session_client;

CREATE VIEW session_client.closed_account WITH (security_invoker = true) AS
SELECT c.account, c.operation, c.requested_at, c.closed_at,
       s.done_at AS session_emptied_at, o.done_at AS contacts_emptied_at, n.done_at AS notifications_emptied_at,
       e.done_at AS session_client_emptied_at
  FROM session_client.closure AS c
  LEFT JOIN session.redaction AS s ON s.account = c.account
  LEFT JOIN contacts.redaction AS o ON o.account = c.account
  LEFT JOIN notifications.redaction AS n ON n.account = c.account
  LEFT JOIN session_client.redaction AS e ON e.account = c.account;
COMMENT ON VIEW session_client.closed_account IS 'Closed accounts, and when each service had emptied their messages in its logs.';
COMMENT ON COLUMN session_client.closed_account.account IS 'The account.';
COMMENT ON COLUMN session_client.closed_account.operation IS 'The saga that closed it.';
COMMENT ON COLUMN session_client.closed_account.requested_at IS 'When the person asked to close it.';
COMMENT ON COLUMN session_client.closed_account.closed_at IS 'When the last service closed it.';
COMMENT ON COLUMN session_client.closed_account.session_emptied_at IS 'When session had emptied its messages.';
COMMENT ON COLUMN session_client.closed_account.contacts_emptied_at IS 'When contacts had emptied its messages.';
COMMENT ON COLUMN session_client.closed_account.notifications_emptied_at IS 'When notifications had emptied its messages.';
COMMENT ON COLUMN session_client.closed_account.session_client_emptied_at IS 'When session-client had emptied the commands and operations.';
