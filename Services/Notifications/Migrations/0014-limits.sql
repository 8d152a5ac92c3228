-- One row. `notifications migrate --burst 10` changes it. Every replica reads it with each batch, so all of them
-- decide by the same numbers.
CREATE TABLE notifications.limits (
    only_row boolean DEFAULT true CONSTRAINT limits_are_one_row PRIMARY KEY
        CONSTRAINT only_row_is_true CHECK (only_row),
    burst    int     NOT NULL DEFAULT 6
        CONSTRAINT burst_is_at_most_a_thousand CHECK (burst BETWEEN 0 AND 1000)
);
COMMENT ON TABLE notifications.limits IS 'Numbers in the rules that can be set. One row, which `notifications migrate` writes.';
COMMENT ON COLUMN notifications.limits.only_row IS 'Keeps the table at one row.';
COMMENT ON COLUMN notifications.limits.burst IS 'How many notifications of a group are delivered at once within ten minutes. After that, one a minute is. 0: no limit.';
INSERT INTO notifications.limits DEFAULT VALUES;

GRANT SELECT ON notifications.limits TO notifications;
