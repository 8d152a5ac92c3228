CREATE TABLE session.device (
    account                  uuid        NOT NULL,
    device                   uuid        NOT NULL,
    name                     text        NOT NULL,
    signed_in_at             timestamptz NOT NULL,
    last_seen_at             timestamptz NOT NULL,
    token                    bytea       NOT NULL CONSTRAINT token_is_a_hash CHECK (octet_length(token) = 32),
    earlier_tokens           bytea       NOT NULL
        CONSTRAINT earlier_tokens_are_hashes CHECK (octet_length(earlier_tokens) % 32 = 0),
    confirmed_until          timestamptz,
    is_confirmed_by_password boolean     NOT NULL DEFAULT false,
    failures                 int         NOT NULL DEFAULT 0 CONSTRAINT failures_are_not_negative CHECK (failures >= 0),
    blocked_until            timestamptz,
    signed_out_at            timestamptz,
    reason                   text,
    CONSTRAINT device_signs_in_once PRIMARY KEY (account, device),
    CONSTRAINT signed_out_device_is_told_why CHECK ((signed_out_at IS NULL) = (reason IS NULL))
) WITH (fillfactor = 80);
COMMENT ON TABLE session.device IS 'Devices that signed in. The latest signed-out ones are kept, so that each can be told why it was signed out. Only session reads it.';
COMMENT ON COLUMN session.device.account IS 'The account.';
COMMENT ON COLUMN session.device.device IS 'The device''s id, new at each sign-in.';
COMMENT ON COLUMN session.device.name IS 'The name in the person''s list of devices.';
COMMENT ON COLUMN session.device.signed_in_at IS 'When the device signed in.';
COMMENT ON COLUMN session.device.last_seen_at IS 'When the device last refreshed its token.';
COMMENT ON COLUMN session.device.token IS 'The hash of the device''s refresh token.';
COMMENT ON COLUMN session.device.earlier_tokens IS 'The hashes of its earlier refresh tokens, 32 bytes each, the latest last. Using one of them shows that the token was copied.';
COMMENT ON COLUMN session.device.confirmed_until IS 'Until when the device may do what needs a confirmation.';
COMMENT ON COLUMN session.device.is_confirmed_by_password IS 'Whether it was confirmed by the password; otherwise by a code sent to the phone.';
COMMENT ON COLUMN session.device.failures IS 'How many wrong passwords in a row were given on this device while signed in. Others are counted in session.sign_in_attempt.';
COMMENT ON COLUMN session.device.blocked_until IS 'Until when no password is checked on this device.';
COMMENT ON COLUMN session.device.signed_out_at IS 'When the device was signed out.';
COMMENT ON COLUMN session.device.reason IS 'Why it was signed out.';

REVOKE ALL ON session.device FROM quartet_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON session.device TO session;

CREATE VIEW session.device_status AS
SELECT d.account, d.device, d.signed_out_at IS NULL AS active, d.reason
  FROM session.device AS d;
COMMENT ON VIEW session.device_status IS 'Whether a device is signed in. A device that isn''t listed isn''t signed in.';
COMMENT ON COLUMN session.device_status.account IS 'The account.';
COMMENT ON COLUMN session.device_status.device IS 'The device.';
COMMENT ON COLUMN session.device_status.active IS 'Whether the device is signed in.';
COMMENT ON COLUMN session.device_status.reason IS 'Why the device was signed out.';
GRANT SELECT ON session.device_status TO session_client;
