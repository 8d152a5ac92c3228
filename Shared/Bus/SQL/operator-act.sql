-- What operators did in a schema. Each function for operators changes something and adds a row here, in one transaction.
-- Placeholder: schema.

CREATE TABLE {{schema}}.operator_act (
    number   bigint      GENERATED ALWAYS AS IDENTITY CONSTRAINT operator_act_has_a_number PRIMARY KEY,
    act      text        NOT NULL,
    subject  json        NOT NULL,
    reason   text        NOT NULL
             CONSTRAINT operator_act_has_a_reason CHECK (btrim(reason) <> '' AND length(reason) <= 1000),
    acted_as text        NOT NULL DEFAULT session_user,
    with_key uuid,
    acted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX operator_act_by_time ON {{schema}}.operator_act (acted_at);
COMMENT ON INDEX {{schema}}.operator_act_by_time IS 'Lists the newest first.';
COMMENT ON TABLE {{schema}}.operator_act IS 'The audit: what operators did, who, when and why. Nothing deletes it.';
COMMENT ON COLUMN {{schema}}.operator_act.number IS 'Numbers the acts of this schema.';
COMMENT ON COLUMN {{schema}}.operator_act.act IS 'The function that was called.';
COMMENT ON COLUMN {{schema}}.operator_act.subject IS 'Its arguments, and what it did.';
COMMENT ON COLUMN {{schema}}.operator_act.reason IS 'Why, in the operator''s words.';
COMMENT ON COLUMN {{schema}}.operator_act.acted_as IS 'The role that logged in.';
COMMENT ON COLUMN {{schema}}.operator_act.with_key IS 'The operator''s API key (session_client.operator_key); null at psql.';
COMMENT ON COLUMN {{schema}}.operator_act.acted_at IS 'When it was done.';

CREATE FUNCTION {{schema}}.record_act(act text, subject json, reason text, with_key uuid) RETURNS void
    LANGUAGE sql VOLATILE SET search_path = pg_catalog, pg_temp
BEGIN ATOMIC
    INSERT INTO {{schema}}.operator_act (act, subject, reason, with_key) VALUES (act, subject, coalesce(reason, ''), with_key);
END;
COMMENT ON FUNCTION {{schema}}.record_act(text, json, text, uuid) IS
    'Adds a row to the audit. Called by the functions for operators alone, as the schema''s owner.';
