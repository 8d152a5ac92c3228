import Bus
import Foundation
import Postgres
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

/// What connections need to follow group sessions.
struct GroupStreams: Sendable {
    /// How many one connection follows at most.
    static let limit = EdgeLimits.groupsOfStream.value

    let reader: StreamReader
    let reads: GroupReads
    let lists: GroupLists
    let presence: Presence
    let followers = GroupFollowers()

    init(reader: StreamReader, reads: GroupReads, lists: GroupLists, presence: Presence) {
        self.reader = reader
        self.reads = reads
        self.lists = lists
        self.presence = presence
    }
}

/// The group sessions that a connection follows only because it is a contact of their hosts.
final class OpenGroups: Sendable {
    private struct State: Sendable {
        var followed: [GroupID: (host: AccountID, end: @Sendable () -> Void)] = [:]
        /// The contacts at the last interruption.
        var contacts: [AccountID: Bool] = [:]
        var interruptions: UInt64 = 0
    }

    private let state = Mutex(State())

    /// The number of interruptions so far: to be taken before it is looked up why a session may be followed.
    var interruptions: UInt64 { state.withLock(\.interruptions) }

    /// Notes why the connection follows a session from now on; nil when it doesn't any more.
    /// - Parameters:
    ///   - interruptions: How many there had been when this was looked up. If the host was no contact at one since then, what was
    ///     found may be old, and following ends at once.
    ///   - end: Interrupts it. Joined again, it is looked up.
    func note(
        _ basis: GroupAccess.Basis?, of group: GroupID, since interruptions: UInt64, end: @escaping @Sendable () -> Void
    ) {
        let isOld = state.withLock { state in
            guard case .openness(let host) = basis else {
                state.followed[group] = nil
                return false
            }
            let isOld = state.interruptions != interruptions && state.contacts[host] == nil
            state.followed[group] = isOld ? nil : (host, end)
            return isOld
        }
        if isOld { end() }
    }

    /// Interrupts what is followed because of hosts who aren't among the contacts any more.
    func interrupt(besides contacts: [AccountID: Bool]) {
        let ended = state.withLock { state in
            (state.contacts, state.interruptions) = (contacts, state.interruptions + 1)
            let ended = state.followed.filter { contacts[$0.value.host] == nil }
            for group in ended.keys { state.followed[group] = nil }
            return ended.values.map(\.end)
        }
        for end in ended { end() }
    }
}

extension StreamConnection {
    /// Follows a group session for as long as the caller may see it, and says why when that is over.
    func follow(_ group: GroupID, _ view: PeopleView, _ open: OpenGroups) async throws {
        var token = tokens[.group(group)]
        var rereading = Rereading()
        var reason: GroupStreamEnded.Reason?
        var attendance: Presence.Attendance?
        defer {
            attendance?.end(isOver: reason != nil)
            streams.groups.followers.remove(outlet, from: group)
            followed.note(nil, of: .group(group))
        }
        while reason == nil, !Task.isCancelled {
            let following = streams.groups.followers.add(.init(account: caller.account, outlet: outlet), to: group)
            let subscription = try await join(
                .group(group), of: streams.groups.reader, from: token, withState: true, state: States.group(group))
            guard streams.groups.followers.isCurrent(following) else {
                subscription.end()
                continue
            }
            let interruptions = open.interruptions
            let joined = try subscription.state.map {
                (state: try JSONDecoder().decode(GroupState.self, from: Data($0.body)), position: $0.position)
            }
            let access = try await access(to: group, in: joined?.state)
            if let joined, case .granted(let access) = access {
                var reader = GroupReader(
                    group: group, access: access, participants: Set(joined.state.participants.map(\.id)),
                    position: joined.position, following: following, interruptions: interruptions)
                let course = try await show(subscription, joined.state, &reader, &attendance, view, open)
                token = subscription.token
                open.note(nil, of: group, since: interruptions) {}
                switch course {
                case .live, .interrupted: break
                case .unread: try await rereading.wait()
                case .over(let why): reason = why
                }
            } else if case .refused(let why) = access {
                reason = why
            }
            subscription.end()
        }
        await end(view.see([:], in: .group(group)))
        guard let reason else { return }
        await outlet.put(
            .event(.groupEnded(GroupStreamEnded(group: group, reason: reason)), at: .init(.group(group), nil)))
    }

    // MARK: Who may follow

    private enum Access {
        case granted(GroupAccess)
        case refused(GroupStreamEnded.Reason)
    }

    /// Whether the caller may follow a session: by its state, or else as it is looked up.
    private func access(to group: GroupID, in state: GroupState?) async throws -> Access {
        guard let state else { return .refused(.groupNotFound) }
        var access = GroupAccess(of: caller.account, to: state, isOpen: false)
        if access.basis != nil { return .granted(access) }
        let standing = try await Backoff.joining.retrying("a group session", logger) {
            try await streams.groups.reads.standing(of: caller.account, in: group)
        }
        access = GroupAccess(of: caller.account, to: state, isOpen: standing.isOpen)
        if access.basis != nil { return .granted(access) }
        guard standing.status != nil else { return .refused(.groupNotFound) }
        if let end = state.end { return .refused(end.reason == .expired ? .expired : .ended) }
        return .refused(standing.reason.map { GroupStreamEnded.Reason($0) } ?? .groupNotFound)
    }

    // MARK: What they see

