-- Whether a process that knows the commands of canaries has run here. Until then nobody sends them: one of an older release would be
-- held up by them. Placeholders: schema, reader.
CREATE TABLE {{schema}}.canary_support (
    is_known boolean     CONSTRAINT canary_support_is_one_row PRIMARY KEY CONSTRAINT canary_support_is_a_fact CHECK (is_known),
    since    timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE {{schema}}.canary_support IS 'Whether {{schema}} knows the commands of canaries: no row until a process that does has started.';
COMMENT ON COLUMN {{schema}}.canary_support.is_known IS 'Always true.';
COMMENT ON COLUMN {{schema}}.canary_support.since IS 'When the first such process started.';
GRANT SELECT, INSERT ON {{schema}}.canary_support TO {{schema}};
GRANT SELECT ON {{schema}}.canary_support TO {{reader}};
