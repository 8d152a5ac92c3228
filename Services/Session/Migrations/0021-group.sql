-- Group sessions, their participants and who of them is present. Whatever changes something in a session locks its row.

CREATE TABLE session.group_session (
    group_id            uuid        NOT NULL CONSTRAINT group_session_is_one_row PRIMARY KEY,
    creator             uuid        NOT NULL,
    activity            text        NOT NULL CONSTRAINT activity_is_a_name CHECK (activity ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$'),
    capacity            int         NOT NULL CONSTRAINT capacity_is_one_to_a_hundred CHECK (capacity BETWEEN 1 AND 100),
    seats               int         NOT NULL CONSTRAINT seats_are_at_most_thirty_two CHECK (seats BETWEEN 0 AND 32),
    is_open_to_contacts boolean     NOT NULL
        CONSTRAINT session_of_one_is_open_to_nobody CHECK (capacity > 1 OR NOT is_open_to_contacts),
    host                uuid,
    joins               int         NOT NULL CONSTRAINT creator_joined CHECK (joins > 0),
    empty_since         timestamptz,
    created_at          timestamptz NOT NULL,
    ended_at            timestamptz,
    end_reason          text        CONSTRAINT end_reason_is_known CHECK (end_reason IN ('ended', 'expired')),
    ended_by            uuid,
    CONSTRAINT end_has_a_reason CHECK ((ended_at IS NULL) = (end_reason IS NULL)),
    CONSTRAINT somebody_ended_it CHECK ((end_reason IS NOT DISTINCT FROM 'ended') = (ended_by IS NOT NULL)),
    CONSTRAINT session_has_a_host_while_somebody_is_in_it
        CHECK ((host IS NULL) = (empty_since IS NOT NULL OR ended_at IS NOT NULL)),
    CONSTRAINT session_that_is_over_waits_for_nobody CHECK (ended_at IS NULL OR empty_since IS NULL)
) WITH (fillfactor = 80);
CREATE INDEX group_session_by_end ON session.group_session (ended_at) WHERE ended_at IS NOT NULL;
COMMENT ON TABLE session.group_session IS 'Group sessions. One that is over is kept for a while, so that late commands are refused with the reason.';
COMMENT ON INDEX session.group_session_by_end IS 'For deleting old sessions.';
COMMENT ON COLUMN session.group_session.group_id IS 'Its id, derived from the command that created it.';
COMMENT ON COLUMN session.group_session.creator IS 'The creator.';
COMMENT ON COLUMN session.group_session.activity IS 'The app''s identifier of the activity.';
COMMENT ON COLUMN session.group_session.capacity IS 'The most participants. 1 for a person''s own devices.';
COMMENT ON COLUMN session.group_session.seats IS 'The number of seats, numbered from 0.';
COMMENT ON COLUMN session.group_session.is_open_to_contacts IS 'Whether contacts of the host may join without an invitation.';
COMMENT ON COLUMN session.group_session.host IS 'The participant who is the host; NULL while nobody is in it.';
COMMENT ON COLUMN session.group_session.joins IS 'The number of joins so far.';
COMMENT ON COLUMN session.group_session.empty_since IS 'When the last participant left; NULL while someone is in it.';
COMMENT ON COLUMN session.group_session.created_at IS 'When it began.';
COMMENT ON COLUMN session.group_session.ended_at IS 'When it ended.';
COMMENT ON COLUMN session.group_session.end_reason IS 'Why it ended.';
COMMENT ON COLUMN session.group_session.ended_by IS 'The account that ended it; NULL if it expired.';
GRANT SELECT, INSERT, UPDATE ON session.group_session TO session;

-- Apart from the session's row, which every command reads.
CREATE TABLE session.group_activity (
    group_id uuid NOT NULL CONSTRAINT group_activity_is_one_row PRIMARY KEY
        CONSTRAINT activity_is_of_a_session REFERENCES session.group_session ON DELETE CASCADE,
    activity json NOT NULL CONSTRAINT activity_is_at_most_forty_kilobytes CHECK (octet_length(activity::text) <= 40960)
);
COMMENT ON TABLE session.group_activity IS 'What group sessions are for. Written once.';
COMMENT ON COLUMN session.group_activity.group_id IS 'The session.';
COMMENT ON COLUMN session.group_activity.activity IS 'Activity of the contract.';
GRANT SELECT, INSERT, UPDATE ON session.group_activity TO session;

CREATE TABLE session.participant (
    group_id          uuid        NOT NULL
        CONSTRAINT participant_is_in_a_session REFERENCES session.group_session ON DELETE CASCADE,
    account           uuid        NOT NULL,
    activity          text        NOT NULL,
    status            text        NOT NULL CONSTRAINT status_is_known CHECK (status IN ('waiting', 'joined', 'invalidated')),
    since             timestamptz NOT NULL,
    reason            text
        CONSTRAINT reason_is_known CHECK (reason IN ('left', 'removed', 'dropped', 'ended', 'accountClosed')),
    invited_by        uuid,
    ordinal           int         NOT NULL CONSTRAINT ordinal_is_not_negative CHECK (ordinal >= 0),
    seat              int         CONSTRAINT seat_is_a_number CHECK (seat BETWEEN 0 AND 31),
    dropped_at        timestamptz,
    is_drop_announced boolean     NOT NULL,
    reconsidered_at   timestamptz,
    version           bigint      NOT NULL CONSTRAINT version_is_not_negative CHECK (version >= 0),
    is_ready          boolean     NOT NULL,
    suspended_at      timestamptz,
    suspended_until   timestamptz,
    suspension_reason text        CONSTRAINT suspension_reason_is_known CHECK (
        suspension_reason IN ('stalled', 'scrubbing', 'choosing', 'interrupted', 'interstitial', 'actionNeeded', 'unavailable')),
    suspension_limit  int         CONSTRAINT suspension_limit_is_one_to_a_hundred CHECK (suspension_limit BETWEEN 1 AND 100),
    CONSTRAINT account_stands_one_way_to_a_session PRIMARY KEY (group_id, account),
    -- Checked after each statement: in one batch two people may change places.
    CONSTRAINT seat_is_taken_once UNIQUE (group_id, seat) DEFERRABLE INITIALLY IMMEDIATE,
    CONSTRAINT who_is_out_knows_why CHECK ((status = 'invalidated') = (reason IS NOT NULL)),
    CONSTRAINT invitation_has_an_inviter CHECK (status <> 'waiting' OR invited_by IS NOT NULL),
    CONSTRAINT only_who_left_may_return CHECK (invited_by IS NULL OR reason IS NULL OR reason IN ('left', 'dropped')),
    CONSTRAINT who_is_in_has_joined CHECK (status <> 'joined' OR ordinal > 0),
    CONSTRAINT only_who_is_in_has_a_seat CHECK (seat IS NULL OR status = 'joined'),
    CONSTRAINT only_who_is_in_can_be_away CHECK (dropped_at IS NULL OR status = 'joined'),
    CONSTRAINT only_who_is_away_is_reconsidered CHECK (reconsidered_at IS NULL OR dropped_at IS NOT NULL),
    CONSTRAINT announced_drop_has_a_time CHECK (NOT is_drop_announced OR dropped_at IS NOT NULL),
    CONSTRAINT only_who_is_in_can_be_ready CHECK (NOT is_ready OR status = 'joined'),
    CONSTRAINT only_who_can_be_ready_is_waited_for CHECK (suspended_at IS NULL OR is_ready),
    CONSTRAINT suspension_has_an_end_and_a_reason
        CHECK (num_nulls(suspended_at, suspended_until, suspension_reason) IN (0, 3)),
    CONSTRAINT suspension_has_no_limit_without_a_reason CHECK (suspension_limit IS NULL OR suspension_reason IS NOT NULL),
    CONSTRAINT suspension_lasts_thirty_seconds_at_most
        CHECK (suspended_until > suspended_at AND suspended_until <= suspended_at + interval '30 seconds')
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX account_is_in_one_session_of_an_activity ON session.participant (account, activity) WHERE status = 'joined';
CREATE UNIQUE INDEX nobody_joined_at_the_same_time ON session.participant (group_id, ordinal) WHERE status = 'joined';
CREATE INDEX participant_by_account ON session.participant (account, group_id) WHERE status <> 'invalidated';
CREATE INDEX participant_by_inviter ON session.participant (account, invited_by) WHERE invited_by IS NOT NULL;
COMMENT ON TABLE session.participant IS 'Who is in a group session, was in it, or is invited. An account has one row in a session, however often it joins.';
COMMENT ON INDEX session.account_is_in_one_session_of_an_activity IS 'Keeps two sessions from taking one account for the same activity.';
COMMENT ON INDEX session.nobody_joined_at_the_same_time IS 'Keeps succession unambiguous.';
COMMENT ON INDEX session.participant_by_account IS 'The sessions that an account is in or invited to.';
COMMENT ON INDEX session.participant_by_inviter IS 'What ends with the relation of two accounts.';
COMMENT ON COLUMN session.participant.group_id IS 'The session.';
COMMENT ON COLUMN session.participant.account IS 'Who.';
COMMENT ON COLUMN session.participant.activity IS 'The session''s activity.';
COMMENT ON COLUMN session.participant.status IS 'Whether they are invited (waiting), in (joined), or neither any more (invalidated).';
COMMENT ON COLUMN session.participant.since IS 'Since when.';
COMMENT ON COLUMN session.participant.reason IS 'Why they aren''t in or invited any more.';
COMMENT ON COLUMN session.participant.invited_by IS 'By whose invitation they may enter, now or again: the host who invited or let them in, or the creator themselves. NULL for who would need another invitation.';
COMMENT ON COLUMN session.participant.ordinal IS 'The number of their joining among all of the session. 0 before they joined.';
COMMENT ON COLUMN session.participant.seat IS 'Their seat.';
COMMENT ON COLUMN session.participant.dropped_at IS 'Since when no connection of theirs is known. NULL while there is one.';
COMMENT ON COLUMN session.participant.is_drop_announced IS 'Whether others were told.';
COMMENT ON COLUMN session.participant.reconsidered_at IS 'Not before then is it decided again that they are away: a command that waited may have said that they are back. NULL unless one waited.';
COMMENT ON COLUMN session.participant.version IS 'How often their name or picture changed since they joined.';
COMMENT ON COLUMN session.participant.is_ready IS 'Whether they said that they can be ready, so that the group waits if they ask.';
COMMENT ON COLUMN session.participant.suspended_at IS 'Since when the group waits for them. NULL if it doesn''t.';
COMMENT ON COLUMN session.participant.suspended_until IS 'When it stops waiting.';
COMMENT ON COLUMN session.participant.suspension_reason IS 'Why it waits.';
COMMENT ON COLUMN session.participant.suspension_limit IS 'It waits while at most so many people are in it; NULL for any number.';
GRANT SELECT, INSERT, UPDATE ON session.participant TO session;

CREATE TABLE session.edge (
    edge        uuid        NOT NULL CONSTRAINT edge_is_one_row PRIMARY KEY,
    lease_until timestamptz NOT NULL,
    ended_at    timestamptz,
    reconsidered_at timestamptz
) WITH (fillfactor = 50);
COMMENT ON TABLE session.edge IS 'Edge processes that say which participants are connected. One whose lease ended goes with its last connection.';
COMMENT ON COLUMN session.edge.edge IS 'The process, another id at each start.';
COMMENT ON COLUMN session.edge.lease_until IS 'When its lease ends, unless it is renewed.';
COMMENT ON COLUMN session.edge.ended_at IS 'When the lease ended.';
COMMENT ON COLUMN session.edge.reconsidered_at IS 'Not before then is it decided again that the lease ended: a command that waited may have renewed it. NULL unless one waited.';
GRANT SELECT, INSERT, UPDATE, DELETE ON session.edge TO session;

CREATE TABLE session.group_connection (
    group_id   uuid NOT NULL,
    connection uuid NOT NULL,
    account    uuid NOT NULL,
    edge       uuid NOT NULL CONSTRAINT connection_is_to_an_edge REFERENCES session.edge,
    CONSTRAINT connection_is_one_row PRIMARY KEY (group_id, connection),
    CONSTRAINT connection_is_a_participants FOREIGN KEY (group_id, account) REFERENCES session.participant ON DELETE CASCADE
) WITH (fillfactor = 80);
CREATE INDEX group_connection_by_edge ON session.group_connection (edge, group_id);
CREATE INDEX group_connection_by_account ON session.group_connection (group_id, account);
COMMENT ON TABLE session.group_connection IS 'Connections by which participants follow group sessions. A participant without one is away.';
COMMENT ON INDEX session.group_connection_by_edge IS 'What is lost with an edge process.';
COMMENT ON INDEX session.group_connection_by_account IS 'A participant''s connections.';
COMMENT ON COLUMN session.group_connection.group_id IS 'The session.';
COMMENT ON COLUMN session.group_connection.connection IS 'Which connection of the edge process.';
COMMENT ON COLUMN session.group_connection.account IS 'The participant.';
COMMENT ON COLUMN session.group_connection.edge IS 'The edge process that has it.';
GRANT SELECT, INSERT, DELETE ON session.group_connection TO session;

INSERT INTO session.retention (subject, keep) VALUES ('group_session', interval '30 days');
CREATE FUNCTION session.delete_old_groups(at_most int) RETURNS bigint
    LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    deleted bigint;
BEGIN
    DELETE FROM session.group_session AS g
     WHERE g.group_id IN (
        SELECT o.group_id FROM session.group_session AS o
         WHERE o.ended_at < clock_timestamp() - (SELECT r.keep FROM session.retention AS r WHERE r.subject = 'group_session')
           AND NOT EXISTS (SELECT FROM session.attachment AS a WHERE a.group_id = o.group_id)
         ORDER BY o.ended_at LIMIT at_most);
    GET DIAGNOSTICS deleted = ROW_COUNT;
    RETURN deleted;
END
$$;
COMMENT ON FUNCTION session.delete_old_groups(int) IS
    'Forgets at most so many group sessions that ended longer ago than session.retention says. Returns how many.';
REVOKE EXECUTE ON FUNCTION session.delete_old_groups(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION session.delete_old_groups(int) TO session;
