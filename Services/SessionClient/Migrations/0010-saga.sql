CREATE TABLE session_client.saga (
    id             uuid        CONSTRAINT saga_is_unique PRIMARY KEY,
    type           text        NOT NULL CONSTRAINT saga_type_is_a_name CHECK (length(type) BETWEEN 1 AND 100),
    account        uuid        NOT NULL,
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
CREATE INDEX saga_running ON session_client.saga (account, started_at, id) WHERE state = 'running';
CREATE INDEX saga_due ON session_client.saga (next_attempt) WHERE state = 'running';
CREATE INDEX saga_of_account ON session_client.saga (account, started_at DESC, id DESC);

COMMENT ON INDEX session_client.saga_running IS 'Sagas of one account run one after the other.';
COMMENT ON INDEX session_client.saga_due IS 'What may be taken up, the longest waiting first.';
COMMENT ON INDEX session_client.saga_of_account IS 'An account''s operations, newest first.';
COMMENT ON TABLE session_client.saga IS 'Requests that wait for outcomes of several services.';
COMMENT ON COLUMN session_client.saga.id IS 'The operation''s id; derived from the account and its request''s id, so a request sent again is the same saga.';
COMMENT ON COLUMN session_client.saga.type IS 'Which saga, for example ClearAllReceivedPings.';
COMMENT ON COLUMN session_client.saga.account IS 'The account that asked. Its sagas run one after the other.';
COMMENT ON COLUMN session_client.saga.body IS 'What was asked.';
COMMENT ON COLUMN session_client.saga.body_hash IS 'Hash of what was asked: the same id with another body is refused.';
COMMENT ON COLUMN session_client.saga.state IS 'running, done, rejected (its deciding step was) or failed.';
COMMENT ON COLUMN session_client.saga.result IS 'What it led to, or why it was rejected.';
COMMENT ON COLUMN session_client.saga.owner IS 'The process that runs it.';
COMMENT ON COLUMN session_client.saga.owned_until IS 'Until when, unless renewed; then any replica goes on from the recorded steps.';
COMMENT ON COLUMN session_client.saga.attempts IS 'How often it was taken up.';
COMMENT ON COLUMN session_client.saga.next_attempt IS 'Not before this, after an error.';
COMMENT ON COLUMN session_client.saga.last_error IS 'Why the last run did not get to its end.';
COMMENT ON COLUMN session_client.saga.correlation_id IS 'Shared by everything that it leads to.';
COMMENT ON COLUMN session_client.saga.trace_parent IS 'W3C trace context of the request.';
COMMENT ON COLUMN session_client.saga.started_at IS 'When it was asked for.';
COMMENT ON COLUMN session_client.saga.ended_at IS 'When it ended.';

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
COMMENT ON TABLE session_client.saga_step IS 'What sagas asked and learnt. The first writer wins; every run, of any replica, goes on from here.';
COMMENT ON COLUMN session_client.saga_step.saga IS 'Which saga.';
COMMENT ON COLUMN session_client.saga_step.name IS 'The step, for example acknowledge/<contact>.';
COMMENT ON COLUMN session_client.saga_step.number IS 'The how manyth it was when it was first met.';
COMMENT ON COLUMN session_client.saga_step.command_id IS 'The command that it asked; derived from saga, name and attempt. Null for what was only read.';
COMMENT ON COLUMN session_client.saga_step.body_hash IS 'Hash of the command: a run that asks something else under this name fails loudly.';
COMMENT ON COLUMN session_client.saga_step.attempt IS 'The how manyth command it is: after a failure the step asks anew.';
COMMENT ON COLUMN session_client.saga_step.outcome IS 'How the command ended, or recorded for something read.';
COMMENT ON COLUMN session_client.saga_step.result IS 'The result, the rejection, or what was read.';
COMMENT ON COLUMN session_client.saga_step.started_at IS 'When it was first met.';
COMMENT ON COLUMN session_client.saga_step.ended_at IS 'When its outcome was recorded.';

GRANT SELECT, INSERT, UPDATE ON session_client.saga, session_client.saga_step TO session_client;
