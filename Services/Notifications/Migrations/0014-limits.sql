-- One row. `notifications migrate --burst 10` changes it; every replica reads it with each batch, so all decide by
-- the same numbers.
CREATE TABLE notifications.limits (
    only_row     boolean DEFAULT true CONSTRAINT limits_are_one_row PRIMARY KEY
        CONSTRAINT only_row_is_true CHECK (only_row),
    burst int     NOT NULL DEFAULT 6
        CONSTRAINT burst_is_at_most_a_thousand CHECK (burst BETWEEN 0 AND 1000)
);
COMMENT ON TABLE notifications.limits IS 'Numbers in the rules that can be set; one row, which migrate writes.';
COMMENT ON COLUMN notifications.limits.only_row IS 'Keeps it at one row.';
COMMENT ON COLUMN notifications.limits.burst IS 'How many notifications about the same are delivered at once in ten minutes; then one a minute. 0: no limit.';
INSERT INTO notifications.limits DEFAULT VALUES;

GRANT SELECT ON notifications.limits TO notifications;
