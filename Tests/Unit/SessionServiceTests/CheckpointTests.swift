import Bus
import Foundation
import Postgres
import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules
@testable import SessionService

@Suite("Session: the state of a group session at a position")
struct CheckpointTests {
    private static let tables = DatabaseTemplate.session
    private typealias Trial = StoreTrial<SessionStore>
    private static let log = LogName(schema: "session", table: "log")

    /// What `session.group_at` answers.
    private struct Answer {
        var position: Int64
        /// Nil before the session began.
        var state: GroupState?
        var folded = 0
    }

    @Test(
        "at every position of random histories, the checkpoint and the events after it give the state that was published then (P29)"
    )
    func everyPosition() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                var gathering = Gathering(seed: random.next())
                let people = try GroupPropertyTests.begin(&gathering)
                for _ in 0..<500 { try GroupPropertyTests.step(&gathering, people, using: &random) }
                let players = try (0..<2).map { try gathering.person("player\($0)") }
                try Self.play(150, players, in: &gathering, using: &random)
                try await Self.replay(gathering, into: database, using: &random)

                let reader = try await Connection.connect(Configuration(try database.url(as: "session_client")))
                for group in gathering.rows.groups.sessions.keys.sorted() {
                    let events = try await Self.events(of: group, reader)
                    let last = try #require(events.last)
                    var live = HashedGroupState(GroupState(group: group))
                    var next = 0
                    let head = last.position + 3
                    for position in max(0, events[0].position - 2)...head {
                        while next < events.count, events[next].position <= position {
                            live.apply(events[next].event)
                            next += 1
                        }
                        // Between events nothing changes; a few such positions are enough.
                        guard next == events.count || events[next].position == position + 1 || random.oneIn(50) else {
                            continue
                        }
                        let answer = try #require(try await Self.state(of: group, at: position, reader))
                        guard next > 0 else {
                            #expect(answer.state == nil)
                            continue
                        }
                        let state = try #require(answer.state)
                        try #require(HashedGroupState(state).hash == live.hash, "\(group) at \(position)")
                        try #require(try Self.bytes(state) == Self.bytes(live.state))
                        try #require(answer.folded < 64 + 24)
                    }
                }
                await reader.close()
                let checkpoints = try await database.psql("SELECT count(*) FROM session.group_checkpoint")
                #expect(try #require(Int(checkpoints)) >= 2)
            }
        }
    }

    @Test("large moves make a checkpoint sooner, so what is read stays small")
    func largeMoves() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                var gathering = Gathering(seed: random.next())
                let players = try gathering.people(2)
                let text = String(repeating: "x", count: 30_000)
                try Self.play(20, players, state: ["text": .string(text)], in: &gathering, using: &random)
                try await Self.replay(gathering, into: database, batches: 1...1, using: &random)
                #expect(
                    try await database.psql(
                        "SELECT count(*) || ' ' || (max(size) < 262144 + 31000)::text FROM session.group_stretch")
                        == "3 true")
            }
        }
    }

    @Test(
        "where retention deleted history, the state at its positions is gone, what follows stays, and checkpoints go with it"
    )
    func truncated() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                var gathering = Gathering(seed: random.next())
                let players = try gathering.people(2)
                let group = try Self.play(200, players, in: &gathering, using: &random)
                try await Self.replay(gathering, into: database, using: &random)
                let reader = try await Connection.connect(Configuration(try database.url(as: "session_client")))
                let events = try await Self.events(of: group, reader)
                let whole = try #require(try await Self.state(of: group, at: events[120].position, reader))
                let base = events[100].position
                let partition = Key.group(group)
                try await database.psql(
                    """
                    DELETE FROM session.log WHERE partition = session.log_partition_of('\(partition)') AND position <= \(base);
                    UPDATE session.log_partition SET base_position = \(base)
                     WHERE partition = session.log_partition_of('\(partition)')
                    """)
                // The stretch that history now begins in keeps its checkpoint, but misses events.
                #expect(try await Self.state(of: group, at: events[101].position, reader) == nil)
                let owner = try await Connection.connect(Configuration(try database.url(as: "session")))
                let deleted = try await owner.run { database in
                    try (0..<2).map { _ in
                        try database.query("SELECT session.delete_old_checkpoints(10)").only?.decode(0, as: Int64.self)
                    }
                }
                await owner.close()
                #expect(deleted == [1, 0])
                #expect(try await Self.state(of: group, at: events[20].position, reader) == nil)
                let later = events.count - 1
                #expect(
                    try await Self.state(of: group, at: events[later].position, reader)?.state
                        == gathering.state(group))
                if whole.folded < 20 {
                    #expect(
                        try await Self.state(of: group, at: events[120].position, reader)?.state == whole.state)
                }

                // A session in which nothing happened for longer than history is kept still has its present state.
                try await database.psql("DELETE FROM session.log")
                #expect(
                    try await Self.state(of: group, at: events[later].position, reader)?.state
                        == gathering.state(group))
                await reader.close()
            }
        }
    }

    @Test("forgetting looks at stretches that are over, not at each session's last one")
    func nothingToForget() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                var gathering = Gathering(seed: random.next())
                let players = try gathering.people(2)
                for number in 0..<10 {
                    _ = try gathering.group(
                        of: players, GroupSessionActivity(identifier: "\(number)", title: "Together"))
                }
                try await Self.replay(gathering, into: database, using: &random)
                let read = """
                    SELECT 'read ' || (coalesce(t.idx_tup_fetch, 0) + coalesce(t.seq_tup_read, 0))
                      FROM pg_stat_xact_user_tables AS t WHERE t.relid = 'session.group_stretch'::regclass
                    """
                let answer = try await database.psql(
                    """
                    UPDATE session.log_partition SET base_position = 1000000;
                    BEGIN;
                    SELECT 'stretches ' || count(*) FROM session.group_stretch;
                    \(read);
                    SELECT 'deleted ' || session.delete_old_checkpoints(100);
                    \(read);
                    COMMIT
                    """)
                let lines = answer.split(separator: "\n")
                #expect(lines.contains("stretches 10") && lines.contains("deleted 0"), "\(answer)")
                let counts = lines.filter { $0.hasPrefix("read ") }
                #expect(counts.count == 2 && Set(counts).count == 1, "\(answer)")
            }
        }
    }

    @Test("one statement reads no more of the log than one stretch, however long the history is")
    func plan() async throws {
        try await TestDatabase.with(Self.tables) { database in
            let plan = try await database.psql(
                """
                SET enable_seqscan = off;
                EXPLAIN (COSTS OFF) SELECT l.body FROM unnest(ARRAY[3, 5]::bigint[]) AS e(position)
                  LEFT JOIN session.log AS l ON l.partition = 3 AND l.position = e.position;
                EXPLAIN (COSTS OFF) SELECT h.* FROM session.group_stretch AS h
                 WHERE h.group_id = '00000000-0000-7000-8000-000000000001' AND h.since <= 7 ORDER BY h.since DESC LIMIT 1
                """)
            #expect(
                plan.contains("log_position_is_unique") && plan.contains("stretch_is_one_row")
                    && !plan.contains("Seq Scan") && !plan.contains("Sort"), "\(plan)")
        }
    }

    // MARK: Playing and reading

    /// Two people play a game of so many moves.
    @discardableResult
    private static func play(
        _ moves: Int, _ players: [AccountID], state: JSONValue? = nil, in gathering: inout Gathering,
        using random: inout SeededRandom
    ) throws -> GroupID {
        let group = try gathering.group(of: players)
        for (seat, player) in players.enumerated() { try gathering.ask(player, ClaimSeat(group: group, seat: seat)) }
        try gathering.ask(players[0], StartGame(group: group, lead: .seconds(0)))
        for move in 1...moves {
            gathering.pass(.seconds(1))
            let document: JSONValue = ["move": .integer(Int64(move)), "\(move % 7)": .integer(1)]
            let player = players[move % players.count]
            let isWhole = state != nil || random.oneIn(3)
            try gathering.ask(
                player,
                UpdateGame(
                    group: group, expectedVersion: Int64(move), state: isWhole ? state ?? document : nil,
                    patch: isWhole ? nil : document))
        }
        return group
    }

    /// Handles a history, as the bus does: the events are appended in the transaction that decides them.
    private static func replay(
        _ gathering: Gathering, into database: TestDatabase, batches: ClosedRange<Int> = 1...24,
        using random: inout SeededRandom
    ) async throws {
        let trial = try await Trial(
            SessionStore(limits: gathering.rows.limits), log: log, in: database, as: "session")
        try await trial.replay(gathering, batches: batches, using: &random)
        await trial.close()
    }

    private static func events(
        of group: GroupID, _ reader: Connection
    ) async throws -> [(position: Int64, event: SessionEvent)] {
        try await reader.run { database in
            try database.query(
                """
                SELECT l.position, l.type, l.version, l.body FROM session.log AS l
                 WHERE l.partition = session.log_partition_of(\(Key.group(group).description))
                   AND l.key = \(Key.group(group).description) AND l.kind = 'event'
                 ORDER BY l.position
                """
            ).map {
                (
                    try $0.decode(0, as: Int64.self),
                    try SessionEvent(
                        type: $0.decode(1, as: String.self), version: $0.decode(2, as: Int16.self),
                        body: $0.decode(3, as: Postgres.JSON.self).bytes)
                )
            }
        }
    }

    /// Nil where history is gone.
    private static func state(of group: GroupID, at position: Int64, _ reader: Connection) async throws -> Answer? {
        let rows = try await reader.run { database in
            try database.query("SELECT * FROM session.group_at(\(group), \(position))").map {
                (
                    position: try $0.decode(0, as: Int64.self), state: try $0.decode(1, as: Postgres.JSON?.self)?.bytes,
                    type: try $0.decode(2, as: String?.self), version: try $0.decode(3, as: Int16?.self),
                    body: try $0.decode(4, as: Postgres.JSON?.self)?.bytes
                )
            }
        }
        guard let first = rows.first else { return nil }
        let published = try first.state.map { try JSONDecoder().decode(GroupState.self, from: Data($0)) }
        var answer = Answer(position: first.position, state: published)
        for row in rows.dropFirst() {
            guard let type = row.type, let version = row.version, let body = row.body else { return nil }
            var state = answer.state ?? GroupState(group: group)
            state.apply(try SessionEvent(type: type, version: version, body: body))
            answer = Answer(position: row.position, state: state, folded: answer.folded + 1)
        }
        return answer
    }

    private static func bytes(_ state: GroupState) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return try encoder.encode(state)
    }
}
