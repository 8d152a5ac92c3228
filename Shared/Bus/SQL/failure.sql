-- What a consumer could not handle yet, or not at all. Placeholders: schema, sender (whose commands it handles, and who
-- sends dead letters anew).

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
    'Messages that failed and will be tried again, and the later ones of the same key, which wait behind them. Other keys go on meanwhile. A row has the message itself, so its log may forget it.';
COMMENT ON INDEX {{schema}}.parked_by_key IS 'The first of each key, and what comes after it.';
COMMENT ON COLUMN {{schema}}.parked.source IS 'The log that it came from, as schema.table.';
COMMENT ON COLUMN {{schema}}.parked.partition IS 'The log''s partition.';
COMMENT ON COLUMN {{schema}}.parked.position IS 'Its place there.';
COMMENT ON COLUMN {{schema}}.parked.kind IS 'command, or event of a policy.';
COMMENT ON COLUMN {{schema}}.parked.type IS 'Name of the body''s type.';
COMMENT ON COLUMN {{schema}}.parked.version IS 'Version of the type.';
COMMENT ON COLUMN {{schema}}.parked.key IS 'The message''s key: only the first one of a key is tried.';
COMMENT ON COLUMN {{schema}}.parked.account IS 'The account that asked.';
COMMENT ON COLUMN {{schema}}.parked.body IS 'The message as it was.';
COMMENT ON COLUMN {{schema}}.parked.message_id IS 'The log row''s own id.';
COMMENT ON COLUMN {{schema}}.parked.command_id IS 'The command that is asked, or that led to this event.';
COMMENT ON COLUMN {{schema}}.parked.outcome IS 'As in the log.';
COMMENT ON COLUMN {{schema}}.parked.command_hash IS 'As in the log.';
COMMENT ON COLUMN {{schema}}.parked.correlation_id IS 'The request that it belongs to.';
COMMENT ON COLUMN {{schema}}.parked.causation_id IS 'message_id of the row that caused this one.';
COMMENT ON COLUMN {{schema}}.parked.trace_parent IS 'W3C trace context of that request.';
COMMENT ON COLUMN {{schema}}.parked.expires_at IS 'A command handled later than this is rejected as expired.';
COMMENT ON COLUMN {{schema}}.parked.recorded_at IS 'When it was appended to its log.';
COMMENT ON COLUMN {{schema}}.parked.cause IS
    'error (its own fault), trouble (of the database or its environment), unknown (no replica knows what it needs) or crashed (it ended its owners). Null while it only waits behind another.';
COMMENT ON COLUMN {{schema}}.parked.attempts IS 'How often in a row it failed for this cause; 0 while it only waits.';
COMMENT ON COLUMN {{schema}}.parked.failing_since IS 'When that began.';
COMMENT ON COLUMN {{schema}}.parked.retry_at IS 'When it is tried again; {{schema}}.retry_parked has it tried now.';
COMMENT ON COLUMN {{schema}}.parked.error IS 'How it failed last.';
COMMENT ON COLUMN {{schema}}.parked.needs IS 'The release that it waits for: one that knows this type and version, or this word.';
COMMENT ON COLUMN {{schema}}.parked.is_discarded IS 'Somebody called {{schema}}.discard_parked: it isn''t tried again and becomes a dead letter.';
COMMENT ON COLUMN {{schema}}.parked.parked_at IS 'Since when it waits.';

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
    'Messages that a worker took on carefully, committed before it did: after a lease that was not given back, and for whatever is parked. The row goes when the message is done or fails. One that ended three leases in a row is not tried a fourth time.';
COMMENT ON COLUMN {{schema}}.attempt.source IS 'The log that the message is in, as schema.table.';
COMMENT ON COLUMN {{schema}}.attempt.partition IS 'The log''s partition.';
COMMENT ON COLUMN {{schema}}.attempt.position IS 'The message''s place there.';
COMMENT ON COLUMN {{schema}}.attempt.epoch IS 'The lease that it was taken on under: an earlier one than the partition''s newest has ended with it in hand.';
COMMENT ON COLUMN {{schema}}.attempt.owner IS 'The worker that had the lease.';
COMMENT ON COLUMN {{schema}}.attempt.began_at IS 'When it took it on.';

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
    'Messages that kept failing, set aside with their error. A command''s outcome is failed; {{sender}} can send it anew.';
