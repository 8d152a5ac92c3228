import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules

@Suite("Session: group sessions")
struct GroupTests {
    @Test("whoever creates a session is in it and its host; others see what it is for (P1 P3 P20)")
    func create() throws {
        var gathering = Gathering()
        let anna = try gathering.person("anna")
        let group: GroupID = gathering.id()
        let activity = GroupSessionActivity(
            identifier: "org.example.film", type: .watchTogether, title: "A film", subtitle: "In the evening",
            fallbackURL: "https://example.org/film", payload: ["film": 7, "from": .null])
        try gathering.ask(anna, CreateGroupSession(group: group, activity: activity))
        #expect(
            try gathering.state(group)
                == GroupState(
                    group: group, creator: anna, activity: activity, capacity: 8, seats: 5, host: anna,
                    participants: [GroupParticipant(id: anna, ordinal: 1, joined: gathering.time)],
                    created: gathering.time))
        #expect(
            try gathering.rejection(anna, CreateGroupSession(group: group, activity: Gathering.chess)) == .groupExists)
        let ben = try gathering.person("ben", name: nil)
        let other: GroupID = gathering.id()
        #expect(
            try gathering.rejection(ben, CreateGroupSession(group: other, activity: activity)) == .needsProfile)
        #expect(
            try gathering.rejection(nil, CreateGroupSession(group: other, activity: activity)) == .accountRequired)
    }

    @Test("an account is in one session of an activity, and hears which (P3)")
    func oneOfAnActivity() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let group = try gathering.group(of: people)
        let other: GroupID = gathering.id()
        let refusal = try gathering.refusal(
            people[1], CreateGroupSession(group: other, activity: Gathering.chess))
        #expect(refusal?.code == .alreadyInSession && refusal?.details == ["group": .string("\(group)")])
        // Of another activity there may be one more.
        let film = try gathering.group(of: [people[1]], GroupSessionActivity(identifier: "film", title: "Film"))
        #expect(try gathering.state(film).host == people[1])
        // And one more of the same, after leaving the first.
        try gathering.ask(people[1], LeaveGroupSession(group: group))
        let second = try gathering.group(of: [people[1]])
        #expect(
            try gathering.refusal(people[1], JoinGroupSession(group: group))?.details
                == ["group": .string("\(second)")])
    }

    @Test("an account is in so many sessions at most")
    func limit() throws {
        var gathering = Gathering()
        gathering.rows.limits.groups = 2
        let anna = try gathering.person("anna")
        for name in ["a", "b"] {
            _ = try gathering.group(of: [anna], GroupSessionActivity(identifier: name, title: name))
        }
        let third: GroupID = gathering.id()
        #expect(
            try gathering.rejection(
                anna, CreateGroupSession(group: third, activity: GroupSessionActivity(identifier: "c", title: "c")))
                == .tooManyGroups)
    }

    @Test("people are invited once each, by the host alone, until as many wait as may (P4)")
    func invite() throws {
        var gathering = Gathering()
        gathering.rows.limits.invitations = 3
        let people = try gathering.people(6)
        let group = try gathering.group(of: Array(people.prefix(2)))
        let refusal = try gathering.refusal(
            people[1], ActivateGroupSession(group: group, contacts: [people[2]]))
        #expect(refusal?.code == .notHost && refusal?.details == ["host": .string("\(people[0])")])
        // The one who is in and the one who is invited twice are left out.
        try gathering.ask(people[0], ActivateGroupSession(group: group, contacts: [people[2]]))
        let events = try gathering.ask(
            people[0], ActivateGroupSession(group: group, contacts: [people[1], people[2], people[3]]))
        #expect(try events.first(as: ParticipantsInvited.self).invited == [people[3]])
        #expect(try gathering.state(group).invited.map(\.id) == [people[2], people[3]].sorted())
        #expect(
            try gathering.rejection(people[0], ActivateGroupSession(group: group, contacts: Array(people[4...5])))
                == .limitReached)
        #expect(
            try gathering.ask(people[0], ActivateGroupSession(group: group, contacts: [people[2]])).isEmpty)
        #expect(
            try gathering.rejection(people[0], ActivateGroupSession(group: group, contacts: [gathering.id()]))
                == .accountNotFound)
        try gathering.close(people[5])
        #expect(
            try gathering.rejection(people[0], ActivateGroupSession(group: group, contacts: [people[5]]))
                == .accountClosed)
    }

    @Test("the end of a relation withdraws what the host offered to the other, and nothing else (P4)")
    func endOfRelation() throws {
        var gathering = Gathering()
        let people = try gathering.people(4)
        let own = try gathering.group(of: Array(people.prefix(2)))
        let theirs = try gathering.group(of: [people[1], people[0]], GroupSessionActivity(identifier: "b", title: "B"))
        for (group, host) in [(own, people[0]), (theirs, people[1])] {
            try gathering.ask(host, ActivateGroupSession(group: group, contacts: Array(people.suffix(2))))
        }
        let events = try gathering.ask(people[0], WithdrawInvitations(contact: people[2]))
        let at = gathering.time
        #expect(
            events == [
                .group(.invitationWithdrawn(.init(group: own, account: people[2], by: people[0], at: at)))
            ])
        #expect(try gathering.state(own).invited.map(\.id) == [people[3]])
        #expect(try gathering.state(theirs).invited.count == 2)
        let refusal = try gathering.refusal(people[2], JoinGroupSession(group: own))
        #expect(refusal?.code == .removedFromGroup)
        // Somebody who is in it stays, and so does whoever wasn't invited.
        for other in [people[1], people[2]] {
            let nothing = try gathering.ask(people[0], WithdrawInvitations(contact: other))
            #expect(nothing.isEmpty)
        }
    }

    @Test("strangers don't learn that there is a session, whatever they try (P6)")
    func strangers() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try gathering.group(of: Array(people.prefix(2)))
        let (edge, connection): (OwnerID, ConnectionID) = (gathering.id(), gathering.id())
        let none: GroupID = gathering.id()
        for group in [group, none] {
            let commands: [any CommandBody] = [
                ActivateGroupSession(group: group, contacts: [people[2]]), JoinGroupSession(group: group),
                JoinGroupSession(group: group, contactOf: people[0]), LeaveGroupSession(group: group),
                RemoveParticipant(group: group, participant: people[1]), TransferHost(group: group, to: people[2]),
                EndGroupSession(group: group),
                ConnectParticipant(group: group, connection: connection, edge: edge), ClaimSeat(group: group, seat: 0),
                MoveSeat(group: group, seat: 0), ReleaseSeat(group: group), StartGame(group: group),
                UpdateGame(group: group, expectedVersion: 0, state: [:]),
                FinishGame(group: group, expectedVersion: 0),
            ]
            for command in commands { #expect(try gathering.rejection(people[2], command) == .groupNotFound) }
        }
    }

    @Test("whoever is invited joins once; nobody is in twice, and a full session takes nobody (P6 P12)")
    func join() throws {
        var gathering = Gathering()
        let people = try gathering.people(4)
        let group = try gathering.group(of: [people[0]], capacity: 2)
        try gathering.ask(people[0], ActivateGroupSession(group: group, contacts: Array(people.dropFirst())))
        #expect(
            try gathering.rejection(people[1], TransferHost(group: group, to: people[1])) == .notParticipant)
        let events = try gathering.ask(people[1], JoinGroupSession(group: group))
        let joined = try events.first(as: ParticipantJoined.self)
        #expect(joined.ordinal == 2 && !joined.isHost)
        #expect(try gathering.ask(people[1], JoinGroupSession(group: group)).isEmpty)
        let refusal = try gathering.refusal(people[2], JoinGroupSession(group: group))
        #expect(refusal?.code == .groupFull && refusal?.details == ["capacity": 2])
        #expect(try gathering.state(group).participants.count == 2)
        // Who leaves makes room, and may come back: as the last to join.
        try gathering.ask(people[1], LeaveGroupSession(group: group))
        try gathering.ask(people[2], JoinGroupSession(group: group))
        try gathering.ask(people[2], LeaveGroupSession(group: group))
        try gathering.ask(people[1], JoinGroupSession(group: group))
        #expect(try gathering.state(group).participants.map(\.ordinal).sorted() == [1, 4])
    }

    @Test("a session starts once, when somebody joins the one who is alone in it (S36)")
    func start() throws {
        var gathering = Gathering()
        let people = try gathering.people(5)
        let group = try gathering.group(of: [people[0]])
        func join(_ person: AccountID) throws -> ParticipantJoined {
            try gathering.ask(person, JoinGroupSession(group: group)).first(as: ParticipantJoined.self)
        }
        try gathering.ask(
            people[0], ActivateGroupSession(group: group, contacts: [people[1], people[2], people[4]]))
        // Whoever comes to an empty session isn't with anybody yet.
        try gathering.ask(people[0], LeaveGroupSession(group: group))
        #expect(try join(people[1]).start == nil)
        try gathering.ask(people[1], ActivateGroupSession(group: group, contacts: [people[3]]))
        // The others were invited by somebody who isn't there.
        #expect(try join(people[2]).start == GroupStart(host: people[1], invited: [people[3]]))
        try gathering.ask(people[2], LeaveGroupSession(group: group))
        for person in [people[2], people[3]] { #expect(try join(person).start == nil) }

        // Of one that a process of 0.1.0 had, nobody knows when it started: not now, when there are more.
        let old = try gathering.group(
            of: Array(people.prefix(2)), GroupSessionActivity(identifier: "film", title: "Film"))
        gathering.rows.groups.sessions[old]?.started = nil
        try gathering.ask(people[0], ActivateGroupSession(group: old, contacts: [people[2]]))
        let third = try gathering.ask(people[2], JoinGroupSession(group: old)).first(as: ParticipantJoined.self)
        #expect(third.start == nil && gathering.rows.groups.sessions[old]?.started == gathering.time)
    }

    @Test("the end names whom the one who ended it had invited, or else its creator (S36)")
    func guests() throws {
        for isEnded in [true, false] {
            var gathering = Gathering()
            let people = try gathering.people(4)
            let group = try gathering.group(of: Array(people.prefix(2)))
            try gathering.ask(people[0], ActivateGroupSession(group: group, contacts: [people[2]]))
            try gathering.ask(people[0], TransferHost(group: group, to: people[1]))
            try gathering.ask(people[1], ActivateGroupSession(group: group, contacts: [people[3]]))
            if isEnded {
                let end = try gathering.ask(people[1], EndGroupSession(group: group))
                    .first(as: GroupSessionEnded.self)
                #expect(end.guests == [people[3]] && end.invited == people[2...3].sorted())
            } else {
                for person in people.prefix(2) { try gathering.ask(person, LeaveGroupSession(group: group)) }
                try gathering.run(.minutes(11))
                let end = try #require(gathering.events(of: group).last as? GroupSessionEnded)
                #expect(end.reason == .expired && end.guests == [people[2]] && end.participants.isEmpty)
            }
        }
    }

    @Test("the end of what never started is told to nobody who was invited (S36)")
    func neverStarted() throws {
        for isEnded in [true, false] {
            var gathering = Gathering()
            let people = try gathering.people(2)
            let group = try gathering.group(of: [people[0]])
            try gathering.ask(people[0], ActivateGroupSession(group: group, contacts: [people[1]]))
            let last: any CommandBody = isEnded ? EndGroupSession(group: group) : LeaveGroupSession(group: group)
            try gathering.ask(people[0], last)
            if !isEnded { try gathering.run(.minutes(11)) }
            let end = try #require(gathering.events(of: group).last as? GroupSessionEnded)
            #expect(end.guests == [] && end.invited == [people[1]])
        }
    }

    @Test("contacts of the host join where the host allows it, and only of who is host now (P6)")
    func contacts() throws {
        var gathering = Gathering()
        let people = try gathering.people(4)
        let open = try gathering.group(of: Array(people.prefix(2)), isOpenToContacts: true)
        #expect(try gathering.rejection(people[2], JoinGroupSession(group: open)) == .groupNotFound)
        #expect(
            try gathering.rejection(people[2], JoinGroupSession(group: open, contactOf: people[1])) == .hostChanged)
        try gathering.ask(people[2], JoinGroupSession(group: open, contactOf: people[0]))
        // Whoever was put out isn't let in that way.
        try gathering.ask(people[0], RemoveParticipant(group: open, participant: people[2]))
        #expect(
            try gathering.rejection(people[2], JoinGroupSession(group: open, contactOf: people[0]))
                == .removedFromGroup)
        gathering.pass(gathering.rows.limits.invitationRest)
        try gathering.ask(people[0], ActivateGroupSession(group: open, contacts: [people[2]]))
        try gathering.ask(people[2], JoinGroupSession(group: open))
        #expect(try gathering.state(open).participants.count == 3)
    }

    @Test("whoever leaves is gone, and the first who joined is host; the others go on (P7 P20)")
    func leave() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try gathering.group(of: people)
        var left = try gathering.ask(people[0], LeaveGroupSession(group: group)).first(as: ParticipantLeft.self)
        #expect(left.host == people[1] && left.reason == .left)
        #expect(try gathering.state(group).participants.map(\.id) == [people[1], people[2]].sorted())
        #expect(try gathering.ask(people[0], LeaveGroupSession(group: group)).isEmpty)
        #expect(try gathering.rejection(people[0], ClaimSeat(group: group, seat: 0)) == .notParticipant)
        // The creator comes back, behind the others.
        try gathering.ask(people[0], JoinGroupSession(group: group))
        left = try gathering.ask(people[1], LeaveGroupSession(group: group)).first(as: ParticipantLeft.self)
        #expect(left.host == people[2])
    }

    @Test("an invitation is declined by who has it, and taken back by the host (P4)")
    func withdraw() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try gathering.group(of: [people[0]])
        try gathering.ask(people[0], ActivateGroupSession(group: group, contacts: Array(people[1...2])))
        let declined = try gathering.ask(people[1], LeaveGroupSession(group: group))
            .first(as: InvitationWithdrawn.self)
        #expect(declined.account == people[1] && declined.by == people[1])
        let taken = try gathering.ask(people[0], RemoveParticipant(group: group, participant: people[2]))
            .first(as: InvitationWithdrawn.self)
        #expect(taken.account == people[2] && taken.by == people[0])
        #expect(try gathering.state(group).invited.isEmpty)
        #expect(try gathering.rejection(people[2], JoinGroupSession(group: group)) == .removedFromGroup)
        #expect(
            try gathering.rejection(people[0], RemoveParticipant(group: group, participant: people[2]))
                == .participantNotFound)
    }

    @Test("the host puts others out, and nobody else does (P8)")
    func remove() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try gathering.group(of: people)
        #expect(
            try gathering.rejection(people[1], RemoveParticipant(group: group, participant: people[2])) == .notHost)
        #expect(
            try gathering.rejection(people[0], RemoveParticipant(group: group, participant: people[0]))
                == .invalidField)
        let left = try gathering.ask(people[0], RemoveParticipant(group: group, participant: people[2]))
            .first(as: ParticipantLeft.self)
        #expect(left.reason == .removed && left.by == people[0] && left.host == people[0])
    }

    @Test("the host makes another one the host (P20)")
    func transfer() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try gathering.group(of: Array(people.prefix(2)))
        #expect(
            try gathering.rejection(people[0], TransferHost(group: group, to: people[2])) == .participantNotFound)
        #expect(try gathering.ask(people[0], TransferHost(group: group, to: people[0])).isEmpty)
        try gathering.ask(people[0], TransferHost(group: group, to: people[1]))
        #expect(try gathering.state(group).host == people[1])
        #expect(
            try gathering.rejection(people[0], TransferHost(group: group, to: people[0])) == .notHost)
    }

    @Test("the host or the creator ends it, for all by one event; then it takes nobody (P8 P31)")
    func end() throws {
        var gathering = Gathering()
        let people = try gathering.people(4)
        let group = try gathering.group(of: Array(people.prefix(3)))
        try gathering.ask(people[0], ActivateGroupSession(group: group, contacts: [people[3]]))
        #expect(try gathering.rejection(people[2], EndGroupSession(group: group)) == .notHost)
        #expect(try gathering.rejection(people[3], EndGroupSession(group: group)) == .notParticipant)
        try gathering.ask(people[0], TransferHost(group: group, to: people[1]))
        let count = gathering.events(of: group).count
        let ended = try gathering.ask(people[0], EndGroupSession(group: group)).first(as: GroupSessionEnded.self)
        #expect(ended.participants == people.prefix(3).sorted() && ended.invited == [people[3]])
        #expect(gathering.events(of: group, since: count).count == 1)
        let state = try gathering.state(group)
        #expect(state.participants.isEmpty && state.host == nil && state.end?.by == people[0])
        for person in people {
            #expect(try gathering.rejection(person, JoinGroupSession(group: group)) == .groupEnded)
        }
        #expect(try gathering.ask(people[0], EndGroupSession(group: group)).isEmpty)
        #expect(try gathering.ask(people[0], LeaveGroupSession(group: group)).isEmpty)
        #expect(gathering.rows.wantedTimers(of: group).isEmpty)
        // Nobody is held by it.
        _ = try gathering.group(of: people)
    }

    @Test("a session that nobody is in waits for somebody, who is its host; then it expires (P9)")
    func expire() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let group = try gathering.group(of: people)
        for person in people { try gathering.ask(person, LeaveGroupSession(group: group)) }
        try gathering.run(.minutes(9))
        #expect(try gathering.state(group).host == nil)
        let joined = try gathering.ask(people[1], JoinGroupSession(group: group)).first(as: ParticipantJoined.self)
        #expect(joined.isHost)
        try gathering.ask(people[1], LeaveGroupSession(group: group))
        let since = gathering.time
        #expect(
            try gathering.rejection(nil, ExpireGroupSession(group: group, since: since)) == .notDue)
        try gathering.run(.minutes(11))
        let state = try gathering.state(group)
        #expect(state.end == GroupEnd(reason: .expired, at: since + .minutes(10)))
    }

    @Test("a new name or picture is told to every session that the person is in, and to no other (P13 P14)")
    func profile() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let chess = try gathering.group(of: people)
        let film = try gathering.group(of: [people[1]], GroupSessionActivity(identifier: "film", title: "Film"))
        try gathering.ask(people[1], UpdateProfile(expectedVersion: 1, name: "Bo"))
        // What others in the session don't see is nothing to tell them.
        try gathering.ask(people[1], UpdateProfile(expectedVersion: 2, emergencyNote: "none"))
        #expect(try gathering.state(chess).participants[people[1]]?.version == 1)
        #expect(try gathering.state(film).participants[people[1]]?.version == 1)
        try gathering.ask(people[0], UpdateProfile(expectedVersion: 1, name: "Al"))
        #expect(try gathering.state(chess).participants.map(\.version) == [1, 1])
        #expect(gathering.events(of: film).count { $0 is ParticipantUpdated } == 1)
    }

    @Test("an account that closes leaves every session first, and its seat and role go on (P20)")
    func close() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let group = try gathering.group(of: people)
        try gathering.ask(people[0], ClaimSeat(group: group, seat: 1))
        try gathering.close(people[0])
        let state = try gathering.state(group)
        #expect(state.participants.map(\.id) == [people[1]] && state.host == people[1])
        let left = gathering.events(of: group).last as? ParticipantLeft
        #expect(left?.account == people[0] && left?.reason == .accountClosed)
        try gathering.ask(people[1], ClaimSeat(group: group, seat: 1))
    }
}
