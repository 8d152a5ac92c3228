-- Commands that a service sends itself later. When they are due they move to the log {{schema}}.due. Placeholder:
-- schema.

CREATE TABLE {{schema}}.timer (
    key     text        NOT NULL CONSTRAINT timer_key_is_short CHECK (octet_length(key) BETWEEN 1 AND 128),
    name    text        NOT NULL CONSTRAINT timer_has_a_name CHECK (length(name) BETWEEN 1 AND 200),
    due_at  timestamptz NOT NULL,
    type    text        NOT NULL CONSTRAINT timer_type_is_a_name CHECK (length(type) BETWEEN 1 AND 100),
    version smallint    NOT NULL CONSTRAINT timer_version_begins_at_one CHECK (version > 0),
    body    json        NOT NULL,
    CONSTRAINT timer_is_set_once PRIMARY KEY (key, name)
) WITH (fillfactor = 70);
CREATE INDEX timer_by_due ON {{schema}}.timer (due_at, key, name);

COMMENT ON TABLE {{schema}}.timer IS
    'Commands that {{schema}} sends itself when they are due. The transaction that changes the state sets its timers; the one that appends the command to {{schema}}.due deletes the timer.';
COMMENT ON INDEX {{schema}}.timer_by_due IS 'Finds the timers that are due, the earliest first.';
COMMENT ON COLUMN {{schema}}.timer.key IS 'The command''s key.';
COMMENT ON COLUMN {{schema}}.timer.name IS 'The timer''s name. Setting a timer with the same key and name replaces it.';
COMMENT ON COLUMN {{schema}}.timer.due_at IS 'When the command is sent.';
COMMENT ON COLUMN {{schema}}.timer.type IS 'Name of the command''s type.';
COMMENT ON COLUMN {{schema}}.timer.version IS 'Version of the type.';
COMMENT ON COLUMN {{schema}}.timer.body IS 'The command. It says what it was set for, so one that is out of date changes nothing.';

GRANT SELECT, INSERT, UPDATE, DELETE ON {{schema}}.timer TO {{schema}};
