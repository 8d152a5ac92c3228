CREATE TABLE session_client.saga (
    id             uuid        CONSTRAINT saga_is_unique PRIMARY KEY,
    type           text        NOT NULL CONSTRAINT saga_type_is_a_name CHECK (length(type) BETWEEN 1 AND 100),
    account        uuid        NOT NULL,
    lane           text        NOT NULL DEFAULT 'account' CONSTRAINT lane_is_a_name CHECK (length(lane) BETWEEN 1 AND 50),
    number         bigint      GENERATED ALWAYS AS IDENTITY,
    body           json        NOT NULL,
    body_hash      uuid        NOT NULL,
    state          text        NOT NULL DEFAULT 'running'
                               CONSTRAINT saga_state_is_known CHECK (state IN ('running', 'done', 'rejected', 'failed')),
    result         json,
    owner          uuid,
    owned_until    timestamptz,
    attempts       int         NOT NULL DEFAULT 0,
    next_attempt   timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_error     text,
    correlation_id uuid        NOT NULL,
    trace_parent   text,
    started_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at       timestamptz,
    CONSTRAINT saga_ends_once CHECK ((state = 'running') = (ended_at IS NULL)),
    CONSTRAINT saga_of_an_owner_has_an_end CHECK (owner IS NULL OR owned_until IS NOT NULL)
);
CREATE UNIQUE INDEX saga_running_in_lane ON session_client.saga (account, lane, number) WHERE state = 'running';
CREATE INDEX saga_due ON session_client.saga (next_attempt) WHERE state = 'running';
CREATE INDEX saga_of_account ON session_client.saga (account, started_at DESC, id DESC);
CREATE INDEX saga_ended ON session_client.saga (ended_at) WHERE state <> 'running';

COMMENT ON INDEX session_client.saga_running_in_lane IS 'Finds the next saga of an account and lane: they run one after the other.';
COMMENT ON INDEX session_client.saga_due IS 'Finds the sagas that can be run, the longest waiting first.';
COMMENT ON INDEX session_client.saga_of_account IS 'Lists an account''s operations, newest first.';
COMMENT ON INDEX session_client.saga_ended IS 'Finds the sagas that retention deletes, the first ended first.';
COMMENT ON TABLE session_client.saga IS 'Requests that wait for the outcomes of several services.';
COMMENT ON COLUMN session_client.saga.id IS 'The operation''s id, derived from the account and the request''s id. So a request that is sent again is the same saga.';
COMMENT ON COLUMN session_client.saga.type IS 'The type of saga, for example ClearAllReceivedPings.';
COMMENT ON COLUMN session_client.saga.account IS 'The account that asked.';
COMMENT ON COLUMN session_client.saga.lane IS 'Sagas of one account and lane run one after the other, in the order of their numbers.';
COMMENT ON COLUMN session_client.saga.number IS 'The saga''s order among its account''s, whatever the clock says: assigned while the account is locked.';
COMMENT ON COLUMN session_client.saga.body IS 'The request.';
COMMENT ON COLUMN session_client.saga.body_hash IS 'Hash of the request. The same id with another body is rejected.';
COMMENT ON COLUMN session_client.saga.state IS 'running, done, rejected (because its deciding step was) or failed.';
COMMENT ON COLUMN session_client.saga.result IS 'The result, or why the saga was rejected.';
COMMENT ON COLUMN session_client.saga.owner IS 'The process that runs the saga.';
COMMENT ON COLUMN session_client.saga.owned_until IS 'Until when it owns the saga, unless renewed. After that any replica continues from the recorded steps.';
COMMENT ON COLUMN session_client.saga.attempts IS 'How often a run was started.';
COMMENT ON COLUMN session_client.saga.next_attempt IS 'The earliest time of the next run, after an error.';
COMMENT ON COLUMN session_client.saga.last_error IS 'Why the last run didn''t finish.';
COMMENT ON COLUMN session_client.saga.correlation_id IS 'Shared by everything that the saga leads to.';
COMMENT ON COLUMN session_client.saga.trace_parent IS 'W3C trace context of the request.';
COMMENT ON COLUMN session_client.saga.started_at IS 'When the saga was requested.';
COMMENT ON COLUMN session_client.saga.ended_at IS 'When the saga ended.';

