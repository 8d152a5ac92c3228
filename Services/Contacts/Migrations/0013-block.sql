CREATE TABLE contacts.block (
    blocker    uuid        NOT NULL,
    blocked    uuid        NOT NULL,
    blocked_at timestamptz NOT NULL,
    CONSTRAINT account_is_blocked_once PRIMARY KEY (blocker, blocked),
    CONSTRAINT nobody_blocks_oneself CHECK (blocker <> blocked)
);
COMMENT ON TABLE contacts.block IS 'Which account blocks which. The blocked account doesn''t learn of it.';
COMMENT ON COLUMN contacts.block.blocker IS 'The account that blocks.';
COMMENT ON COLUMN contacts.block.blocked IS 'The account that is blocked.';
COMMENT ON COLUMN contacts.block.blocked_at IS 'When it was blocked.';

GRANT SELECT, INSERT, UPDATE, DELETE ON contacts.block TO contacts;

CREATE VIEW contacts.blocking AS
SELECT b.blocker AS account, b.blocked AS contact
  FROM contacts.block AS b;
COMMENT ON VIEW contacts.blocking IS 'Which account blocks which, so that the edge can answer a blocked account''s look-up of a code as if there were no such code.';
COMMENT ON COLUMN contacts.blocking.account IS 'The account that blocks.';
COMMENT ON COLUMN contacts.blocking.contact IS 'The account that is blocked.';
GRANT SELECT ON contacts.blocking TO session_client;
