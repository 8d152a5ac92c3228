-- compatible with 0.1.0
-- A test push goes the way of every push, but it is an operator's: it belongs to no notification, so nothing that is told, unread or
-- reached knows of it.
CREATE TABLE notifications.test_push (
    id       uuid        CONSTRAINT test_push_is_asked_for_once PRIMARY KEY,
    account  uuid        NOT NULL,
    device   uuid        NOT NULL,
    asked_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempt  int         CONSTRAINT test_attempts_count_from_one CHECK (attempt > 0),
    ended_at timestamptz,
    took     interval,
    result   text        CONSTRAINT test_result_is_known
                         CHECK (result IN ('done', 'logged', 'retried', 'gone', 'refused', 'expired')),
    answer   text        CONSTRAINT test_answer_is_short CHECK (length(answer) <= 500),
    CONSTRAINT test_result_is_of_an_attempt
        CHECK (num_nulls(attempt, ended_at, took, result, answer) IN (0, 5))
) WITH (fillfactor = 70);
CREATE INDEX test_push_of_device ON notifications.test_push (account, device, asked_at);
CREATE INDEX test_push_by_age ON notifications.test_push (asked_at);
COMMENT ON TABLE notifications.test_push IS 'Test pushes, which operators sent, and how their last attempts ended. Kept for 30 days, unless the account is closed; who asked and why is in operator_act.';
COMMENT ON INDEX notifications.test_push_of_device IS 'Counts those of a device within a day, and finds a closed account''s.';
COMMENT ON INDEX notifications.test_push_by_age IS 'Counts those of an hour, lists the newest first, and finds the rows that are deleted next.';
COMMENT ON COLUMN notifications.test_push.id IS 'The id of the push, the same for each attempt. The waiting push has it as notification, though there is none.';
COMMENT ON COLUMN notifications.test_push.account IS 'The account.';
COMMENT ON COLUMN notifications.test_push.device IS 'The device.';
COMMENT ON COLUMN notifications.test_push.asked_at IS 'When the operator asked for it.';
COMMENT ON COLUMN notifications.test_push.attempt IS 'The number of the last attempt that ended, from 1; null before one did.';
COMMENT ON COLUMN notifications.test_push.ended_at IS 'When that attempt ended.';
COMMENT ON COLUMN notifications.test_push.took IS 'How long it took.';
COMMENT ON COLUMN notifications.test_push.result IS 'How it ended, in the words of push_attempt: done, logged, retried (another follows), gone, refused or expired.';
COMMENT ON COLUMN notifications.test_push.answer IS 'The push service''s answer, or why it wasn''t asked.';
GRANT SELECT, DELETE, UPDATE (attempt, ended_at, took, result, answer) ON notifications.test_push TO notifications;

-- Not generated from the body: that would write the whole table and its indexes anew while alarms wait for it.
ALTER TABLE notifications.push ADD COLUMN is_test boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN notifications.push.is_test IS 'Whether it is a test push, as send_test_push says: no notification belongs to it, it displaces no other push, and it is given up after ten minutes.';

CREATE VIEW notifications.test_push_result AS
SELECT t.id, t.account, t.device, d.platform, t.asked_at,
       CASE WHEN t.result = 'done' THEN 'accepted'
            WHEN t.result = 'logged' THEN 'only logged'
            WHEN t.result <> 'retried' THEN t.result
            WHEN p.device IS NULL THEN 'dropped'
            ELSE 'waiting' END AS result,
       CASE WHEN p.device IS NULL AND coalesce(t.result, 'retried') = 'retried'
            THEN concat_ws('; before that: ', 'the device is registered for pushes no more, or anew', t.answer)
            ELSE t.answer END AS answer,
       t.attempt AS attempts, t.took, t.ended_at
  FROM notifications.test_push AS t
  LEFT JOIN notifications.push AS p ON p.account = t.account AND p.device = t.device AND p.notification = t.id
  LEFT JOIN notifications.push_device AS d ON d.account = t.account AND d.device = t.device;
COMMENT ON VIEW notifications.test_push_result IS 'What became of the test pushes of the last 30 days.';
COMMENT ON COLUMN notifications.test_push_result.id IS 'What send_test_push returned.';
COMMENT ON COLUMN notifications.test_push_result.account IS 'The account.';
COMMENT ON COLUMN notifications.test_push_result.device IS 'The device.';
COMMENT ON COLUMN notifications.test_push_result.platform IS 'The device''s kind of push service; null if it isn''t registered any more.';
COMMENT ON COLUMN notifications.test_push_result.asked_at IS 'When the operator asked for it.';
COMMENT ON COLUMN notifications.test_push_result.result IS 'accepted (a push service took it, which doesn''t say that the device showed it), only logged (nothing is set by which it could be sent, so it went nowhere), refused, gone (the device no longer exists), expired (given up after ten minutes), waiting (for its first attempt or the next one), or dropped (its device was signed out or registered anew, meanwhile).';
COMMENT ON COLUMN notifications.test_push_result.answer IS 'The push service''s last answer, or why it wasn''t asked.';
COMMENT ON COLUMN notifications.test_push_result.attempts IS 'How many attempts have ended; null if none has.';
COMMENT ON COLUMN notifications.test_push_result.took IS 'How long the last one took.';
COMMENT ON COLUMN notifications.test_push_result.ended_at IS 'When the last one ended.';

