import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules

@Suite("Session: who may enter a group session again")
struct GroupEntryTests {
    @Test("who left comes back, until their relation to the host ends; then they need another invitation (P6)")
    func afterLeaving() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try gathering.group(of: people)
        for reason in [LeaveReason.left, .dropped] {
            try gathering.leave(people[1], group, reason)
            try gathering.ask(people[1], JoinGroupSession(group: group))
            try gathering.leave(people[1], group, reason)
            #expect(try gathering.ask(people[0], WithdrawInvitations(contact: people[1])).isEmpty)
            // Not as a contact either: the session isn't open.
            for host in [nil, people[0]] {
                #expect(
                    try gathering.rejection(people[1], JoinGroupSession(group: group, contactOf: host))
                        == .groupNotFound)
            }
            gathering.pass(.seconds(1))
            try gathering.ask(people[0], ActivateGroupSession(group: group, contacts: [people[1]]))
            try gathering.ask(people[1], JoinGroupSession(group: group))
        }
        // A relation to somebody else doesn't matter.
        try gathering.ask(people[1], LeaveGroupSession(group: group))
        try gathering.ask(people[2], WithdrawInvitations(contact: people[1]))
        try gathering.ask(people[1], JoinGroupSession(group: group))
    }

    @Test("an invitation that was asked for before the relation ended is refused, though it is decided after (P4)")
    func askedBefore() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try gathering.group(of: [people[0]])
        let invite = ActivateGroupSession(group: group, contacts: [people[1], people[2]])
        // The ids of commands have the time at which they are asked for.
        let asked = gathering.time
        var early = gathering
        gathering.pass(.seconds(2))
        try gathering.ask(people[0], WithdrawInvitations(contact: people[1]))
        let withdrawn = gathering.rows
        early.rows = withdrawn
        let refusal = try early.refusal(people[0], invite)
        #expect(refusal?.code == .notContact && refusal?.details == ["accounts": .array([.string("\(people[1])")])])
        #expect(early.time == asked && early.rows == withdrawn)
        // The other direction is another matter: their contact withdraws it.
        #expect(try early.rejection(people[0], ActivateGroupSession(group: group, contacts: [people[2]])) == nil)
        // A caller whose clock is ahead says nothing about when they asked.
        let ahead: CommandID = .derived(at: gathering.time + .hours(1), from: [1])
        var rows = withdrawn
        let context = CommandContext(
            commandID: ahead, account: people[0], key: .group(group), time: gathering.time + .seconds(1))
        #expect(throws: Rejection.self) {
            try SessionReducer.reduce(&rows, .group(.activateGroupSession(invite)), context)
        }
        // They are contacts again.
        gathering.pass(.seconds(1))
        #expect(try gathering.rejection(people[0], invite) == nil)
        // An old withdrawal is forgotten, whatever the caller's clock says.
        early.rows = withdrawn
        rows = withdrawn
        let late = CommandContext(
            commandID: ahead, account: people[0], key: .group(group), time: gathering.time + .minutes(10))
        let invited = try SessionReducer.reduce(&rows, .group(.activateGroupSession(invite)), late)
        #expect(invited.count == 1)
    }

    @Test("who is in it when their relation to the host ends stays, and doesn't come back (P6)")
    func whileIn() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let group = try gathering.group(of: people)
        for person in people.dropFirst() { try gathering.ask(people[0], WithdrawInvitations(contact: person)) }
        #expect(try gathering.state(group).participants.count == 3)
        try gathering.leave(people[1], group, .left)
        try gathering.leave(people[2], group, .dropped)
        for person in people.dropFirst() {
            #expect(try gathering.rejection(person, JoinGroupSession(group: group)) == .groupNotFound)
        }
        // Nor when nobody is in it who could be the host.
        try gathering.ask(people[0], LeaveGroupSession(group: group))
        #expect(try gathering.rejection(people[1], JoinGroupSession(group: group)) == .groupNotFound)
        try gathering.ask(people[0], JoinGroupSession(group: group))
    }

    @Test("a declined invitation lets nobody in, before and after the relation to the host ends (P4 P6)")
    func declined() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let invited = try gathering.group(of: [people[0]])
        let open = try gathering.group(
            of: [people[0]], GroupSessionActivity(identifier: "film", title: "Film"), isOpenToContacts: true)
        for group in [invited, open] {
            gathering.pass(.seconds(1))
            try gathering.ask(people[0], ActivateGroupSession(group: group, contacts: [people[1]]))
            try gathering.ask(people[1], LeaveGroupSession(group: group))
            #expect(try gathering.rejection(people[1], JoinGroupSession(group: group)) == .groupNotFound)
            try gathering.ask(people[0], WithdrawInvitations(contact: people[1]))
            #expect(try gathering.rejection(people[1], JoinGroupSession(group: group)) == .groupNotFound)
        }
        #expect(
            try gathering.rejection(people[1], JoinGroupSession(group: open, contactOf: people[1])) == .hostChanged)
        try gathering.ask(people[1], JoinGroupSession(group: open, contactOf: people[0]))
    }

    @Test("an invitation ends with the relation to whoever sent it, also when they aren't the host any more (P4 P20)")
    func afterTransfer() throws {
        var gathering = Gathering()
        let people = try gathering.people(5)
        let group = try gathering.group(of: Array(people.prefix(2)))
        try gathering.ask(people[0], ActivateGroupSession(group: group, contacts: Array(people[2...4])))
        try gathering.ask(people[4], JoinGroupSession(group: group))
        try gathering.ask(people[4], LeaveGroupSession(group: group))
        try gathering.ask(people[0], TransferHost(group: group, to: people[1]))
        // The next host's relations count as well.
        let ended = try gathering.ask(people[1], WithdrawInvitations(contact: people[2]))
        #expect(try ended.first(as: InvitationWithdrawn.self).account == people[2])
        try gathering.ask(people[0], LeaveGroupSession(group: group))
        let withdrawn = try gathering.ask(people[0], WithdrawInvitations(contact: people[3]))
            .first(as: InvitationWithdrawn.self)
        #expect(withdrawn.account == people[3] && withdrawn.by == people[0])
        try gathering.ask(people[0], WithdrawInvitations(contact: people[4]))
        #expect(try gathering.state(group).invited.isEmpty)
        #expect(
            try people[2...4].map { try gathering.rejection($0, JoinGroupSession(group: group)) }
                == [.removedFromGroup, .removedFromGroup, .groupNotFound])
    }

    @Test(
        "a session knows so many people at most, those who are out included; these may be invited again after a minute")
    func known() throws {
        var gathering = Gathering()
        gathering.rows.limits.groupAccounts = 4
        let people = try gathering.people(6)
        let group = try gathering.group(of: [people[0]], isOpenToContacts: true)
        for person in people[1...3] {
            try gathering.ask(people[0], ActivateGroupSession(group: group, contacts: [person]))
            try gathering.ask(people[0], RemoveParticipant(group: group, participant: person))
        }
        let refusal = try gathering.refusal(
            people[0], ActivateGroupSession(group: group, contacts: [people[1], people[4]]))
        #expect(refusal?.code == .limitReached && refusal?.field == "contacts")
        #expect(
            try gathering.rejection(people[4], JoinGroupSession(group: group, contactOf: people[0])) == .limitReached)
        let again = ActivateGroupSession(group: group, contacts: Array(people[1...3]))
        let early = try gathering.refusal(people[0], again)
        #expect(early?.code == .tooSoon && early?.retryAfter == gathering.rows.limits.invitationRest)
        gathering.pass(gathering.rows.limits.invitationRest)
        try gathering.ask(people[0], again)
        try gathering.ask(people[1], JoinGroupSession(group: group))
    }
}

extension Gathering {
    /// Someone leaves, or stays away for too long.
    fileprivate mutating func leave(_ account: AccountID, _ group: GroupID, _ reason: LeaveReason) throws {
        let count = events(of: group).count
        if reason == .dropped {
            try disconnect(account, from: group)
            try run(.seconds(40))
        } else {
            try ask(account, LeaveGroupSession(group: group))
        }
        #expect(events(of: group, since: count).contains { ($0 as? ParticipantLeft)?.reason == reason })
    }
}
