-- compatible with 0.1.0
CREATE FUNCTION notifications.secret_members(of_type text) RETURNS text[]
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE
               WHEN of_type IN ('RegisterPush', 'ForgetPush') THEN ARRAY['token']
           END;
COMMENT ON FUNCTION notifications.secret_members(text) IS
    'The members of a message''s body that people who read the tables are not to see, of messages that the tables of notifications have; null if there are none. A test compares this with the contracts.';
--! include bus/shown-messages.sql schema=notifications
