import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary

// Presence: a participant is here while one of their connections is. Only edge processes know of connections. Each says which
// it has, and keeps a lease; with the lease all of its connections are lost.

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: PresenceCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        switch command {
        case .renewEdge(let command):
            try renew(&rows, command, context.time)
            return []
        case .expireEdge(let command):
            try expire(&rows, command, context.time)
            return []
        case .connectParticipant(let command): return try connect(&rows, command, context)
        case .disconnectParticipant(let command):
            try disconnect(&rows, command, context)
            return []
        case .announceDrop(let command): return try announceDrop(&rows, command, context.time)
        case .dropParticipant(let command): return try drop(&rows, command, context.time)
        }
    }

    // MARK: Edge processes

    private static let edgeNotFound = Rejection(
        .edgeNotFound, "Nobody knows this edge process, or its lease ended; begin again with another id.",
        field: "edge")

    private static func renew(
        _ rows: inout SessionRows, _ command: RenewEdge, _ time: Instant
    ) throws(Rejection) {
        guard let row = rows.groups.edges[command.edge] else {
            guard command.begins else { throw edgeNotFound }
            rows.groups.edges[command.edge] = EdgeRow(leaseUntil: time + rows.limits.edgeLease)
            return
        }
        guard row.ended == nil else { throw edgeNotFound }
        rows.groups.edges[command.edge] = EdgeRow(leaseUntil: time + rows.limits.edgeLease)
    }

    /// The first piece ends the lease, so that no connection joins those that are lost; the last one forgets the process.
    private static func expire(
        _ rows: inout SessionRows, _ command: ExpireEdge, _ time: Instant
    ) throws(Rejection) {
        guard let row = rows.groups.edges[command.edge], row.leaseUntil == command.until else { return }
        if row.ended == nil {
            try requireDue(command.until, time)
            guard isDecided(.edge(command.edge), at: command.until, rows) else {
                rows.groups.edges[command.edge]?.reconsideredAt = reconsidered(command.until, time)
                return
            }
            rows.groups.edges[command.edge]?.ended = time
        }
        for key in rows.groups.connections.keys.sorted()
        where rows.groups.connections[key]?.edge == command.edge && rows.groups.sessions[key.group] != nil {
            loseConnection(&rows, key, time)
        }
        if !rows.groups.edgesWithMore.contains(command.edge) { rows.groups.edges[command.edge] = nil }
    }

    // MARK: Connections

    private static func connect(
        _ rows: inout SessionRows, _ command: ConnectParticipant, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, _, own) = try participant(of: command.group, rows, context)
        guard let edge = rows.groups.edges[command.edge], edge.ended == nil else { throw edgeNotFound }
        let key = ConnectionKey(command.group, command.connection)
        guard rows.groups.connections[key] == nil else { return [] }
        guard rows.groups.connections(of: command.group, account).count < rows.limits.connections else {
            throw Rejection(
                .limitReached,
                "You follow this session by \(rows.limits.connections) connections already; close one of them.")
        }
        rows.groups.connections[key] = ConnectionRow(account: account, edge: command.edge)
        rows.groups[command.group, account]?.comeBack()
        guard own.isDropAnnounced else { return [] }
        return [.group(.participantConnected(.init(group: command.group, account: account, at: context.time)))]
    }

    private static func disconnect(
        _ rows: inout SessionRows, _ command: DisconnectParticipant, _ context: CommandContext
    ) throws(Rejection) {
        guard let account = context.account else { throw .accountRequired }
        let key = ConnectionKey(command.group, command.connection)
        guard rows.groups.connections[key]?.account == account else { return }
        loseConnection(&rows, key, context.time)
    }

    /// With the last connection a participant's grace begins.
    private static func loseConnection(_ rows: inout SessionRows, _ key: ConnectionKey, _ time: Instant) {
        guard let account = rows.groups.connections[key]?.account else { return }
        rows.groups.connections[key] = nil
        guard rows.groups.connections(of: key.group, account).isEmpty else { return }
        rows.groups[key.group, account]?.droppedAt = time
    }

    // MARK: Away

    /// When a timer that waits for commands older than its time is asked again: soon at first, then after as long as it has
    /// waited already, and a minute at most. A command that waits for hours costs a few rows then, not one a second.
    private static func reconsidered(_ due: Instant, _ time: Instant) -> Instant {
        time + min(max(time - due, .seconds(1)), .minutes(1))
    }

    /// Whether all that was said by then is known. Timers' commands overtake others, which an outage may have kept waiting: who
    /// came back in time may have said so in one of these.
    private static func isDecided(_ key: Key, at time: Instant, _ rows: SessionRows) -> Bool {
        rows.groups.waitingCommands[key].map { $0 > time } ?? true
    }

    private static func announceDrop(
        _ rows: inout SessionRows, _ command: AnnounceDrop, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard let row = rows.groups[command.group, command.participant], row.droppedAt == command.since,
            !row.isDropAnnounced
        else { return [] }
        let due = command.since + rows.limits.dropNotice
        try requireDue(due, time)
        guard isDecided(.group(command.group), at: due, rows) else {
            rows.groups[command.group, command.participant]?.reconsideredAt = reconsidered(due, time)
            return []
        }
        rows.groups[command.group, command.participant]?.isDropAnnounced = true
        return [
            .group(
                .participantDisconnected(
                    .init(group: command.group, account: command.participant, since: command.since, at: time)))
        ] + endSuspension(&rows, command.group, command.participant, .away, time)
    }

    private static func drop(
        _ rows: inout SessionRows, _ command: DropParticipant, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard let row = rows.groups[command.group, command.participant], row.droppedAt == command.since,
            rows.groups.sessions[command.group]?.isSolo == false
        else { return [] }
        let due = command.since + rows.limits.dropGrace
        try requireDue(due, time)
        guard isDecided(.group(command.group), at: due, rows) else {
            rows.groups[command.group, command.participant]?.reconsideredAt = reconsidered(due, time)
            return []
        }
        return putOut(&rows, command.group, command.participant, .dropped, time)
    }
}
