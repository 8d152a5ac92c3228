public import Foundation
public import QuartetAPI
import QuartetContractSupport
public import QuartetSessionContract
public import QuartetVocabulary
import Synchronization

// This file alone holds an app's copies of group sessions, shows them to readers, and replaces them.

/// The group sessions that this account is in or may join, as this device knows them.
///
/// Only ``GroupSessionClient`` can make one or replace it: it has no initialiser that others may call, and it can't be decoded.
public struct ReadOnlyGroupsState: Hashable, Sendable {
    private var page: GroupsPage?

    fileprivate init(_ page: GroupsPage?) { self.page = page }

    /// The newest first.
    public var groups: [GroupOffer] { page?.groups ?? [] }
    public var joined: [GroupOffer] { groups.filter { $0.standing == .joined } }
    public var invitations: [GroupOffer] { groups.filter { $0.standing == .invited } }
    /// Whether this account is in a session that others may be in as well: one for a single person is nobody else's business.
    public var isInSession: Bool { joined.contains { $0.capacity > 1 } }
    public var count: Int { groups.count }

    public func group(by id: GroupID) -> GroupOffer? { groups.first { $0.group == id } }
}

/// What becomes of the group sessions that this device starts.
///
/// Only ``GroupSessionClient`` can make one or replace it: it has no initialiser that others may call, and it can't be decoded.
public struct ReadOnlyStartState: Hashable, Sendable {
    fileprivate(set) var underway: Set<Int> = []
    /// Why an attempt failed, the last one that did; nil from the next attempt on. One that its caller gave up hasn't failed.
    public fileprivate(set) var error: QuartetError?

    fileprivate init() {}

    /// Whether the server hasn't answered yet.
    public var isStarting: Bool { !underway.isEmpty }
}

/// A group session, as this device knows it.
///
/// Only ``GroupSessionClient`` can make one or replace it: it has no initialiser that others may call, and it can't be decoded.
public struct ReadOnlyGroupState: Hashable, Sendable {
    /// What the session is for this account.
    public enum Standing: Hashable, Sendable {
        /// Nothing has arrived.
        case unknown
        /// It may join.
        case waiting
        case joined
        /// It is over for this account: nothing of it is left but why, and ``ReadOnlyGroupState/end``.
        case invalidated(GroupStreamEnded.Reason)
    }

    private var state: GroupState?
    private var ended: GroupStreamEnded.Reason?
    private var me: AccountID?
    /// How it ended for everybody.
    public let end: GroupEnd?
    /// The seat that this device has asked for and doesn't have yet: the server hasn't answered, or its answer hasn't arrived. It
    /// shows as this account's meanwhile, and as what it is again if the server refuses.
    public let claimedSeat: Int?

    fileprivate init(_ copy: GroupCopy.State?, _ me: AccountID?) {
        (state, ended, self.me) = (copy?.group, copy?.ended, me)
        (end, claimedSeat) = (copy?.end, copy?.claim)
    }

    public var standing: Standing {
        if let ended { return .invalidated(ended) }
        if let end { return .invalidated(end.reason == .expired ? .expired : .ended) }
        if state == nil { return .unknown }
        return localParticipant == nil ? .waiting : .joined
    }
    public var hasJoined: Bool { standing == .joined }
    public var activity: GroupSessionActivity? { state?.activity }
    public var creator: AccountID? { state?.creator }
    public var host: AccountID? { state?.host }
    public var isHost: Bool { host != nil && host == me }
    public var capacity: Int { state?.capacity ?? 0 }
    public var isOpenToContacts: Bool { state?.isOpenToContacts ?? false }
    public var participants: Ordered<GroupParticipant> { state?.participants ?? [] }
    /// This account, if it is in the session.
    public var localParticipant: GroupParticipant? { me.flatMap { state?.participants[$0] } }
    public var others: [GroupParticipant] { participants.filter { $0.id != me } }
    /// Those who have a connection.
    public var activeParticipants: [GroupParticipant] { participants.filter { $0.awaySince == nil } }
    public var invited: [AccountID] { state?.invited.map(\.id) ?? [] }
    /// Seats are numbered from 0.
    public var seats: Range<Int> { 0..<(state?.seats ?? 0) }
    public var freeSeats: [Int] { seats.filter { occupant(of: $0) == nil } }
    public var game: Game? { state?.game }
    /// Whether moves are this account's to make.
    public var isMyTurn: Bool { game.map { $0.finished == nil && ($0.turn == nil || $0.turn == me) } ?? false }
    public var attachments: [GroupAttachment] { state.map { Array($0.attachments) } ?? [] }

