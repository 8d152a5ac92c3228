-- How long a schema's bus tables are kept, and what is emptied when an account closes. Placeholder: schema.

CREATE TABLE {{schema}}.retention (
    subject      text     CONSTRAINT retention_is_one_per_subject PRIMARY KEY,
    keep         interval NOT NULL CONSTRAINT retention_keeps_a_minute CHECK (keep >= interval '1 minute'),
    truncate_after interval CONSTRAINT retention_truncates_after_keeping CHECK (truncate_after >= keep),
    changed_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_by   text     NOT NULL DEFAULT session_user
);
COMMENT ON TABLE {{schema}}.retention IS 'How long what is kept, by table. Change it with {{schema}}.set_retention.';
COMMENT ON COLUMN {{schema}}.retention.subject IS 'The table''s name.';
COMMENT ON COLUMN {{schema}}.retention.keep IS 'Rows are kept at least this long, and until every consumer has handled them.';
COMMENT ON COLUMN {{schema}}.retention.truncate_after IS 'A log''s rows that are older go although a consumer has not handled them: it is expired, and told so when it returns. Null: a consumer is waited for without end.';
COMMENT ON COLUMN {{schema}}.retention.changed_at IS 'Since when.';
COMMENT ON COLUMN {{schema}}.retention.changed_by IS 'Who said so.';

CREATE FUNCTION {{schema}}.set_retention(of_subject text, to_keep interval, to_truncate_after interval DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE {{schema}}.retention AS r
       SET keep = to_keep, truncate_after = to_truncate_after, changed_at = clock_timestamp(), changed_by = session_user
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
    late_until   timestamptz NOT NULL DEFAULT clock_timestamp() + interval '10 minutes',
    noticed_at   timestamptz,
    done_at      timestamptz,
    CONSTRAINT redaction_is_noticed_before_it_is_done CHECK (done_at IS NULL OR done_at >= noticed_at)
);
CREATE INDEX redaction_open ON {{schema}}.redaction (requested_at) WHERE done_at IS NULL OR done_at < late_until;
COMMENT ON TABLE {{schema}}.redaction IS 'Accounts whose messages are emptied, and whether all of them are.';
COMMENT ON INDEX {{schema}}.redaction_open IS 'What is still to be done.';
COMMENT ON COLUMN {{schema}}.redaction.account IS 'Whose.';
COMMENT ON COLUMN {{schema}}.redaction.requested_at IS 'When it was asked for.';
COMMENT ON COLUMN {{schema}}.redaction.late_until IS 'Until when messages may come late: a command is handled by then, or has expired.';
COMMENT ON COLUMN {{schema}}.redaction.noticed_at IS 'When the service first saw it. A pass that began later empties all of the account''s rows.';
COMMENT ON COLUMN {{schema}}.redaction.done_at IS 'When all rows from before requested_at were emptied; after late_until, when the late ones were, too. Null while some wait, for example for a consumer to handle them.';

CREATE TABLE {{schema}}.redaction_pass (
    log          text        NOT NULL,
    partition    int         NOT NULL,
    begun_at     timestamptz NOT NULL DEFAULT '-infinity',
    position     bigint      NOT NULL DEFAULT 0,
    command_id   uuid,
    is_whole     boolean     NOT NULL DEFAULT true,
    passed_until timestamptz NOT NULL DEFAULT '-infinity',
    rows         bigint      NOT NULL DEFAULT 0,
    CONSTRAINT redaction_pass_is_one_per_partition PRIMARY KEY (log, partition)
) WITH (fillfactor = 50);
COMMENT ON TABLE {{schema}}.redaction_pass IS
    'How far each partition is searched for the rows of accounts in {{schema}}.redaction: once from its beginning for all that were noticed by then, and on behind its end until none may come late.';
COMMENT ON COLUMN {{schema}}.redaction_pass.log IS 'The log''s table, or outcome.';
COMMENT ON COLUMN {{schema}}.redaction_pass.partition IS 'Its partition; 0 for outcome.';
COMMENT ON COLUMN {{schema}}.redaction_pass.begun_at IS 'When the pass began at the first row.';
COMMENT ON COLUMN {{schema}}.redaction_pass.position IS 'The last position that was looked at.';
COMMENT ON COLUMN {{schema}}.redaction_pass.command_id IS 'For outcome, the last command that was looked at.';
COMMENT ON COLUMN {{schema}}.redaction_pass.is_whole IS 'Whether the pass has come to the end. From then on it looks at new rows as they come, until the next pass begins.';
COMMENT ON COLUMN {{schema}}.redaction_pass.passed_until IS 'All rows recorded before this were looked at in this pass.';
COMMENT ON COLUMN {{schema}}.redaction_pass.rows IS 'How many rows lay between the beginning and the end. The next pass begins a millisecond per row after this one began, at the earliest, so that closing accounts costs little in big logs.';
GRANT SELECT ON {{schema}}.redaction_pass TO {{schema}};

CREATE FUNCTION {{schema}}.redact(of_account uuid) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO {{schema}}.redaction (account) VALUES (of_account)
    ON CONFLICT ON CONSTRAINT redaction_is_one_per_account
    DO UPDATE SET requested_at = excluded.requested_at, late_until = excluded.late_until, noticed_at = NULL, done_at = NULL;
END;
COMMENT ON FUNCTION {{schema}}.redact(uuid) IS
    'Has the bodies of an account''s messages emptied; positions stay. Done by the service within minutes, within half an hour for each million rows in a partition, and as soon as every consumer has handled them.';
REVOKE EXECUTE ON FUNCTION {{schema}}.redact(uuid) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {{schema}}.redact(uuid) TO {{schema}}, quartet_operator;
GRANT SELECT, UPDATE (noticed_at, done_at) ON {{schema}}.redaction TO {{schema}};

INSERT INTO {{schema}}.retention (subject, keep) VALUES ('batch', interval '1 day');
