-- Messages that a consumer couldn't handle yet, or at all. Placeholders: schema, sender (the service whose commands it
-- handles, and which sends dead letters again).

CREATE TABLE {{schema}}.parked (
    source         text        NOT NULL,
    partition      int         NOT NULL,
    position       bigint      NOT NULL CONSTRAINT parked_position_begins_at_one CHECK (position > 0),
    kind           text        NOT NULL,
    type           text        NOT NULL,
    version        smallint    NOT NULL,
    key            text        NOT NULL,
    account        uuid,
    body           json        NOT NULL,
    message_id     uuid        NOT NULL,
    command_id     uuid,
    outcome        text,
    command_hash   uuid,
    correlation_id uuid,
    causation_id   uuid,
    trace_parent   text,
    expires_at     timestamptz,
    recorded_at    timestamptz NOT NULL,
    cause          text        CONSTRAINT parked_cause_is_known CHECK (cause IN ('error', 'trouble', 'unknown', 'crashed')),
    attempts       int         NOT NULL CONSTRAINT parked_attempts_are_not_negative CHECK (attempts >= 0),
    failing_since  timestamptz,
    retry_at       timestamptz,
    error          text,
    needs          text,
    is_discarded   boolean     NOT NULL DEFAULT false,
    parked_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT parked_is_one_per_message PRIMARY KEY (source, partition, position),
    CONSTRAINT parked_failed_or_waits
        CHECK (num_nulls(cause, failing_since, retry_at, error) IN (0, 4) AND (attempts = 0) = (cause IS NULL)),
    CONSTRAINT parked_needs_what_is_unknown CHECK ((needs IS NOT NULL) = coalesce(cause = 'unknown', false))
) WITH (fillfactor = 70);
CREATE INDEX parked_by_key ON {{schema}}.parked (source, partition, key, position);

COMMENT ON TABLE {{schema}}.parked IS
    'Messages that failed and will be retried, and the later messages of the same key, which wait behind them. Other keys go on meanwhile. A row holds the whole message, so the log may delete it.';
COMMENT ON INDEX {{schema}}.parked_by_key IS 'Finds the first parked message of a key, and the ones behind it.';
COMMENT ON COLUMN {{schema}}.parked.source IS 'The log, as schema.table.';
COMMENT ON COLUMN {{schema}}.parked.partition IS 'The log''s partition.';
COMMENT ON COLUMN {{schema}}.parked.position IS 'The message''s position there.';
COMMENT ON COLUMN {{schema}}.parked.kind IS 'command, or event (of a policy).';
COMMENT ON COLUMN {{schema}}.parked.type IS 'Name of the body''s type.';
COMMENT ON COLUMN {{schema}}.parked.version IS 'Version of the type.';
COMMENT ON COLUMN {{schema}}.parked.key IS 'The message''s key. Only the first message of a key is retried.';
COMMENT ON COLUMN {{schema}}.parked.account IS 'The account that asked.';
COMMENT ON COLUMN {{schema}}.parked.body IS 'The message as it was.';
COMMENT ON COLUMN {{schema}}.parked.message_id IS 'The message''s id.';
COMMENT ON COLUMN {{schema}}.parked.command_id IS 'The command''s id; for an event, that of the command that led to it.';
COMMENT ON COLUMN {{schema}}.parked.outcome IS 'As in the log.';
COMMENT ON COLUMN {{schema}}.parked.command_hash IS 'As in the log.';
COMMENT ON COLUMN {{schema}}.parked.correlation_id IS 'The request that the message belongs to.';
COMMENT ON COLUMN {{schema}}.parked.causation_id IS 'The message_id of the message that caused this one.';
COMMENT ON COLUMN {{schema}}.parked.trace_parent IS 'W3C trace context of that request.';
COMMENT ON COLUMN {{schema}}.parked.expires_at IS 'A command handled later than this is rejected as expired.';
COMMENT ON COLUMN {{schema}}.parked.recorded_at IS 'When the message was appended to its log.';
COMMENT ON COLUMN {{schema}}.parked.cause IS
    'error (its own fault), trouble (of the database or its environment), unknown (no replica knows what it needs) or crashed (it crashed its owners). Null while it only waits behind another message.';
