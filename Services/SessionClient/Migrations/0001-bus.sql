--! include bus/schema.sql schema=session_client sender=session_client
-- The other services delete only what is handled here, so they have to know how far that is.
GRANT SELECT ON session_client.batch, session_client.lease TO session_owner, contacts_owner, notifications_owner;
