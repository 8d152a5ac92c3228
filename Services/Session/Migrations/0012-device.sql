CREATE TABLE session.device (
    account        uuid        NOT NULL,
    device         uuid        NOT NULL,
    name           text        NOT NULL,
    signed_in_at   timestamptz NOT NULL,
    last_seen_at   timestamptz NOT NULL,
    token          bytea       NOT NULL CONSTRAINT token_is_a_hash CHECK (octet_length(token) = 32),
    earlier_tokens bytea       NOT NULL CONSTRAINT earlier_tokens_are_hashes CHECK (octet_length(earlier_tokens) % 32 = 0),
    signed_out_at  timestamptz,
    reason         text,
    CONSTRAINT device_signs_in_once PRIMARY KEY (account, device),
    CONSTRAINT signed_out_device_is_told_why CHECK ((signed_out_at IS NULL) = (reason IS NULL))
) WITH (fillfactor = 80);
COMMENT ON TABLE session.device IS 'Devices that signed in; of those that are signed out, the latest are remembered so that each can be told why. Only session reads it.';
COMMENT ON COLUMN session.device.account IS 'Whose.';
COMMENT ON COLUMN session.device.device IS 'Which one; another id at each sign-in.';
COMMENT ON COLUMN session.device.name IS 'What its person sees in the list of devices.';
COMMENT ON COLUMN session.device.signed_in_at IS 'Since when.';
COMMENT ON COLUMN session.device.last_seen_at IS 'When it last exchanged its token.';
COMMENT ON COLUMN session.device.token IS 'The hash of the refresh token that it has.';
COMMENT ON COLUMN session.device.earlier_tokens IS 'The hashes of those that it had, 32 bytes each, the latest last: who shows one has a copy.';
COMMENT ON COLUMN session.device.signed_out_at IS 'When it was signed out.';
COMMENT ON COLUMN session.device.reason IS 'Why.';

REVOKE ALL ON session.device FROM quartet_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON session.device TO session;
