-- What group sessions play together, and what comes next. Gone when the session is over. Who is waited for is kept with the
-- participants.

CREATE TABLE session.playback (
    group_id   uuid        NOT NULL CONSTRAINT playback_is_one_row PRIMARY KEY
        CONSTRAINT playback_is_in_a_session REFERENCES session.group_session ON DELETE CASCADE,
    version    bigint      NOT NULL CONSTRAINT playback_version_begins_at_one CHECK (version > 0),
    author     uuid        NOT NULL,
    item       json        CONSTRAINT current_item_is_at_most_two_kilobytes CHECK (octet_length(item::text) <= 2048),
    is_playing boolean     NOT NULL,
    is_waiting boolean     NOT NULL,
    rate       int         NOT NULL CONSTRAINT rate_is_a_quarter_to_four CHECK (rate BETWEEN 250 AND 4000),
    position   interval    NOT NULL CONSTRAINT position_is_at_most_thirty_days CHECK (position BETWEEN '0' AND '30 days'),
    anchor     timestamptz NOT NULL,
    CONSTRAINT only_an_item_plays CHECK (item IS NOT NULL OR NOT is_playing)
) WITH (fillfactor = 70);
COMMENT ON TABLE session.playback IS 'What group sessions play, and where everybody is in it. A session has a row once something was played.';
COMMENT ON COLUMN session.playback.group_id IS 'The session.';
COMMENT ON COLUMN session.playback.version IS 'Counts every change, without gaps.';
COMMENT ON COLUMN session.playback.author IS 'Who made this version.';
COMMENT ON COLUMN session.playback.item IS 'The current item: PlaybackItem of the contract. NULL for none.';
COMMENT ON COLUMN session.playback.is_playing IS 'Whether the group wants it to play.';
COMMENT ON COLUMN session.playback.is_waiting IS 'Whether it stands still because of a suspension.';
COMMENT ON COLUMN session.playback.rate IS 'How fast, in thousandths of the normal speed.';
COMMENT ON COLUMN session.playback.position IS 'The position in the item until the anchor.';
COMMENT ON COLUMN session.playback.anchor IS 'From when on the position moves, if it does.';
GRANT SELECT, INSERT, UPDATE, DELETE ON session.playback TO session;

CREATE TABLE session.queue_item (
    group_id uuid   NOT NULL CONSTRAINT queue_is_of_a_session REFERENCES session.group_session ON DELETE CASCADE,
    item_id  uuid   NOT NULL,
    rank     bigint NOT NULL CONSTRAINT rank_is_far_from_overflow CHECK (abs(rank) < 9007199254740992),
    item     json   NOT NULL CONSTRAINT queued_item_is_at_most_two_kilobytes CHECK (octet_length(item::text) <= 2048),
    CONSTRAINT item_is_in_the_queue_once PRIMARY KEY (group_id, item_id),
    -- Checked after each statement: what is in the way moves on in one.
    CONSTRAINT queue_has_one_order UNIQUE (group_id, rank) DEFERRABLE INITIALLY IMMEDIATE
);
COMMENT ON TABLE session.queue_item IS 'What group sessions play next: at most 100 items each.';
COMMENT ON COLUMN session.queue_item.group_id IS 'The session.';
COMMENT ON COLUMN session.queue_item.item_id IS 'The item''s id, given by whoever added it.';
COMMENT ON COLUMN session.queue_item.rank IS 'The least plays next. Ranks have gaps, and may be negative.';
COMMENT ON COLUMN session.queue_item.item IS 'PlaybackItem of the contract.';
GRANT SELECT, INSERT, UPDATE, DELETE ON session.queue_item TO session;
