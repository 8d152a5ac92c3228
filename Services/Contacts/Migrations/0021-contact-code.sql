CREATE VIEW contacts.contact_code AS
SELECT a.code, a.account
  FROM contacts.account AS a
 WHERE a.code IS NOT NULL;
COMMENT ON VIEW contacts.contact_code IS 'Whose contact code it is; found by code.';
COMMENT ON COLUMN contacts.contact_code.code IS 'The code.';
COMMENT ON COLUMN contacts.contact_code.account IS 'Whose it is at present.';

GRANT SELECT ON contacts.contact_code TO session_client;
