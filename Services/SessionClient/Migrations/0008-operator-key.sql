CREATE TABLE session_client.operator_key (
    id         uuid        CONSTRAINT operator_key_is_unique PRIMARY KEY,
    name       text        NOT NULL CONSTRAINT operator_key_has_a_name CHECK (name ~ '^[A-Za-z0-9._@-]{1,100}$'),
    role       text        NOT NULL CONSTRAINT operator_key_role_is_known CHECK (role IN ('read', 'act')),
    hash       bytea       NOT NULL CONSTRAINT operator_key_hash_is_sha256 CHECK (octet_length(hash) = 32),
    made_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    revoked_at timestamptz
);
CREATE UNIQUE INDEX operator_key_by_name ON session_client.operator_key (name) WHERE revoked_at IS NULL;
COMMENT ON TABLE session_client.operator_key IS
    'The API keys that open /v1/operator. `session-client keys` makes, lists and revokes them; the role session_client can''t even read them.';
COMMENT ON INDEX session_client.operator_key_by_name IS 'A name belongs to one key that is in use.';
COMMENT ON COLUMN session_client.operator_key.id IS 'The key''s id. The audit (operator_act.with_key) names it.';
COMMENT ON COLUMN session_client.operator_key.name IS 'Whose key it is, or what it is for.';
COMMENT ON COLUMN session_client.operator_key.role IS 'read (looks at everything, changes nothing) or act (may retry, discard and set retention besides).';
COMMENT ON COLUMN session_client.operator_key.hash IS 'SHA-256 of the key''s secret, 32 random bytes. Only the operator''s function sees it.';
COMMENT ON COLUMN session_client.operator_key.made_at IS 'When it was made.';
COMMENT ON COLUMN session_client.operator_key.revoked_at IS 'When it was revoked; null while it is in use.';

REVOKE ALL ON session_client.operator_key FROM quartet_reader;
GRANT SELECT (id, name, role, made_at, revoked_at) ON session_client.operator_key TO quartet_reader;

CREATE FUNCTION session_client.make_operator_key(of_id uuid, of_name text, of_role text, of_hash bytea, why text) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO session_client.operator_key (id, name, role, hash) VALUES (of_id, of_name, of_role, of_hash);
    SELECT session_client.record_act(
        'make_operator_key', json_build_object('key', of_id, 'name', of_name, 'role', of_role), why, NULL);
END;
COMMENT ON FUNCTION session_client.make_operator_key(uuid, text, text, bytea, text) IS
    'For operators, by `session-client keys make`: adds an API key, of which it is given the hash.';

CREATE FUNCTION session_client.revoke_operator_key(of_name text, why text) RETURNS uuid
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    revoked uuid;
BEGIN
    UPDATE session_client.operator_key AS k SET revoked_at = clock_timestamp()
     WHERE k.name = of_name AND k.revoked_at IS NULL
    RETURNING k.id INTO revoked;
    IF revoked IS NULL THEN
        RAISE EXCEPTION 'no API key named % is in use', of_name
            USING HINT = 'session-client keys list shows them.', ERRCODE = 'no_data_found';
    END IF;
    PERFORM session_client.record_act(
        'revoke_operator_key', json_build_object('key', revoked, 'name', of_name), why, NULL);
    RETURN revoked;
END
$$;
COMMENT ON FUNCTION session_client.revoke_operator_key(text, text) IS
    'For operators, by `session-client keys revoke`: from now on the API key of this name opens nothing. Returns its id.';

CREATE FUNCTION session_client.operator_key_of(of_id uuid) RETURNS TABLE (name text, role text, hash bytea)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT k.name, k.role, k.hash FROM session_client.operator_key AS k WHERE k.id = of_id AND k.revoked_at IS NULL;
END;
COMMENT ON FUNCTION session_client.operator_key_of(uuid) IS
    'The API key of an id, if it is in use, for /v1/operator to compare the secret with its hash.';

GRANT EXECUTE ON FUNCTION session_client.make_operator_key(uuid, text, text, bytea, text),
   session_client.revoke_operator_key(text, text), session_client.operator_key_of(uuid)
   TO quartet_operator;
