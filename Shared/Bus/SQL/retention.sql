-- How long a schema's bus tables are kept, and what is emptied when an account closes. Placeholder: schema.

CREATE TABLE {{schema}}.retention (
    subject      text     CONSTRAINT retention_is_one_per_subject PRIMARY KEY,
    keep         interval NOT NULL CONSTRAINT retention_keeps_a_minute CHECK (keep >= interval '1 minute'),
    expire_after interval CONSTRAINT retention_expires_after_keeping CHECK (expire_after >= keep),
    changed_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_by   text     NOT NULL DEFAULT session_user
);
COMMENT ON TABLE {{schema}}.retention IS 'How long what is kept, by table. Change it with {{schema}}.set_retention.';
COMMENT ON COLUMN {{schema}}.retention.subject IS 'The table''s name.';
COMMENT ON COLUMN {{schema}}.retention.keep IS 'Rows are kept at least this long, and until every consumer has handled them.';
COMMENT ON COLUMN {{schema}}.retention.expire_after IS 'A log''s rows that are older go although a consumer has not handled them: it is expired, and told so when it returns. Null: a consumer is waited for without end.';
COMMENT ON COLUMN {{schema}}.retention.changed_at IS 'Since when.';
COMMENT ON COLUMN {{schema}}.retention.changed_by IS 'Who said so.';

CREATE FUNCTION {{schema}}.set_retention(of_subject text, to_keep interval, to_expire_after interval DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE {{schema}}.retention AS r
       SET keep = to_keep, expire_after = to_expire_after, changed_at = clock_timestamp(), changed_by = session_user
     WHERE r.subject = of_subject;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'nothing in {{schema}} is kept under the name %', of_subject
            USING HINT = 'SELECT * FROM {{schema}}.retention shows the names.';
    END IF;
END
$$;
COMMENT ON FUNCTION {{schema}}.set_retention(text, interval, interval) IS
    'For operators: how long rows of a table are kept, and after how long a consumer that has not handled them expires.';
REVOKE EXECUTE ON FUNCTION {{schema}}.set_retention(text, interval, interval) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {{schema}}.set_retention(text, interval, interval) TO quartet_operator;
GRANT SELECT ON {{schema}}.retention TO {{schema}};

CREATE TABLE {{schema}}.redaction (
    account      uuid        CONSTRAINT redaction_is_one_per_account PRIMARY KEY,
    requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    done_at      timestamptz
);
CREATE INDEX redaction_open ON {{schema}}.redaction (requested_at) WHERE done_at IS NULL;
COMMENT ON TABLE {{schema}}.redaction IS 'Accounts whose messages are emptied, and whether all of them are.';
COMMENT ON INDEX {{schema}}.redaction_open IS 'What is still to be done.';
COMMENT ON COLUMN {{schema}}.redaction.account IS 'Whose.';
COMMENT ON COLUMN {{schema}}.redaction.requested_at IS 'When it was asked for.';
COMMENT ON COLUMN {{schema}}.redaction.done_at IS 'When the last row was emptied; null while some wait, for example for a consumer to handle them.';

CREATE FUNCTION {{schema}}.redact(of_account uuid) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO {{schema}}.redaction (account) VALUES (of_account)
    ON CONFLICT ON CONSTRAINT redaction_is_one_per_account
    DO UPDATE SET requested_at = clock_timestamp(), done_at = NULL;
END;
COMMENT ON FUNCTION {{schema}}.redact(uuid) IS
    'Has the bodies of an account''s messages emptied; positions stay. Done by the service within a minute, and as soon as every consumer has handled them.';
REVOKE EXECUTE ON FUNCTION {{schema}}.redact(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {{schema}}.redact(uuid) TO {{schema}}, quartet_operator;
GRANT SELECT, UPDATE (done_at) ON {{schema}}.redaction TO {{schema}};

INSERT INTO {{schema}}.retention (subject, keep) VALUES ('batch', interval '1 day');
