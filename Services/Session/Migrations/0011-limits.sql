-- One row. `session migrate --check-in-cooldown 1m` changes it. Every replica reads it with each batch, so all of them
-- decide by the same numbers.
CREATE TABLE session.limits (
    only_row                  boolean  DEFAULT true CONSTRAINT limits_are_one_row PRIMARY KEY
        CONSTRAINT only_row_is_true CHECK (only_row),
    check_in_cooldown         interval NOT NULL DEFAULT '5 minutes'
        CONSTRAINT check_in_cooldown_is_at_most_a_day CHECK (check_in_cooldown BETWEEN '0' AND '1 day'),
    least_check_in_interval   interval NOT NULL DEFAULT '1 hour'
        CONSTRAINT least_check_in_interval_is_a_second_to_a_day CHECK (least_check_in_interval BETWEEN '1 second' AND '1 day'),
    alarm_repetitions         int      NOT NULL DEFAULT 3
        CONSTRAINT alarm_repetitions_are_few CHECK (alarm_repetitions BETWEEN 0 AND 100),
    alarm_repetition_interval interval NOT NULL DEFAULT '30 minutes'
        CONSTRAINT alarm_repetition_interval_is_a_second_to_a_day CHECK (alarm_repetition_interval BETWEEN '1 second' AND '1 day'),
    alert_burst               int      NOT NULL DEFAULT 3
        CONSTRAINT alert_burst_is_one_to_ten_thousand CHECK (alert_burst BETWEEN 1 AND 10000),
    alert_window              interval NOT NULL DEFAULT '10 minutes'
        CONSTRAINT alert_window_is_a_second_to_a_day CHECK (alert_window BETWEEN '1 second' AND '1 day'),
    alert_pause               interval NOT NULL DEFAULT '60 seconds'
        CONSTRAINT alert_pause_is_at_most_an_hour CHECK (alert_pause BETWEEN '0' AND '1 hour'),
    undo_window               interval NOT NULL DEFAULT '72 hours'
        CONSTRAINT undo_window_is_a_second_to_thirty_days CHECK (undo_window BETWEEN '1 second' AND '30 days'),
    phone_rest                interval NOT NULL DEFAULT '24 hours'
        CONSTRAINT phone_rest_is_at_most_thirty_days CHECK (phone_rest BETWEEN '0' AND '30 days'),
    drop_notice               interval NOT NULL DEFAULT '5 seconds'
        CONSTRAINT drop_notice_is_at_most_a_minute CHECK (drop_notice BETWEEN '0' AND '1 minute'),
    drop_grace                interval NOT NULL DEFAULT '30 seconds'
        CONSTRAINT drop_grace_is_five_seconds_to_five_minutes CHECK (drop_grace BETWEEN '5 seconds' AND '5 minutes'),
    edge_lease                interval NOT NULL DEFAULT '15 seconds'
        CONSTRAINT edge_lease_is_a_second_to_five_minutes CHECK (edge_lease BETWEEN '1 second' AND '5 minutes'),
    empty_group_rest          interval NOT NULL DEFAULT '10 minutes'
        CONSTRAINT empty_group_rest_is_a_second_to_a_day CHECK (empty_group_rest BETWEEN '1 second' AND '1 day')
);
COMMENT ON TABLE session.limits IS 'Numbers in the rules that can be set. One row, which `session migrate` writes.';
COMMENT ON COLUMN session.limits.only_row IS 'Keeps the table at one row.';
COMMENT ON COLUMN session.limits.check_in_cooldown IS 'How long after a check-in the next one may come.';
COMMENT ON COLUMN session.limits.least_check_in_interval IS 'The shortest check-in interval that an account may choose.';
COMMENT ON COLUMN session.limits.alarm_repetitions IS 'How often an alarm that goes on is repeated to responders.';
COMMENT ON COLUMN session.limits.alarm_repetition_interval IS 'The time between repetitions.';
COMMENT ON COLUMN session.limits.alert_burst IS 'How many alerts of an account within a window alarm responders at once.';
COMMENT ON COLUMN session.limits.alert_window IS 'How long such a window is.';
COMMENT ON COLUMN session.limits.alert_pause IS 'How long each further alert waits before it alarms responders.';
COMMENT ON COLUMN session.limits.undo_window IS 'How long a change of an account''s security can be undone by a device that it signed out.';
COMMENT ON COLUMN session.limits.phone_rest IS 'How long a phone that replaced another one can''t sign in, unless the change was confirmed by the password.';
COMMENT ON COLUMN session.limits.drop_notice IS 'How long a participant of a group session can be without a connection before that is announced.';
COMMENT ON COLUMN session.limits.drop_grace IS 'How long a participant without a connection stays in a group session.';
COMMENT ON COLUMN session.limits.edge_lease IS 'How long an edge process counts as alive after it renewed its lease.';
COMMENT ON COLUMN session.limits.empty_group_rest IS 'How long a group session without participants stays open.';
INSERT INTO session.limits DEFAULT VALUES;

GRANT SELECT ON session.limits TO session;
