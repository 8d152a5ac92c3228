CREATE TABLE ledger.balance (
    account uuid   CONSTRAINT balance_is_one_per_account PRIMARY KEY,
    amount  bigint NOT NULL CONSTRAINT balance_is_not_negative CHECK (amount >= 0)
) WITH (fillfactor = 70);
COMMENT ON TABLE ledger.balance IS 'The balance of each account.';
COMMENT ON COLUMN ledger.balance.account IS 'The account.';
COMMENT ON COLUMN ledger.balance.amount IS 'The sum of the account''s entries.';

CREATE TABLE ledger.entry (
    command_id uuid   CONSTRAINT entry_is_one_per_command PRIMARY KEY,
    client     text   NOT NULL,
    account    uuid   NOT NULL,
    n          bigint NOT NULL,
    amount     bigint NOT NULL,
    -- The rules don't check this: it stands for any error that only the database finds.
    CONSTRAINT entry_is_not_cursed CHECK (amount <> 666666),
    CONSTRAINT entry_happens_once UNIQUE (client, account, n)
);
COMMENT ON TABLE ledger.entry IS 'Every entry that was posted.';
COMMENT ON COLUMN ledger.entry.command_id IS 'The command that posted it.';
COMMENT ON COLUMN ledger.entry.client IS 'The client that sent it.';
COMMENT ON COLUMN ledger.entry.account IS 'The account whose balance it changed.';
COMMENT ON COLUMN ledger.entry.n IS 'The entry''s number, which the client counts for each account.';
COMMENT ON COLUMN ledger.entry.amount IS 'The amount added to the balance.';

GRANT SELECT, INSERT, UPDATE ON ledger.balance TO ledger;
GRANT SELECT, INSERT ON ledger.entry TO ledger;
GRANT SELECT ON ledger.balance, ledger.entry TO ledger_client;