COMMENT ON COLUMN {{schema}}.parked.attempts IS 'How often in a row the message failed for this cause; 0 while it only waits.';
COMMENT ON COLUMN {{schema}}.parked.failing_since IS 'When it began to fail for this cause.';
COMMENT ON COLUMN {{schema}}.parked.retry_at IS 'When it is retried; retry_parked makes that now.';
COMMENT ON COLUMN {{schema}}.parked.error IS 'The latest error.';
COMMENT ON COLUMN {{schema}}.parked.needs IS 'What a replica has to know before it can handle the message: this type and version, or this enum value.';
COMMENT ON COLUMN {{schema}}.parked.is_discarded IS 'Whether an operator called discard_parked: the message isn''t retried and becomes a dead letter.';
COMMENT ON COLUMN {{schema}}.parked.parked_at IS 'When it was parked.';

CREATE TABLE {{schema}}.attempt (
    source    text        NOT NULL,
    partition int         NOT NULL,
    position  bigint      NOT NULL,
    epoch     bigint      NOT NULL,
    owner     uuid        NOT NULL,
    began_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT attempt_is_one_per_lease PRIMARY KEY (source, partition, position, epoch)
) WITH (fillfactor = 70);

COMMENT ON TABLE {{schema}}.attempt IS
    'Messages that a worker is about to handle, recorded in a transaction of its own before the attempt: after a lease that wasn''t given back, and for parked messages. The row is deleted when the message is handled or fails. A message whose handling ended three leases in a row isn''t tried a fourth time.';
COMMENT ON COLUMN {{schema}}.attempt.source IS 'The log, as schema.table.';
COMMENT ON COLUMN {{schema}}.attempt.partition IS 'The log''s partition.';
COMMENT ON COLUMN {{schema}}.attempt.position IS 'The message''s position there.';
COMMENT ON COLUMN {{schema}}.attempt.epoch IS 'The epoch of the worker''s lease. If the partition''s lease has a later epoch, this lease ended during the attempt.';
COMMENT ON COLUMN {{schema}}.attempt.owner IS 'The worker that held the lease.';
COMMENT ON COLUMN {{schema}}.attempt.began_at IS 'When the attempt began.';

