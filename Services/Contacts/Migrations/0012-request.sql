CREATE TABLE contacts.request (
    asker        uuid        NOT NULL,
    asked        uuid        NOT NULL,
    is_my_responder boolean  NOT NULL,
    i_am_responder  boolean  NOT NULL,
    nickname     text        NOT NULL CONSTRAINT request_nickname_is_short CHECK (char_length(nickname) <= 400),
    is_stranger  boolean     NOT NULL,
    requested_at timestamptz NOT NULL,
    CONSTRAINT request_is_made_once PRIMARY KEY (asker, asked),
    CONSTRAINT request_is_between_two CHECK (asker <> asked),
    CONSTRAINT request_has_a_role CHECK (is_my_responder OR i_am_responder)
);
CREATE INDEX request_by_asked ON contacts.request (asked, asker);

COMMENT ON TABLE contacts.request IS 'Requests to become contacts that wait for an answer.';
COMMENT ON INDEX contacts.request_by_asked IS 'The requests that an account received.';
COMMENT ON COLUMN contacts.request.asker IS 'Who asked.';
COMMENT ON COLUMN contacts.request.asked IS 'Who is to answer.';
COMMENT ON COLUMN contacts.request.is_my_responder IS 'Whether the asked one would be the asker''s responder.';
COMMENT ON COLUMN contacts.request.i_am_responder IS 'Whether the asked one would be the asker''s dependent.';
COMMENT ON COLUMN contacts.request.nickname IS 'What the asker would call the other.';
COMMENT ON COLUMN contacts.request.is_stranger IS 'Whether the two had no common contact; the oldest of these makes room when too many wait.';
COMMENT ON COLUMN contacts.request.requested_at IS 'When.';

GRANT SELECT, INSERT, UPDATE, DELETE ON contacts.request TO contacts;