CREATE FUNCTION notifications.send_test_push(of_account uuid, of_device uuid, why text, with_key uuid DEFAULT NULL) RETURNS uuid
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    asked      timestamptz := clock_timestamp();
    -- A UUIDv7, as every push's.
    test       uuid := encode(set_bit(set_bit(overlay(
                           uuid_send(gen_random_uuid())
                           PLACING substring(int8send((extract(epoch FROM asked) * 1000)::bigint) FROM 3)
                           FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid;
    kind       text;
    recent     timestamptz[];
BEGIN
    IF btrim(coalesce(why, '')) = '' OR length(why) > 1000 THEN
        RAISE EXCEPTION 'a test push needs a reason of 1 to 1,000 characters, which the audit keeps'
            USING HINT = 'Say why as the third argument.', ERRCODE = 'check_violation', CONSTRAINT = 'operator_act_has_a_reason';
    END IF;
    IF notifications.is_canary(of_account) THEN
        RAISE EXCEPTION 'the account % is synthetic, and its pushes go to no device', of_account
            USING HINT = 'Take a device of a person''s: with \set handle, :person lists them.', ERRCODE = 'no_data_found';
    END IF;
    -- Acts about a device follow one another, so that none miscounts. Pushes that are added meanwhile don't wait for this lock.
    SELECT d.platform INTO kind
      FROM notifications.push_device AS d
     WHERE d.account = of_account AND d.device = of_device AND NOT d.is_leaving
       FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the account % has no device % that is registered for pushes', of_account, of_device
            USING HINT = 'With \set handle, :person lists a person''s devices; the app registers one when pushes are allowed there.',
                  ERRCODE = 'no_data_found';
    END IF;
    SELECT array_agg(t.asked_at ORDER BY t.asked_at) INTO recent
      FROM notifications.test_push AS t
     WHERE t.account = of_account AND t.device = of_device AND t.asked_at > asked - interval '1 day';
    IF cardinality(recent) >= 5 THEN
        RAISE EXCEPTION 'five test pushes to this device within a day are the most; the next one may be sent after %',
                        recent[cardinality(recent) - 4] + interval '1 day'
            USING HINT = ':test_pushes shows what became of them.', ERRCODE = 'program_limit_exceeded',
                  CONSTRAINT = 'test_pushes_are_few';
    END IF;
    -- One statement could name everybody's devices. Those that others ask for at this very moment aren't counted.
    IF (SELECT count(*) FROM notifications.test_push AS t WHERE t.asked_at > asked - interval '1 hour') >= 50 THEN
        RAISE EXCEPTION 'fifty test pushes within an hour are the most'
            USING HINT = ':test_pushes shows what became of them.', ERRCODE = 'program_limit_exceeded',
                  CONSTRAINT = 'test_pushes_are_few';
    END IF;
    INSERT INTO notifications.test_push (id, account, device, asked_at) VALUES (test, of_account, of_device, asked);
    -- PushBody of the rules. About the account itself, so that it goes with the device when that is signed out. Low, so that all that
    -- somebody is told goes first; it is shown as what is normal.
    INSERT INTO notifications.push (account, device, notification, is_test, body)
    VALUES (of_account, of_device, test, true,
            json_build_object(
                'id', test, 'isTest', true,
                'notification', json_build_object(
                    'id', test, 'kind', 'system', 'priority', 'low', 'category', 'system', 'subject', of_account,
                    'details', '{}'::json, 'created', notifications.microseconds(asked))));
    PERFORM notifications.record_act(
        'send_test_push',
        json_build_object('account', of_account, 'device', of_device, 'platform', kind, 'push', test),
        why, with_key);
    RETURN test;
END
$$;
COMMENT ON FUNCTION notifications.send_test_push(uuid, uuid, text, uuid) IS
    'For operators: pushes to a device what says that it is a test, at most five times a day and to all devices fifty an hour. Returns its id, under which test_push_result says what became of it.';
GRANT EXECUTE ON FUNCTION notifications.send_test_push(uuid, uuid, text, uuid) TO quartet_operator;

CREATE FUNCTION notifications.delete_old_test_pushes(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    deleted bigint;
BEGIN
    DELETE FROM notifications.test_push AS t
     WHERE t.id IN (
        SELECT o.id FROM notifications.test_push AS o
         WHERE o.asked_at < statement_timestamp() - interval '30 days'
         ORDER BY o.asked_at LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;
COMMENT ON FUNCTION notifications.delete_old_test_pushes(int) IS
    'Deletes test pushes that were asked for more than 30 days ago, at most at_most rows. Returns how many.';
REVOKE EXECUTE ON FUNCTION notifications.delete_old_test_pushes(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION notifications.delete_old_test_pushes(int) TO notifications;
