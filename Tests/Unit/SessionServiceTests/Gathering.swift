import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules

/// People with names, the group sessions that they are in, and the edge processes that they are connected to.
typealias Gathering = RuleTrial<SessionReducer, GroupState>

extension Gathering {
    init(seed: UInt64 = 1) {
        self.init(SessionRows(), of: Self.groups, seed: seed)
    }

    private static var groups: Service {
        Service(
            stream: { $0.group.map { GroupState(group: $0) } }, fold: { $0.apply($1) },
            isLast: { event in
                switch event {
                case .accountClosed, .group(.groupSessionEnded): true
                default: false
                }
            },
            quiet: { command, before, after in
                // Presence changes quietly: what is short isn't published.
                switch command {
                case is RenewEdge, is ExpireEdge, is ConnectParticipant, is DisconnectParticipant: after
                case is AnnounceDrop, is DropParticipant: after
                // Nobody sees an attachment before it is whole.
                case is BeginAttachment, is AdoptChunks, is RemoveAttachment: after
                // Nobody sees who may come back.
                case is WithdrawInvitations: after
                default: before
                }
            },
            check: { _, _ in },
            key: { asker, command in
                switch command {
                case let command as any GroupCommandBody: .group(command.group)
                case let command as RenewEdge: .edge(command.edge)
                case let command as ExpireEdge: .edge(command.edge)
                default: .account(asker ?? .blank)
                }
            })
    }

    /// Somebody with a name.
    mutating func person(_ handle: String, name: String? = "Anna") throws -> AccountID {
        let (account, device): (AccountID, DeviceID) = (id(), id())
        try ask(
            nil,
            SignUp(
                account: account, handle: handle, verifier: try Household.proof("secret"), name: name,
                device: NewDevice(id: device, name: "phone", token: try Household.secret("t\(device)"))))
        return account
    }

    /// Closes an account, confirmed by its password. One without a device is closed already.
    mutating func close(_ account: AccountID) throws {
        guard let device = rows.devices(of: account).first?.id else { return }
        try ask(account, ConfirmIdentity(verifier: try Household.proof("secret"), device: device))
        try ask(account, CloseAccount(by: device))
    }

    /// So many people with names.
    mutating func people(_ count: Int) throws -> [AccountID] {
        try (0..<count).map { try person("person\($0)") }
    }

    static var chess: GroupSessionActivity { GroupSessionActivity(identifier: "org.example.chess", title: "Chess") }

    /// A session of some people, each with a connection; the first one is the host.
    mutating func group(
        of people: [AccountID], _ activity: GroupSessionActivity = chess, capacity: Int? = nil, seats: Int? = nil,
        isOpenToContacts: Bool? = nil
    ) throws -> GroupID {
        let (group, edge): (GroupID, OwnerID) = (id(), id())
        try ask(
            people[0],
            CreateGroupSession(
                group: group, activity: activity, capacity: capacity, seats: seats, isOpenToContacts: isOpenToContacts))
        if people.count > 1 {
            try ask(people[0], ActivateGroupSession(group: group, contacts: Array(people.dropFirst())))
        }
        for person in people.dropFirst() { try ask(person, JoinGroupSession(group: group)) }
        try ask(nil, RenewEdge(edge: edge, begins: true))
        for person in people { _ = try connect(person, to: group, at: edge) }
        return group
    }

    mutating func connect(_ account: AccountID, to group: GroupID, at edge: OwnerID) throws -> ConnectionID {
        let connection: ConnectionID = id()
        try ask(account, ConnectParticipant(group: group, connection: connection, edge: edge))
        return connection
    }

    /// Loses all connections that an account has to a session.
    mutating func disconnect(_ account: AccountID, from group: GroupID) throws {
        for key in rows.groups.connections(of: group, account) {
            try ask(account, DisconnectParticipant(group: group, connection: key.connection))
        }
    }

    /// What everybody in the session sees: by the tables, and, the same, by the stream.
    func state(_ group: GroupID) throws -> GroupState {
        let published = rows.published(group)
        try #require(streams[.group(group)] ?? GroupState(group: group) == published)
        return published
    }

    /// How a command is refused; nil when it is accepted.
    mutating func refusal(_ account: AccountID?, _ command: any CommandBody) throws -> Rejection? {
        do {
            try ask(account, command)
            return nil
        } catch let rejection as Rejection {
            return rejection
        }
    }

    /// The keys that want timers.
    var timedKeys: [Key] {
        rows.groups.edges.keys.sorted().map(Key.edge) + rows.groups.sessions.keys.sorted().map(Key.group)
    }

    /// Lets time pass, and timers fire when they are due. Edge processes stay alive, unless their time is to run out.
    mutating func run(_ interval: Interval, renewing: Bool = true) throws {
        let end = time + interval
        while true {
            let keys = renewing ? timedKeys.filter { $0.edge == nil } : timedKeys
            let next = keys.flatMap { rows.wantedTimers(of: $0) }.min { $0.due < $1.due }
            guard let next, next.due <= end else { break }
            time = max(time, next.due)
            try ask(nil, next.command.body)
        }
        time = end
        if renewing {
            for edge in rows.groups.edges.keys.sorted() { try ask(nil, RenewEdge(edge: edge, begins: false)) }
        }
    }

    /// The events of a session since a number of events.
    func events(of group: GroupID, since count: Int = 0) -> [any EventBody] {
        log.map(\.event.body).filter { $0.stream == .group(group) }.dropFirst(count).map { $0 }
    }
}

extension SessionRows {
    /// What everybody in a session sees of the rows: the same as the view `session.group_state` gives, and as folding the
    /// session's stream.
    func published(_ group: GroupID) -> GroupState {
        guard let session = groups.sessions[group] else { return GroupState(group: group) }
        let participants = groups.accounts(of: group, .joined).compactMap { account in
            groups[group, account].map { row in
                GroupParticipant(
                    id: account, ordinal: row.ordinal, joined: row.since,
                    awaySince: row.isDropAnnounced ? row.droppedAt : nil, seat: row.seat, version: row.version,
                    isReady: row.isReady, suspension: row.suspension)
            }
        }
        let invited = groups.accounts(of: group, .waiting).compactMap { account in
            groups[group, account].map { Invitation(id: account, at: $0.since) }
        }
        let attachments = groups.attachments(of: group).compactMap { key, row in
            row.completed.flatMap { completed in
                groups.attachmentDescriptions[key].map { description in
                    GroupAttachment(
                        id: key.hash, account: key.account, name: description.name,
                        contentType: description.contentType, size: row.size, added: completed,
                        metadata: description.metadata)
                }
            }
        }
        var end: GroupEnd?
        if let ended = session.ended, let reason = session.endReason {
            end = GroupEnd(reason: reason, by: session.endedBy, at: ended)
        }
        return GroupState(
            group: group, creator: session.creator, activity: groups.activities[group], capacity: session.capacity,
            seats: session.seats, isOpenToContacts: session.isOpenToContacts, host: session.host,
            participants: Ordered(participants), invited: Ordered(invited), game: groups.games[group],
            playback: groups.playbacks[group], queue: groups.queue(of: group).map(\.item),
            attachments: Ordered(attachments), created: session.created, end: end)
    }
}
