import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules

extension Gathering {
    /// Something to play.
    mutating func song(_ title: String = "Song", duration: Interval? = .minutes(3)) -> PlaybackItem {
        PlaybackItem(id: id(), title: title, duration: duration)
    }

    /// A session of some people that plays a song from its beginning, now.
    mutating func playing(_ song: PlaybackItem, of people: [AccountID]) throws -> GroupID {
        let group = try group(of: people, capacity: 10)
        try ask(people[0], PlayItem(group: group, item: song, lead: .seconds(0)))
        return group
    }

    func playback(_ group: GroupID) throws -> Playback { try #require(try state(group).playback) }

    /// Where a session is in its item, now.
    func position(_ group: GroupID) throws -> Interval { try playback(group).position(at: time) }

    func queue(_ group: GroupID) throws -> [String] { try state(group).queue.map(\.title) }
}

@Suite("Session: shared playback")
struct PlaybackTests {
    @Test(
        "an item plays from the time that everybody can hear of it; pauses, seeks and rates move on from where it is (M3 M4 M8)"
    )
    func play() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let group = try gathering.group(of: people)
        let song = gathering.song()
        #expect(try gathering.state(group).playback == nil)
        let started = try gathering.ask(people[1], PlayItem(group: group, item: song)).first(as: ItemStarted.self)
        #expect(started.playback.anchor == gathering.time + PlaybackRules.defaultLead)
        #expect(started.playback.version == 1 && started.playback.author == people[1] && started.playback.isPlaying)
        gathering.pass(PlaybackRules.defaultLead)
        #expect(try gathering.position(group) == .seconds(0))
        gathering.pass(.seconds(10))
        #expect(try gathering.position(group) == .seconds(10))

        try gathering.ask(people[0], SetPlayback(group: group, expectedItem: song.id, rate: .fastest))
        #expect(try gathering.position(group) == .seconds(10))
        gathering.pass(.seconds(5))
        #expect(try gathering.position(group) == .seconds(30))
        try gathering.ask(people[0], SetPlayback(group: group, expectedItem: song.id, isPlaying: false))
        gathering.pass(.seconds(5))
        #expect(try gathering.position(group) == .seconds(30))
        // Going elsewhere while it is paused takes no lead.
        let sought = try gathering.ask(
            people[1], SetPlayback(group: group, expectedItem: song.id, position: .seconds(60), lead: .seconds(9))
        ).first(as: PlaybackSet.self)
        #expect(sought.playback.anchor == gathering.time && sought.playback.position == .seconds(60))
        try gathering.ask(
            people[1],
            SetPlayback(group: group, expectedItem: song.id, isPlaying: true, rate: .normal, lead: .seconds(2)))
        // A rate that is set before it begins doesn't begin earlier.
        try gathering.ask(people[0], SetPlayback(group: group, expectedItem: song.id, rate: .slowest))
        gathering.pass(.seconds(2))
        #expect(try gathering.position(group) == .seconds(60))
        gathering.pass(.seconds(4))
        #expect(try gathering.position(group) == .seconds(61))
    }

    @Test("a position behind the end is the end, and playing stops counting there (M8)")
    func end() throws {
        var gathering = Gathering()
        let people = try gathering.people(1)
        let song = gathering.song(duration: .seconds(20))
        let group = try gathering.playing(song, of: people)
        try gathering.ask(people[0], SetPlayback(group: group, expectedItem: song.id, position: .hours(1)))
        #expect(try gathering.playback(group).position == .seconds(20))
        gathering.pass(.days(20_000))
        #expect(try gathering.position(group) == .seconds(20))
    }

    @Test("what is so already changes nothing (M3)")
    func same() throws {
        var gathering = Gathering()
        let people = try gathering.people(1)
        let song = gathering.song()
        let group = try gathering.playing(song, of: people)
        #expect(try gathering.ask(people[0], PlayItem(group: group, item: song)).isEmpty)
        for command in [
            SetPlayback(group: group, expectedItem: song.id, isPlaying: true),
            SetPlayback(group: group, expectedItem: song.id, rate: .normal),
        ] { #expect(try gathering.ask(people[0], command).isEmpty) }
        try gathering.ask(people[0], SetPlayback(group: group, expectedItem: song.id, isPlaying: false))
        #expect(
            try gathering.ask(people[0], SetPlayback(group: group, expectedItem: song.id, position: .seconds(0)))
                .isEmpty)
    }

