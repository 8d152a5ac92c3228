-- No constraint ties daily times to the deadline or the interval: a process of an earlier release, which doesn't know them, moves these.
ALTER TABLE session.account
    ADD COLUMN daily               json,
    ADD COLUMN daily_counted_since timestamptz,
    ADD COLUMN daily_changes       int NOT NULL DEFAULT 0
        CONSTRAINT daily_changes_count_up CHECK (daily_changes >= 0);
COMMENT ON COLUMN session.account.daily IS 'Daily times (times), what the account has as its interval for them (interval), the deadline that they made (deadline), from when a check-in counts for it (opens), those of before a change that stay (kept), when the deadline was decided (since), the pause after which it is the first (paused), and by which version of the zones they are made (zones). If interval isn''t check_in_interval, they are over; if deadline isn''t due_at, a process of an earlier release set that.';
COMMENT ON COLUMN session.account.daily_counted_since IS 'The start of the day in which changes of daily times are counted.';
COMMENT ON COLUMN session.account.daily_changes IS 'Changes of daily times on that day, whether or not an interval took their place in between.';

-- A process of an earlier release closes an account without this.
CREATE FUNCTION session.forget_daily_times() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    new.daily := NULL;
    new.daily_counted_since := NULL;
    new.daily_changes := 0;
    RETURN new;
END
$$;
COMMENT ON FUNCTION session.forget_daily_times() IS 'Forgets the daily times of an account that is closed.';
CREATE TRIGGER closed_account_has_no_daily_times
    BEFORE UPDATE ON session.account
    FOR EACH ROW WHEN (new.closed_at IS NOT NULL AND (new.daily IS NOT NULL OR new.daily_counted_since IS NOT NULL))
    EXECUTE FUNCTION session.forget_daily_times();
COMMENT ON TRIGGER closed_account_has_no_daily_times ON session.account IS 'Nothing of daily times is left of a closed account, whichever release closes it.';

-- A process of an earlier release sets an interval without this. Were it set back later, the times would be there again.
CREATE FUNCTION session.end_daily_times() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    new.daily := NULL;
    RETURN new;
END
$$;
COMMENT ON FUNCTION session.end_daily_times() IS 'Forgets daily times whose place an interval took.';
CREATE TRIGGER interval_ends_daily_times
    BEFORE UPDATE ON session.account
    FOR EACH ROW WHEN (new.daily IS NOT NULL
                       AND (new.daily ->> 'interval')::bigint <> (extract(epoch FROM new.check_in_interval) * 1000000)::bigint)
    EXECUTE FUNCTION session.end_daily_times();
COMMENT ON TRIGGER interval_ends_daily_times ON session.account IS 'An interval ends daily times, whichever release sets it.';

-- `session migrate` fills it from the database of time zones of the machine that it runs on, so that all replicas have the same.
CREATE TABLE session.zone (
    name    text  NOT NULL
        CONSTRAINT zone_name_is_short CHECK (length(name) BETWEEN 1 AND 64),
    version int   NOT NULL
        CONSTRAINT zone_versions_count_up CHECK (version > 0),
    data    bytea NOT NULL
        CONSTRAINT zone_data_is_at_most_64_kb CHECK (length(data) <= 65536),
    CONSTRAINT zone_has_one_name PRIMARY KEY (name, version)
);
COMMENT ON TABLE session.zone IS 'Time zones, of which people choose one for their daily times. All replicas use these, whatever their machines have. What a newer version has of a zone stands beside what it had before, by which deadlines are made until the account was looked at.';
COMMENT ON COLUMN session.zone.name IS 'The name in IANA''s database, such as Europe/Berlin. It stays, even if the database drops it.';
COMMENT ON COLUMN session.zone.version IS 'From which version on (zones of session.limits) the zone has these data, until a later row of it.';
COMMENT ON COLUMN session.zone.data IS 'When the clocks change and how far they are from UTC, as zic compiles it (RFC 8536).';
GRANT SELECT ON session.zone TO session;

ALTER TABLE session.limits
    ADD COLUMN zones           int         NOT NULL DEFAULT 0
        CONSTRAINT zones_count_up CHECK (zones >= 0),
    ADD COLUMN zones_since     timestamptz NOT NULL DEFAULT '1970-01-01 00:00:00+00',
    ADD COLUMN zones_reviewing interval    NOT NULL DEFAULT '0'
        CONSTRAINT zones_are_reviewed_after_they_came CHECK (zones_reviewing >= '0'),
    ADD COLUMN zones_name      text        NOT NULL DEFAULT '';
