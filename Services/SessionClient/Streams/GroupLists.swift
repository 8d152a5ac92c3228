import Bus
import Logging
import Postgres
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

/// Notices when the group sessions that connections list may have changed: an invitation, somebody who comes or goes, an end.
///
/// It hears of every session's events that can change a list, whoever follows the session, and says whose lists to read
/// again: those of the people whom the event names, those that have the session, and those of contacts of its host.
final class GroupLists: Sendable {
    private struct State: Sendable {
        var lists: [AccountID: [ObjectIdentifier: GroupList]] = [:]
        var listing: [GroupID: [ObjectIdentifier: GroupList]] = [:]
    }

    private let state = Mutex(State())
    private let people: PeopleSource
    fileprivate let reader: GroupListReader

    init(people: PeopleSource, reads: GroupReads) {
        self.people = people
        reader = GroupListReader { try await reads.offers(to: $0) }
    }

    private static let types: Set<String> = [
        GroupSessionCreated.type, ParticipantsInvited.type, InvitationWithdrawn.type, ParticipantJoined.type,
        ParticipantLeft.type, HostTransferred.type, GroupSessionEnded.type,
    ]

    /// Whether a row of session's log may change a list.
    static func isWanted(_ heading: RowHeading) -> Bool { heading.kind == .event && types.contains(heading.type) }

    /// Takes in such a row.
    func observe(_ observation: Tail.Observation) {
        switch observation {
        case .reconnected(let hasMissedRows): if hasMissedRows { everybody() }
        case .row(let row):
            let message = row.message
            guard message.kind == .event, Self.types.contains(message.type) else { return }
            do {
                let event = try GroupEvent(type: message.type, version: message.version, body: message.body)
                observe(event, of: message.key.group)
            } catch {
                // Of a version that this process doesn't know, say.
                everybody()
            }
        }
    }

    private func observe(_ event: GroupEvent, of group: GroupID?) {
        var named = [event.account]
        // Someone whose contacts may see the session from now on.
        var host: AccountID?
        switch event {
        case .groupSessionCreated(let event): host = event.isOpenToContacts ? event.account : nil
        case .participantsInvited(let event): named += event.invited
        case .participantJoined(let event): host = event.isHost ? event.account : nil
        case .participantLeft(let event): host = event.host
        case .hostTransferred(let event): host = event.account
        case .groupSessionEnded(let event): named += event.participants + event.invited
        case .invitationWithdrawn, .participantUpdated, .participantDisconnected, .participantConnected: break
        }
        let changed = state.withLock { state in
            named.flatMap { (state.lists[$0] ?? [:]).values } + (group.flatMap { state.listing[$0] } ?? [:]).values
        }
        for list in changed { list.changed() }
        if let host { people.forEachView(of: host) { $0.list?.changed() } }
    }

    private func everybody() {
        for list in state.withLock({ $0.lists.values.flatMap(\.values) }) { list.changed() }
    }

    fileprivate func add(_ list: GroupList) {
        state.withLock { $0.lists[list.account, default: [:]][ObjectIdentifier(list)] = list }
    }

    fileprivate func remove(_ list: GroupList, listing groups: Set<GroupID>) {
        state.withLock { state in
            state.lists[list.account]?[ObjectIdentifier(list)] = nil
            if state.lists[list.account]?.isEmpty == true { state.lists[list.account] = nil }
        }
        replace(groups, by: [], in: list)
    }

    fileprivate func replace(_ before: Set<GroupID>, by groups: Set<GroupID>, in list: GroupList) {
        state.withLock { state in
            for group in before.subtracting(groups) {
                state.listing[group]?[ObjectIdentifier(list)] = nil
                if state.listing[group]?.isEmpty == true { state.listing[group] = nil }
            }
            for group in groups.subtracting(before) {
                state.listing[group, default: [:]][ObjectIdentifier(list)] = list
            }
        }
    }
}

/// Reads the lists of many connections together, one statement at a time, or two while one is stuck: those that change meanwhile
/// gather for the next. So a session whose host has a thousand contacts online takes a few statements, and never more than two
/// of the connections by which streams begin.
final class GroupListReader: Sendable {
    private struct Batch: GatheredBatch {
        /// How many lists a statement reads at most.
        static let limit = 256
        var wanted: [Gathered<AccountID, GroupsPage>] = []

        var count: Int { wanted.count }
        var items: [Batch] { wanted.map { Batch(wanted: [$0]) } }
        var awaited: Batch { Batch(wanted: wanted.filter(\.isAwaited)) }

        mutating func take() -> Batch {
            defer { wanted.removeFirst(min(wanted.count, Self.limit)) }
            return Batch(wanted: Array(wanted.prefix(Self.limit)))
        }

        func fail(_ error: any Error) { for one in wanted { one.give(.failure(error)) } }
    }

    private let gathering: Gathering<Batch>

    /// - Parameter read: Returns the lists of accounts that have any.
    init(_ read: @escaping @Sendable ([AccountID]) async throws -> [AccountID: GroupsPage]) {
        gathering = Gathering { batch in
            let pages = try await read(Array(Set(batch.wanted.map(\.item))))
            for one in batch.wanted { one.give(.success(pages[one.item] ?? GroupsPage(groups: []))) }
        }
    }

    /// The sessions that an account is in or may join.
    func offers(to account: AccountID) async throws -> GroupsPage {
        try await gathering.write(account) { $0.wanted.append($1) }
    }
}

/// The group sessions that one connection lists. Whole each time, so a slow connection needs no queue.
final class GroupList: Sendable {
    let account: AccountID
    private let lists: GroupLists
    private let listed = Mutex<Set<GroupID>>([])
    private let (wake, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    /// Between two readings, so that many changes are shown together.
    private static let pause: Duration = .milliseconds(100)

    init(of account: AccountID, _ lists: GroupLists) {
        (self.account, self.lists) = (account, lists)
        lists.add(self)
    }

    /// Notes that the list may have changed, or is to be shown at first.
    func changed() { waker.yield() }

    func end() { lists.remove(self, listing: listed.withLock(\.self)) }

    /// Shows the list, and again whenever it has changed, until the task is cancelled.
    func show(_ outlet: StreamOutlet, _ logger: Logger) async throws {
        var last: Encoded<GroupsPage>?
        for await _ in wake {
            let page = try await Backoff.joining.retrying("the list of group sessions", logger) {
                try await lists.reader.offers(to: account)
            }
            let groups = Set(page.groups.map(\.group))
            let before = listed.withLock { listed in
                defer { listed = groups }
                return listed
            }
            lists.replace(before, by: groups, in: self)
            // What happened before this list was known to have a session isn't missed: it is read once more.
            if !groups.subtracting(before).isEmpty { changed() }
            let encoded = try Encoded(page)
            if encoded != last { await outlet.put(.event(.groups(encoded))) }
            last = encoded
            try await Task.sleep(for: Self.pause)
        }
    }
}
