-- compatible with 0.1.0
CREATE FUNCTION contacts.secret_members(of_type text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
               WHEN of_type IN ('OpenAccount', 'ResetContactCode', 'AddContact', 'ContactsOpened', 'ContactCodeReset') THEN ARRAY['code']
           END;
COMMENT ON FUNCTION contacts.secret_members(text) IS
    'The members of a message''s body that people who read the tables are not to see, of messages that the tables of contacts have; null if there are none. A test compares this with the contracts.';
--! include bus/shown-messages.sql schema=contacts

-- A contact code lets whoever has it add the account.
REVOKE SELECT ON contacts.account, contacts.contact_code, contacts.contacts_state, contacts.contacts_summary FROM quartet_reader;
GRANT SELECT (account, is_approval_required, closed_at, reachable_until, is_reachable, returns_at, responder_reach,
              settled_reach, unsettled_at) ON contacts.account TO quartet_reader;
