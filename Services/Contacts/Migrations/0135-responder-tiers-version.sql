-- The views are replaced in a migration of their own: their readers lock them before the table.
ALTER TABLE contacts.account ADD COLUMN responder_tiers_version bigint NOT NULL DEFAULT 0;
COMMENT ON COLUMN contacts.account.responder_tiers_version IS 'Counts the changes of the tiers.';
-- compatible with 0.1.0
