import QuartetAPI
import QuartetClient
import QuartetContactsContract
import QuartetContractSupport
import QuartetNotificationsContract
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary

/// What one open stream has sent: where it is in each sequence, and whom and what it has shown.
struct WorldFollower: Sendable {
    private let caller: WorldEdge.Caller
    private var account: AccountID { caller.account }
    let outlet: WorldOutlet
    /// How many heartbeats it has sent since something happened.
    private var pulses = 0
    private var places: [StreamName: Int64] = [:]
    private var access: [GroupID: GroupAccess] = [:]
    private var people: [AccountID: Person] = [:]
    private var offers: GroupsPage?

    /// Begins a stream.
    /// - Parameter place: Where the app was.
    init(
        _ caller: WorldEdge.Caller, _ outlet: WorldOutlet, at place: String?, groups: [GroupID], in world: WorldServices
    ) {
        self.caller = caller
        self.outlet = outlet
        let known = Dictionary(
            (place ?? "").split(separator: " ").compactMap { part -> (StreamName, Int64)? in
                guard let equals = part.lastIndex(of: "="), let slash = part.lastIndex(of: "/"),
                    let name = StreamName(String(part[..<equals])),
                    let position = Int64(part[part.index(after: slash)...])
                else { return nil }
                return (name, position)
            }
        ) { $1 }
        for group in groups { access[group] = Self.access(of: account, to: group, in: world) }
        for name in StreamName.ofAccount + groups.map({ .group($0) }) {
            if case .group(let group) = name, access[group]?.basis == nil {
                outlet.send(.event(.groupEnded(GroupStreamEnded(group: group, reason: .groupNotFound)), place: nil))
            } else if let position = known[name], position <= Self.events(name, account, world).count {
                places[name] = position
                outlet.send(.event(.resumed(name), place: nil))
            } else if let snapshot = Self.snapshot(name, account, world) {
                places[name] = Int64(Self.events(name, account, world).count)
                outlet.send(.event(.snapshot(name, snapshot), place: text))
            }
        }
        send(from: world)
    }

    /// Whether another heartbeat would tell the app nothing: all that it waits for ends after eight. Hours in which nothing happens
    /// cost nothing.
    var isQuiet: Bool { pulses >= 10 }

    mutating func pulse() {
        guard !isQuiet else { return }
        pulses += 1
        outlet.send(.heartbeat())
    }

    /// Something happens.
    mutating func wake() { pulses = 0 }

    private mutating func send(_ event: StreamEvent, place: String? = nil) {
        wake()
        outlet.send(.event(event, place: place))
    }

    /// Sends what has happened since.
    mutating func send(from world: WorldServices) {
        for name in places.keys.sorted(by: { "\($0)" < "\($1)" }) {
            for event in Self.events(name, account, world).dropFirst(Int(places[name] ?? 0)) {
                guard places[name] != nil else { break }
                send(event, of: name, world)
            }
        }
        let visible = visible(in: world)
        for (account, person) in visible.sorted(by: { $0.key < $1.key }) where people[account] != person {
            if let encoded = try? Encoded(person) { send(.person(encoded)) }
        }
        for account in people.keys.filter({ visible[$0] == nil }).sorted() {
            send(.personEnded(PersonEnded(account: account)))
        }
        people = visible
        let page = Self.offers(to: account, in: world)
        if page != offers, let encoded = try? Encoded(page) { send(.groups(encoded)) }
        offers = page
        if world.accounts[account]?.devices[caller.device] == nil { outlet.send(.end(StreamEnd(.signedOut))) }
    }

    private mutating func send(_ recorded: RecordedMessage, of name: StreamName, _ world: WorldServices) {
        places[name] = recorded.position.number
        guard case .group(let group) = name else {
            return send(.event(name, StreamedEvent(recorded)), place: text)
        }
        let message = recorded.message
        let event = try? SessionEvent(type: message.type, version: message.version, body: message.body)
        // The hash is known of the newest state alone.
        let isNewest = recorded.position.number == Int64(Self.events(name, account, world).count)
        let hash = isNewest ? world.groups[group].map { "\($0.hash)" } : nil
        if case .message(.groupMessageSent(let sent))? = event, !sent.isVisible(to: account) {
            send(.event(name, StreamedEvent(withheld: recorded, hash: hash)), place: text)
        } else {
            send(.event(name, StreamedEvent(recorded, hash: hash)), place: text)
        }
        if case .group(let event)? = event, case .ended(let reason)? = access[group]?.apply(event) {
            places[name] = nil
            send(.groupEnded(GroupStreamEnded(group: group, reason: reason)))
        }
    }

