import Bus
import Postgres
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import Storage

// What a batch reads and writes of group sessions. Every batch takes its locks in one order: accounts, edge processes, sessions.

extension Pipeline {
    /// The most sessions that one command handles when it ends a lease; the timer then sends another command.
    static var expiryPiece: Int { 100 }

    /// Queues the statements for a batch's group sessions. Where accounts and edge processes say which ones these are, looks
    /// that up first, with a round trip of its own: their rows are locked by then, so it can only become fewer.
    func loadGroups(_ touched: SessionRows.Selection, _ limits: SessionLimits) throws -> LoadingGroups {
        var loading = LoadingGroups()
        loading.edges = lockEdges(touched)
        var (groups, connected, playing) = (touched.groups, touched.connectedGroups, touched.playing)
        if !touched.followed.isEmpty || !touched.expiringEdges.isEmpty {
            let joined = self.groups(of: touched.followed)
            let inviting = self.groups(of: touched.estranged)
            let lost = self.groups(connectedBy: touched.expiringEdges, limit: Int64(Self.expiryPiece) + 1)
            try flush()
            let lostGroups = try lost.rowsIfAsked.map { try $0.decode(0, as: GroupID.self) }
            if lostGroups.count > Self.expiryPiece { loading.edgesWithMore = touched.expiringEdges }
            let joinedGroups = try joined.rowsIfAsked.map { try $0.decode(0, as: GroupID.self) }
            let invitingGroups = try inviting.rowsIfAsked.map { try $0.decode(0, as: GroupID.self) }
            let found = joinedGroups + lostGroups.prefix(Self.expiryPiece)
            groups.formUnion(invitingGroups)
            groups.formUnion(found)
            connected.formUnion(found)
            playing.formUnion(joinedGroups)
        }
        loading.sessions = lockGroups(groups.sorted())
        loading.waitingCommands = waitingCommands(for: touched.deciding)
        loading.withdrawals = withdrawals(touched.withdrawals)
        loading.participants = participants(of: groups.sorted(), besides: touched.named)
        loading.others = otherAccounts(of: touched.welcoming, besides: touched.named)
        loading.participations = participations(of: touched.newcomers)
        loading.connections = connections(to: connected.sorted())
        loading.games = games(of: touched.gaming)
        loading.messageHistories = messageHistories(of: touched.ending.union(touched.messages.keys))
        loading.oldestMessages = oldestMessages(of: touched.messages, limits)
        loading.playbacks = playbacks(of: playing)
        loading.queues = queues(of: touched.queueing)
        loading.attachments = attachments(of: touched.attaching, touched.uploaders)
        loading.chunks = chunks(touched.chunks)
        return loading
    }

    /// Writes what changed: what others refer to first, and what refers to others is gone first.
    func save(_ groups: GroupRows) throws {
        let edges = groups.edges.changes
        try update(edges.updated.map { ($0.key, $0.row) }, in: Tables.edge)
        try insert(edges.inserted, into: Tables.edge)
        try save(groups.sessions.changes, in: Tables.groupSession)
        try save(groups.activities.changes, in: Tables.groupActivity)
        // A connection that another edge process has now is another row.
        let connections = groups.connections.changes
        delete(connections.deleted + connections.updated.map(\.key), from: Tables.connection)
        try save(groups.participantChanges)
        try insert(
            connections.inserted + connections.updated.map { ($0.key, $0.row) }, into: Tables.connection)
        delete(edges.deleted, from: Tables.edge)
        try save(groups.games.changes, in: Tables.game)
        try save(groups.messageHistories.changes, in: Tables.messageHistory)
        try save(groups.messages.changes, in: Tables.groupMessage)
        try save(groups.playbacks.changes, in: Tables.playback)
        try save(groups.queueItems.changes, in: Tables.queueItem)
        try saveAttachments(groups)
        // Retention may have deleted one since it was read.
        let withdrawals = groups.withdrawals.changes
        try upsert(
            withdrawals.inserted + withdrawals.updated.map { ($0.key, $0.row) }, in: Tables.withdrawal)
    }
}

/// Statements that are queued, and whose rows come with the next flush.
struct LoadingGroups {
    var edges: Pending?
    var edgesWithMore: Set<OwnerID> = []
    var sessions: Pending?
    var participants: Pending?
    var others: Pending?
    var waitingCommands: Pending?
    var withdrawals: Pending?
    var participations: Pending?
    var connections: Pending?
    var games: Pending?
    var messageHistories: Pending?
    var oldestMessages: Pending?
    var playbacks: Pending?
    var queues: Pending?
    var attachments: Pending?
    var chunks: Pending?

