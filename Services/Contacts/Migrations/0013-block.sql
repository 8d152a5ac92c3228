CREATE TABLE contacts.block (
    blocker    uuid        NOT NULL,
    blocked    uuid        NOT NULL,
    blocked_at timestamptz NOT NULL,
    CONSTRAINT account_is_blocked_once PRIMARY KEY (blocker, blocked),
    CONSTRAINT nobody_blocks_oneself CHECK (blocker <> blocked)
);
COMMENT ON TABLE contacts.block IS 'Who wants nothing to do with whom. Who is blocked isn''t told.';
COMMENT ON COLUMN contacts.block.blocker IS 'Who blocks.';
COMMENT ON COLUMN contacts.block.blocked IS 'Who is blocked.';
COMMENT ON COLUMN contacts.block.blocked_at IS 'Since when.';

GRANT SELECT, INSERT, UPDATE, DELETE ON contacts.block TO contacts;
