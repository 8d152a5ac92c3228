import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules

@Suite("Session: waiting for each other")
struct SuspensionTests {
    /// A session of people that plays a song, in which all but the last said that they can be ready.
    private func waiting(_ gathering: inout Gathering, _ people: [AccountID]) throws -> (GroupID, PlaybackItem) {
        let song = gathering.song(duration: .hours(1))
        let group = try gathering.playing(song, of: people)
        for person in people.dropLast() { try gathering.ask(person, DeclareReadiness(group: group)) }
        return (group, song)
    }

    @Test("the group stands still until the last suspension ends, and plays on once, where its owner says (M9)")
    func wait() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let (group, song) = try waiting(&gathering, people)
        gathering.pass(.seconds(10))
        let began = try gathering.ask(people[0], BeginSuspension(group: group, reason: .stalled))
            .first(as: SuspensionBegan.self)
        #expect(began.suspension.until == gathering.time + .seconds(10) && began.playback.isWaiting)
        gathering.pass(.seconds(2))
        try gathering.ask(people[1], BeginSuspension(group: group, reason: .scrubbing, duration: .seconds(20)))
        gathering.pass(.seconds(2))
        #expect(try gathering.position(group) == .seconds(10))
        let first = try gathering.ask(people[0], EndSuspension(group: group)).first(as: SuspensionEnded.self)
        #expect(first.playback.isWaiting && first.reason == .ended)
        #expect(try gathering.ask(people[0], EndSuspension(group: group)).isEmpty)
        // It can be set meanwhile, and begins with the others.
        try gathering.ask(people[2], SetPlayback(group: group, expectedItem: song.id, position: .seconds(30)))
        #expect(try gathering.position(group) == .seconds(30))
        let second = try gathering.ask(
            people[1], EndSuspension(group: group, position: .seconds(40), item: song.id)
        ).first(as: SuspensionEnded.self)
        #expect(!second.playback.isWaiting && second.playback.position == .seconds(40))
        #expect(second.playback.anchor == gathering.time + PlaybackRules.defaultLead)
        #expect(second.playback.version == 6)
        // Both said so once, and are waited for again.
        try gathering.ask(people[0], BeginSuspension(group: group, reason: .stalled))
    }

    @Test("a proposed position counts only in the item that it is in (M9)")
    func proposal() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let (group, song) = try waiting(&gathering, people)
        try gathering.ask(people[0], BeginSuspension(group: group, reason: .choosing))
        let other = gathering.song(duration: .seconds(5))
        try gathering.ask(people[1], PlayItem(group: group, expectedItem: song.id, item: other))
        #expect(try gathering.playback(group).isWaiting)
        try gathering.ask(people[0], EndSuspension(group: group, position: .seconds(3), item: song.id))
        #expect(try gathering.playback(group).position == .seconds(0))
        try gathering.ask(people[0], BeginSuspension(group: group, reason: .choosing))
        try gathering.ask(people[0], EndSuspension(group: group, position: .seconds(9), item: other.id))
        #expect(try gathering.playback(group).position == .seconds(5))
    }

    @Test("a suspension that its owner doesn't end expires; then nobody waits for them until they declare again (M9)")
    func expiry() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let (group, _) = try waiting(&gathering, people)
        try gathering.ask(people[0], BeginSuspension(group: group, reason: .stalled))
        let until = gathering.time + .seconds(10)
        let command = ExpireSuspension(group: group, participant: people[0], until: until)
        #expect(try gathering.rejection(nil, command) == .notDue)
        try gathering.run(.seconds(9))
        #expect(try gathering.position(group) == .seconds(0))
        try gathering.run(.seconds(1))
        let ended = try #require(gathering.events(of: group).last as? SuspensionEnded)
        #expect(ended.reason == .expired && ended.at == until && ended.account == people[0])
        gathering.pass(PlaybackRules.defaultLead)
        gathering.pass(.seconds(1))
        #expect(try gathering.position(group) == .seconds(1))
        #expect(try gathering.ask(nil, command).isEmpty)
        #expect(try gathering.rejection(people[0], BeginSuspension(group: group, reason: .stalled)) == .notReady)
        try gathering.ask(people[0], DeclareReadiness(group: group))
        try gathering.ask(people[0], BeginSuspension(group: group, reason: .stalled))
    }

    @Test("extending a suspension doesn't make it longer than it may be (M9)")
    func extending() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let (group, _) = try waiting(&gathering, people)
        let beginning = gathering.time
        try gathering.ask(people[0], BeginSuspension(group: group, reason: .stalled))
        try gathering.run(.seconds(9))
        try gathering.ask(people[0], BeginSuspension(group: group, reason: .stalled))
        try gathering.run(.seconds(9))
        try gathering.ask(people[0], BeginSuspension(group: group, reason: .actionNeeded, duration: .seconds(30)))
        let suspension = try #require(try gathering.state(group).participants[people[0]]?.suspension)
        #expect(suspension.since == beginning && suspension.until == beginning + .seconds(30))
        gathering.pass(.seconds(20))
        #expect(try gathering.ask(people[0], BeginSuspension(group: group, reason: .stalled)).isEmpty)
        try gathering.run(.seconds(0))
        #expect(try !gathering.playback(group).isWaiting)
    }

    @Test("nobody is waited for who never said that they can be ready (M9)")
    func readiness() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let (group, _) = try waiting(&gathering, people)
        #expect(try gathering.rejection(people[1], BeginSuspension(group: group, reason: .stalled)) == .notReady)
        let declared = try gathering.ask(people[1], DeclareReadiness(group: group)).first(as: ReadinessDeclared.self)
        #expect(declared.account == people[1])
        #expect(try gathering.ask(people[1], DeclareReadiness(group: group)).isEmpty)
        try gathering.ask(people[1], BeginSuspension(group: group, reason: .stalled))
        // Who comes back is somebody new.
        try gathering.ask(people[1], LeaveGroupSession(group: group))
        try gathering.ask(people[1], JoinGroupSession(group: group))
        #expect(try gathering.rejection(people[1], BeginSuspension(group: group, reason: .stalled)) == .notReady)
    }

    @Test("a group waits only while it is as small as its owner says; who joins ends it (M9)")
    func crowd() throws {
        var gathering = Gathering()
        let people = try gathering.people(4)
        let (group, _) = try waiting(&gathering, Array(people.prefix(3)))
        let refusal = try gathering.refusal(
            people[0], BeginSuspension(group: group, reason: .stalled, participantLimit: 2))
        #expect(refusal?.code == .groupTooLarge && refusal?.details == ["participants": 3])
        try gathering.ask(people[0], BeginSuspension(group: group, reason: .stalled, participantLimit: 3))
        try gathering.ask(people[0], ActivateGroupSession(group: group, contacts: [people[3]]))
        let joined = try gathering.ask(people[3], JoinGroupSession(group: group))
        let ended = try #require(joined.last?.body as? SuspensionEnded)
        #expect(ended.reason == .crowded && ended.account == people[0] && !ended.playback.isWaiting)
        #expect(try gathering.state(group).participants[people[0]]?.isReady == true)
    }

    @Test("who leaves, is removed, closes their account or vanishes isn't waited for any more (M9)")
    func vanished() throws {
        var gathering = Gathering()
        let people = try gathering.people(6)
        let (group, _) = try waiting(&gathering, people)
        for person in people.dropFirst().dropLast() {
            try gathering.ask(person, BeginSuspension(group: group, reason: .stalled, duration: .seconds(30)))
        }
        func isWaiting() throws -> Bool { try gathering.playback(group).isWaiting }
        try gathering.ask(people[1], LeaveGroupSession(group: group))
        try gathering.ask(people[0], RemoveParticipant(group: group, participant: people[2]))
        try gathering.close(people[3])
        #expect(try isWaiting())
        // A short drop is nothing.
        try gathering.disconnect(people[4], from: group)
        try gathering.run(.seconds(4))
        #expect(try isWaiting())
        try gathering.run(.seconds(1))
        let events = gathering.events(of: group)
        #expect(try !isWaiting() && events.dropLast().last is ParticipantDisconnected)
        #expect(events.compactMap { ($0 as? SuspensionEnded)?.reason } == [.left, .left, .left, .away])
        let before = try gathering.position(group)
        gathering.pass(.seconds(5))
        #expect(try gathering.position(group) > before)
    }
}
