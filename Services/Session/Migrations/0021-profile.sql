CREATE VIEW session.profile AS
SELECT a.account, a.handle, a.name, a.emergency_note, a.profile_version AS version
  FROM session.account AS a
 WHERE a.closed_at IS NULL;
COMMENT ON VIEW session.profile IS 'What others may see of a person. Who may see which column is the edge''s to decide.';
COMMENT ON COLUMN session.profile.account IS 'Whose.';
COMMENT ON COLUMN session.profile.handle IS 'What others find it by: for everybody who has found it, and for who was asked to become a contact.';
COMMENT ON COLUMN session.profile.name IS 'The name: for contacts, for who has the contact code, and for who was asked to become a contact.';
COMMENT ON COLUMN session.profile.emergency_note IS 'What responders should know: for responders.';
COMMENT ON COLUMN session.profile.version IS 'How often it was set.';

GRANT SELECT ON session.profile TO session_client;
