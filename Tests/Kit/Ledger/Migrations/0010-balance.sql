CREATE TABLE ledger.balance (
    account uuid   CONSTRAINT balance_is_one_per_account PRIMARY KEY,
    amount  bigint NOT NULL CONSTRAINT balance_is_not_negative CHECK (amount >= 0)
) WITH (fillfactor = 70);
COMMENT ON TABLE ledger.balance IS 'What each account has.';
COMMENT ON COLUMN ledger.balance.account IS 'Whose.';
COMMENT ON COLUMN ledger.balance.amount IS 'The sum of its entries.';

CREATE TABLE ledger.entry (
    command_id uuid   CONSTRAINT entry_is_one_per_command PRIMARY KEY,
    client     text   NOT NULL,
    account    uuid   NOT NULL,
    n          bigint NOT NULL,
    amount     bigint NOT NULL,
    -- The rules don't know this one: it stands for any error that only the database finds.
    CONSTRAINT entry_is_not_cursed CHECK (amount <> 666666),
    CONSTRAINT entry_happens_once UNIQUE (client, account, n)
);
COMMENT ON TABLE ledger.entry IS 'Every entry ever posted.';
COMMENT ON COLUMN ledger.entry.command_id IS 'The command that asked for it.';
COMMENT ON COLUMN ledger.entry.client IS 'Who sent it.';
COMMENT ON COLUMN ledger.entry.account IS 'Whose balance it changed.';
COMMENT ON COLUMN ledger.entry.n IS 'The client''s own count per account.';
COMMENT ON COLUMN ledger.entry.amount IS 'By how much.';

GRANT SELECT, INSERT, UPDATE ON ledger.balance TO ledger;
GRANT SELECT, INSERT ON ledger.entry TO ledger;
GRANT SELECT ON ledger.balance, ledger.entry TO ledger_client;
