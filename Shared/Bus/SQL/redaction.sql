-- Which accounts' messages are emptied, and how far that has come. Placeholder: schema.

CREATE TABLE {{schema}}.redaction (
    account      uuid        CONSTRAINT redaction_is_one_per_account PRIMARY KEY,
    requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    late_until   timestamptz NOT NULL DEFAULT clock_timestamp() + interval '10 minutes',
    noticed_at   timestamptz,
    done_at      timestamptz,
    CONSTRAINT redaction_is_noticed_before_it_is_done CHECK (done_at IS NULL OR done_at >= noticed_at)
);
CREATE INDEX redaction_open ON {{schema}}.redaction (requested_at) WHERE done_at IS NULL OR done_at < late_until;
COMMENT ON TABLE {{schema}}.redaction IS 'Accounts whose messages are to be emptied, and whether all of them are.';
COMMENT ON INDEX {{schema}}.redaction_open IS 'Redactions that aren''t finished.';
COMMENT ON COLUMN {{schema}}.redaction.account IS 'The account.';
COMMENT ON COLUMN {{schema}}.redaction.requested_at IS 'When the redaction was requested.';
COMMENT ON COLUMN {{schema}}.redaction.late_until IS 'Until when late messages may arrive: by then, commands are handled or expired.';
COMMENT ON COLUMN {{schema}}.redaction.noticed_at IS 'When the service first saw it. A pass that begins later empties all rows of the account.';
COMMENT ON COLUMN {{schema}}.redaction.done_at IS 'When all rows from before requested_at were emptied; after late_until, when the late ones were too. Null while some wait, for example for a consumer to handle them.';

CREATE VIEW {{schema}}.open_redaction AS
SELECT r.account, r.late_until, r.noticed_at
  FROM {{schema}}.redaction AS r
 WHERE r.done_at IS NULL OR r.done_at < r.late_until;
COMMENT ON VIEW {{schema}}.open_redaction IS 'Redactions that aren''t finished.';
COMMENT ON COLUMN {{schema}}.open_redaction.account IS 'The account.';
COMMENT ON COLUMN {{schema}}.open_redaction.late_until IS 'Until when late messages may arrive.';
COMMENT ON COLUMN {{schema}}.open_redaction.noticed_at IS 'When the service first saw the redaction.';

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
    'How far each partition has been searched for rows of accounts in {{schema}}.redaction. A pass searches it once from the beginning for all accounts noticed by then, and then follows new rows until no late ones can arrive.';
COMMENT ON COLUMN {{schema}}.redaction_pass.log IS 'The log''s table, or outcome.';
COMMENT ON COLUMN {{schema}}.redaction_pass.partition IS 'The log''s partition; 0 for outcome.';
COMMENT ON COLUMN {{schema}}.redaction_pass.begun_at IS 'When the pass began at the first row.';
COMMENT ON COLUMN {{schema}}.redaction_pass.position IS 'The last position searched.';
COMMENT ON COLUMN {{schema}}.redaction_pass.command_id IS 'For outcome, the last command searched.';
COMMENT ON COLUMN {{schema}}.redaction_pass.is_whole IS 'Whether the pass has reached the end. From then on it follows new rows until the next pass begins.';
COMMENT ON COLUMN {{schema}}.redaction_pass.passed_until IS 'All rows recorded before this time were searched in this pass.';
COMMENT ON COLUMN {{schema}}.redaction_pass.rows IS 'How many rows the pass searched before it reached the end. The next pass begins at least as many milliseconds after this one, so that closing accounts costs little in big logs.';
GRANT SELECT ON {{schema}}.redaction_pass TO {{schema}};

CREATE FUNCTION {{schema}}.redact(of_account uuid) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO {{schema}}.redaction (account) VALUES (of_account)
    ON CONFLICT ON CONSTRAINT redaction_is_one_per_account
    DO UPDATE SET requested_at = excluded.requested_at, late_until = excluded.late_until, noticed_at = NULL, done_at = NULL;
END;
COMMENT ON FUNCTION {{schema}}.redact(uuid) IS
    'Requests that the bodies of an account''s messages are emptied; their positions stay. The service does it within minutes, or within half an hour per million rows in a partition, but not before every consumer has handled them.';
GRANT EXECUTE ON FUNCTION {{schema}}.redact(uuid) TO {{schema}};

CREATE FUNCTION {{schema}}.redact(of_account uuid, why text, with_key uuid DEFAULT NULL) RETURNS void
    LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    SELECT {{schema}}.redact(of_account);
    SELECT {{schema}}.record_act('redact', json_build_object('account', of_account), why, with_key);
END;
COMMENT ON FUNCTION {{schema}}.redact(uuid, text, uuid) IS 'For operators: redact(account), with a reason.';
GRANT EXECUTE ON FUNCTION {{schema}}.redact(uuid, text, uuid) TO quartet_operator;
GRANT SELECT, UPDATE (noticed_at, done_at) ON {{schema}}.redaction TO {{schema}};