COMMENT ON INDEX {{schema}}.dead_letter_by_time IS 'The newest first, and what retention may forget.';
COMMENT ON COLUMN {{schema}}.dead_letter.message_id IS 'The message.';
COMMENT ON COLUMN {{schema}}.dead_letter.source IS 'The log that it came from, as schema.table.';
COMMENT ON COLUMN {{schema}}.dead_letter.partition IS 'The log''s partition.';
COMMENT ON COLUMN {{schema}}.dead_letter.position IS 'Its place there.';
COMMENT ON COLUMN {{schema}}.dead_letter.kind IS 'command, or event of a policy that somebody discarded.';
COMMENT ON COLUMN {{schema}}.dead_letter.type IS 'Name of the body''s type.';
COMMENT ON COLUMN {{schema}}.dead_letter.version IS 'Version of the type.';
COMMENT ON COLUMN {{schema}}.dead_letter.key IS 'Whose order it kept.';
COMMENT ON COLUMN {{schema}}.dead_letter.account IS 'The account that asked.';
COMMENT ON COLUMN {{schema}}.dead_letter.body IS 'The message as it was.';
COMMENT ON COLUMN {{schema}}.dead_letter.command_id IS 'The command''s id: its outcome is failed.';
COMMENT ON COLUMN {{schema}}.dead_letter.correlation_id IS 'The request that it belonged to.';
COMMENT ON COLUMN {{schema}}.dead_letter.trace_parent IS 'W3C trace context of that request.';
COMMENT ON COLUMN {{schema}}.dead_letter.code IS
    'error (it kept failing by its own fault), crashed (it ended its owners) or discarded (by somebody).';
COMMENT ON COLUMN {{schema}}.dead_letter.error IS 'What it failed with last.';
COMMENT ON COLUMN {{schema}}.dead_letter.attempts IS 'How often it was tried.';
COMMENT ON COLUMN {{schema}}.dead_letter.died_at IS 'When it was given up.';

CREATE FUNCTION {{schema}}.retry_parked(of_source text, of_key text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE {{schema}}.parked AS p SET retry_at = clock_timestamp()
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0;
    GET DIAGNOSTICS changed = ROW_COUNT;
    -- What it ended is forgiven: somebody says that it won't again.
    DELETE FROM {{schema}}.attempt AS a
     USING {{schema}}.parked AS p
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0
       AND a.source = p.source AND a.partition = p.partition AND a.position = p.position;
    PERFORM pg_notify('{{schema}}.member', of_source);
    RETURN changed;
END
$$;
COMMENT ON FUNCTION {{schema}}.retry_parked(text, text) IS
    'For operators: has the parked message of this source and key tried again now. Returns how many that are.';

CREATE FUNCTION {{schema}}.discard_parked(of_source text, of_key text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE {{schema}}.parked AS p SET is_discarded = true, retry_at = clock_timestamp()
     WHERE p.source = of_source AND p.key = of_key AND p.attempts > 0;
    GET DIAGNOSTICS changed = ROW_COUNT;
    PERFORM pg_notify('{{schema}}.member', of_source);
    RETURN changed;
END
$$;
COMMENT ON FUNCTION {{schema}}.discard_parked(text, text) IS
    'For operators: gives up the parked message of this source and key, which becomes a dead letter; the next one of the key is tried. Returns how many that are.';

GRANT SELECT, INSERT, UPDATE, DELETE ON {{schema}}.parked TO {{schema}};
GRANT SELECT, INSERT, UPDATE (began_at), DELETE ON {{schema}}.attempt TO {{schema}};
GRANT SELECT, INSERT ON {{schema}}.dead_letter TO {{schema}};

REVOKE EXECUTE ON FUNCTION {{schema}}.retry_parked(text, text), {{schema}}.discard_parked(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION {{schema}}.retry_parked(text, text), {{schema}}.discard_parked(text, text) TO quartet_operator;
GRANT SELECT ON {{schema}}.dead_letter TO {{sender}}_owner;