    public func occupant(of seat: Int) -> AccountID? { state?.occupant(of: seat) }

    /// What becomes of a seat.
    public enum Seat: Hashable, Sendable {
        case free
        /// This device has asked for it.
        case claimed
        case taken(by: AccountID)
    }

    public func seat(_ number: Int) -> Seat {
        if number == claimedSeat { return .claimed }
        return occupant(of: number).map { .taken(by: $0) } ?? .free
    }
}

/// An unreliable message that somebody in a group session sent.
public struct GroupSignal: Hashable, Sendable {
    public let account: AccountID
    public let topic: String
    public let data: JSONValue?
    public let at: Instant
}

/// Follows the list of group sessions, and is the only one who changes what readers see of it.
private final class GroupsCopy: ReplicaConsumer {
    let sequences: Set<StreamName> = [.account]
    let holder = ReplicaHolder<GroupsPage, ReadOnlyGroupsState> { ReadOnlyGroupsState($0) }
    let starts = GroupStarts()

    func reset(opening: Int) {
        holder.reset(opening: opening)
        starts.reset()
    }

    func change(by event: StreamEvent, opening: Int) throws -> StreamChange<GroupsPage>? {
        guard case .groups(let encoded) = event else { return nil }
        let page = try encoded.decoded()
        return StreamChange { $0.replace(page, opening: opening) }
    }
}

/// Counts the sessions that are being started, and is the only one who changes what readers see of that.
private final class GroupStarts: Sendable {
    let shared = SharedState(ReadOnlyStartState(), .ready)
    private let content = Mutex((state: ReadOnlyStartState(), next: 0))

    func run<Result>(
        _ start: () async throws(QuartetError) -> Result
    ) async throws(QuartetError) -> Result {
        let number = change { state, next in
            next += 1
            state.underway.insert(next)
            state.error = nil
            return next
        }
        do throws(QuartetError) {
            let result = try await start()
            end(number, nil)
            return result
        } catch {
            end(number, error == .cancelled ? nil : error)
            throw error
        }
    }

    /// Somebody else is signed in: what is still being started is none of theirs.
    func reset() { change { state, _ in state = ReadOnlyStartState() } }

    private func end(_ number: Int, _ error: QuartetError?) {
        change { state, _ in
            // Another one's error stays, for whoever hasn't read it yet.
            if state.underway.remove(number) != nil, let error { state.error = error }
        }
    }

    @discardableResult
    private func change<Result: Sendable>(_ change: (inout ReadOnlyStartState, inout Int) -> Result) -> Result {
        let (result, notify) = content.withLock { content in
            let result = change(&content.state, &content.next)
            return (result, shared.replace(content.state, .ready))
        }
        notify()
        return result
    }
}

/// Follows one group session, and is the only one who changes what readers see of it.
private final class GroupCopy: ReplicaConsumer {
    struct State: Sendable {
        /// Nil once it is over.
        var group: GroupState?
        var end: GroupEnd?
        var ended: GroupStreamEnded.Reason?
        /// The seat that edits ask for.
        var claim: Int?

        init(_ group: GroupState) { (self.group, end) = (group.end == nil ? group : nil, group.end) }

        /// Over for this account.
        init(_ ended: GroupStreamEnded.Reason, _ end: GroupEnd?) { (self.ended, self.end) = (ended, end) }

        /// Shows a seat as asked for, unless somebody has it.
        mutating func ask(for seat: Int, as account: AccountID?) {
            guard let account, let group, group.participants[account] != nil, group.occupant(of: seat) == nil
            else { return }
            self.group?.participants[account]?.seat = seat
            claim = seat
        }

        /// Shows somebody's seat as free.
        mutating func release(seatOf account: AccountID, me: AccountID?) {
            group?.participants[account]?.seat = nil
            if account == me { claim = nil }
        }
    }