    /// Hands over a session's stream from where it was joined.
    /// - Returns: That it is over for the caller, or has to be joined again.
    private func show(
        _ subscription: Subscription, _ state: GroupState, _ reader: inout GroupReader,
        _ attendance: inout Presence.Attendance?, _ view: PeopleView, _ open: OpenGroups
    ) async throws -> Course {
        let name = StreamName.group(reader.group)
        note(reader, subscription, open)
        attend(reader, at: reader.position, &attendance)
        let hash = reader.following.fold.join(state, at: reader.position)
        switch subscription.beginning {
        case .resumed: await outlet.put(.event(.resumed(name)))
        case .snapshot(let body, let isRefetched):
            await outlet.put(
                .event(
                    .snapshot(name, StreamSnapshot(isRefetched: isRefetched, hash: hash, state: body)),
                    at: .init(name, subscription.token)))
        }
        await end(view.see(reader.people, in: name))
        followed.note(subscription, of: name)
        while await subscription.ready() {
            let course = await passOn(from: subscription, &reader, &attendance, view, open)
            guard case .live = course else { return course }
        }
        return .interrupted
    }

    /// How a session's stream goes on.
    private enum Course {
        case live
        /// It has to be joined again.
        case interrupted
        /// The same, because of an event that only a newer release knows: the state includes what it changed.
        case unread
        /// The caller may not see it any more.
        case over(GroupStreamEnded.Reason)
    }

    /// Hands over what has come. Never inlined, so that a stream that waits keeps no room for it.
    @inline(never)
    private func passOn(
        from subscription: Subscription, _ reader: inout GroupReader, _ attendance: inout Presence.Attendance?,
        _ view: PeopleView, _ open: OpenGroups
    ) async -> Course {
        let name = StreamName.group(reader.group)
        switch subscription.take() {
        case nil: return .live
        case .fellBehind: return .interrupted
        case .reached(let token):
            await outlet.put(.moved(.init(name, token)))
            return .live
        case .event(let recorded, let next):
            let hash = reader.following.fold.pass(recorded)
            await put(reader.shown(recorded, hash: hash), of: name, at: next)
            guard recorded.position > reader.position, GroupReader.followed.contains(recorded.message.type) else {
                return .live
            }
            guard let change = reader.apply(recorded.message) else { return .unread }
            note(reader, subscription, open)
            attend(reader, at: recorded.position, &attendance)
            await end(view.see(reader.people, in: name))
            switch change {
            case .none: return .live
            case .unknown: return .interrupted
            case .ended(let reason): return .over(reason)
            }
        }
    }

    /// Notes why the connection may follow the session.
    private func note(_ reader: GroupReader, _ subscription: Subscription, _ open: OpenGroups) {
        open.note(reader.access.basis, of: reader.group, since: reader.interruptions) { subscription.end() }
    }

    /// Says that a participant is here, whether they were in the session when the connection began or joined meanwhile.
    private func attend(_ reader: GroupReader, at position: Position, _ attendance: inout Presence.Attendance?) {
        let isParticipant = reader.access.basis == .participant
        streams.groups.followers.note(
            isParticipant: isParticipant, at: position, outlet, in: reader.group, reader.following)
        guard attendance == nil, isParticipant else { return }
        attendance = streams.groups.presence.begin(caller.account, in: reader.group)
    }
}

/// Someone who follows a group session.
private struct GroupReader {
    let group: GroupID
    private(set) var access: GroupAccess
    private(set) var participants: Set<AccountID>
    /// Where the session was joined: what is older is in the state already.
    let position: Position
    let following: GroupFollowers.Following
    /// How often open sessions had been interrupted before it was looked up that this one may be followed.
    let interruptions: UInt64

    init(
        group: GroupID, access: GroupAccess, participants: Set<AccountID>, position: Position,
        following: GroupFollowers.Following, interruptions: UInt64
    ) {
        (self.group, self.access, self.participants) = (group, access, participants)
        (self.position, self.following, self.interruptions) = (position, following, interruptions)
    }

    /// What the reader sees of an event: all of it, except that messages are for participants, and some for some of them. A
    /// message that this process can't read is for nobody.
    func shown(_ recorded: RecordedMessage, hash: String?) -> StreamedEvent {
        let message = recorded.message
        guard message.type == GroupMessageSent.type || !recorded.isReadable else {
            return StreamedEvent(recorded, hash: hash)
        }
        guard access.basis == .participant, message.type == GroupMessageSent.type,
            let sent = try? GroupMessageSent.decoded(from: message.body, version: message.version),
            sent.isVisible(to: access.account)
        else { return StreamedEvent(withheld: recorded, hash: hash) }
        return StreamedEvent(recorded, hash: hash)
    }

    /// Participants see each other's names and pictures; no one sees more of another because of a session.
    var people: [AccountID: Bool] {
        guard access.basis == .participant else { return [:] }
        return Dictionary(uniqueKeysWithValues: participants.subtracting([access.account]).map { ($0, false) })
    }

    /// The types of events that change who may follow a session.
    static let followed = Set(GroupEvent.types.map { $0.type })

    /// Takes in an event of one of these types. Returns nil for a version that this process can't read.
    mutating func apply(_ message: Message) -> GroupAccess.Change? {
        guard let event = try? GroupEvent(type: message.type, version: message.version, body: message.body) else {
            return nil
        }
        switch event {
        case .participantJoined(let event): participants.insert(event.account)
        case .participantLeft(let event): participants.remove(event.account)
        default: break
        }
        return access.apply(event)
    }
}