CREATE TABLE session_client.saga_step (
    saga       uuid        NOT NULL CONSTRAINT saga_step_belongs_to_saga REFERENCES session_client.saga ON DELETE CASCADE,
    name       text        NOT NULL CONSTRAINT saga_step_has_a_name CHECK (length(name) BETWEEN 1 AND 200),
    number     int         NOT NULL CONSTRAINT saga_step_number_begins_at_one CHECK (number > 0),
    command_id uuid,
    body_hash  uuid,
    attempt    int         NOT NULL DEFAULT 1 CONSTRAINT saga_step_attempts_begin_at_one CHECK (attempt > 0),
    outcome    text        CONSTRAINT saga_step_outcome_is_known CHECK (outcome IN ('accepted', 'rejected', 'failed', 'recorded')),
    result     json,
    started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at   timestamptz,
    CONSTRAINT saga_step_is_recorded_once PRIMARY KEY (saga, name),
    CONSTRAINT saga_step_ends_with_an_outcome CHECK ((outcome IS NULL) = (ended_at IS NULL))
);
COMMENT ON TABLE session_client.saga_step IS 'The commands that sagas sent and the facts they read. The first writer wins. Every run, by any replica, continues from here.';
COMMENT ON COLUMN session_client.saga_step.saga IS 'The saga.';
COMMENT ON COLUMN session_client.saga_step.name IS 'The step''s name, for example acknowledge/<contact>.';
COMMENT ON COLUMN session_client.saga_step.number IS 'The step''s number in the order in which steps were first reached.';
COMMENT ON COLUMN session_client.saga_step.command_id IS 'The id of the command that it sent, derived from saga, name and attempt. Null for a step that only read something.';
COMMENT ON COLUMN session_client.saga_step.body_hash IS 'Hash of the command. A run that sends another command under this name fails.';
COMMENT ON COLUMN session_client.saga_step.attempt IS 'The number of the command: after a failure the step sends another.';
COMMENT ON COLUMN session_client.saga_step.outcome IS 'How the command ended, or recorded if something was read.';
COMMENT ON COLUMN session_client.saga_step.result IS 'The command''s result or rejection, or the fact that was read.';
COMMENT ON COLUMN session_client.saga_step.started_at IS 'When the step was first reached.';
COMMENT ON COLUMN session_client.saga_step.ended_at IS 'When its outcome was recorded.';

GRANT SELECT, INSERT, UPDATE ON session_client.saga, session_client.saga_step TO session_client;

-- A day longer than requests' ids are accepted, so that a request is never run again.
INSERT INTO session_client.retention (subject, keep) VALUES ('saga', interval '31 days');

CREATE FUNCTION session_client.delete_old_sagas(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    deleted bigint;
    letters bigint;
BEGIN
    -- The steps are deleted by their foreign key.
    DELETE FROM session_client.saga AS s
     WHERE s.id IN (
        SELECT o.id FROM session_client.saga AS o
         WHERE o.state <> 'running'
           AND o.ended_at < clock_timestamp() - (SELECT r.keep FROM session_client.retention AS r WHERE r.subject = 'saga')
         ORDER BY o.ended_at LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    DELETE FROM session_client.dead_letter AS d
     WHERE d.died_at < clock_timestamp() - (SELECT r.keep FROM session_client.retention AS r WHERE r.subject = 'dead_letter');
    GET DIAGNOSTICS letters = ROW_COUNT;
    RETURN deleted + letters;
END
$$;
COMMENT ON FUNCTION session_client.delete_old_sagas(int) IS
    'Deletes ended sagas with their steps, at most at_most, and dead letters that are older than session_client.retention says. Returns how many.';
GRANT EXECUTE ON FUNCTION session_client.delete_old_sagas(int) TO session_client;

CREATE FUNCTION session_client.operations_state(of_account uuid) RETURNS json
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN json_build_object(
        'account', of_account,
        'operations', coalesce((
            SELECT json_agg(json_strip_nulls(json_build_object(
                       'id', s.id, 'type', s.type, 'state', s.state, 'result', s.result,
                       'started', (extract(epoch FROM s.started_at) * 1000000)::bigint,
                       'ended', (extract(epoch FROM s.ended_at) * 1000000)::bigint)) ORDER BY s.started_at DESC, s.id DESC)
              FROM (SELECT *
                      FROM session_client.saga AS o
                     WHERE o.account = of_account
                     ORDER BY o.started_at DESC, o.id DESC
                     LIMIT 50) AS s), '[]'));
COMMENT ON FUNCTION session_client.operations_state(uuid) IS 'The state of the stream operations/<account>: the newest 50 operations. Read it together with the log''s position, in one statement.';
GRANT EXECUTE ON FUNCTION session_client.operations_state(uuid) TO session_client, quartet_reader;
