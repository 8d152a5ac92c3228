CREATE TABLE session.security_change (
    account                  uuid        NOT NULL,
    number                   int         NOT NULL CONSTRAINT number_begins_at_one CHECK (number > 0),
    kind                     text        NOT NULL
        CONSTRAINT kind_is_known CHECK (kind IN ('password', 'phone', 'settings', 'recoveryCodes')),
    changed_at               timestamptz NOT NULL,
    device                   uuid,
    device_signed_in_at      timestamptz NOT NULL,
    password_hash            bytea       NOT NULL CONSTRAINT password_hash_is_a_sha_256 CHECK (octet_length(password_hash) = 32),
    password_key             text        NOT NULL CONSTRAINT password_key_is_a_version CHECK (password_key ~ '^[0-9a-f]{8}$'),
    phone                    text,
    phone_region             text,
    phone_id                 uuid,
    phone_key                text        CONSTRAINT phone_key_is_a_version CHECK (phone_key ~ '^[0-9a-f]{8}$'),
    is_single_device         boolean     NOT NULL,
    is_confirmation_required boolean     NOT NULL,
    recovery_hashes          bytea
        CONSTRAINT recovery_codes_are_at_most_ten_hashes
        CHECK (octet_length(recovery_hashes) % 32 = 0 AND octet_length(recovery_hashes) <= 320),
    recovery_made_at         timestamptz,
    CONSTRAINT security_change_has_a_number PRIMARY KEY (account, number),
    CONSTRAINT device_signed_in_before CHECK (device_signed_in_at <= changed_at),
    CONSTRAINT phone_has_a_name CHECK ((phone IS NULL) = (phone_id IS NULL) AND (phone IS NULL) = (phone_key IS NULL)),
    CONSTRAINT recovery_codes_were_made CHECK ((recovery_hashes IS NULL) = (recovery_made_at IS NULL))
) WITH (fillfactor = 80);
COMMENT ON TABLE session.security_change IS 'Changes of accounts'' security that can be undone, each with the state before it. A timer forgets them. Only session reads it.';
COMMENT ON COLUMN session.security_change.account IS 'The account.';
COMMENT ON COLUMN session.security_change.number IS 'The changes'' order.';
COMMENT ON COLUMN session.security_change.kind IS 'What was changed: the password, the phone, the settings or the recovery codes.';
COMMENT ON COLUMN session.security_change.changed_at IS 'When it was changed.';
COMMENT ON COLUMN session.security_change.device IS 'The device that changed it.';
COMMENT ON COLUMN session.security_change.device_signed_in_at IS 'When that device signed in. A device that signed in later may not undo the change.';
COMMENT ON COLUMN session.security_change.password_hash IS 'The password''s hash before the change, as in session.credential.';
COMMENT ON COLUMN session.security_change.password_key IS 'The version of the server''s key under which that was made.';
COMMENT ON COLUMN session.security_change.phone IS 'The phone before the change.';
COMMENT ON COLUMN session.security_change.phone_region IS 'That phone''s region.';
COMMENT ON COLUMN session.security_change.phone_id IS 'The edge''s id for that phone''s number.';
COMMENT ON COLUMN session.security_change.phone_key IS 'The version of the server''s key under which phone_id was made.';
COMMENT ON COLUMN session.security_change.is_single_device IS 'Whether a sign-in signed out the other devices before the change.';
COMMENT ON COLUMN session.security_change.is_confirmation_required IS 'Whether sensitive actions needed the password again before the change.';
COMMENT ON COLUMN session.security_change.recovery_hashes IS 'The recovery codes before the change, as in session.recovery, without those used since.';
COMMENT ON COLUMN session.security_change.recovery_made_at IS 'When those codes were made.';

REVOKE ALL ON session.security_change FROM quartet_reader;
GRANT SELECT, INSERT, UPDATE, DELETE ON session.security_change TO session;