    let sequences: Set<StreamName>
    let holder: ReplicaHolder<State, ReadOnlyGroupState>
    let commands: LiveCommands<State, ReadOnlyGroupState>
    let messages = Broadcast<GroupMessage>()
    let signals = Broadcast<GroupSignal>()
    private let reader = GroupReader()

    init(_ group: GroupID, _ service: Connection) {
        sequences = [.group(group)]
        holder = ReplicaHolder { [weak service] in ReadOnlyGroupState($0, service?.store.account) }
        commands = LiveCommands(service: service, holder: holder)
    }

    func change(by event: StreamEvent, opening: Int) throws -> StreamChange<State>? {
        switch event {
        case .snapshot(_, let snapshot):
            let state = try reader.begin(snapshot)
            return StreamChange { $0.replace(State(state), opening: opening) }
        case .resumed: return StreamChange { $0.resume(opening: opening) }
        case .event(_, let event):
            guard let (change, state) = try reader.read(event) else { return nil }
            guard case .message(.groupMessageSent(let sent)) = change else {
                return StreamChange {
                    $0.apply(causedBy: event.command) { $0 = State(state) }
                }
            }
            return StreamChange {
                $0.apply(causedBy: event.command) { _ in }
            } tell: { [messages] in
                messages.send(GroupMessage(sent))
            }
        case .groupEnded(let ended):
            reader.forget()
            return StreamChange { replica in
                let over = State(ended.reason, replica.base?.end)
                // Nothing has arrived of one that isn't open to this account.
                if replica.base == nil {
                    replica.replace(over, opening: opening)
                } else {
                    replica.apply(causedBy: nil) { $0 = over }
                }
            }
        case .signal(let signal):
            let content = try JSONDecoder().decode(SignalContent.self, from: Data(signal.json))
            let heard = GroupSignal(account: signal.account, topic: signal.topic, data: content.data, at: content.at)
            return StreamChange(nil) { [signals] in signals.send(heard) }
        case .begun, .groups, .person, .personEnded: return nil
        }
    }

    private struct SignalContent: Decodable {
        let data: JSONValue?
        let at: Instant
    }
}

/// A group session that an app looks at. The stream follows it as long as this exists; whoever is in the session is present for the
/// others meanwhile.
public final class RemoteGroup: Sendable {
    public let id: GroupID
    private let following: Following<GroupCopy>

    fileprivate init(_ following: Following<GroupCopy>) {
        (id, self.following) = (following.group, following)
    }

    /// What every feature reads. Its phase says whether it is loading, live, stale or failed.
    public var state: SharedState<ReadOnlyGroupState> { following.copy.holder.shared }
    /// The messages for this account from now on, each once and in the same order for everyone. A sequence that isn't read keeps the
    /// newest 1,000; ``GroupSessionClient/messages`` has the earlier ones.
    public var messages: AsyncStream<GroupMessage> { following.copy.messages.subscribe(keeping: 1000) }
    /// The signals from now on. A sequence that isn't read keeps the newest 100.
    public var signals: AsyncStream<GroupSignal> { following.copy.signals.subscribe(keeping: 100) }

    /// Loads the whole state again.
    public func refresh() { following.refresh() }
}

/// Changes group sessions. What features read is ``groups`` and what ``open`` returns; these are the only ways to change it.
///
/// A group session is about now: a change without a connection is refused with ``QuartetError/offline``, and isn't kept for later.
public struct GroupSessionClient: Sendable {
    public typealias Action<Input> = @Sendable (Input) async throws(QuartetError) -> Void
    public typealias GroupAction<Input> = @Sendable (GroupID, Input) async throws(QuartetError) -> Void

