package import SessionContract
package import Vocabulary

extension SessionRows {
    /// The timers that a session's state wants now, by when they are due: for who is away, and for a session that nobody is in.
    package func wantedTimers(of group: GroupID) -> [WantedTimer<SessionCommand>] {
        guard let session = groups.sessions[group], session.ended == nil else { return [] }
        var timers: [WantedTimer<SessionCommand>] = []
        if let since = session.emptySince {
            timers.append(
                WantedTimer(
                    .group(.expireGroupSession(.init(group: group, since: since))), due: since + limits.emptyGroupRest))
        }
        for account in groups.accounts(of: group, .joined) {
            guard let row = groups[group, account], let since = row.droppedAt else { continue }
            if !row.isDropAnnounced, limits.dropNotice < limits.dropGrace {
                timers.append(
                    WantedTimer(
                        .presence(.announceDrop(.init(group: group, participant: account, since: since))),
                        due: since + limits.dropNotice, part: account.description))
            }
            timers.append(
                WantedTimer(
                    .presence(.dropParticipant(.init(group: group, participant: account, since: since))),
                    due: since + limits.dropGrace, part: account.description))
        }
        return timers.sorted { $0.due < $1.due }
    }

    /// The timer that ends an edge process's lease. One whose lease ended wants it until all its connections are gone.
    package func wantedTimers(of edge: OwnerID) -> [WantedTimer<SessionCommand>] {
        guard let row = groups.edges[edge] else { return [] }
        return [
            WantedTimer(.presence(.expireEdge(.init(edge: edge, until: row.leaseUntil))), due: row.leaseUntil)
        ]
    }
}
