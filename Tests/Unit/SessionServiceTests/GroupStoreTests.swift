import Bus
import Postgres
import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import Storage
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules
@testable import SessionService

@Suite("Session: the tables of group sessions")
struct GroupStoreTests {
    private static let tables = DatabaseTemplate.session
    private typealias Trial = StoreTrial<SessionStore>

    @Test(
        "after any commands, in batches of any size, the tables hold, time and publish what the rules alone give (P29)")
    func sameAsRules() async throws {
        try await withRandom { random in
            for _ in 0..<3 {
                try await TestDatabase.with(Self.tables) { database in
                    var gathering = Gathering(seed: random.next())
                    let people = try GroupPropertyTests.begin(&gathering)
                    for _ in 0..<400 { try GroupPropertyTests.step(&gathering, people, using: &random) }
                    let trial = try await Trial(
                        SessionStore(limits: gathering.rows.limits), in: database, as: "session")
                    try await trial.replay(gathering, using: &random)
                    await trial.close()
                    let wanted = gathering.timedKeys.flatMap { key in
                        gathering.rows.wantedTimers(of: key).map {
                            "\(key) \($0.due.microseconds) \(type(of: $0.command.body).type)"
                        }
                    }
                    let set = try await database.psql(
                        """
                        SELECT key || ' ' || session.microseconds(due_at) || ' ' || type FROM session.timer
                         WHERE key NOT LIKE 'account/%'
                        """)
                    try #require(set.split(separator: "\n").map(String.init).sorted() == wanted.sorted())
                    let groups = gathering.rows.groups
                    let messages = groups.messages.keys.sorted().map { key in
                        "\(key.group) \(key.number) \(groups.messages[key]?.offset ?? -1)"
                    }
                    let kept = try await database.psql(
                        "SELECT group_id || ' ' || number || ' ' || byte_offset FROM session.group_message")
                    try #require(kept.split(separator: "\n").map(String.init).sorted() == messages.sorted())
                    let reader = try await Trial(SessionStore(), in: database, as: "session_client")
                    for group in gathering.rows.groups.sessions.keys.sorted() {
                        let states = try await reader.published(
                            "SELECT s.state FROM session.group_state AS s WHERE s.group_id = \(group)",
                            as: GroupState.self)
                        try #require(states == [try gathering.state(group)])
                    }
                    await reader.close()
                }
            }
        }
    }