    /// The rows.
    func rows() throws -> GroupRows {
        var rows = GroupRows()
        for (edge, row) in try Tables.edge.rows(of: edges) { rows.edges.load(row, at: edge) }
        rows.edgesWithMore = edgesWithMore
        for (group, row) in try Tables.groupSession.rows(of: sessions) { rows.sessions.load(row, at: group) }
        for (key, row) in try Tables.participant.rows(of: participations) { rows.load(row, at: key) }
        for (key, row) in try Tables.participant.rows(of: participants) { rows.load(row, at: key) }
        for row in try waitingCommands.rowsIfAsked {
            guard let key = Key(try row.decode(0, as: String.self)) else { continue }
            rows.waitingCommands[key] = try row.decode(1, as: Instant?.self)
        }
        for (key, row) in try Tables.withdrawal.rows(of: withdrawals) { rows.withdrawals.load(row, at: key) }
        for row in try others.rowsIfAsked {
            rows.others[try row.decode(0, as: GroupID.self)] = Int(try row.decode(1, as: Int64.self))
        }
        for (key, row) in try Tables.connection.rows(of: connections) { rows.connections.load(row, at: key) }
        for (group, game) in try Tables.game.rows(of: games) { rows.games.load(game, at: group) }
        for (group, row) in try Tables.messageHistory.rows(of: messageHistories) {
            rows.messageHistories.load(row, at: group)
        }
        for (key, row) in try Tables.messageOffset.rows(of: oldestMessages) { rows.messages.load(row, at: key) }
        for (group, playback) in try Tables.playback.rows(of: playbacks) { rows.playbacks.load(playback, at: group) }
        for (key, row) in try Tables.queueItem.rows(of: queues) { rows.queueItems.load(row, at: key) }
        for (key, row) in try Tables.attachment.rows(of: attachments) { rows.attachments.load(row, at: key) }
        for row in try chunks.rowsIfAsked {
            let (key, hash) = try row.chunk()
            rows.chunks.load(hash, at: key)
        }
        return rows
    }
}

/// The rows that the timers of some keys depend on.
struct TimedRows {
    /// The keys that were found.
    var keys: [Key] = []
    var accounts: [(key: AccountID, row: AccountRow)] = []
    var groups = GroupRows()

    mutating func take(edges: Pending?) throws {
        for (edge, row) in try Tables.edge.rows(of: edges) {
            keys.append(.edge(edge))
            groups.edges.load(row, at: edge)
        }
    }

    mutating func take(groups found: Pending?) throws {
        for (group, row) in try Tables.groupSession.rows(of: found) {
            keys.append(.group(group))
            groups.sessions.load(row, at: group)
        }
    }

    mutating func take(accounts found: Pending?) throws {
        accounts = try Tables.account.rows(of: found)
        keys += accounts.map { .account($0.key) }
    }
}

extension Pipeline {
    /// Reads what the timers of keys follow from. In the order of their text, accounts come first, then edge processes, then group
    /// sessions.
    func timedRows(_ keys: TimedKeys) throws -> TimedRows {
        var found = TimedRows()
        switch keys {
        case .locked(let keys):
            let accounts = lockAccounts(
                Set(keys.compactMap(\.account)), skeletons: [], phones: [], changing: [], undoing: [])
            var touched = SessionRows.Selection([])
            touched.renewingEdges = Set(keys.compactMap(\.edge))
            let edges = lockEdges(touched)
            let groups = lockGroups(keys.compactMap(\.group).sorted())
            try flush()
            try found.take(accounts: accounts)
            try found.take(edges: edges)
            try found.take(groups: groups)
        case .next(let limit, let key):
            if key == nil || key?.account != nil {
                let accounts = accounts(after: key?.account, limit: limit)
                try flush()
                try found.take(accounts: accounts)
            }
            if found.keys.count < limit, key?.group == nil {
                let edges = edges(after: key?.edge, limit: limit - Int64(found.keys.count))
                try flush()
                try found.take(edges: edges)
            }
            if found.keys.count < limit {
                let groups = groups(after: key?.group, limit: limit - Int64(found.keys.count))
                try flush()
                try found.take(groups: groups)
            }
        }
        let participants = participants(of: found.keys.compactMap(\.group))
        try flush()
        for (key, row) in try Tables.participant.rows(of: participants) { found.groups.load(row, at: key) }
        return found
    }
}
