ALTER TABLE session_client.saga
    ADD COLUMN lane text NOT NULL DEFAULT 'account' CONSTRAINT lane_is_a_name CHECK (length(lane) BETWEEN 1 AND 50),
    ADD COLUMN number bigint GENERATED ALWAYS AS IDENTITY;
COMMENT ON COLUMN session_client.saga.lane IS 'Sagas of one account and lane run one after the other, in the order of their numbers.';
COMMENT ON COLUMN session_client.saga.number IS 'Its place among its account''s, whatever the clock said: counted while the account is locked.';
COMMENT ON COLUMN session_client.saga.account IS 'The account that asked.';
CREATE UNIQUE INDEX saga_running_in_lane ON session_client.saga (account, lane, number) WHERE state = 'running';
COMMENT ON INDEX session_client.saga_running_in_lane IS 'Sagas of one account and lane run one after the other.';
DROP INDEX session_client.saga_running;
