-- What people at psql see of messages: everything but the members of bodies that secret_members(type) names. Tables of messages
-- are those with a type and a body. Placeholder: schema. The migration that includes this has {{schema}}.secret_members(text).

CREATE FUNCTION {{schema}}.without_secrets(of_type text, body json) RETURNS json
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
    RETURN CASE WHEN body IS NOT NULL THEN
               (SELECT coalesce(json_object_agg(m.key, CASE WHEN m.key = ANY ({{schema}}.secret_members(of_type))
                                                            THEN to_json('(secret)'::text) ELSE m.value END), '{}')
                  FROM json_each(body) AS m) END;
COMMENT ON FUNCTION {{schema}}.without_secrets(text, json) IS
    'A message''s body with "(secret)" in place of what secret_members names for its type.';
GRANT EXECUTE ON FUNCTION {{schema}}.secret_members(text), {{schema}}.without_secrets(text, json) TO quartet_reader;

CREATE FUNCTION {{schema}}.create_shown_views() RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    messages record;
    col      record;
BEGIN
    FOR messages IN
        SELECT c.oid, c.relname AS name,
               -- Nothing but the base type, as in the views over all services.
               string_agg(CASE a.attname
                   WHEN 'body' THEN 'CASE WHEN {{schema}}.secret_members(m.type::text) IS NULL THEN m.body::json '
                                    'ELSE {{schema}}.without_secrets(m.type::text, m.body::json) END AS body'
                   ELSE format('m.%I', a.attname) END, ', ' ORDER BY a.attnum) AS shown,
               string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum) FILTER (WHERE a.attname <> 'body') AS others
          FROM pg_class AS c
          JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         WHERE c.relnamespace = '{{schema}}'::regnamespace AND c.relkind = 'r'
         GROUP BY c.oid, c.relname
        HAVING count(*) FILTER (WHERE a.attname IN ('type', 'body')) = 2
    LOOP
        EXECUTE format('CREATE OR REPLACE VIEW {{schema}}.%I AS SELECT %s FROM {{schema}}.%I AS m',
                       'shown_' || messages.name, messages.shown, messages.name);
        EXECUTE format('COMMENT ON VIEW {{schema}}.%I IS %L', 'shown_' || messages.name,
                       format('{{schema}}.%s for people at psql, who may not read its bodies: without what is secret in them.',
                              messages.name));
        FOR col IN
            SELECT a.attname AS name, col_description(a.attrelid, a.attnum) AS comment FROM pg_attribute AS a
             WHERE a.attrelid = messages.oid AND a.attnum > 0 AND NOT a.attisdropped
        LOOP
            EXECUTE format('COMMENT ON COLUMN {{schema}}.%I.%I IS %L', 'shown_' || messages.name, col.name, col.comment);
        END LOOP;
        EXECUTE format('GRANT SELECT ON {{schema}}.%I TO quartet_reader', 'shown_' || messages.name);
        EXECUTE format('REVOKE SELECT ON {{schema}}.%I FROM quartet_reader', messages.name);
        EXECUTE format('GRANT SELECT (%s) ON {{schema}}.%I TO quartet_reader', messages.others, messages.name);
    END LOOP;
END
$$;
COMMENT ON FUNCTION {{schema}}.create_shown_views() IS
    'For each table of messages, creates the view shown_<table>, and lets people at psql read that instead of the bodies. For migrations: after such a table was created or got a column.';
SELECT {{schema}}.create_shown_views();
