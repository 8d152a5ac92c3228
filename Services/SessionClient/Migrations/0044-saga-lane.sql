ALTER TABLE session_client.saga
    ADD COLUMN lane text NOT NULL DEFAULT 'account' CONSTRAINT lane_is_a_name CHECK (length(lane) BETWEEN 1 AND 50);
COMMENT ON COLUMN session_client.saga.lane IS 'Sagas of one account and lane run one after the other.';
COMMENT ON COLUMN session_client.saga.account IS 'The account that asked.';
CREATE INDEX saga_running_in_lane ON session_client.saga (account, lane, started_at, id) WHERE state = 'running';
COMMENT ON INDEX session_client.saga_running_in_lane IS 'Sagas of one account and lane run one after the other.';
DROP INDEX session_client.saga_running;