COMMENT ON COLUMN session.limits.zones IS 'Counts the versions of session.zone; 0 while it is empty. With a new one, the next deadlines of daily times are looked at again in the zones that differ.';
COMMENT ON COLUMN session.limits.zones_since IS 'When this version came.';
COMMENT ON COLUMN session.limits.zones_reviewing IS 'For how long from then on the accounts in zones that differ are looked at, a few at a time, so that nothing else waits for all of them.';
COMMENT ON COLUMN session.limits.zones_name IS 'What its publisher calls it, such as 2025b.';

CREATE OR REPLACE VIEW session.account_state AS
SELECT a.account,
       CASE WHEN a.closed_at IS NULL THEN
           json_strip_nulls(json_build_object(
               'account', a.account,
               'handle', a.handle,
               'name', a.name,
               'emergencyNote', a.emergency_note,
               'profileVersion', a.profile_version,
               'phone', CASE WHEN a.phone IS NOT NULL THEN
                            json_build_object('number', a.phone, 'region', a.phone_region) END,
               'avatar', a.avatar,
               'onboarding', CASE WHEN a.name IS NULL THEN 'needsProfile' ELSE 'done' END,
               'isSingleDevice', a.is_single_device,
               'isConfirmationRequired', a.is_confirmation_required,
               'recoveryCodes', coalesce((SELECT octet_length(r.hashes) / 32 FROM session.recovery AS r
                                           WHERE r.account = a.account), 0),
               'checkIn', json_build_object(
                   'interval', (extract(epoch FROM a.check_in_interval) * 1000000)::bigint,
                   'reminders', array_remove(ARRAY[CASE WHEN a.reminds_two_hours THEN 'twoHours' END,
                                                   CASE WHEN a.reminds_thirty_minutes THEN 'thirtyMinutes' END], NULL),
                   'last', session.microseconds(a.last_check_in_at),
                   'due', session.microseconds(a.due_at),
                   'missed', a.missed_alarm IS NOT NULL,
                   'alarm', a.missed_alarm,
                   'grace', CASE WHEN a.check_in_grace > interval '0' THEN
                                (extract(epoch FROM a.check_in_grace) * 1000000)::bigint END,
                   'graceEnds', CASE WHEN a.missed_alarm IS NULL AND a.graced_due_at = a.due_at
                                      AND a.grace_ends_at > a.due_at THEN session.microseconds(a.grace_ends_at) END,
                   'pausedUntil', CASE WHEN a.missed_alarm IS NULL
                                        AND CASE WHEN own.daily IS NULL THEN a.due_at = a.paused_until + a.check_in_interval
                                                 ELSE (own.daily ->> 'paused')::bigint = session.microseconds(a.paused_until) END
                                       THEN session.microseconds(a.paused_until) END,
                   'daily', valid.daily -> 'times',
                   'opens', CASE WHEN a.missed_alarm IS NULL THEN (own.daily ->> 'opens')::bigint END),
               'alertRaised', session.microseconds(a.alert_raised_at),
               'alertAlarm', a.alert_alarm,
               'trip', CASE WHEN (a.trip #>> '{shown,alarm}') IS NULL
                              OR (a.trip #>> '{shown,alarm}')::uuid = a.alert_alarm THEN a.trip -> 'shown' END,
               'unanswered', CASE WHEN (a.unanswered #>> '{shown,alarm}')::uuid = a.alert_alarm THEN a.unanswered -> 'shown' END,
               'drill', a.drill,
               'devices', coalesce((
                   SELECT json_agg(json_build_object(
                              'id', d.device, 'name', d.name, 'signedIn', session.microseconds(d.signed_in_at),
                              'lastSeen', session.microseconds(d.last_seen_at)) ORDER BY d.device)
                     FROM session.device AS d
                    WHERE d.account = a.account AND d.signed_out_at IS NULL), '[]'),
               'isClosed', false))
       ELSE
           json_build_object(
               'account', a.account, 'emergencyNote', '', 'profileVersion', 0, 'isSingleDevice', false,
               'isConfirmationRequired', false, 'recoveryCodes', 0,
               'checkIn', json_build_object('interval', 86400000000, 'reminders', ARRAY['twoHours', 'thirtyMinutes'],
                                            'missed', false),
               'devices', '[]'::json, 'isClosed', true)
       END AS state
  FROM session.account AS a
  LEFT JOIN LATERAL (SELECT a.daily
                      WHERE (a.daily ->> 'interval')::bigint = (extract(epoch FROM a.check_in_interval) * 1000000)::bigint)
            AS valid(daily) ON true
  LEFT JOIN LATERAL (SELECT valid.daily
                      WHERE (valid.daily ->> 'deadline')::bigint = session.microseconds(a.due_at)) AS own(daily) ON true;
-- compatible with 0.1.0