    @Test("of two sessions that one person creates at the same moment, one begins; the other's refusal names it (P3)")
    func creators() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                let one = try await Trial(SessionStore(), in: database, as: "session")
                let two = try await Trial(SessionStore(), in: database, as: "session")
                var gathering = Gathering(seed: random.next())
                let anna = try gathering.person("anna")
                try await one.replay(gathering, using: &random)
                for _ in 0..<20 {
                    let groups: [GroupID] = [gathering.id(), gathering.id()]
                    let commands = groups.map {
                        gathering.command(anna, CreateGroupSession(group: $0, activity: Gathering.chess))
                    }
                    async let first = one.handleAtLast([commands[0]])
                    async let second = two.handleAtLast([commands[1]])
                    let ended = try await first + second
                    let winner = try #require(ended.firstIndex { (try? $0.get()) != nil })
                    #expect(
                        ended[1 - winner]
                            == .failure(.alreadyInSession(groups[winner])))
                    _ = try await one.handle([gathering.command(anna, LeaveGroupSession(group: groups[winner]))])
                }
                await one.close()
                await two.close()
                // What the rules prevent, the table would refuse.
                try await database.psql("UPDATE session.participant SET activity = 'other'")
                await #expect(throws: (any Error).self) {
                    try await database.psql("UPDATE session.participant SET status = 'joined', reason = NULL")
                }
            }
        }
    }

    @Test("of many who claim the same seats at once, one gets each; the others hear who has it (P16)")
    func claimers() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                var gathering = Gathering(seed: random.next())
                let people = try gathering.people(40)
                let group = try gathering.group(of: people, capacity: 100)
                let one = try await Trial(SessionStore(), in: database, as: "session")
                let two = try await Trial(SessionStore(), in: database, as: "session")
                try await one.replay(gathering, using: &random)
                let claims = people.shuffled(using: &random).enumerated().map { number, person in
                    gathering.command(person, ClaimSeat(group: group, seat: number % 5))
                }
                async let first = Self.handle(Array(claims.prefix(20)), one)
                async let second = Self.handle(Array(claims.suffix(20)), two)
                let ended = try await first + second
                var occupants: [Int: AccountID] = [:]
                for case .success(let emissions) in ended {
                    guard case .game(.seatClaimed(let claimed))? = emissions.first?.event else {
                        throw Unexpected(emissions)
                    }
                    #expect(occupants.updateValue(claimed.account, forKey: claimed.seat) == nil)
                }
                #expect(occupants.count == 5)
                for (claim, ended) in zip(claims, ended) {
                    guard case .failure(let refusal) = ended, let claim = claim.body as? ClaimSeat,
                        let occupant = occupants[claim.seat]
                    else { continue }
                    #expect(refusal == .seatTaken(claim.seat, by: occupant))
                }
                await one.close()
                await two.close()
            }
        }
    }

    private static func handle(_ commands: [Trial.Command], _ trial: Trial) async throws -> [Trial.Ended] {
        var ended: [Trial.Ended] = []
        for command in commands { ended += try await trial.handleAtLast([command]) }
        return ended
    }

    @Test(
        "an edge process with connections to many sessions is taken for lost in pieces, and its timer stays until the last"
    )
    func pieces() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                var gathering = Gathering(seed: random.next())
                let people = try gathering.people(8)
                let edge: OwnerID = gathering.id()
                try gathering.ask(nil, RenewEdge(edge: edge, begins: true))
                for number in 0..<120 {
                    let (person, group): (AccountID, GroupID) = (people[number % 8], gathering.id())
                    let activity = GroupSessionActivity(identifier: "activity\(number)", title: "Together")
                    try gathering.ask(person, CreateGroupSession(group: group, activity: activity))
                    _ = try gathering.connect(person, to: group, at: edge)
                }
                let trial = try await Trial(SessionStore(), in: database, as: "session")
                try await trial.replay(gathering, using: &random)
                let until = try #require(gathering.rows.groups.edges[edge]?.leaseUntil)
                gathering.pass(.seconds(20))
                for left in ["20 1 1", "0 0 0"] {
                    _ = try await trial.handle([gathering.command(nil, ExpireEdge(edge: edge, until: until))])
                    let counts = try await database.psql(
                        """
                        SELECT (SELECT count(*) FROM session.group_connection) || ' ' || (SELECT count(*) FROM session.edge)
                               || ' ' || (SELECT count(*) FROM session.timer WHERE key LIKE 'edge/%')
                        """)
                    #expect(counts == left)
                }
                #expect(
                    try await database.psql("SELECT count(*) FROM session.timer WHERE name LIKE 'DropParticipant/%'")
                        == "120")
                await trial.close()
            }
        }
    }

    @Test(
        "timers decide that somebody is gone once no command waits that is as old as that, neither in the log nor parked (P15)"
    )
    func waitingCommands() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                var gathering = Gathering(seed: random.next())
                let people = try gathering.people(2)
                let group = try gathering.group(of: people)
                try gathering.disconnect(people[1], from: group)
                let since = gathering.time
                let trial = try await Trial(SessionStore(), in: database, as: "session")
                try await trial.replay(gathering, using: &random)
                let drop = DropParticipant(group: group, participant: people[1], since: since)
                func stays(for waiting: String) async throws {
                    gathering.pass(.seconds(40))
                    try await database.psql(waiting)
                    let ended = try await trial.handle([gathering.command(nil, drop)])
                    #expect(ended == [.success([])], "\(waiting)")
                    let due = try await database.psql(
                        "SELECT session.microseconds(due_at) FROM session.timer WHERE name LIKE 'DropParticipant/%'")
                    let pause = try #require(Int64(due)) - gathering.time.microseconds
                    #expect(pause > 0 && pause <= 60_000_000, "\(due)")
                }
                let source = "'session_client.session_commands'"
                let old = "to_timestamp(\(since.microseconds / 1_000_000))"
                try await stays(
                    for: """
                        INSERT INTO session_client.session_commands (partition, position, recorded_at, key, expires_at)
                        VALUES (0, 1, \(old), 'group/\(group)', NULL),
                               (0, 2, \(old), 'group/\(group)', now() - interval '1 minute'),
                               (0, 3, \(old), 'group/\(GroupID.new())', NULL), (0, 4, now(), 'group/\(group)', NULL)
                        """)
                try await stays(
                    for: """
                        INSERT INTO session.batch VALUES (\(source), 0, 1, 1, gen_random_uuid(), 1, now(), 1);
                        INSERT INTO session.parked (source, partition, position, kind, type, version, key, body, message_id,
                                                    attempts, recorded_at)
                        VALUES (\(source), 0, 1, 'command', 'T', 1, 'group/\(group)', '{}', gen_random_uuid(), 0, \(old))
                        """)
                // What has expired, and what is for others, isn't waited for.
                try await database.psql("UPDATE session.parked SET expires_at = now() - interval '1 minute'")
                let ended = try await trial.handle([gathering.command(nil, drop)])
                #expect(try ended.first?.get().count == 1)
                await trial.close()
            }
        }
    }

    @Test("who repairs timers sees each account, edge process and session once, in the order of their keys")
    func repair() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                var gathering = Gathering(seed: random.next())
                let people = try gathering.people(3)
                let group = try gathering.group(of: people)
                let film = try gathering.group(of: [people[0]], GroupSessionActivity(identifier: "film", title: "Film"))
                try gathering.disconnect(people[0], from: film)
                let trial = try await Trial(SessionStore(), in: database, as: "session")
                try await trial.replay(gathering, using: &random)
                await trial.close()
                let connection = try await Connection.connect(Configuration(try database.url(as: "session")))
                let (pages, locked) = try await connection.run { database in
                    var pages: [[Key: [TimedCommand]]] = []
                    while pages.last.map({ $0.count == 2 }) ?? true {
                        let last = pages.last?.keys.max { $0.description < $1.description }
                        pages.append(
                            try database.pipeline { pipeline in
                                try SessionStore().wantedTimers(of: .next(2, after: last), in: pipeline)
                            })
                    }
                    let keys = pages.flatMap(\.keys)
                    let locked = try database.pipeline { pipeline in
                        try SessionStore().wantedTimers(of: .locked(keys), in: pipeline)
                    }
                    return (pages, locked)
                }
                await connection.close()
                let keys = pages.flatMap { $0.keys.sorted { $0.description < $1.description } }
                let expected =
                    people.sorted().map(Key.account)
                    + gathering.rows.groups.edges.keys.sorted().map(Key.edge) + [group, film].sorted().map(Key.group)
                #expect(keys == expected && Set(locked.keys) == Set(expected))
                for timers in pages + [locked] {
                    for (key, timers) in timers {
                        #expect(timers.map(\.due) == gathering.rows.wantedTimers(of: key).map(\.due))
                    }
                }
            }
        }
    }

    @Test("a session that is over is forgotten after a while, with all that belongs to it")
    func forget() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                var gathering = Gathering(seed: random.next())
                let people = try gathering.people(3)
                let group = try gathering.group(of: people)
                _ = try gathering.group(of: [people[0]], GroupSessionActivity(identifier: "film", title: "Film"))
                try gathering.ask(people[0], EndGroupSession(group: group))
                let trial = try await Trial(SessionStore(), in: database, as: "session")
                try await trial.replay(gathering, using: &random)
                await trial.close()
                let connection = try await Connection.connect(Configuration(try database.url(as: "session")))
                let deleted = try await connection.run { database in
                    try (0..<2).map { _ in
                        try database.query("SELECT session.delete_old_groups(10)").only?.decode(0, as: Int64.self)
                    }
                }
                await connection.close()
                #expect(deleted == [1, 0])
                #expect(
                    try await database.psql(
                        """
                        SELECT (SELECT count(*) FROM session.group_session) || ' ' || (SELECT count(*) FROM session.participant)
                               || ' ' || (SELECT count(*) FROM session.group_activity)
                        """) == "1 1 1")
            }
        }
    }

    @Test(
        "when an account closes, what it did in group sessions stays in their streams, without its messages; nothing else of it does"
    )
    func redaction() async throws {
        try await TestDatabase.with(Self.tables) { database in
            let emptied = try await database.psql(
                """
                -- The sessions of these events don't exist, so no trigger may look for them.
                SET session_replication_role = replica;
                INSERT INTO session.redaction (account) VALUES ('00000000-0000-7000-8000-000000000001');
                INSERT INTO session.log (partition, position, kind, type, version, key, account, body, message_id, command_id,
                                         outcome, command_hash)
                SELECT 0, number, kind, type, 1, key, '00000000-0000-7000-8000-000000000001', '{}', gen_random_uuid(),
                       gen_random_uuid(), CASE kind WHEN 'outcome' THEN 'rejected' END,
                       CASE kind WHEN 'outcome' THEN gen_random_uuid() END
                  FROM (VALUES (1, 'event', 'group/g', 'T'),
                               (2, 'event', 'account/00000000-0000-7000-8000-000000000001', 'T'),
                               (3, 'event', 'account/00000000-0000-7000-8000-000000000002', 'T'),
                               (4, 'event', 'phone/p', 'T'),
                               (5, 'outcome', 'group/g', 'T'),
                               (6, 'event', 'group/g', 'GroupMessageSent')) AS r(number, kind, key, type);
                SELECT string_agg(p::text, ' ' ORDER BY p) FROM session.log_of_redacted(0, 0, 10) AS p
                """)
            #expect(emptied == "2 4 5 6")
        }
    }

    @Test("the messages of sessions that are over go in pieces, and what counted them after them")
    func forgetHistories() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                var gathering = Gathering(seed: random.next())
                let anna = try gathering.person("anna")
                for number in 0..<5 {
                    let group = try gathering.group(
                        of: [anna], GroupSessionActivity(identifier: "\(number)", title: "Together"))
                    try gathering.ask(anna, SendGroupMessage(group: group, type: "x"))
                    try gathering.ask(anna, EndGroupSession(group: group))
                }
                let trial = try await Trial(SessionStore(), in: database, as: "session")
                try await trial.replay(gathering, using: &random)
                await trial.close()
                let connection = try await Connection.connect(Configuration(try database.url(as: "session")))
                func delete(_ count: Int32) async throws -> Int64? {
                    try await connection.run { database in
                        try database.query("SELECT session.delete_old_messages(\(count))").only?.decode(
                            0, as: Int64.self)
                    }
                }
                // With none of its messages deleted, a history stays.
                #expect(try await delete(0) == 0)
                #expect(try await database.psql("SELECT count(*) FROM session.group_message") == "5")
                var deleted: [Int64?] = []
                for _ in 0..<6 { deleted.append(try await delete(2)) }
                #expect(deleted == [2, 2, 3, 2, 1, 0])
                await connection.close()
            }
        }
    }

    @Test("the messages of a session that is over, and of a closed account, are gone (P25 S18)")
    func forgetMessages() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                var gathering = Gathering(seed: random.next())
                let people = try gathering.people(2)
                let chess = try gathering.group(of: people)
                let film = try gathering.group(of: people, GroupSessionActivity(identifier: "film", title: "Film"))
                for (number, group) in [chess, film, film].enumerated() {
                    for person in people {
                        let message = SendGroupMessage(
                            group: group, to: people, type: "x", data: .string("text \(number)"))
                        try gathering.ask(person, message)
                    }
                }
                let trial = try await Trial(SessionStore(), in: database, as: "session")
                try await trial.replay(gathering, using: &random)
                func counts() async throws -> String {
                    try await database.psql(
                        """
                        SELECT (SELECT count(*) FROM session.kept_message) || ' ' || (SELECT count(*) FROM session.group_message)
                               || ' ' || (SELECT count(*) FROM session.message_range)
                        """)
                }
                #expect(try await counts() == "6 6 2")
                var ending = gathering
                _ = try await trial.handle([ending.command(people[0], EndGroupSession(group: chess))])
                // Nobody sees them from that moment on.
                #expect(try await counts() == "4 6 1")
                try await database.psql("SELECT session.redact('\(people[1])')")
                let connection = try await Connection.connect(Configuration(try database.url(as: "session")))
                let deleted = try await connection.run { database in
                    try (0..<4).map { _ in
                        try database.query("SELECT session.delete_old_messages(2)").only?.decode(0, as: Int64.self)
                    }
                }
                await connection.close()
                #expect(deleted == [4, 1, 0, 0])
                #expect(try await counts() == "2 4 1")
                #expect(
                    try await database.psql(
                        "SELECT string_agg(DISTINCT sender::text, ' ') FROM session.kept_message") == "\(people[0])")
                // The next one is numbered and counted as if nothing had gone.
                _ = try await trial.handle([ending.command(people[0], SendGroupMessage(group: film, type: "x"))])
                #expect(
                    try await database.psql("SELECT sent || ' ' || first_kept FROM session.message_range") == "5 1")
                await trial.close()
            }
        }
    }
}

extension Gathering {
    /// A command as the bus would have it.
    mutating func command(_ account: AccountID?, _ body: any CommandBody) -> StoreTrial<SessionStore>.Command {
        let key: Key = (body as? any GroupCommandBody).map { .group($0.group) } ?? .account(account ?? .blank)
        return .init(body, CommandContext(commandID: id(), account: account, key: key, time: time))
    }
}
