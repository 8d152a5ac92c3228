import Bus
import Postgres
import QuartetSessionContract
import QuartetVocabulary
import Storage
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules
@testable import SessionService

@Suite("Session: the tables of shared playback")
struct PlaybackStoreTests {
    private static let tables = DatabaseTemplate.session
    private typealias Trial = StoreTrial<SessionStore>

    /// A song that ten people play, with a queue, in a database that two replicas of session work on.
    private func withReplicas(
        _ body: (
            inout Gathering, _ people: [AccountID], _ group: GroupID, _ songs: [PlaybackItem], [Trial], _ reader: Trial
        )
            async throws
            -> Void
    ) async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                var gathering = Gathering(seed: random.next())
                let people = try gathering.people(10)
                let songs = (0..<4).map { gathering.song("Song \($0)") }
                let group = try gathering.group(of: people, capacity: 10)
                try gathering.ask(people[0], PlayItem(group: group, item: songs[0]))
                try gathering.ask(people[0], QueueInsert(group: group, items: Array(songs.dropFirst())))
                let trials = [
                    try await Trial(SessionStore(), in: database, as: "session"),
                    try await Trial(SessionStore(), in: database, as: "session"),
                ]
                try await trials[0].replay(gathering, using: &random)
                let reader = try await Trial(SessionStore(), in: database, as: "session_client")
                try await body(&gathering, people, group, songs, trials, reader)
                for trial in trials + [reader] { await trial.close() }
            }
        }
    }

    /// Sends commands to both replicas at once.
    private func race(_ commands: [Trial.Command], _ trials: [Trial]) async throws -> [Trial.Ended] {
        try await withThrowingTaskGroup(of: [(Int, Trial.Ended)].self) { tasks in
            for (number, trial) in trials.enumerated() {
                let share = commands.enumerated().filter { $0.offset % trials.count == number }
                tasks.addTask {
                    var ended: [(Int, Trial.Ended)] = []
                    for (index, command) in share {
                        ended += try await trial.handleAtLast([command]).map { (index, $0) }
                    }
                    return ended
                }
            }
            return try await tasks.reduce(into: []) { $0 += $1 }.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    @Test("ten people seek at once: ten versions without gaps, and the last one stays (M8)")
    func seeks() async throws {
        try await withReplicas { gathering, people, group, songs, trials, reader in
            let ended = try await race(
                people.enumerated().map { number, person in
                    gathering.command(
                        person,
                        SetPlayback(group: group, expectedItem: songs[0].id, position: .seconds(Int64(number) * 10)))
                }, trials)
            let set = try ended.map { ended in
                guard case .playback(.playbackSet(let event))? = try ended.get().first?.event else {
                    throw Unexpected(ended)
                }
                return event.playback
            }.sorted { $0.version < $1.version }
            #expect(set.map(\.version) == Array(2...11))
            let state = try await published(group, reader)
            #expect(state.playback == set.last)
        }
    }

    @Test("when all go on to the next item at once, one does; the others hear what plays (M8)")
    func next() async throws {
        try await withReplicas { gathering, people, group, songs, trials, reader in
            let ended = try await race(
                people.map { gathering.command($0, NextItem(group: group, expectedItem: songs[0].id)) }, trials)
            let refusals = ended.compactMap { if case .failure(let refusal) = $0 { refusal } else { nil } }
            #expect(refusals.count == 9)
            for refusal in refusals {
                #expect(
                    refusal.code == .itemChanged
                        && refusal.details == ["item": .string("\(songs[1].id)"), "version": 2])
            }
            let state = try await published(group, reader)
            #expect(state.playback?.item == songs[1] && state.queue == Array(songs.dropFirst(2)))
        }
    }

    private func published(_ group: GroupID, _ trial: Trial) async throws -> GroupState {
        let states = try await trial.published(
            "SELECT s.state FROM session.group_state AS s WHERE s.group_id = \(group)", as: GroupState.self)
        return try #require(states.first)
    }

    private func time(_ n: Int64) -> Instant { Instant(microseconds: 1_700_000_000_000_000 + n) }

    @Test("every property of what plays and of the queue has its column, and comes back from it as it was")
    func columns() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var gathering = Gathering()
            let groups = [GroupID.new(), .new()]
            for group in groups {
                try await database.psql(
                    """
                    INSERT INTO session.group_session (group_id, creator, activity, capacity, seats, is_open_to_contacts, host,
                                                       joins, created_at)
                    VALUES ('\(group)', gen_random_uuid(), 'film', 8, 0, false, gen_random_uuid(), 1, now())
                    """)
            }
            let song = PlaybackItem(
                id: .new(), content: "track/7", title: "Ein „Lied“\\n", artworkURL: "https://a.b/c", duration: .hours(1)
            )
            try await Tables.playback.expectRoundTrip(
                of: [
                    (
                        groups[0],
                        Playback(
                            version: 7, author: .new(), item: song, isPlaying: true, isWaiting: true, rate: .fastest,
                            position: Interval(microseconds: 61_234_567), anchor: time(1))
                    ), (groups[1], Playback(version: 1, author: .new(), anchor: time(2))),
                ], in: database, as: "session")
            try await Tables.queueItem.expectRoundTrip(
                of: [
                    (QueueKey(groups[0], song.id), QueueRow(rank: -3, item: song)),
                    (QueueKey(groups[0], .new()), QueueRow(rank: 5, item: gathering.song())),
                ], in: database, as: "session")
        }
    }
}