    private var text: String {
        places.map { "\($0.key)=world@1-1/0/\($0.value)" }.sorted().joined(separator: " ")
    }

    private func visible(in world: WorldServices) -> [AccountID: Person] {
        var visible: [AccountID: Person] = [:]
        for group in places.keys.compactMap(\.group) {
            for participant in world.groups[group]?.state.participants ?? [] where participant.id != account {
                visible[participant.id] = world.accounts[participant.id].map { Person($0, seenByResponder: false) }
            }
        }
        for contact in world.contactStates[account]?.contacts ?? [] {
            visible[contact.account] = world.accounts[contact.account].map {
                Person($0, seenByResponder: contact.iAmResponder)
            }
        }
        return visible
    }

    // MARK: What there is

    private static func events(
        _ name: StreamName, _ account: AccountID, _ world: WorldServices
    ) -> [RecordedMessage] {
        switch name {
        case .account: world.streams[.init(domain: .session, key: .account(account))] ?? []
        case .contacts: world.streams[.init(domain: .contacts, key: .account(account))] ?? []
        case .notifications: world.streams[.init(domain: .notifications, key: .account(account))] ?? []
        case .operations: []
        case .group(let group): world.streams[.init(domain: .session, key: .group(group))] ?? []
        }
    }

    private static func snapshot(
        _ name: StreamName, _ account: AccountID, _ world: WorldServices
    ) -> StreamSnapshot? {
        func snapshot(_ state: some Encodable, hash: String? = nil) -> StreamSnapshot? {
            (try? Encoded(state)).map { StreamSnapshot(isRefetched: false, hash: hash, state: $0.json) }
        }
        return switch name {
        case .account: snapshot(world.accounts[account] ?? AccountState(account: account))
        case .contacts: snapshot(world.contactStates[account] ?? ContactsState(account: account))
        case .notifications: snapshot(world.notificationStates[account] ?? NotificationsState(account: account))
        case .operations: StreamSnapshot(isRefetched: false, state: Array("{}".utf8))
        case .group(let group): world.groups[group].flatMap { snapshot($0.state, hash: "\($0.hash)") }
        }
    }

    private static func isOpen(_ state: GroupState, to account: AccountID, in world: WorldServices) -> Bool {
        guard state.isOpenToContacts, let host = state.host else { return false }
        return world.contactStates[account]?.contacts[host] != nil
    }

    private static func access(of account: AccountID, to group: GroupID, in world: WorldServices) -> GroupAccess? {
        world.groups[group].map {
            GroupAccess(of: account, to: $0.state, isOpen: isOpen($0.state, to: account, in: world))
        }
    }

    private static func offers(to account: AccountID, in world: WorldServices) -> GroupsPage {
        let offers = world.groups.values.compactMap { hashed -> GroupOffer? in
            let state = hashed.state
            guard state.end == nil, let activity = state.activity, let created = state.created else { return nil }
            let standing: GroupOffer.Standing? =
                if state.participants[account] != nil {
                    .joined
                } else if state.invited[account] != nil {
                    .invited
                } else {
                    isOpen(state, to: account, in: world) ? .open : nil
                }
            guard let standing else { return nil }
            return GroupOffer(
                group: state.group, standing: standing, host: state.host,
                activity: GroupSessionActivity(
                    identifier: activity.identifier, type: activity.type, title: activity.title,
                    subtitle: activity.subtitle, fallbackURL: activity.fallbackURL),
                participants: state.participants.count, capacity: state.capacity,
                isOpenToContacts: state.isOpenToContacts, created: created)
        }
        return GroupsPage(groups: offers.sorted { ($1.created, $1.group) < ($0.created, $0.group) })
    }
}
