import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules

@Suite("Session: whatever people, connections and timers do in group sessions")
struct GroupPropertyTests {
    @Test(
        "who folds the stream sees the tables; there is one host, seats have one person each, versions have no gaps, and every wait ends (P12 P16 P20 P22 M8 M9 M10 T15)"
    )
    func random() async throws {
        try await withRandom { random in
            for _ in 0..<12 {
                var gathering = Gathering(seed: random.next())
                let people = try Self.begin(&gathering)
                for _ in 0..<400 {
                    try Self.step(&gathering, people, using: &random)
                    try Self.check(gathering, people)
                }
                try Self.checkLog(gathering.log.map(\.event))
                try Self.checkWaitsEnd(&gathering)
            }
        }
    }

    /// Few people, activities and places, so that they meet.
    static func begin(_ gathering: inout Gathering) throws -> [AccountID] {
        gathering.rows.limits.groups = 2
        gathering.rows.limits.connections = 2
        gathering.rows.limits.invitations = 3
        gathering.rows.limits.groupAccounts = 4
        gathering.rows.limits.messages = 5
        gathering.rows.limits.messageBytes = 400
        return try gathering.people(5)
    }

    /// Something that a person, an edge process or a timer does.
    static func step(
        _ gathering: inout Gathering, _ people: [AccountID], using random: inout SeededRandom
    ) throws {
        let seconds =
            random.oneIn(20) ? Int64.random(in: 0...900, using: &random) : Int64.random(in: 0...4, using: &random)
        gathering.pass(.seconds(seconds))
        if random.oneIn(2) {
            let wanted = gathering.timedKeys.flatMap { gathering.rows.wantedTimers(of: $0) }
            if let timer = wanted.randomElement(using: &random) {
                do { try gathering.ask(nil, timer.command.body) } catch let error as Rejection {
                    try #require(error.code == .notDue)
                }
            }
        }
        let person = people.randomElement(using: &random) ?? people[0]
        do {
            try command(of: person, people, in: &gathering, using: &random)
        } catch is Rejection {}
    }

    private static func command(
        of person: AccountID, _ people: [AccountID], in gathering: inout Gathering, using random: inout SeededRandom
    ) throws {
        let groups = gathering.rows.groups.sessions.keys.sorted()
        let group = groups.suffix(3).randomElement(using: &random) ?? gathering.id()
        let edges = gathering.rows.groups.edges.keys.sorted()
        let edge = edges.randomElement(using: &random) ?? gathering.id()
        let other = people.randomElement(using: &random) ?? person
        let host = gathering.rows.groups.sessions[group]?.host
        let seat = Int.random(in: 0...3, using: &random)
        let game = gathering.rows.groups.games[group]
        let version = (game?.version ?? 0) - (random.oneIn(4) ? 1 : 0)
        switch Int.random(in: 0..<54, using: &random) {
        case 0...1:
            let activity = GroupSessionActivity(identifier: random.oneIn(2) ? "chess" : "film", title: "Together")
            let capacity = Int.random(in: 1...4, using: &random)
            try gathering.ask(
                person,
                CreateGroupSession(
                    group: gathering.id(), activity: activity, capacity: capacity,
                    seats: Int.random(in: 0...3, using: &random), isOpenToContacts: capacity > 1 && random.oneIn(2)))
        case 2...3:
            try gathering.ask(
                random.oneIn(3) ? person : host ?? person,
                ActivateGroupSession(group: group, contacts: random.oneIn(2) ? [other] : people))
        case 4...7:
            try gathering.ask(
                person, JoinGroupSession(group: group, contactOf: random.oneIn(2) ? nil : host ?? other))
        case 8: try gathering.ask(person, LeaveGroupSession(group: group))
        case 9:
            try gathering.ask(host ?? person, RemoveParticipant(group: group, participant: other))
        case 10: try gathering.ask(host ?? person, TransferHost(group: group, to: other))
        case 11: if random.oneIn(4) { try gathering.ask(person, EndGroupSession(group: group)) }
        case 12:
            try gathering.ask(nil, RenewEdge(edge: random.oneIn(8) ? gathering.id() : edge, begins: random.oneIn(2)))
        case 13: for edge in edges { try gathering.ask(nil, RenewEdge(edge: edge, begins: false)) }
        case 14...17: _ = try gathering.connect(person, to: group, at: edge)
        case 18...19:
            let key = gathering.rows.groups.connections.keys.sorted().randomElement(using: &random)
            guard let key, let row = gathering.rows.groups.connections[key] else { return }
            try gathering.ask(
                row.account, DisconnectParticipant(group: key.group, connection: key.connection))
        case 20...22: try gathering.ask(person, ClaimSeat(group: group, seat: seat))
        case 23: try gathering.ask(person, MoveSeat(group: group, seat: seat))
        case 24: try gathering.ask(person, ReleaseSeat(group: group, participant: random.oneIn(2) ? nil : other))
        case 25...26:
            try gathering.ask(
                host ?? person,
                StartGame(
                    group: group, state: ["turn": .string("\(other)")], turnField: random.oneIn(2) ? "turn" : nil,
                    lead: random.oneIn(2) ? .seconds(0) : nil))
        case 27...29:
            let document: JSONValue = ["turn": .string("\(other)"), "seat": .integer(Int64(seat)), "none": .null]
            try gathering.ask(
                person,
                random.oneIn(2)
                    ? UpdateGame(group: group, expectedVersion: version, state: document)
                    : UpdateGame(group: group, expectedVersion: version, patch: document))
        case 30: try gathering.ask(person, FinishGame(group: group, expectedVersion: version))
        case 31:
            let name = random.oneIn(2) ? "Al" : "Bo"
            if random.oneIn(20) {
                try gathering.close(person)
            } else if let row = gathering.rows[person] {
                try gathering.ask(person, UpdateProfile(expectedVersion: row.profileVersion, name: name))
            }
        case 52...53:
            try gathering.ask(random.oneIn(2) ? person : host ?? person, WithdrawInvitations(contact: other))
        case 32...34:
            let data = JSONValue.string(String(repeating: "x", count: Int.random(in: 1...200, using: &random)))
            try gathering.ask(
                person,
                SendGroupMessage(
                    group: group, to: random.oneIn(2) ? nil : [other], type: "org.example",
                    data: random.oneIn(4) ? nil : data))
        default: try play(of: person, in: group, &gathering, using: &random)
        }
    }

