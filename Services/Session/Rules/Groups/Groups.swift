import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary

// Group sessions: who is invited, who is in, who is the host.

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: GroupCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        switch command {
        case .createGroupSession(let command): try create(&rows, command, context)
        case .activateGroupSession(let command): try invite(&rows, command, context)
        case .joinGroupSession(let command): try join(&rows, command, context)
        case .leaveGroupSession(let command): try leave(&rows, command, context)
        case .removeParticipant(let command): try remove(&rows, command, context)
        case .transferHost(let command): try transferHost(&rows, command, context)
        case .endGroupSession(let command): try end(&rows, command, context)
        case .expireGroupSession(let command): try expire(&rows, command, context.time)
        case .withdrawInvitations(let command): try withdraw(&rows, command, context)
        }
    }

    // MARK: Who may do what

    /// The asker and a session that isn't over. For a stranger the session doesn't exist.
    static func group(
        _ group: GroupID, _ rows: SessionRows, _ context: CommandContext
    ) throws(Rejection) -> (account: AccountID, session: GroupSessionRow, own: ParticipantRow) {
        guard let account = context.account else { throw .accountRequired }
        guard let session = rows.groups.sessions[group], let own = rows.groups[group, account] else {
            throw .groupNotFound
        }
        guard session.ended == nil else { throw .groupEnded }
        return (account, session, own)
    }

    /// The asker, as a participant of the session.
    static func participant(
        of group: GroupID, _ rows: SessionRows, _ context: CommandContext
    ) throws(Rejection) -> (account: AccountID, session: GroupSessionRow, own: ParticipantRow) {
        let asker = try self.group(group, rows, context)
        guard asker.own.status == .joined else { throw .notParticipant }
        return asker
    }

    /// The asker, as the session's host.
    static func host(
        of group: GroupID, _ rows: SessionRows, _ context: CommandContext
    ) throws(Rejection) -> (account: AccountID, session: GroupSessionRow) {
        let asker = try participant(of: group, rows, context)
        guard asker.session.host == asker.account else { throw .notHost(asker.session.host) }
        return (asker.account, asker.session)
    }

    /// The asker, who may enter another session of this activity.
    private static func newcomer(
        _ identifier: String, _ rows: SessionRows, _ context: CommandContext
    ) throws(Rejection) -> AccountID {
        let (account, row) = try asker(rows, context)
        guard row.name != nil else {
            throw Rejection(.needsProfile, "Give yourself a name first: the others want to know who you are.")
        }
        let groups = rows.groups.groups(of: account)
        if let same = groups.first(where: { rows.groups[$0, account]?.identifier == identifier }) {
            throw .alreadyInSession(same)
        }
        guard groups.count < rows.limits.groups else {
            throw Rejection(
                .tooManyGroups, "You are in \(groups.count) sessions, as many as there may be; leave one of them.")
        }
        return account
    }

    // MARK: Beginning

    private static func create(
        _ rows: inout SessionRows, _ command: CreateGroupSession, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        guard rows.groups.sessions[command.group] == nil else {
            throw Rejection(.groupExists, "There is a session of this id; repeat with another one.", field: "group")
        }
        let account = try newcomer(command.activity.identifier, rows, context)
        let session = GroupSessionRow(
            creator: account, identifier: command.activity.identifier,
            capacity: command.capacity ?? GroupRules.defaultCapacity, seats: command.seats ?? GroupRules.defaultSeats,
            isOpenToContacts: command.isOpenToContacts ?? false, host: account, joins: 1, created: context.time)
        rows.groups.sessions[command.group] = session
        rows.groups.activities[command.group] = command.activity
        rows.groups[command.group, account] = ParticipantRow(
            identifier: session.identifier, status: .joined, since: context.time, invitedBy: account, ordinal: 1,
            droppedAt: context.time)
        return [
            .group(
                .groupSessionCreated(
                    .init(
                        group: command.group, account: account, activity: command.activity, capacity: session.capacity,
                        seats: session.seats, isOpenToContacts: session.isOpenToContacts, at: context.time)))
        ]
    }

    private static func invite(
        _ rows: inout SessionRows, _ command: ActivateGroupSession, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, session) = try host(of: command.group, rows, context)
        guard !session.isSolo else {
            throw Rejection(
                .groupFull, "This session is for your own devices; create another one to invite people.",
                details: ["capacity": 1])
        }
        for contact in command.contacts {
            guard !contact.isCanary, let row = rows[contact] else { throw .accountNotFound("contacts") }
            guard row.closed == nil else { throw .accountClosed("contacts") }
        }
        try requireContacts(rows, account, command.contacts, context)
        let invited = command.contacts.filter { contact in
            rows.groups[command.group, contact].map { $0.status == .invalidated } ?? true
        }.sorted()
        let waiting = rows.groups.accounts(of: command.group, .waiting).count
        guard waiting + invited.count <= rows.limits.invitations else {
            throw Rejection(
                .limitReached, "\(waiting) people are invited already; take invitations back, or invite fewer.",
                field: "contacts")
        }
        guard !invited.isEmpty else { return [] }
        let new = invited.count { rows.groups[command.group, $0] == nil }
        try requireRoom(for: new, in: command.group, rows, field: "contacts")
        for contact in invited {
            guard let row = rows.groups[command.group, contact], row.reason == .removed else { continue }
            let end = row.since + rows.limits.invitationRest
            guard end <= context.time else {
                throw .tooSoon("An invitation was taken back, or someone was put out,", left: end - context.time)
            }
        }
        for contact in invited {
            rows.groups[command.group, contact] = ParticipantRow(
                identifier: session.identifier, status: .waiting, since: context.time, invitedBy: account)
        }
        return [
            .group(
                .participantsInvited(
                    .init(group: command.group, account: account, invited: invited, at: context.time)))
        ]
    }

    /// The edge looked whether these are contacts, but they may have parted since, and their invitations were withdrawn before this
    /// one was decided. The id's time is the caller's word: one that is ahead of the database says nothing.
    private static func requireContacts(
        _ rows: SessionRows, _ account: AccountID, _ contacts: [AccountID], _ context: CommandContext
    ) throws(Rejection) {
        let asked = context.commandID.time.flatMap { $0 <= context.recordedAt ? $0 : nil }
        let former = contacts.filter { contact in
            guard let row = rows.groups.withdrawals[WithdrawalKey(account, contact)],
                row.at + rows.limits.withdrawalsKept > context.time
            else { return false }
            return asked.map { $0 <= row.at } ?? true
        }
        guard former.isEmpty else {
            throw Rejection(
                .notContact,
                "Some of these weren't your contacts a moment ago; if they are now, invite them in 10 minutes.",
                field: "contacts", details: ["accounts": .array(former.map { .string($0.description) })])
        }
    }

    /// Each account that ever had to do with a session has a row there while the session lasts.
    private static func requireRoom(
        for new: Int, in group: GroupID, _ rows: SessionRows, field: String? = nil
    ) throws(Rejection) {
        guard new > 0, rows.groups.known(of: group) + new > rows.limits.groupAccounts else { return }
        throw Rejection(
            .limitReached, "As many people as may be were in this session or invited to it; create another one.",
            field: field)
    }

    // MARK: Coming and going

    private static func join(
        _ rows: inout SessionRows, _ command: JoinGroupSession, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        guard let asker = context.account else { throw .accountRequired }
        let own = rows.groups[command.group, asker]
        guard var session = rows.groups.sessions[command.group] else { throw .groupNotFound }
        let isContact = session.isOpenToContacts && command.contactOf != nil
        guard own != nil || isContact else { throw .groupNotFound }
        guard session.ended == nil else { throw .groupEnded }
        if own?.status == .joined { return [] }
        if own?.reason == .removed {
            throw Rejection(.removedFromGroup, "The host put you out; ask them to invite you again.")
        }
        if own?.invitedBy == nil {
            guard isContact else { throw .groupNotFound }
            guard command.contactOf == session.host else {
                throw Rejection(
                    .hostChanged, "The session has another host by now; look again, and repeat this.",
                    field: "contactOf")
            }
        }
        try requireRoom(for: own == nil ? 1 : 0, in: command.group, rows)
        let present = rows.groups.accounts(of: command.group, .joined)
        guard present.count < session.capacity else {
            throw Rejection(
                .groupFull,
                "\(session.capacity) people are in this session, as many as it takes; wait until one leaves.",
                details: ["capacity": .integer(Int64(session.capacity))])
        }
        let account = try newcomer(session.identifier, rows, context)
        session.joins += 1
        var start: GroupStart?
        if session.started == nil, let host = session.host {
            session.started = context.time
            // A session of 0.1.0 that has more people has started before, and nobody noted it.
            if present.count == 1 {
                let invited = rows.groups.accounts(of: command.group, invitedBy: host).filter { $0 != account }
                start = GroupStart(host: host, invited: invited)
            }
        }
        let isHost = session.host == nil
        if isHost { session.host = account }
        session.emptySince = nil
        rows.groups.sessions[command.group] = session
        rows.groups[command.group, account] = ParticipantRow(
            identifier: session.identifier, status: .joined, since: context.time,
            invitedBy: own?.invitedBy ?? command.contactOf, ordinal: session.joins, droppedAt: context.time)
        return [
            .group(
                .participantJoined(
                    .init(
                        group: command.group, account: account, ordinal: session.joins, isHost: isHost, start: start,
                        at: context.time)))
        ] + endCrowdedSuspensions(&rows, command.group, context.time)
    }

    private static func leave(
        _ rows: inout SessionRows, _ command: LeaveGroupSession, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        guard let account = context.account else { throw .accountRequired }
        guard rows.groups.sessions[command.group] != nil, let own = rows.groups[command.group, account] else {
            throw .groupNotFound
        }
        switch own.status {
        case .waiting: return [withdraw(&rows, command.group, account, .left, by: account, context.time)]
        case .joined: return putOut(&rows, command.group, account, .left, context.time)
        case .invalidated: return []
        }
    }

    private static func remove(
        _ rows: inout SessionRows, _ command: RemoveParticipant, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, _) = try host(of: command.group, rows, context)
        guard command.participant != account else {
            throw Rejection(.invalidField, "Leave the session, or end it, instead.", field: "participant")
        }
        switch rows.groups[command.group, command.participant]?.status {
        case .waiting:
            return [withdraw(&rows, command.group, command.participant, .removed, by: account, context.time)]
        case .joined:
            return putOut(&rows, command.group, command.participant, .removed, by: account, context.time)
        case .invalidated, nil: throw .participantNotFound("participant")
        }
    }

    private static func transferHost(
        _ rows: inout SessionRows, _ command: TransferHost, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, _) = try host(of: command.group, rows, context)
        guard rows.groups[command.group, command.to]?.status == .joined else { throw .participantNotFound("to") }
        guard command.to != account else { return [] }
        rows.groups.sessions[command.group]?.host = command.to
        return [
            .group(
                .hostTransferred(
                    .init(group: command.group, account: command.to, from: account, at: context.time)))
        ]
    }

    /// Removes a participant, whom nobody waits for any more, and decides who is host afterwards. Every way of leaving goes
    /// through here.
    static func putOut(
        _ rows: inout SessionRows, _ group: GroupID, _ account: AccountID, _ reason: LeaveReason,
        by remover: AccountID? = nil, _ time: Instant
    ) -> [SessionEvent] {
        let ended = endSuspension(&rows, group, account, .left, time)
        rows.groups[group, account]?.invalidate(reason, at: time)
        for key in rows.groups.connections(of: group, account) { rows.groups.connections[key] = nil }
        // Those who were dropped may come back and go on.
        if reason != .dropped { rows.groups.forgetUploads(of: account, to: group) }
        let host = rows.groups.sessions[group]?.host
        let next = host == account ? rows.groups.succession(of: group) : host
        rows.groups.sessions[group]?.host = next
        if next == nil { rows.groups.sessions[group]?.emptySince = time }
        return [
            .group(
                .participantLeft(
                    .init(group: group, account: account, reason: reason, by: remover, host: next, at: time)))
        ] + ended
    }

    /// Wherever the asker is the host or invited them. Who is in stays, but doesn't come back after leaving.
    private static func withdraw(
        _ rows: inout SessionRows, _ command: WithdrawInvitations, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        guard let account = context.account else { throw .accountRequired }
        guard account != command.contact else { return [] }
        let key = WithdrawalKey(account, command.contact)
        rows.groups.withdrawals[key] = WithdrawalRow(
            at: max(context.recordedAt, rows.groups.withdrawals[key]?.at ?? context.recordedAt))
        var events: [SessionEvent] = []
        for group in rows.groups.groups(inviting: command.contact) {
            guard let session = rows.groups.sessions[group], session.ended == nil,
                let row = rows.groups[group, command.contact], row.invitedBy == account || session.host == account
            else { continue }
            if row.status == .waiting {
                events.append(withdraw(&rows, group, command.contact, .removed, by: account, context.time))
            } else {
                rows.groups[group, command.contact]?.invitedBy = nil
            }
        }
        return events
    }

    private static func withdraw(
        _ rows: inout SessionRows, _ group: GroupID, _ account: AccountID, _ reason: LeaveReason, by asker: AccountID,
        _ time: Instant
    ) -> SessionEvent {
        rows.groups[group, account]?.invalidate(reason, at: time)
        return .group(.invitationWithdrawn(.init(group: group, account: account, by: asker, at: time)))
    }

    /// Removes a closed account from every session, and forgets what it was uploading. Its invitations stay, since they can no
    /// longer be used.
    static func leaveAll(_ rows: inout SessionRows, _ account: AccountID, _ time: Instant) -> [SessionEvent] {
        let left = rows.groups.groups(of: account).flatMap { putOut(&rows, $0, account, .accountClosed, time) }
        rows.groups.forgetUploads(of: account)
        return left
    }

    /// Announces a changed name or picture in every session that the account is in.
    static func updateParticipant(_ rows: inout SessionRows, _ account: AccountID, _ time: Instant) -> [SessionEvent] {
        rows.groups.groups(of: account).map { group in
            let version = (rows.groups[group, account]?.version ?? 0) + 1
            rows.groups[group, account]?.version = version
            return .group(.participantUpdated(.init(group: group, account: account, version: version, at: time)))
        }
    }

    // MARK: The end

    private static func end(
        _ rows: inout SessionRows, _ command: EndGroupSession, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        guard let account = context.account else { throw .accountRequired }
        guard let session = rows.groups.sessions[command.group], let own = rows.groups[command.group, account] else {
            throw .groupNotFound
        }
        guard session.ended == nil else { return [] }
        guard own.status == .joined else { throw .notParticipant }
        guard account == session.host || account == session.creator else { throw .notHost(session.host) }
        return [end(&rows, command.group, session, .ended, by: account, context.time)]
    }

    private static func expire(
        _ rows: inout SessionRows, _ command: ExpireGroupSession, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard let session = rows.groups.sessions[command.group], session.ended == nil,
            session.emptySince == command.since
        else { return [] }
        try requireDue(command.since + rows.limits.emptyGroupRest, time)
        return [end(&rows, command.group, session, .expired, by: nil, time)]
    }

    private static func end(
        _ rows: inout SessionRows, _ group: GroupID, _ session: GroupSessionRow, _ reason: GroupEndReason,
        by account: AccountID?, _ time: Instant
    ) -> SessionEvent {
        let participants = rows.groups.accounts(of: group, .joined)
        let invited = rows.groups.accounts(of: group, .waiting)
        // Of what never started, nobody hears that it is over: the invitation goes.
        let guests =
            session.started == nil ? [] : rows.groups.accounts(of: group, invitedBy: account ?? session.creator)
        for account in participants + invited { rows.groups[group, account]?.invalidate(.ended, at: time) }
        for key in rows.groups.connections(of: group) { rows.groups.connections[key] = nil }
        rows.groups.games[group] = nil
        rows.groups.messageHistories[group]?.isOver = true
        rows.groups.stopPlayback(of: group)
        for (key, _) in rows.groups.attachments(of: group) { rows.groups.forget(key) }
        var ended = session
        (ended.host, ended.emptySince) = (nil, nil)
        (ended.ended, ended.endReason, ended.endedBy) = (time, reason, account)
        rows.groups.sessions[group] = ended
        return .group(
            .groupSessionEnded(
                .init(
                    group: group, account: account ?? session.creator, reason: reason, participants: participants,
                    invited: invited, guests: guests, at: time)))
    }
}
