COMMENT ON COLUMN session.sign_in_attempt.subject IS 'The key of the handle or phone that was tried, of the account that requests a code for its new phone, or of that phone.';
COMMENT ON COLUMN session.sign_in_attempt.source IS 'Where the attempts came from: the edge''s id for a network address, or a device that was signed in before; 0 for all sources together, 1 for codes for a new phone.';
