-- What a log with streams has besides: who comes back reads what they missed, however long ago, without the rows of others.
-- Placeholders: schema, log.

-- By a hash: half the size of one by the keys themselves, and two thirds of what that costs each append.
CREATE INDEX {{log}}_by_key ON {{schema}}.{{log}} (hashtext(key), position);
COMMENT ON INDEX {{schema}}.{{log}}_by_key IS 'A stream''s rows in order: finds what came after a position.';
