-- A saga that rests after an error gives way to the others of its account and lane. So which of them may run no longer follows
-- from their numbers alone, and two replicas that look at the same moment could each take another one: the index refuses the second.
-- At once the lock that the last statement needs: taken step by step, it could meet a process that also waits for more.
LOCK TABLE session_client.saga IN ACCESS EXCLUSIVE MODE;
-- What a vanished process had in hand is anyone's.
UPDATE session_client.saga SET owner = NULL, owned_until = NULL WHERE state = 'running' AND owned_until < clock_timestamp();
CREATE UNIQUE INDEX saga_in_hand ON session_client.saga (account, lane) WHERE state = 'running' AND owner IS NOT NULL;
COMMENT ON INDEX session_client.saga_in_hand IS 'Sagas of one account and lane run one after the other: only one of them has an owner.';
-- By another column than the lanes' indexes, of the same meaning: otherwise a plan made while nothing runs looks for each saga's lane
-- in all that is due. 0.1.0, which asks by the first one, reads and sorts all that run meanwhile.
DROP INDEX session_client.saga_due;
CREATE INDEX saga_due ON session_client.saga (next_attempt) WHERE ended_at IS NULL;
COMMENT ON INDEX session_client.saga_due IS 'Finds the sagas that can be run, the longest waiting first.';
COMMENT ON INDEX session_client.saga_running_in_lane IS 'Finds the next saga of an account and lane: the first of those that don''t rest.';
COMMENT ON COLUMN session_client.saga.lane IS
    'Sagas of one account and lane run one after the other, in the order of their numbers. One that rests until its next_attempt gives way to the others; one whose process vanished goes first.';
COMMENT ON COLUMN session_client.saga.number IS
    'The saga''s place among its account''s: not a time, since clocks go back, and assigned while the account is locked. One that rests after an error gets a new one, behind those that wait.';
COMMENT ON COLUMN session_client.saga.next_attempt IS 'The earliest time of the next run, after an error. Until then the saga rests.';
COMMENT ON COLUMN session_client.saga.state IS
    'running, done, rejected (because its deciding step was) or failed: it can''t be done, or the account was closed meanwhile.';
COMMENT ON COLUMN session_client.saga_step.outcome IS
    'How the command ended, or recorded if something was read; failed if the account was closed before it ended.';
COMMENT ON COLUMN session_client.saga_step.result IS
    'The command''s result or rejection, or the fact that was read. Null once it was emptied because the account was closed.';
