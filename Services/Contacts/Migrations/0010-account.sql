-- The code is UNIQUE at the end of a statement, not row by row: the UPDATE of a batch may give a code up in one row and
-- take it in another.
CREATE TABLE contacts.account (
    account              uuid        CONSTRAINT account_is_known_once PRIMARY KEY,
    code                 uuid        CONSTRAINT code_leads_to_one_account UNIQUE DEFERRABLE INITIALLY IMMEDIATE,
    is_approval_required boolean     NOT NULL DEFAULT false,
    closed_at            timestamptz,
    CONSTRAINT closed_account_has_no_code CHECK (closed_at IS NULL OR code IS NULL)
);
COMMENT ON TABLE contacts.account IS 'Every account that contacts knows. Closed accounts stay, so that a late command can''t reopen one.';
COMMENT ON COLUMN contacts.account.account IS 'The account.';
COMMENT ON COLUMN contacts.account.code IS 'The contact code: random and replaceable. Others need it to add the account. Null once the account is closed.';
COMMENT ON COLUMN contacts.account.is_approval_required IS 'Whether people who have the code must ask before they become contacts.';
COMMENT ON COLUMN contacts.account.closed_at IS 'When the account was closed, which is permanent.';

GRANT SELECT, INSERT, UPDATE ON contacts.account TO contacts;

CREATE VIEW contacts.contact_code AS
SELECT a.code, a.account
  FROM contacts.account AS a
 WHERE a.code IS NOT NULL;
COMMENT ON VIEW contacts.contact_code IS 'The account of each contact code.';
COMMENT ON COLUMN contacts.contact_code.code IS 'The contact code.';
COMMENT ON COLUMN contacts.contact_code.account IS 'The account that has the code now.';
GRANT SELECT ON contacts.contact_code TO session_client;
