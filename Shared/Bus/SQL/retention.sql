-- How long a schema keeps the rows of its tables. Placeholder: schema.

CREATE TABLE {{schema}}.retention (
    subject        text        CONSTRAINT retention_is_one_per_subject PRIMARY KEY,
    keep           interval    NOT NULL CONSTRAINT retention_keeps_a_minute CHECK (keep >= interval '1 minute'),
    truncate_after interval    CONSTRAINT retention_truncates_after_keeping CHECK (truncate_after >= keep),
    changed_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_by     text        NOT NULL DEFAULT session_user
);
COMMENT ON TABLE {{schema}}.retention IS 'How long each table''s rows are kept. Change it with {{schema}}.set_retention.';
COMMENT ON COLUMN {{schema}}.retention.subject IS 'The table''s name.';
COMMENT ON COLUMN {{schema}}.retention.keep IS 'Rows are kept at least this long, and until every consumer has handled them.';
COMMENT ON COLUMN {{schema}}.retention.truncate_after IS 'Older rows of a log are deleted even if a consumer hasn''t handled them; the consumer then finds the log truncated. Null: retention waits for consumers without limit.';
COMMENT ON COLUMN {{schema}}.retention.changed_at IS 'When this was last set.';
COMMENT ON COLUMN {{schema}}.retention.changed_by IS 'The role that set it.';

CREATE FUNCTION {{schema}}.set_retention(
    of_subject text, to_keep interval, to_truncate_after interval, why text, with_key uuid DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE {{schema}}.retention AS r
       SET keep = to_keep, truncate_after = to_truncate_after, changed_at = clock_timestamp(), changed_by = session_user
     WHERE r.subject = of_subject;
    IF NOT FOUND THEN
        RAISE EXCEPTION '{{schema}} has no retention for %', of_subject
            USING HINT = 'SELECT * FROM {{schema}}.retention lists the subjects.', ERRCODE = 'no_data_found';
    END IF;
    PERFORM {{schema}}.record_act(
        'set_retention',
        json_build_object('subject', of_subject, 'keep', to_keep, 'truncate_after', to_truncate_after), why, with_key);
END
$$;
COMMENT ON FUNCTION {{schema}}.set_retention(text, interval, interval, text, uuid) IS
    'For operators: sets how long rows of a table are kept, and after how long they are deleted even if a consumer hasn''t handled them (null: never).';
GRANT EXECUTE ON FUNCTION {{schema}}.set_retention(text, interval, interval, text, uuid) TO quartet_operator;
GRANT SELECT ON {{schema}}.retention TO {{schema}};
