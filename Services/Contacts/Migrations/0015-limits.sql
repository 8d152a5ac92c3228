-- One row. `contacts migrate --contact-limit 5000` changes it. Every replica reads it with each batch, so all of them
-- decide by the same number.
CREATE TABLE contacts.limits (
    only_row      boolean DEFAULT true CONSTRAINT limits_are_one_row PRIMARY KEY
        CONSTRAINT only_row_is_true CHECK (only_row),
    contact_limit int     NOT NULL DEFAULT 1000
        CONSTRAINT contact_limit_is_at_most_ten_thousand CHECK (contact_limit BETWEEN 1 AND 10000)
);
COMMENT ON TABLE contacts.limits IS 'Numbers in the rules that can be set. One row, which `contacts migrate` writes.';
COMMENT ON COLUMN contacts.limits.only_row IS 'Keeps the table at one row.';
COMMENT ON COLUMN contacts.limits.contact_limit IS 'How many contacts an account may have.';
INSERT INTO contacts.limits DEFAULT VALUES;

GRANT SELECT ON contacts.limits TO contacts;
