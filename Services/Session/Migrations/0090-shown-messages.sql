-- compatible with 0.1.0
CREATE FUNCTION session.secret_members(of_type text) RETURNS text[]
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
           END;
COMMENT ON FUNCTION session.secret_members(text) IS
    'The members of a message''s body that people who read the tables are not to see, of messages that the tables of session have; null if there are none. A test compares this with the contracts.';
--! include bus/shown-messages.sql schema=session
