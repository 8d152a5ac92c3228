-- Proofs of identity and push tokens needn't stay in the logs once the commands that carry them are handled.
CREATE FUNCTION session_client.carries_secrets(type text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN type IN ('SignUp', 'SignIn', 'RefreshDevice', 'ChangePassword', 'ResetPassword', 'ConfirmIdentity', 'RequestSignInCode',
                    'SignInByPhone', 'RequestPhoneChange', 'ChangePhone', 'RenamePhone', 'MakeRecoveryCodes', 'SignInByRecoveryCode',
                    'ConfirmByRecoveryCode', 'UndoSecurityChanges', 'RegisterPush');
COMMENT ON FUNCTION session_client.carries_secrets(text) IS
    'Whether commands of this type carry a proof of identity or a push token. This is the only list of such types.';
-- The other services use it to empty their dead letters and parked commands.
GRANT EXECUTE ON FUNCTION session_client.carries_secrets(text)
   TO session_client, session_owner, contacts_owner, notifications_owner;

CREATE INDEX session_commands_with_secrets ON session_client.session_commands (recorded_at)
 WHERE session_client.carries_secrets(type);
COMMENT ON INDEX session_client.session_commands_with_secrets IS 'Finds the commands to empty once they are handled, the oldest first.';
CREATE INDEX notifications_commands_with_secrets ON session_client.notifications_commands (recorded_at)
 WHERE session_client.carries_secrets(type);
COMMENT ON INDEX session_client.notifications_commands_with_secrets IS 'Finds the commands to empty once they are handled, the oldest first.';

CREATE FUNCTION session_client.empty_secrets(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    too_old timestamptz := clock_timestamp() - (SELECT r.keep FROM session_client.retention AS r WHERE r.subject = 'secrets');
    emptied bigint;
    tokens  bigint;
BEGIN
    -- Outcomes are kept elsewhere, so a command that is sent again still gets its outcome.
    UPDATE session_client.session_commands AS l SET body = '{}', type = 'Redacted', version = 1
      FROM (SELECT c.partition, c.position FROM session_client.session_commands AS c
             WHERE session_client.carries_secrets(c.type) AND c.recorded_at < too_old
               AND c.position <= session_client.session_commands_handled(c.partition)
             ORDER BY c.recorded_at LIMIT at_most) AS o
     WHERE l.partition = o.partition AND l.position = o.position;
    GET DIAGNOSTICS emptied = ROW_COUNT;
    UPDATE session_client.notifications_commands AS l SET body = '{}', type = 'Redacted', version = 1
      FROM (SELECT c.partition, c.position FROM session_client.notifications_commands AS c
             WHERE session_client.carries_secrets(c.type) AND c.recorded_at < too_old
               AND c.position <= session_client.notifications_commands_handled(c.partition)
             ORDER BY c.recorded_at LIMIT at_most) AS o
     WHERE l.partition = o.partition AND l.position = o.position;
    GET DIAGNOSTICS tokens = ROW_COUNT;
    RETURN emptied + tokens;
END
$$;
COMMENT ON FUNCTION session_client.empty_secrets(int) IS
    'Empties handled commands that carry secrets and are older than session_client.retention says, at most at_most of each log. Returns how many.';
GRANT EXECUTE ON FUNCTION session_client.empty_secrets(int) TO session_client;
