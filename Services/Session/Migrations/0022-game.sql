CREATE TABLE session.game (
    group_id    uuid        NOT NULL CONSTRAINT game_is_one_row PRIMARY KEY
        CONSTRAINT game_is_played_in_a_session REFERENCES session.group_session ON DELETE CASCADE,
    number      int         NOT NULL CONSTRAINT game_number_begins_at_one CHECK (number > 0),
    version     bigint      NOT NULL CONSTRAINT each_game_has_a_version CHECK (version >= number),
    author      uuid        NOT NULL,
    updated_at  timestamptz NOT NULL,
    starts_at   timestamptz NOT NULL,
    turn_field  text        CONSTRAINT turn_field_is_short CHECK (octet_length(turn_field) BETWEEN 1 AND 64),
    state       json        NOT NULL CONSTRAINT state_is_an_object CHECK (json_typeof(state) = 'object')
        CONSTRAINT state_is_at_most_thirty_two_kilobytes CHECK (octet_length(state::text) <= 32768),
    finished_at timestamptz
) WITH (fillfactor = 70);
COMMENT ON TABLE session.game IS 'The game that is played in a group session, or was played last. Gone when the session is over.';
COMMENT ON COLUMN session.game.group_id IS 'The session.';
COMMENT ON COLUMN session.game.number IS 'Counts the games of the session.';
COMMENT ON COLUMN session.game.version IS 'Counts every start, move and end in the session, without gaps.';
COMMENT ON COLUMN session.game.author IS 'Who made this version.';
COMMENT ON COLUMN session.game.updated_at IS 'When this version was made.';
COMMENT ON COLUMN session.game.starts_at IS 'From when on moves are taken.';
COMMENT ON COLUMN session.game.turn_field IS 'The member of the state that names the account whose turn it is.';
COMMENT ON COLUMN session.game.state IS 'Whatever the game keeps.';
COMMENT ON COLUMN session.game.finished_at IS 'When it was finished.';
GRANT SELECT, INSERT, UPDATE, DELETE ON session.game TO session;
