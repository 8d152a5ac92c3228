-- How commands ended, kept independently of the log's retention. Placeholders: schema, log, reader.

CREATE TABLE {{schema}}.outcome (
    command_id   uuid                       CONSTRAINT one_outcome_per_command PRIMARY KEY,
    account      uuid,
    command_hash uuid                       NOT NULL,
    outcome      {{schema}}.message_outcome NOT NULL,
    partition    int                        NOT NULL,
    position     bigint                     NOT NULL,
    type         {{schema}}.message_type    NOT NULL,
    body         json                       NOT NULL,
    recorded_at  timestamptz                NOT NULL DEFAULT clock_timestamp()
) WITH (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
        -- No plan depends on the statistics: rows are found by key. Analyzing takes half a second of a core.
        autovacuum_analyze_scale_factor = 1, autovacuum_analyze_threshold = 1000000);

COMMENT ON TABLE {{schema}}.outcome IS
    'How each command ended, recorded once and kept for 30 days. A command that is sent again gets this outcome and does nothing else.';
COMMENT ON COLUMN {{schema}}.outcome.command_id IS 'The command''s id. Its first 48 bits are the time it was made, in milliseconds.';
COMMENT ON COLUMN {{schema}}.outcome.account IS 'The account that asked.';
COMMENT ON COLUMN {{schema}}.outcome.command_hash IS 'Hash of the command. The same id with another hash is rejected.';
COMMENT ON COLUMN {{schema}}.outcome.outcome IS 'accepted, rejected (body says why) or failed (body says the error).';
COMMENT ON COLUMN {{schema}}.outcome.partition IS 'Partition of the row of {{schema}}.{{log}} that carries the outcome.';
COMMENT ON COLUMN {{schema}}.outcome.position IS 'Position of that row. A reader that has come this far has seen what the command changed.';
COMMENT ON COLUMN {{schema}}.outcome.type IS 'Type of that row: the first event, or Rejected, Failed, Accepted.';
COMMENT ON COLUMN {{schema}}.outcome.body IS 'Body of that row: the command''s result.';
COMMENT ON COLUMN {{schema}}.outcome.recorded_at IS 'When the outcome was recorded.';

-- A trigger, so that no code can append an outcome without recording it, or record one twice.
CREATE FUNCTION {{schema}}.record_outcome() RETURNS trigger
    LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO {{schema}}.outcome (command_id, account, command_hash, outcome, partition, position, type, body)
    SELECT a.command_id, a.account, a.command_hash, a.outcome, a.partition, a.position, a.type, a.body
      FROM appended AS a
     WHERE a.outcome IS NOT NULL;
    RETURN NULL;
END
$$;
COMMENT ON FUNCTION {{schema}}.record_outcome() IS 'Records the outcomes that log rows carry in {{schema}}.outcome, at most one per command.';

CREATE TRIGGER record_outcome
    AFTER INSERT ON {{schema}}.{{log}}
    REFERENCING NEW TABLE AS appended
    FOR EACH STATEMENT EXECUTE FUNCTION {{schema}}.record_outcome();

GRANT SELECT, INSERT ON {{schema}}.outcome TO {{schema}};
-- A closed account's commands without an account are found by their outcomes, so the log's owner reads those too.
GRANT SELECT ON {{schema}}.outcome TO {{reader}}, {{reader}}_owner;