    /// The sessions that this account is in or may join.
    public var groups: SharedState<ReadOnlyGroupsState>
    /// Whether ``create`` is under way, and why it failed: for a button that waits, and for what stands beside it.
    public var starting: SharedState<ReadOnlyStartState>
    /// Follows a session, at most eight at a time.
    public var open: @Sendable (GroupID) throws(QuartetError) -> RemoteGroup
    public var create: @Sendable (CreateGroupSessionRequest) async throws(QuartetError) -> GroupID
    /// Invites contacts.
    public var invite: GroupAction<[AccountID]>
    public var join: Action<GroupID>
    /// Leaves a session, or declines an invitation.
    public var leave: Action<GroupID>
    /// Ends it for everybody.
    public var end: Action<GroupID>
    public var remove: GroupAction<AccountID>
    public var transferHost: GroupAction<AccountID>
    public var claimSeat: GroupAction<Int>
    public var moveSeat: GroupAction<Int>
    /// One's own seat, or as the host the seat of the participant that is named.
    public var releaseSeat: GroupAction<AccountID?>
    public var startGame: Action<StartGame>
    /// A move: based on the version of the game that it names, or refused with `staleVersion`.
    public var updateGame: Action<UpdateGame>
    /// Finishes the game of the session.
    public var finishGame: Action<GroupID>
    public var send: Action<SendGroupMessage>
    /// Sends an unreliable message: nobody hears of it if it is lost. Of those of a topic that wait for one that is being sent, the
    /// newest is sent.
    public var signal: GroupAction<SignalRequest>
    /// Messages that were kept.
    public var messages: @Sendable (GroupID, MessagesQuery) async throws(QuartetError) -> MessagesPage
    /// See ``attach(_:to:progress:)``.
    public var upload: @Sendable (GroupID, AttachmentFile, @escaping Progress) async throws(QuartetError) -> ContentHash
    /// See ``download(_:of:to:progress:)``.
    public var fetch: @Sendable (GroupID, GroupAttachment, URL, @escaping Progress) async throws(QuartetError) -> Void
    /// One's own attachment, or as the host anybody's.
    public var removeAttachment: GroupAction<ContentHash>
}

extension GroupSessionClient {
    /// Talks to a server.
    public static func live(service: Connection) -> Self {
        let groups = service.copy { GroupsCopy() }
        let live = service.part { LiveGroups(service) }
        return Self(
            groups: groups.holder.shared, starting: groups.starts.shared,
            open: { group throws(QuartetError) in RemoteGroup(try live.followings.hold(group)) },
            create: { request async throws(QuartetError) in
                try await groups.starts.run { () async throws(QuartetError) in
                    let reply = try await service.requests.command(request)
                    return try Requests.decoded(GroupSessionCreated.self, from: reply.result ?? []).group
                }
            },
            invite: { group, contacts async throws(QuartetError) in
                try await live.send(ActivateGroupSessionRequest(group: group, contacts: contacts), to: group)
            },
            join: { group async throws(QuartetError) in
                try await live.send(JoinGroupSessionRequest(group: group), to: group)
                // A stream has nothing more of a session that was over for the account.
                if let held = live.followings.held(group), held.copy.holder.base?.ended != nil { held.refresh() }
            },
            leave: { group async throws(QuartetError) in
                try await live.send(LeaveGroupSession(group: group), to: group)
            },
            end: { group async throws(QuartetError) in
                try await live.send(EndGroupSession(group: group), to: group)
            },
            remove: { group, account async throws(QuartetError) in
                try await live.send(RemoveParticipant(group: group, participant: account), to: group) {
                    $0.group?.participants[account] = nil
                }
            },
            transferHost: { group, account async throws(QuartetError) in
                try await live.send(TransferHost(group: group, to: account), to: group) { $0.group?.host = account }
            },
            claimSeat: { group, seat async throws(QuartetError) in
                let me = live.account
                try await live.send(ClaimSeat(group: group, seat: seat), to: group) { $0.ask(for: seat, as: me) }
            },
            moveSeat: { group, seat async throws(QuartetError) in
                let me = live.account
                try await live.send(MoveSeat(group: group, seat: seat), to: group) { $0.ask(for: seat, as: me) }
            },
            releaseSeat: { group, account async throws(QuartetError) in
                let me = live.account
                try await live.send(ReleaseSeat(group: group, participant: account), to: group) { state in
                    if let whose = account ?? me { state.release(seatOf: whose, me: me) }
                }
            },
            startGame: { game async throws(QuartetError) in try await live.send(game, to: game.group) },
            updateGame: { move async throws(QuartetError) in
                try await live.send(move, to: move.group) { state in
                    guard let game = state.group?.game, game.version == move.expectedVersion else { return }
                    if let new = move.state { state.group?.game?.state = new }
                    if let patch = move.patch { state.group?.game?.state = game.state.merging(patch) }
                }
            },
            finishGame: { group async throws(QuartetError) in try await live.finishGame(group) },
            send: { message async throws(QuartetError) in try await live.send(message, to: message.group) },
            signal: { group, signal async throws(QuartetError) in
                let requests = service.requests
                try await live.signals.run(SignalTurns.Subject(group, signal)) { () async throws(QuartetError) in
                    _ = try await requests.signedIn(.signal(group), signal)
                }
            },
            messages: { group, query async throws(QuartetError) in
                try Requests.decoded(
                    MessagesPage.self, from: try await service.requests.read(.messages(group, query)))
            },
            upload: { group, file, progress async throws(QuartetError) in
                try await FileTransfer(requests: service.requests, progress: progress).upload(file, to: group)
            },
            fetch: { group, attachment, destination, progress async throws(QuartetError) in
                try await FileTransfer(requests: service.requests, progress: progress)
                    .download(attachment, of: group, to: destination)
            },
            removeAttachment: { group, id async throws(QuartetError) in
                try await live.send(RemoveAttachment(group: group, attachment: id), to: group) {
                    $0.group?.attachments[id] = nil
                }
            })
    }

