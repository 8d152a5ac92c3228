package import QuartetSessionContract
package import QuartetVocabulary

extension SessionRows {
    /// The timers that a session's state wants now, by when they are due: for who is away, for whom the
    /// group waits, and for a session that nobody is in.
    package func wantedTimers(of group: GroupID) -> [WantedTimer<SessionCommand>] {
        guard let session = groups.sessions[group], session.ended == nil else { return [] }
        var timers: [WantedTimer<SessionCommand>] = []
        if let since = session.emptySince {
            timers.append(
                WantedTimer(
                    .group(.expireGroupSession(.init(group: group, since: since))), due: since + limits.emptyGroupRest))
        }
        for account in groups.accounts(of: group, .joined) {
            guard let row = groups[group, account] else { continue }
            if let until = row.suspension?.until {
                timers.append(
                    WantedTimer(
                        .playback(.expireSuspension(.init(group: group, participant: account, until: until))),
                        due: until, part: account.description))
            }
            guard let since = row.droppedAt else { continue }
            let earliest = row.reconsideredAt ?? since
            if !row.isDropAnnounced, limits.dropNotice < limits.dropGrace {
                timers.append(
                    WantedTimer(
                        .presence(.announceDrop(.init(group: group, participant: account, since: since))),
                        due: max(earliest, since + limits.dropNotice), part: account.description))
            }
            guard !session.isSolo else { continue }
            timers.append(
                WantedTimer(
                    .presence(.dropParticipant(.init(group: group, participant: account, since: since))),
                    due: max(earliest, since + limits.dropGrace), part: account.description))
        }
        return timers.sorted { $0.due < $1.due }
    }

    /// The timer that ends an edge process's lease. One whose lease ended wants it until all its connections are gone.
    package func wantedTimers(of edge: OwnerID) -> [WantedTimer<SessionCommand>] {
        guard let row = groups.edges[edge] else { return [] }
        return [
            WantedTimer(
                .presence(.expireEdge(.init(edge: edge, until: row.leaseUntil))),
                due: max(row.reconsideredAt ?? row.leaseUntil, row.leaseUntil))
        ]
    }
}

extension GroupRows {
    /// The sessions whose timers may have changed.
    var retimedGroups: Set<GroupID> {
        let sessions = sessions.changes
        let participants = participantChanges
        var groups = Set(sessions.inserted.map(\.key))
        for change in sessions.updated
        where (change.row.emptySince, change.row.ended) != (change.before.emptySince, change.before.ended) {
            groups.insert(change.key)
        }
        for entry in participants.inserted where entry.row.droppedAt != nil || entry.row.suspension != nil {
            groups.insert(entry.key.group)
        }
        for change in participants.updated
        where (
            change.row.droppedAt, change.row.isDropAnnounced, change.row.reconsideredAt, change.row.suspension?.until
        )
            != (
                change.before.droppedAt, change.before.isDropAnnounced, change.before.reconsideredAt,
                change.before.suspension?.until
            )
        {
            groups.insert(change.key.group)
        }
        return groups
    }

    /// The edge processes whose timers may be others now: those with a new lease, and those of which not everything was seen.
    var retimedEdges: Set<OwnerID> {
        let changes = edges.changes
        return edgesWithMore.union(changes.inserted.map(\.key)).union(changes.updated.map(\.key)).union(changes.deleted)
    }
}
