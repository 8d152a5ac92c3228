-- Acts of operators are transactions of their own: an open one would hold up everybody who needs what it locked. Takes the place
-- of a function of operator-act.sql. Placeholder: schema.

CREATE OR REPLACE FUNCTION {{schema}}.record_act(act text, subject json, reason text, with_key uuid) RETURNS void
    LANGUAGE plpgsql VOLATILE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF statement_timestamp() - transaction_timestamp() > interval '1 second' THEN
        RAISE EXCEPTION 'this act must be a transaction of its own, but the present one began % ago',
                        statement_timestamp() - transaction_timestamp()
            USING HINT = 'ROLLBACK, and call the function again without BEGIN.', ERRCODE = 'active_sql_transaction';
    END IF;
    -- The statements that follow in this transaction hold what the act has locked.
    PERFORM set_config('statement_timeout', '3s', true);
    INSERT INTO {{schema}}.operator_act (act, subject, reason, with_key) VALUES (act, subject, coalesce(reason, ''), with_key);
END
$$;
COMMENT ON FUNCTION {{schema}}.record_act(text, json, text, uuid) IS
    'Adds a row to the audit, in a transaction that has just begun, whose later statements may take three seconds each. Called by the functions for operators alone, as the schema''s owner.';