    @Test("who has seen another version or another item is refused, and told the present one (M8)")
    func stale() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let (first, second) = (gathering.song("first"), gathering.song("second"))
        let group = try gathering.playing(first, of: people)
        try gathering.ask(
            people[0], SetPlayback(group: group, expectedItem: first.id, expectedVersion: 1, isPlaying: false))
        let stale = try gathering.refusal(
            people[1], SetPlayback(group: group, expectedItem: first.id, expectedVersion: 1, position: .seconds(5)))
        #expect(stale?.code == .staleVersion && stale?.details == ["version": 2])
        try gathering.ask(people[1], PlayItem(group: group, expectedItem: first.id, item: second))
        let changed = try gathering.refusal(
            people[0], SetPlayback(group: group, expectedItem: first.id, position: .seconds(5)))
        #expect(
            changed?.code == .itemChanged && changed?.details == ["item": .string("\(second.id)"), "version": 3])
        #expect(
            try gathering.rejection(people[0], PlayItem(group: group, expectedItem: first.id, item: first))
                == .itemChanged)
        #expect(try gathering.rejection(people[0], PlayItem(group: group, item: first)) == .itemChanged)
        let quiet = try gathering.group(of: [people[0]], GroupSessionActivity(identifier: "film", title: "Film"))
        let none = try gathering.refusal(
            people[0], SetPlayback(group: quiet, expectedItem: first.id, isPlaying: true))
        #expect(none?.code == .itemChanged && none?.details == ["item": .null, "version": 0])
    }

    @Test(
        "ten seeks at the same moment end in one position, the last one's; with an expected version one is accepted (M8)"
    )
    func seeks() throws {
        var gathering = Gathering()
        let people = try gathering.people(10)
        let song = gathering.song()
        let group = try gathering.playing(song, of: people)
        for (number, person) in people.enumerated() {
            try gathering.ask(
                person, SetPlayback(group: group, expectedItem: song.id, position: .seconds(Int64(number) * 10)))
        }
        #expect(try gathering.playback(group).position == .seconds(90) && gathering.playback(group).version == 11)
        let accepted = try people.filter { person in
            try gathering.rejection(
                person,
                SetPlayback(group: group, expectedItem: song.id, expectedVersion: 11, position: .seconds(7))) == nil
        }
        #expect(accepted == [people[0]])
        #expect(try gathering.playback(group).version == 12)
    }

    @Test("at an item's end all ask for the next one, and one is accepted; after the last one nothing plays (M8)")
    func next() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let songs = ["a", "b", "c"].map { gathering.song($0) }
        let group = try gathering.group(of: people)
        #expect(try gathering.ask(people[0], NextItem(group: group)).isEmpty)
        try gathering.ask(people[0], QueueInsert(group: group, items: songs))
        // From nothing it begins to play.
        try gathering.ask(people[0], NextItem(group: group))
        #expect(try gathering.playback(group).item == songs[0] && gathering.playback(group).isPlaying)
        let refusals = try people.map { try gathering.refusal($0, NextItem(group: group, expectedItem: songs[0].id)) }
        #expect(refusals.map { $0?.code } == [nil, .itemChanged, .itemChanged])
        #expect(refusals[1]?.details == ["item": .string("\(songs[1].id)"), "version": 2])
        #expect(try gathering.queue(group) == ["c"])
        // What was paused stays so.
        try gathering.ask(people[0], SetPlayback(group: group, expectedItem: songs[1].id, isPlaying: false))
        try gathering.ask(people[0], NextItem(group: group, expectedItem: songs[1].id))
        #expect(try gathering.playback(group).item == songs[2] && !gathering.playback(group).isPlaying)
        try gathering.ask(people[0], NextItem(group: group, expectedItem: songs[2].id))
        let over = try gathering.playback(group)
        #expect(over.item == nil && !over.isPlaying && over.position == .seconds(0) && over.version == 5)
    }

    @Test("only participants play, and after the session's end nobody does; nothing of it is left")
    func strangers() throws {
        var gathering = Gathering()
        let people = try gathering.people(3)
        let song = gathering.song()
        let group = try gathering.playing(song, of: Array(people.prefix(2)))
        try gathering.ask(people[0], QueueInsert(group: group, items: [gathering.song()]))
        let commands: [any CommandBody] = [
            SetPlayback(group: group, expectedItem: song.id, isPlaying: false),
            PlayItem(group: group, expectedItem: song.id, item: gathering.song()),
            NextItem(group: group, expectedItem: song.id), QueueInsert(group: group, items: [song]),
            QueueMove(group: group, item: song.id), QueueRemove(group: group, items: [song.id]),
            DeclareReadiness(group: group), BeginSuspension(group: group, reason: .stalled),
            EndSuspension(group: group),
        ]
        for command in commands {
            #expect(try gathering.rejection(people[2], command) == .groupNotFound)
            #expect(try gathering.rejection(nil, command) == .accountRequired)
        }
        try gathering.ask(people[1], LeaveGroupSession(group: group))
        for command in commands { #expect(try gathering.rejection(people[1], command) == .notParticipant) }
        try gathering.ask(people[0], EndGroupSession(group: group))
        for command in commands { #expect(try gathering.rejection(people[0], command) == .groupEnded) }
        #expect(try gathering.state(group).playback == nil && gathering.state(group).queue.isEmpty)
        #expect(gathering.rows.groups.playbacks.keys.isEmpty && gathering.rows.groups.queueItems.keys.isEmpty)
    }

    @Test(
        "an item without an end plays to the last position that there is, and is still paused and waited for there (M8)"
    )
    func endless() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let live = gathering.song(duration: nil)
        let group = try gathering.playing(live, of: people)
        let last = PlaybackRules.positions.upperBound
        try gathering.ask(people[0], SetPlayback(group: group, expectedItem: live.id, position: last))
        gathering.pass(.minutes(1))
        #expect(try gathering.position(group) == last)
        try gathering.ask(people[1], DeclareReadiness(group: group))
        try gathering.ask(people[1], BeginSuspension(group: group, reason: .stalled))
        #expect(try gathering.playback(group).position == last)
        try gathering.ask(people[1], EndSuspension(group: group))
        gathering.pass(.minutes(1))
        try gathering.ask(people[0], SetPlayback(group: group, expectedItem: live.id, isPlaying: false))
        #expect(try gathering.playback(group).position == last)
    }

    @Test("a session of one is for somebody's own devices: nobody is invited, and it outlasts all connections (M3)")
    func solo() throws {
        var gathering = Gathering()
        let people = try gathering.people(2)
        let group = try gathering.group(of: [people[0]], capacity: 1)
        #expect(
            try gathering.rejection(people[0], ActivateGroupSession(group: group, contacts: [people[1]])) == .groupFull)
        #expect(
            try gathering.rejection(people[1], JoinGroupSession(group: group, contactOf: people[0])) == .groupNotFound)
        let song = gathering.song()
        try gathering.ask(people[0], PlayItem(group: group, item: song, lead: .seconds(0)))
        try gathering.disconnect(people[0], from: group)
        try gathering.run(.minutes(1))
        #expect(try gathering.position(group) == .minutes(1))
        try gathering.run(.days(2))
        // Another device finds it, and goes on.
        let again = try gathering.refusal(
            people[0], CreateGroupSession(group: gathering.id(), activity: Gathering.chess, capacity: 1))
        #expect(again == .alreadyInSession(group))
        #expect(try gathering.ask(people[0], JoinGroupSession(group: group)).isEmpty)
        try gathering.ask(people[0], SetPlayback(group: group, expectedItem: song.id, position: .seconds(5)))
        #expect(throws: Rejection.self) {
            try CreateGroupSession(
                group: group, activity: Gathering.chess, capacity: 1, isOpenToContacts: true
            ).validate()
        }
        try gathering.ask(people[0], LeaveGroupSession(group: group))
        try gathering.run(.minutes(11))
        #expect(try gathering.state(group).end?.reason == .expired)
    }

    @Test("bad fields are named before anything is asked")
    func validation() throws {
        let (group, item) = (GroupID.new(), PlaybackItemID.new())
        func song(
            _ title: String = "Song", content: String? = nil, artworkURL: String? = nil, duration: Interval? = nil
        ) -> PlaybackItem {
            PlaybackItem(
                id: .new(), content: content, title: title, artworkURL: artworkURL, duration: duration)
        }
        let long = Interval.days(31)
        let cases: [(any CommandBody, String)] = [
            (SetPlayback(group: group, expectedItem: item), "isPlaying"),
            (SetPlayback(group: group, expectedItem: item, position: .seconds(-1)), "position"),
            (SetPlayback(group: group, expectedItem: item, position: long), "position"),
            (SetPlayback(group: group, expectedItem: item, isPlaying: true, lead: .seconds(11)), "lead"),
            (SetPlayback(group: group, expectedItem: item, isPlaying: false, lead: .seconds(1)), "lead"),
            (PlayItem(group: group, item: song("")), "item.title"),
            (PlayItem(group: group, item: song(String(repeating: "x", count: 201))), "item.title"),
            (PlayItem(group: group, item: song(content: "")), "item.content"),
            (PlayItem(group: group, item: song(artworkURL: "http://a.b")), "item.artworkURL"),
            (
                PlayItem(group: group, item: song(artworkURL: "https://" + String(repeating: "a", count: 1017))),
                "item.artworkURL"
            ),
            (PlayItem(group: group, item: song(duration: .seconds(0))), "item.duration"),
            (PlayItem(group: group, item: song(duration: long)), "item.duration"),
            (
                PlayItem(
                    group: group,
                    item: song(
                        String(repeating: "\u{1F468}\u{200D}\u{1F469}", count: 190),
                        artworkURL: "https://" + String(repeating: "a", count: 1000))), "item"
            ),
            (PlayItem(group: group, item: song(), position: .seconds(-1)), "position"),
            (PlayItem(group: group, item: song(), lead: .seconds(-1)), "lead"),
            (NextItem(group: group, lead: .seconds(11)), "lead"),
            (QueueInsert(group: group, items: []), "items"),
            (QueueInsert(group: group, items: (0..<26).map { _ in song() }), "items"),
            (QueueInsert(group: group, items: Array(repeating: song(), count: 2)), "items"),
            (QueueInsert(group: group, items: [song(), song("")]), "items.1.title"),
            (QueueMove(group: group, item: item, after: item), "after"),
            (QueueMove(group: group, item: item, before: item), "before"),
            (QueueRemove(group: group, items: []), "items"),
            (QueueRemove(group: group, items: (0..<101).map { _ in .new() }), "items"),
            (QueueRemove(group: group, items: [item, item]), "items"),
            (BeginSuspension(group: group, reason: .stalled, duration: .seconds(0)), "duration"),
            (BeginSuspension(group: group, reason: .stalled, duration: .seconds(31)), "duration"),
            (BeginSuspension(group: group, reason: .stalled, participantLimit: 0), "participantLimit"),
            (BeginSuspension(group: group, reason: .stalled, participantLimit: 101), "participantLimit"),
            (EndSuspension(group: group, position: .seconds(1)), "item"),
            (EndSuspension(group: group, position: .seconds(-1), item: item), "position"),
        ]
        for (command, field) in cases {
            do {
                try command.validate()
                Issue.record("\(command) is accepted")
            } catch {
                #expect(error.code == .invalidField && error.field == field, "\(command)")
            }
        }
        try QueueInsert(group: group, items: [song()], after: item, before: item).validate()
    }
}