    /// Every endpoint throws what `error` makes of its name.
    public static func failing(_ error: @escaping @Sendable (_ endpoint: String) -> QuartetError) -> Self {
        func fail<Input>(_ endpoint: String) -> Action<Input> {
            { _ async throws(QuartetError) in throw error("GroupSessionClient.\(endpoint)") }
        }
        func fail<Input>(_ endpoint: String) -> GroupAction<Input> {
            { _, _ async throws(QuartetError) in throw error("GroupSessionClient.\(endpoint)") }
        }
        return Self(
            groups: GroupsCopy().holder.shared, starting: GroupStarts().shared,
            open: { _ throws(QuartetError) in throw error("GroupSessionClient.open") },
            create: { _ async throws(QuartetError) in throw error("GroupSessionClient.create") },
            invite: fail("invite"), join: fail("join"), leave: fail("leave"), end: fail("end"),
            remove: fail("remove"), transferHost: fail("transferHost"), claimSeat: fail("claimSeat"),
            moveSeat: fail("moveSeat"), releaseSeat: fail("releaseSeat"), startGame: fail("startGame"),
            updateGame: fail("updateGame"), finishGame: fail("finishGame"), send: fail("send"),
            signal: fail("signal"),
            messages: { _, _ async throws(QuartetError) in throw error("GroupSessionClient.messages") },
            upload: { _, _, _ async throws(QuartetError) in throw error("GroupSessionClient.upload") },
            fetch: { _, _, _, _ async throws(QuartetError) in throw error("GroupSessionClient.fetch") },
            removeAttachment: fail("removeAttachment"))
    }
}

/// Group sessions at a server.
private final class LiveGroups: Sendable {
    let followings: Followings<GroupCopy>
    let signals = SignalTurns()
    private let service: Connection

    init(_ service: Connection) {
        self.service = service
        followings = Followings(service) { [unowned service] in GroupCopy($0, service) }
    }

    var account: AccountID? { service.store.account }

    /// Sends a command, in its order with others of the session if somebody follows it.
    func send(
        _ command: some MessageBody, to group: GroupID, show: @escaping Replica<GroupCopy.State>.Change = { _ in }
    ) async throws(QuartetError) {
        guard let held = followings.held(group) else {
            _ = try await service.requests.command(command)
            return
        }
        try await held.copy.commands.send(show: show) { _ in command }
    }

    /// Finishes the version of the game that is known.
    func finishGame(_ group: GroupID) async throws(QuartetError) {
        guard let held = followings.held(group) else { throw .notConfigured("Open the group session first; it") }
        try await held.copy.commands.send { state throws(QuartetError) in
            guard let game = state?.group?.game else { throw .refused(APIError(.gameNotRunning)) }
            return FinishGame(group: group, expectedVersion: game.version)
        }
    }
}