    private static func check(_ gathering: Gathering, _ people: [AccountID]) throws {
        let groups = gathering.rows.groups
        for group in groups.sessions.keys {
            let state = try gathering.state(group)
            try #require(state.participants.isEmpty == (state.host == nil))
            if let host = state.host { try #require(state.participants[host] != nil) }
            try #require(state.participants.count <= state.capacity)
            try #require(groups.known(of: group) <= gathering.rows.limits.groupAccounts)
            let seats = state.participants.compactMap(\.seat)
            try #require(Set(seats).count == seats.count && seats.allSatisfy { (0..<state.seats).contains($0) })
            if state.end != nil {
                try #require(state.participants.isEmpty && state.invited.isEmpty)
                try #require(groups.connections(of: group).isEmpty && groups.games[group] == nil)
            }
            try checkPlayback(of: state, gathering)
            for participant in state.participants {
                let isConnected = !groups.connections(of: group, participant.id).isEmpty
                try #require((groups[group, participant.id]?.droppedAt == nil) == isConnected)
            }
        }
        for group in groups.messageHistories.keys {
            let history = try #require(groups.messageHistories[group])
            let kept = groups.messages.keys.filter { $0.group == group }.sorted()
            try #require(kept.map(\.number) == Array(history.firstKept..<history.sent + 1) && kept.count <= 5)
            let oldest = kept.first.flatMap { groups.messages[$0]?.offset }
            try #require(history.bytes - (oldest ?? history.bytes) <= 400)
            try #require(history.isOver == (groups.sessions[group]?.ended != nil))
        }
        for key in groups.connections.keys {
            let row = try #require(groups.connections[key])
            try #require(groups[key.group, row.account]?.status == .joined && groups.edges[row.edge] != nil)
        }
        for person in people {
            let identifiers = groups.groups(of: person).compactMap { groups[$0, person]?.identifier }
            try #require(Set(identifiers).count == identifiers.count)
            if gathering.rows[person]?.closed != nil { try #require(identifiers.isEmpty) }
        }
    }

    /// Versions have no gaps; nobody joins twice or leaves twice; a session starts once; nobody is told twice that somebody is away.
    private static func checkLog(_ events: [SessionEvent]) throws {
        var versions: [GroupID: Int64] = [:]
        var messages: [GroupID: Int64] = [:]
        var present: [GroupID: Set<AccountID>] = [:]
        var away: Set<ParticipantKey> = []
        func next(_ version: Int64, _ group: GroupID) throws {
            try #require(version == versions[group, default: 0] + 1)
            versions[group] = version
        }
        var playbacks: [GroupID: Int64] = [:]
        var started: Set<GroupID> = []
        var hashed: [GroupID: HashedGroupState] = [:]
        for (number, event) in events.enumerated() {
            if let group = event.body.stream.group {
                hashed[group, default: HashedGroupState(GroupState(group: group))].apply(event)
                if number % 7 == 0, let followed = hashed[group] {
                    try #require(followed.hash == HashedGroupState(followed.state).hash)
                }
            }
            switch event {
            case .group(.groupSessionCreated(let event)): present[event.group] = [event.account]
            case .group(.participantJoined(let event)):
                let others = present[event.group] ?? []
                if let start = event.start {
                    try #require(others == [start.host])
                    try #require(started.insert(event.group).inserted)
                } else {
                    try #require(others.isEmpty || started.contains(event.group))
                }
                try #require(present[event.group]?.insert(event.account).inserted == true)
            case .group(.participantLeft(let event)):
                try #require(present[event.group]?.remove(event.account) != nil)
                away.remove(ParticipantKey(event.group, event.account))
            case .group(.participantDisconnected(let event)):
                try #require(away.insert(ParticipantKey(event.group, event.account)).inserted)
            case .group(.participantConnected(let event)):
                try #require(away.remove(ParticipantKey(event.group, event.account)) != nil)
            case .group(.groupSessionEnded(let event)):
                try #require(present[event.group] == Set(event.participants))
                let guests = Set(try #require(event.guests))
                try #require(guests.isSubset(of: event.invited) && (guests.isEmpty || started.contains(event.group)))
            case .playback(let event):
                guard let version = event.playback?.version, let group = event.body.stream.group else { continue }
                try #require(version == playbacks[group, default: 0] + 1)
                playbacks[group] = version
            case .game(.gameStarted(let event)): try next(event.version, event.group)
            case .game(.gameUpdated(let event)): try next(event.version, event.group)
            case .game(.gameFinished(let event)): try next(event.version, event.group)
            case .message(.groupMessageSent(let event)):
                messages[event.group, default: 0] += 1
                try #require(event.number == messages[event.group])
                try #require(present[event.group]?.isSuperset(of: [event.account] + (event.to ?? [])) == true)
            default: break
            }
        }
    }
}
