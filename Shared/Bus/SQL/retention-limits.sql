-- The longest time that rows are kept. Longer ones may not fit into a time, so deleting would fail. Placeholder: schema.

UPDATE {{schema}}.retention AS r
   SET keep = least(r.keep, interval '3650 days'),
       -- Null stays: never.
       truncate_after = CASE WHEN r.truncate_after IS NOT NULL THEN least(r.truncate_after, interval '3650 days') END
 WHERE r.keep > interval '3650 days' OR r.truncate_after > interval '3650 days';
ALTER TABLE {{schema}}.retention
    ADD CONSTRAINT retention_keeps_ten_years_at_most CHECK (keep <= interval '3650 days'),
    ADD CONSTRAINT retention_truncates_within_ten_years CHECK (truncate_after <= interval '3650 days');
