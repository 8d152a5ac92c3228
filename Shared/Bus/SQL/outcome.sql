-- How commands ended, kept apart from the log's retention. Placeholders: schema, log, reader.

CREATE TABLE {{schema}}.outcome (
    command_id   uuid        CONSTRAINT one_outcome_per_command PRIMARY KEY,
    account      uuid,
    command_hash uuid        NOT NULL,
    outcome      text        NOT NULL CONSTRAINT outcome_is_known CHECK (outcome IN ('accepted', 'rejected', 'failed')),
    partition    int         NOT NULL,
    position     bigint      NOT NULL,
    type         text        NOT NULL,
    body         json        NOT NULL,
    recorded_at  timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100000,
        -- No plan depends on its statistics: it is found by its key. An analyze takes half a second of a core.
        autovacuum_analyze_scale_factor = 1, autovacuum_analyze_threshold = 1000000);

COMMENT ON TABLE {{schema}}.outcome IS
    'How each command ended, exactly once, for 30 days: a command sent again gets this answer and does nothing else.';
COMMENT ON COLUMN {{schema}}.outcome.command_id IS 'The command. Its first 48 bits are the time it was made, in milliseconds.';
COMMENT ON COLUMN {{schema}}.outcome.account IS 'The account that asked.';
COMMENT ON COLUMN {{schema}}.outcome.command_hash IS 'Hash of what was asked; the same id with another hash is refused.';
COMMENT ON COLUMN {{schema}}.outcome.outcome IS 'accepted, rejected (body says why) or failed (body says the error).';
COMMENT ON COLUMN {{schema}}.outcome.partition IS 'Partition of the row of {{schema}}.{{log}} that carries the outcome.';
COMMENT ON COLUMN {{schema}}.outcome.position IS 'Position of that row: whoever has read this far has seen what the command changed.';
COMMENT ON COLUMN {{schema}}.outcome.type IS 'Type of that row: the first event, or Rejected, Failed, Accepted.';
COMMENT ON COLUMN {{schema}}.outcome.body IS 'Body of that row: the command''s result.';
COMMENT ON COLUMN {{schema}}.outcome.recorded_at IS 'When it was decided.';

-- A trigger and not the sender's code: no row can carry an outcome that isn't recorded, and none is recorded twice.
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
COMMENT ON FUNCTION {{schema}}.record_outcome() IS 'Keeps {{schema}}.outcome: every log row that carries an outcome has one, every command at most one.';

CREATE TRIGGER record_outcome
    AFTER INSERT ON {{schema}}.{{log}}
    REFERENCING NEW TABLE AS appended
    FOR EACH STATEMENT EXECUTE FUNCTION {{schema}}.record_outcome();

GRANT SELECT, INSERT ON {{schema}}.outcome TO {{schema}};
GRANT SELECT ON {{schema}}.outcome TO {{reader}};
