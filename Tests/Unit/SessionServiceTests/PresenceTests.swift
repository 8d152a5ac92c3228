import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules

@Suite("Session: who is here")
struct PresenceTests {
    @Test("a short drop isn't published; a longer one is, and its end (P15 P19)")
    func drop() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let group = try gathering.group(of: people)
        let edge = try #require(gathering.rows.groups.edges.keys.first)
        try gathering.ask(people[1], ClaimSeat(group: group, seat: 3))
        let count = gathering.events(of: group).count
        try gathering.disconnect(people[1], from: group)
        try gathering.run(.seconds(4))
        _ = try gathering.connect(people[1], to: group, at: edge)
        try gathering.run(.seconds(60))
        #expect(gathering.events(of: group, since: count).isEmpty)

        try gathering.disconnect(people[1], from: group)
        let since = gathering.time
        try gathering.run(.seconds(6))
        #expect(try gathering.state(group).participants[people[1]]?.awaySince == since)
        try gathering.run(.seconds(20))
        _ = try gathering.connect(people[1], to: group, at: edge)
        try gathering.run(.seconds(60))
        let state = try gathering.state(group)
        #expect(state.participants[people[1]]?.awaySince == nil && state.occupant(of: 3) == people[1])
        let events = gathering.events(of: group, since: count)
        #expect(events.map { type(of: $0).type } == ["ParticipantDisconnected", "ParticipantConnected"])
    }

    @Test("after the grace a participant is out, once, and the seat is free; coming back takes no invitation (P15 P19)")
    func grace() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let group = try gathering.group(of: people)
        try gathering.ask(people[1], ClaimSeat(group: group, seat: 3))
        try gathering.disconnect(people[1], from: group)
        let since = gathering.time
        #expect(
            try gathering.rejection(nil, AnnounceDrop(group: group, participant: people[1], since: since)) == .notDue)
        #expect(
            try gathering.rejection(nil, DropParticipant(group: group, participant: people[1], since: since))
                == .notDue)
        try gathering.run(.seconds(31))
        let left = try #require(gathering.events(of: group).last as? ParticipantLeft)
        #expect(left.reason == .dropped && left.account == people[1] && left.at == since + .seconds(30))
        #expect(try gathering.state(group).occupant(of: 3) == nil)
        // The same again says nothing.
        #expect(
            try gathering.ask(nil, DropParticipant(group: group, participant: people[1], since: since)).isEmpty)
        #expect(try gathering.ask(nil, AnnounceDrop(group: group, participant: people[1], since: since)).isEmpty)
        try gathering.ask(people[1], JoinGroupSession(group: group))
        #expect(try gathering.state(group).participants[people[1]]?.ordinal == 3)
    }

    @Test("nobody is missed while commands wait that are as old as that: they may say who is back (P15 T8)")
    func waitingCommands() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let group = try gathering.group(of: people)
        let edge = try #require(gathering.rows.groups.edges.keys.first)
        try gathering.disconnect(people[1], from: group)
        let since = gathering.time
        let count = gathering.events(of: group).count
        // One from the last moment of the grace waits. Nothing so old does that it could be about the first seconds.
        gathering.rows.groups.waitingCommands[.group(group)] = since + .seconds(30)
        try gathering.run(.seconds(40))
        #expect(gathering.events(of: group, since: count).map { type(of: $0).type } == ["ParticipantDisconnected"])
        let next = try #require(gathering.rows.wantedTimers(of: group).first)
        #expect(next.due > gathering.time && next.due <= gathering.time + .minutes(1))
        _ = try gathering.connect(people[1], to: group, at: edge)
        #expect(gathering.rows.groups[group, people[1]]?.reconsideredAt == nil)
        try gathering.run(.minutes(2))
        #expect(
            gathering.events(of: group, since: count).map { type(of: $0).type } == [
                "ParticipantDisconnected", "ParticipantConnected",
            ])

        // What was said after the grace was said too late.
        try gathering.disconnect(people[1], from: group)
        gathering.rows.groups.waitingCommands[.group(group)] = gathering.time + .seconds(31)
        try gathering.run(.seconds(31))
        #expect(try gathering.state(group).participants.count == 1)
    }

    @Test("while a command waits for an hour, nobody is put out, and few timers ask for it (P15)")
    func longWait() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let group = try gathering.group(of: people)
        try gathering.disconnect(people[1], from: group)
        gathering.rows.groups.waitingCommands[.group(group)] = gathering.time
        var timers = 0
        let end = gathering.time + .minutes(60)
        while let next = gathering.rows.wantedTimers(of: group).first, next.due < end {
            #expect(next.due <= gathering.time + .minutes(1))
            try gathering.run(next.due - gathering.time)
            timers += 1
        }
        #expect(timers < 90)
        #expect(try gathering.state(group).participants.count == 2)
        // It was handled, and said nothing of them.
        gathering.rows.groups.waitingCommands = [:]
        try gathering.run(.minutes(1))
        #expect(try gathering.state(group).participants.count == 1)
    }

    @Test("an edge process isn't taken for lost while commands wait that are as old as its lease (P15)")
    func waitingRenewal() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let group = try gathering.group(of: people)
        let edge = try #require(gathering.rows.groups.edges.keys.first)
        let until = try #require(gathering.rows.groups.edges[edge]?.leaseUntil)
        gathering.rows.groups.waitingCommands[.edge(edge)] = until
        try gathering.run(.minutes(1), renewing: false)
        #expect(gathering.rows.groups.connections(of: group).count == 2)
        try gathering.ask(nil, RenewEdge(edge: edge, begins: false))
        #expect(gathering.rows.groups.edges[edge]?.reconsideredAt == nil)
        gathering.rows.groups.waitingCommands = [:]
        try gathering.run(.minutes(5), renewing: false)
        #expect(gathering.rows.groups.edges[edge] == nil && gathering.rows.groups.connections(of: group).isEmpty)
    }

    @Test("a participant is here while any of their connections is; whoever joins without one gets the grace (P15)")
    func devices() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let group = try gathering.group(of: people)
        let edge = try #require(gathering.rows.groups.edges.keys.first)
        let tablet = try gathering.connect(people[1], to: group, at: edge)
        // The same connection twice is one.
        try gathering.ask(people[1], ConnectParticipant(group: group, connection: tablet, edge: edge))
        let count = gathering.events(of: group).count
        try gathering.ask(people[1], DisconnectParticipant(group: group, connection: tablet))
        // Somebody else's connection isn't theirs to lose.
        let other = try #require(gathering.rows.groups.connections(of: group, people[0]).first)
        try gathering.ask(people[1], DisconnectParticipant(group: group, connection: other.connection))
        try gathering.run(.minutes(5))
        #expect(gathering.events(of: group, since: count).isEmpty)

        let film: GroupID = gathering.id()
        try gathering.ask(
            people[0],
            CreateGroupSession(group: film, activity: GroupSessionActivity(identifier: "film", title: "Film")))
        try gathering.run(.seconds(31))
        #expect(try gathering.state(film).participants.isEmpty)
    }

    @Test("connections are of those who are in, at edge processes that live, and so many at most")
    func refusals() throws {
        var gathering = Gathering()
        gathering.rows.limits.connections = 2
        let people = try gathering.people(2)
        let group = try gathering.group(of: [people[0]])
        let edge = try #require(gathering.rows.groups.edges.keys.first)
        try gathering.ask(people[0], ActivateGroupSession(group: group, contacts: [people[1]]))
        let connection: ConnectionID = gathering.id()
        #expect(
            try gathering.rejection(
                people[1], ConnectParticipant(group: group, connection: connection, edge: edge)) == .notParticipant)
        let nobody: OwnerID = gathering.id()
        #expect(
            try gathering.rejection(
                people[0], ConnectParticipant(group: group, connection: connection, edge: nobody)) == .edgeNotFound)
        _ = try gathering.connect(people[0], to: group, at: edge)
        #expect(
            try gathering.rejection(
                people[0], ConnectParticipant(group: group, connection: connection, edge: edge)) == .limitReached)
        #expect(try gathering.rejection(nil, RenewEdge(edge: nobody, begins: false)) == .edgeNotFound)
    }

    @Test("with an edge process all who were connected by it alone are away; one that is renewed stays (P15)")
    func edgeDeath() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try gathering.group(of: people)
        let edge = try #require(gathering.rows.groups.edges.keys.first)
        let second: OwnerID = gathering.id()
        try gathering.ask(nil, RenewEdge(edge: second, begins: true))
        _ = try gathering.connect(people[2], to: group, at: second)
        let until = try #require(gathering.rows.groups.edges[edge]?.leaseUntil)
        #expect(try gathering.rejection(nil, ExpireEdge(edge: edge, until: until)) == .notDue)
        gathering.pass(.seconds(10))
        for edge in [edge, second] { try gathering.ask(nil, RenewEdge(edge: edge, begins: false)) }
        gathering.pass(.seconds(10))
        // What was set for an earlier lease does nothing.
        try gathering.ask(nil, ExpireEdge(edge: edge, until: until))
        #expect(gathering.rows.groups.edges[edge] != nil)
        try gathering.ask(nil, RenewEdge(edge: second, begins: false))
        gathering.pass(.seconds(6))
        let renewed = try #require(gathering.rows.groups.edges[edge]?.leaseUntil)
        try gathering.ask(nil, ExpireEdge(edge: edge, until: renewed))
        #expect(gathering.rows.groups.edges[edge] == nil)
        #expect(try gathering.rejection(nil, RenewEdge(edge: edge, begins: false)) == .edgeNotFound)
        try gathering.run(.seconds(6))
        let away = try gathering.state(group).participants.filter { $0.awaySince != nil }
        #expect(away.map(\.id) == people[0...1].sorted())
    }

    @Test("a lease that ends in pieces takes no more connections, and ends with the last piece")
    func pieces() throws {
        var gathering = Gathering()
        let people = try gathering.people(1)
        let group = try gathering.group(of: people)
        let edge = try #require(gathering.rows.groups.edges.keys.first)
        gathering.pass(.seconds(15))
        gathering.rows.groups.edgesWithMore = [edge]
        let timer = try #require(gathering.rows.wantedTimers(of: edge).first)
        try gathering.ask(nil, timer.command.body)
        #expect(gathering.rows.groups.edges[edge]?.ended == gathering.time)
        let connection: ConnectionID = gathering.id()
        #expect(
            try gathering.rejection(
                people[0], ConnectParticipant(group: group, connection: connection, edge: edge)) == .edgeNotFound)
        #expect(try gathering.rejection(nil, RenewEdge(edge: edge, begins: false)) == .edgeNotFound)
        gathering.rows.groups.edgesWithMore = []
        try gathering.ask(nil, try #require(gathering.rows.wantedTimers(of: edge).first).command.body)
        #expect(gathering.rows.groups.edges[edge] == nil)
    }

    @Test("a host who drops stays host during the grace; then one transfer follows, to the first of those here (P20)")
    func succession() throws {
        var gathering = Gathering()
        let people = try gathering.people(4)
        let group = try gathering.group(of: people)
        // The host and the next one vanish together.
        let count = gathering.events(of: group).count
        for person in people.prefix(2) { try gathering.disconnect(person, from: group) }
        try gathering.run(.seconds(29))
        #expect(try gathering.state(group).host == people[0])
        try gathering.run(.seconds(2))
        #expect(try gathering.state(group).host == people[2])
        let hosts = gathering.events(of: group, since: count).compactMap { ($0 as? ParticipantLeft)?.host }
        #expect(Set(hosts.suffix(1)) == [people[2]] && hosts.count == 2)
    }

    @Test("when everybody has dropped, the session waits and expires (P9)")
    func everybody() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try gathering.group(of: people)
        for person in people { try gathering.disconnect(person, from: group) }
        try gathering.run(.seconds(31))
        #expect(try gathering.state(group).participants.isEmpty)
        try gathering.run(.minutes(10))
        #expect(try gathering.state(group).end?.reason == .expired)
    }
}
