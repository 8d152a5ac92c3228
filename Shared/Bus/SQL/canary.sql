-- Which accounts are canaries, as AccountID.isCanary says it; a test compares the two. Placeholders: schema, reader.

CREATE FUNCTION {{schema}}.is_canary(account uuid) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN account BETWEEN 'ca9a4900-0000-8000-0000-000000000000' AND 'ca9a4900-0000-8fff-ffff-ffffffffffff';
COMMENT ON FUNCTION {{schema}}.is_canary(uuid) IS
    'Whether an account is synthetic: a person who is missed again and again, or their responder, to show that alarms arrive.';

CREATE FUNCTION {{schema}}.is_canary(key text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN key LIKE 'account/ca9a4900-0000-8%';
COMMENT ON FUNCTION {{schema}}.is_canary(text) IS 'Whether a key is that of a synthetic account.';

GRANT EXECUTE ON FUNCTION {{schema}}.is_canary(uuid), {{schema}}.is_canary(text) TO {{schema}}, {{reader}}, quartet_reader;
