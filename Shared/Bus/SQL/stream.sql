-- The index of a log that has streams: an app that comes back reads what it missed without reading other streams' rows.
-- Placeholders: schema, log.

-- On a hash of the key: less than half the size of an index on the key itself, and two thirds of its cost per append.
CREATE INDEX {{log}}_by_key ON {{schema}}.{{log}} (hashtext(key), position);
COMMENT ON INDEX {{schema}}.{{log}}_by_key IS 'A stream''s rows in order: finds what came after a position.';
