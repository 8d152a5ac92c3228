CREATE VIEW contacts.blocking AS
SELECT b.blocker AS account, b.blocked AS contact
  FROM contacts.block AS b;
COMMENT ON VIEW contacts.blocking IS 'Who blocks whom, so that whoever looks up a code is answered as if there were nobody.';
COMMENT ON COLUMN contacts.blocking.account IS 'Who blocks.';
COMMENT ON COLUMN contacts.blocking.contact IS 'Who is blocked.';

GRANT SELECT ON contacts.blocking TO session_client;
