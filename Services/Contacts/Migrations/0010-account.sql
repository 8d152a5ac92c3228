-- Unique at the end of a statement, not row by row: one batch may give a value up and take it in one UPDATE.
CREATE TABLE contacts.account (
    account              uuid        CONSTRAINT account_is_known_once PRIMARY KEY,
    code                 uuid        CONSTRAINT code_leads_to_one_account UNIQUE DEFERRABLE INITIALLY IMMEDIATE,
    is_approval_required boolean     NOT NULL DEFAULT false,
    closed_at            timestamptz,
    CONSTRAINT closed_account_has_no_code CHECK (closed_at IS NULL OR code IS NULL)
);
COMMENT ON TABLE contacts.account IS 'Every account that contacts ever heard of; closed ones stay, so that a late command revives nobody.';
COMMENT ON COLUMN contacts.account.account IS 'The account.';
COMMENT ON COLUMN contacts.account.code IS 'What others need to add it, random, replaceable; NULL when it is closed.';
COMMENT ON COLUMN contacts.account.is_approval_required IS 'Whether others must ask before they become contacts.';
COMMENT ON COLUMN contacts.account.closed_at IS 'When it was closed, for ever.';

GRANT SELECT, INSERT, UPDATE ON contacts.account TO contacts;