CREATE TABLE {{schema}}.dead_letter (
    message_id     uuid        CONSTRAINT dead_letter_is_one_per_message PRIMARY KEY,
    source         text        NOT NULL,
    partition      int         NOT NULL,
    position       bigint      NOT NULL,
    kind           text        NOT NULL,
    type           text        NOT NULL,
    version        smallint    NOT NULL,
    key            text        NOT NULL,
    account        uuid,
    body           json        NOT NULL,
    command_id     uuid,
    correlation_id uuid,
    trace_parent   text,
    code           text        NOT NULL
                   CONSTRAINT dead_letter_code_is_known CHECK (code IN ('error', 'crashed', 'discarded')),
    error          text        NOT NULL,
    attempts       int         NOT NULL,
    died_at        timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX dead_letter_by_time ON {{schema}}.dead_letter (died_at);

COMMENT ON TABLE {{schema}}.dead_letter IS
    'Messages that kept failing, set aside with their error. The outcome of such a command is failed; {{sender}} can send it again.';
COMMENT ON INDEX {{schema}}.dead_letter_by_time IS 'Lists the newest first, and finds the ones that retention deletes.';
COMMENT ON COLUMN {{schema}}.dead_letter.message_id IS 'The message''s id.';
COMMENT ON COLUMN {{schema}}.dead_letter.source IS 'The log, as schema.table.';
COMMENT ON COLUMN {{schema}}.dead_letter.partition IS 'The log''s partition.';
COMMENT ON COLUMN {{schema}}.dead_letter.position IS 'The message''s position there.';
COMMENT ON COLUMN {{schema}}.dead_letter.kind IS 'command, or event (of a policy, discarded by an operator).';
COMMENT ON COLUMN {{schema}}.dead_letter.type IS 'Name of the body''s type.';
COMMENT ON COLUMN {{schema}}.dead_letter.version IS 'Version of the type.';
COMMENT ON COLUMN {{schema}}.dead_letter.key IS 'The message''s key.';
COMMENT ON COLUMN {{schema}}.dead_letter.account IS 'The account that asked.';
COMMENT ON COLUMN {{schema}}.dead_letter.body IS 'The message as it was.';
COMMENT ON COLUMN {{schema}}.dead_letter.command_id IS 'The command''s id; its outcome is failed.';
COMMENT ON COLUMN {{schema}}.dead_letter.correlation_id IS 'The request that the message belonged to.';
COMMENT ON COLUMN {{schema}}.dead_letter.trace_parent IS 'W3C trace context of that request.';
COMMENT ON COLUMN {{schema}}.dead_letter.code IS
    'error (it kept failing by its own fault), crashed (it crashed its owners) or discarded (by an operator).';
COMMENT ON COLUMN {{schema}}.dead_letter.error IS 'The last error.';
COMMENT ON COLUMN {{schema}}.dead_letter.attempts IS 'How often it was tried.';
COMMENT ON COLUMN {{schema}}.dead_letter.died_at IS 'When it was given up.';

CREATE FUNCTION {{schema}}.retry_parked(of_source text, of_key text, why text, with_key uuid DEFAULT NULL) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE {{schema}}.parked AS p SET retry_at = clock_timestamp()
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0;
    GET DIAGNOSTICS changed = ROW_COUNT;
    -- The operator vouches that the message won't crash its owner again.
    DELETE FROM {{schema}}.attempt AS a
     USING {{schema}}.parked AS p
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0
       AND a.source = p.source AND a.partition = p.partition AND a.position = p.position;
    IF changed > 0 THEN
        PERFORM {{schema}}.record_act(
            'retry_parked', json_build_object('source', of_source, 'key', of_key, 'messages', changed), why, with_key);
    END IF;
    PERFORM pg_notify('{{schema}}.member', of_source);
    RETURN changed;
END
$$;
COMMENT ON FUNCTION {{schema}}.retry_parked(text, text, text, uuid) IS
    'For operators: retries the parked message of this source and key now. Returns how many messages that concerns; if none, it leaves no row in operator_act.';

CREATE FUNCTION {{schema}}.discard_parked(of_source text, of_key text, why text, with_key uuid DEFAULT NULL) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE {{schema}}.parked AS p SET is_discarded = true, retry_at = clock_timestamp()
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0;
    GET DIAGNOSTICS changed = ROW_COUNT;
    IF changed > 0 THEN
        PERFORM {{schema}}.record_act(
            'discard_parked', json_build_object('source', of_source, 'key', of_key, 'messages', changed), why, with_key);
    END IF;
    PERFORM pg_notify('{{schema}}.member', of_source);
    RETURN changed;
END
$$;
COMMENT ON FUNCTION {{schema}}.discard_parked(text, text, text, uuid) IS
    'For operators: gives up the parked message of this source and key, which becomes a dead letter; the next message of the key is tried. Returns how many messages that concerns; if none, it leaves no row in operator_act.';

GRANT SELECT, INSERT, UPDATE, DELETE ON {{schema}}.parked TO {{schema}};
GRANT SELECT, INSERT, UPDATE (began_at), DELETE ON {{schema}}.attempt TO {{schema}};
GRANT SELECT, INSERT ON {{schema}}.dead_letter TO {{schema}};

GRANT EXECUTE ON FUNCTION {{schema}}.retry_parked(text, text, text, uuid), {{schema}}.discard_parked(text, text, text, uuid)
   TO quartet_operator;
GRANT SELECT ON {{schema}}.dead_letter TO {{sender}}_owner;
