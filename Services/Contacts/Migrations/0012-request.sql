CREATE TABLE contacts.request (
    asker           uuid        NOT NULL,
    asked           uuid        NOT NULL,
    is_my_responder boolean     NOT NULL,
    i_am_responder  boolean     NOT NULL,
    nickname        text        NOT NULL CONSTRAINT request_nickname_is_short CHECK (char_length(nickname) <= 400),
    is_stranger     boolean     NOT NULL,
    requested_at    timestamptz NOT NULL,
    CONSTRAINT request_is_made_once PRIMARY KEY (asker, asked),
    CONSTRAINT request_is_between_two CHECK (asker <> asked),
    CONSTRAINT request_has_a_role CHECK (is_my_responder OR i_am_responder)
);
CREATE INDEX request_by_asked ON contacts.request (asked, asker);

COMMENT ON TABLE contacts.request IS 'Requests to become contacts that aren''t answered yet.';
COMMENT ON INDEX contacts.request_by_asked IS 'Finds the requests that an account received.';
COMMENT ON COLUMN contacts.request.asker IS 'The account that asked.';
COMMENT ON COLUMN contacts.request.asked IS 'The account that is to answer.';
COMMENT ON COLUMN contacts.request.is_my_responder IS 'Whether the asked account would be the asker''s responder.';
COMMENT ON COLUMN contacts.request.i_am_responder IS 'Whether the asked account would be the asker''s dependent.';
COMMENT ON COLUMN contacts.request.nickname IS 'The nickname that the asker chose for the other.';
COMMENT ON COLUMN contacts.request.is_stranger IS 'Whether the two had no contact in common. When too many requests wait, the oldest of these is dropped.';
COMMENT ON COLUMN contacts.request.requested_at IS 'When it was requested.';

GRANT SELECT, INSERT, UPDATE, DELETE ON contacts.request TO contacts;
