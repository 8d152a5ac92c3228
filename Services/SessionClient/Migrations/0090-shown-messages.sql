-- compatible with 0.1.0
CREATE FUNCTION session_client.secret_members(of_type text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
               WHEN of_type = 'SignUp' THEN ARRAY['verifier', 'device']
               WHEN of_type = 'SignIn' THEN ARRAY['verifier', 'device', 'known']
               WHEN of_type = 'SignInByPhone' THEN ARRAY['proof', 'device', 'known']
               WHEN of_type = 'SignInByRecoveryCode' THEN ARRAY['proof', 'device']
               WHEN of_type = 'RequestSignInCode' THEN ARRAY['proof', 'known']
               WHEN of_type IN ('RequestPhoneChange', 'ChangePhone', 'ConfirmByRecoveryCode') THEN ARRAY['proof']
               WHEN of_type = 'RefreshDevice' THEN ARRAY['token', 'next']
               WHEN of_type = 'MakeRecoveryCodes' THEN ARRAY['proofs']
               WHEN of_type = 'ChangePassword' THEN ARRAY['verifier', 'next']
               WHEN of_type = 'ResetPassword' THEN ARRAY['next']
               WHEN of_type = 'ConfirmIdentity' THEN ARRAY['verifier']
               WHEN of_type = 'UndoSecurityChanges' THEN ARRAY['token']
               WHEN of_type IN ('OpenAccount', 'ResetContactCode', 'AddContact', 'ContactsOpened', 'ContactCodeReset') THEN ARRAY['code']
               WHEN of_type IN ('RegisterPush', 'ForgetPush') THEN ARRAY['token']
           END;
COMMENT ON FUNCTION session_client.secret_members(text) IS
    'The members of a message''s body that people who read the tables are not to see, of messages that the tables of session_client have; null if there are none. A test compares this with the contracts.';
--! include bus/shown-messages.sql schema=session_client

CREATE OR REPLACE FUNCTION session_client.create_union_view(view_name text, names text[], like_table text, branch text) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    col record;
BEGIN
    EXECUTE format('CREATE OR REPLACE VIEW session_client.%I WITH (security_invoker = true) AS %s', view_name,
                   (SELECT string_agg(format(branch, n.name, replace(n.name, '.', '.shown_')), ' UNION ALL ' ORDER BY n.number)
                      FROM unnest(names) WITH ORDINALITY AS n (name, number)));
    FOR col IN
        SELECT v.attname AS name, coalesce(col_description(t.attrelid, t.attnum), CASE v.attname
                   WHEN 'log' THEN 'The log, as schema.table.'
                   WHEN 'service' THEN 'The service, by its schema.'
                   WHEN 'consumer' THEN 'The service that handles the messages, by its schema.' END) AS comment
          FROM pg_attribute AS v
          LEFT JOIN pg_attribute AS t ON t.attrelid = like_table::regclass AND t.attname = v.attname AND t.attnum > 0
         WHERE v.attrelid = format('session_client.%I', view_name)::regclass AND v.attnum > 0
           AND col_description(v.attrelid, v.attnum) IS NULL
    LOOP
        EXECUTE format('COMMENT ON COLUMN session_client.%I.%I IS %L', view_name, col.name, col.comment);
    END LOOP;
END
$$;
COMMENT ON FUNCTION session_client.create_union_view(text, text[], text, text) IS
    'Creates a view that joins one SELECT per name by UNION ALL. In the SELECT, %1$s stands for the name, and if that is a table of messages, %2$s for its view without secrets. Columns without a comment get the one of like_table''s column of that name.';

-- PostgreSQL plans each branch of a UNION ALL by its own indexes only if the branches are plain SELECTs whose types
-- agree. So columns whose type is a domain of their schema are cast to the domain's base type.
CREATE OR REPLACE FUNCTION session_client.create_union_views() RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    logs      text[] := ARRAY(SELECT l.log FROM session_client.logs AS l ORDER BY l.log);
    services  text[] := ARRAY(SELECT DISTINCT split_part(l.log, '.', 1) FROM session_client.logs AS l ORDER BY 1);
    with_outcomes text[] := ARRAY(SELECT s FROM unnest(services) AS s WHERE to_regclass(s || '.outcome') IS NOT NULL);
    with_timers   text[] := ARRAY(SELECT s FROM unnest(services) AS s WHERE to_regclass(s || '.timer') IS NOT NULL);
BEGIN
    PERFORM session_client.create_union_view('messages', logs, 'session.log', $branch$
        SELECT '%1$s' AS log, m.partition, m.position::bigint AS position, m.recorded_at, m.kind::text AS kind,
               m.type::text AS type, m.key::text AS key, m.account, m.outcome::text AS outcome, m.message_id, m.command_id,
               m.correlation_id, m.causation_id, m.body
          FROM %2$s AS m $branch$);
    PERFORM session_client.create_union_view('heads', logs, 'session.log', $branch$
        SELECT '%1$s' AS log, p.partition, p.base_position AS base, coalesce(m.position, p.base_position) AS head,
               m.recorded_at
          FROM %1$s_partition AS p
          LEFT JOIN LATERAL (SELECT m.position, m.recorded_at FROM %1$s AS m
                              WHERE m.partition = p.partition ORDER BY m.position DESC LIMIT 1) AS m ON true $branch$);
    PERFORM session_client.create_union_view('batches', services, 'session.batch', $branch$
        SELECT '%1$s' AS consumer, b.source, b.partition, b.number::bigint AS number, b.position::bigint AS position,
               b.owner, b.epoch, b.given_time, b.messages::int AS messages
          FROM %1$s.batch AS b $branch$);
    PERFORM session_client.create_union_view('all_outcomes', with_outcomes, 'session.outcome', $branch$
        SELECT '%1$s' AS consumer, o.command_id, o.account, o.outcome::text AS outcome, o.type::text AS type, o.body,
               o.recorded_at, o.partition, o.position
          FROM %1$s.shown_outcome AS o $branch$);
    PERFORM session_client.create_union_view('all_leases', services, 'session.lease', $branch$
        SELECT '%1$s' AS consumer, l.* FROM %1$s.lease AS l $branch$);
    PERFORM session_client.create_union_view('all_members', services, 'session.member', $branch$
        SELECT '%1$s' AS consumer, m.* FROM %1$s.member AS m $branch$);
    PERFORM session_client.create_union_view('all_parked', services, 'session.parked', $branch$
        SELECT '%1$s' AS consumer, p.* FROM %1$s.shown_parked AS p $branch$);
    PERFORM session_client.create_union_view('all_dead_letters', services, 'session.dead_letter', $branch$
        SELECT '%1$s' AS consumer, d.* FROM %1$s.shown_dead_letter AS d $branch$);
    PERFORM session_client.create_union_view('all_retention', services, 'session.retention', $branch$
        SELECT '%1$s' AS service, r.* FROM %1$s.retention AS r $branch$);
    PERFORM session_client.create_union_view('all_operator_acts', services, 'session.operator_act', $branch$
        SELECT '%1$s' AS service, a.* FROM %1$s.operator_act AS a $branch$);
    PERFORM session_client.create_union_view('all_timers', with_timers, 'session.timer', $branch$
        SELECT '%1$s' AS service, t.* FROM %1$s.shown_timer AS t $branch$);
END
$$;
SELECT session_client.create_union_views();
