import Postgres
package import QuartetSessionContract
package import QuartetSessionRules
package import QuartetVocabulary
package import Storage

// The tables of group sessions and their participants.

extension Tables {
    package static let groupSession = Table<GroupID, GroupSessionRow>(
        "session.group_session", as: "g", key: TableKey("group_id"),
        blank: .blank,
        columns: [
            Column("creator", \.creator),
            Column("activity", \.identifier),
            Column("capacity", \.capacity),
            Column("seats", \.seats),
            Column("is_open_to_contacts", \.isOpenToContacts),
            Column("host", \.host),
            Column("joins", \.joins),
            Column("empty_since", \.emptySince),
            Column("created_at", \.created),
            Column("started_at", \.started),
            Column("ended_at", \.ended),
            Column("end_reason", \.endReason),
            Column("ended_by", \.endedBy),
        ])

    package static let groupActivity = Table<GroupID, GroupSessionActivity>(
        "session.group_activity", as: "a", key: TableKey("group_id"),
        blank: GroupSessionActivity(identifier: "", title: ""),
        columns: [Column(json: "activity", \.self)])

    package static let participant = Table<ParticipantKey, ParticipantRow>(
        "session.participant", as: "p",
        key: TableKey(
            KeyColumn("group_id", \.group), KeyColumn("account", \.account), make: ParticipantKey.init),
        blank: .blank,
        columns: [
            Column("activity", \.identifier),
            Column("status", \.status),
            Column("since", \.since),
            Column("reason", \.reason),
            Column("invited_by", \.invitedBy),
            Column("ordinal", \.ordinal),
            Column("seat", \.seat),
            Column("dropped_at", \.droppedAt),
            Column("is_drop_announced", \.isDropAnnounced),
            Column("reconsidered_at", \.reconsideredAt),
            Column("version", \.version),
            Column("is_ready", \.isReady),
            Column("suspended_at", \.suspension.keptSince),
            Column("suspended_until", \.suspension.keptUntil),
            Column("suspension_reason", \.suspension.keptReason),
            Column("suspension_limit", \.suspension.keptLimit),
        ])
}

extension Tables {
    package static let withdrawal = Table<WithdrawalKey, WithdrawalRow>(
        "session.withdrawal", as: "w",
        key: TableKey(
            KeyColumn("inviter", \.inviter), KeyColumn("invited", \.invited), make: WithdrawalKey.init(_:_:)),
        blank: .blank, columns: [Column("withdrawn_at", \.at)])
}

extension Pipeline {
    /// Reads whose invitations were withdrawn. The lock on the invited account protects the rows.
    func withdrawals(_ keys: Set<WithdrawalKey>) -> Pending? {
        guard !keys.isEmpty else { return nil }
        let keys = keys.sorted()
        return query(
            """
            SELECT \(unescaped: Tables.withdrawal.selection)
              FROM unnest(\(keys.map(\.inviter)), \(keys.map(\.invited))) AS u(inviter, invited)
              JOIN session.withdrawal AS w ON w.inviter = u.inviter AND w.invited = u.invited
            """)
    }

    /// Locks and reads sessions, in the order of their ids. The lock keeps all that belongs to a session, which is read after it.
    func lockGroups(_ groups: [GroupID]) -> Pending? {
        guard !groups.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.groupSession.selection)
              FROM session.group_session AS g
             WHERE g.group_id = ANY (\(groups))
             ORDER BY g.group_id
               FOR NO KEY UPDATE
            """)
    }

    /// Reads the sessions that come after one, in the order of their ids.
    func groups(after group: GroupID?, limit: Int64) -> Pending {
        query(
            """
            SELECT \(unescaped: Tables.groupSession.selection)
              FROM session.group_session AS g
             WHERE g.group_id > \(group ?? .blank)
             ORDER BY g.group_id
             LIMIT \(limit)
            """)
    }

    /// The participants of sessions and their invited accounts, besides some others even if they are out.
    func participants(of groups: [GroupID], besides others: Set<AccountID> = []) -> Pending? {
        guard !groups.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.participant.selection)
              FROM session.participant AS p
             WHERE p.group_id = ANY (\(groups)) AND (p.status <> 'invalidated' OR p.account = ANY (\(others.sorted())))
            """)
    }

    /// How many accounts sessions have besides those that ``participants(of:besides:)`` reads.
    func otherAccounts(of groups: Set<GroupID>, besides others: Set<AccountID>) -> Pending? {
        guard !groups.isEmpty else { return nil }
        return query(
            """
            SELECT p.group_id, count(*)
              FROM session.participant AS p
             WHERE p.group_id = ANY (\(groups.sorted()))
               AND p.status = 'invalidated' AND p.account <> ALL (\(others.sorted()))
             GROUP BY p.group_id
            """)
    }

    /// The sessions that go on where accounts are, or may enter, by others' invitations.
    func groups(of estranged: [(inviter: AccountID, invited: AccountID)]) -> Pending? {
        guard !estranged.isEmpty else { return nil }
        return query(
            """
            SELECT DISTINCT p.group_id
              FROM unnest(\(estranged.map(\.inviter)), \(estranged.map(\.invited))) AS e(inviter, invited)
              JOIN session.participant AS p ON p.account = e.invited AND p.invited_by = e.inviter
              JOIN session.group_session AS g ON g.group_id = p.group_id AND g.ended_at IS NULL
            """)
    }

    /// The same, of accounts, in sessions that they are in.
    func participations(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.participant.selection)
              FROM session.participant AS p
             WHERE p.account = ANY (\(accounts.sorted())) AND p.status = 'joined'
            """)
    }

    /// Writes participants. Those who are out come first: they give up what others may have once.
    func save(_ participants: WorkingSet<ParticipantKey, ParticipantRow>.Changes) throws {
        let updated = participants.updated.map { ($0.key, $0.row) }
        try update(updated.filter { $0.1.status != .joined }, in: Tables.participant)
        try update(updated.filter { $0.1.status == .joined }, in: Tables.participant)
        try insert(participants.inserted, into: Tables.participant)
    }
}
