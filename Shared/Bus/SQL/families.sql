-- Families of parked messages: what fails holds back only its like. Placeholder: schema.

ALTER TABLE {{schema}}.parked
    ADD COLUMN family text NOT NULL DEFAULT 'regular',
    ADD COLUMN ends_connections boolean NOT NULL DEFAULT false,
    ADD COLUMN queue text GENERATED ALWAYS AS (
        CASE WHEN family = 'regular' OR family LIKE 'urgent %' THEN family || ' ' || key ELSE family END) STORED;
CREATE INDEX parked_by_queue ON {{schema}}.parked (source, partition, queue, is_discarded DESC, position);
-- 0.1.0 knows no families, and goes on parking until it is replaced. So each lease begins with a look for what is urgent here.
CREATE INDEX parked_regular ON {{schema}}.parked (source, partition, type) WHERE family = 'regular';

COMMENT ON TABLE {{schema}}.parked IS
    'Messages that failed and will be retried, and the later messages of the same queue, which wait behind them. All others go on meanwhile. A row holds the whole message, so the log may delete it.';
COMMENT ON COLUMN {{schema}}.parked.key IS 'The message''s key.';
COMMENT ON COLUMN {{schema}}.parked.family IS
    'regular, urgent with what it is about (lives may depend on it), unknown with what the message needs, or alone with its id (it failed for long, and nobody would send it again).';
COMMENT ON COLUMN {{schema}}.parked.ends_connections IS
    'Whether the connection was lost each time the message was tried alone, so that it may be what ends the server''s process. It is retried with long pauses.';
COMMENT ON COLUMN {{schema}}.parked.queue IS
    'Only the first message of a queue is retried. Regular and urgent messages have a queue for each key and family; any other family is one queue.';
COMMENT ON INDEX {{schema}}.parked_by_key IS 'Finds the parked messages of a key.';
COMMENT ON INDEX {{schema}}.parked_by_queue IS 'Finds the first parked message of a queue, or one that an operator discarded.';
COMMENT ON INDEX {{schema}}.parked_regular IS 'Finds urgent messages that 0.1.0 parked as regular ones.';

CREATE OR REPLACE FUNCTION {{schema}}.discard_parked(of_source text, of_key text, why text, with_key uuid DEFAULT NULL) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    changed bigint;
BEGIN
    -- A queue of its family alone may wait for another key's message.
    UPDATE {{schema}}.parked AS p SET is_discarded = true, retry_at = CASE WHEN p.attempts > 0 THEN clock_timestamp() END
     WHERE p.source = of_source AND p.key = of_key AND (p.attempts > 0 OR p.queue = p.family);
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
    'For operators: gives up the failing messages of this source and key, in all families; they become dead letters, and what waits behind them is tried. Returns how many messages that concerns; if none, it leaves no row in operator_act.';
COMMENT ON FUNCTION {{schema}}.retry_parked(text, text, text, uuid) IS
    'For operators: retries the failing messages of this source and key now, in all families. Returns how many messages that concerns; if none, it leaves no row in operator_act.';
