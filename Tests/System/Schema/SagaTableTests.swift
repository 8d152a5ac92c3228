import Bus
import Postgres
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetVocabulary
import TestKit
import Testing

@testable import SessionClientService

/// The rows of sagas, as the processes that run sagas take, write and end them.
@Suite("Sagas: their rows", .timeLimit(.minutes(10)))
struct SagaTableTests {
    @Test(
        "a saga that rests gives way to those that wait and comes behind them; one that is given back at once doesn't")
    func givesWay() async throws {
        try await Replica.with { database, replica in
            let account = AccountID.new()
            let (first, second, third) = try await (
                replica.begin(for: account), replica.begin(for: account), replica.begin(for: account)
            )
            // Written down by a clock that had been set back.
            try await database.psql(
                "UPDATE session_client.saga SET next_attempt = now() - interval '1 hour' WHERE id = '\(third)'")
            var inHand = try #require(try await replica.claim())
            #expect(inHand.id == first)
            #expect(try await replica.claim()?.id == nil, "one at a time")
            // A process that stops changes nothing.
            #expect(try await replica.table.postpone(inHand, because: "the process was stopped", for: .zero))
            inHand = try #require(try await replica.claim())
            #expect(inHand.id == first)
            #expect(try await replica.table.postpone(inHand, because: "a step was refused", for: .seconds(3600)))
            inHand = try #require(try await replica.claim())
            #expect(inHand.id == second)
            // Its rest is over, and another replica finds it.
            try await database.psql("UPDATE session_client.saga SET next_attempt = now() WHERE id = '\(first)'")
            try await Replica.with(database) { other in
                let found = try await other.claim()
                #expect(found?.id == nil, "one at a time")
            }
            #expect(try await replica.end(inHand)?.hasNext == true)
            // The third waited while the first rested.
            inHand = try #require(try await replica.claim())
            #expect(inHand.id == third)
            _ = try await replica.end(inHand)
            inHand = try #require(try await replica.claim())
            #expect(inHand.id == first && inHand.attempts == 3)
            #expect(try await replica.table.postpone(inHand, because: "again", for: .seconds(3600)) == false)
            // What is asked for while it rests doesn't wait for it.
            let fourth = try await replica.begin(for: account)
            let found = try await replica.claim()
            #expect(found?.id == fourth)
        }
    }

    @Test("two replicas that look at the same moment don't take two sagas of one account")
    func oneInHand() async throws {
        try await Replica.with { database, replica in
            let account = AccountID.new()
            let (first, second) = try await (replica.begin(for: account), replica.begin(for: account))
            let rests = try #require(try await replica.claim())
            _ = try await replica.table.postpone(rests, because: "a step was refused", for: .seconds(3600))
            let stranger = try await replica.begin(for: .new())
            // Another replica takes the first, whose rest is over by its look, and hasn't committed yet.
            let other = try await Connection.connect(Configuration(try database.url))
            try await other.run { database in
                try database.execute("BEGIN")
                try database.execute(
                    """
                    UPDATE session_client.saga
                       SET owner = gen_random_uuid(), owned_until = clock_timestamp() + interval '1 hour'
                     WHERE id = \(first)
                    """)
            }
            async let found = replica.claim()
            try await database.wait(
                for: "the look to meet it",
                """
                SELECT count(*) FROM pg_stat_activity
                 WHERE usename = 'session_client' AND datname = current_database() AND wait_event_type = 'Lock'
                """
            ) { $0 == "1" }
            _ = try await other.run { try $0.execute("COMMIT") }
            let taken = try await found
            #expect(taken?.id == stranger, "what another account waits for is found all the same")
            await other.close()
            let owned = try await database.psql(
                "SELECT id FROM session_client.saga WHERE account = '\(account)' AND owner IS NOT NULL")
            #expect(owned == "\(first)" && owned != "\(second)")
        }
    }

    @Test("what a killed process had in hand goes first, even when an earlier one has rested meanwhile")
    func killed() async throws {
        try await Replica.with { database, replica in
            let account = AccountID.new()
            let first = try await replica.begin(for: account)
            let rests = try #require(try await replica.claim())
            _ = try await replica.table.postpone(rests, because: "a step was refused", for: .seconds(3600))
            let second = try await replica.begin(for: account)
            let inHand = try await replica.claim()
            #expect(inHand?.id == second)
            try await database.psql(
                """
                UPDATE session_client.saga SET owned_until = now() WHERE id = '\(second)';
                UPDATE session_client.saga SET next_attempt = now() WHERE id = '\(first)';
                """)
            try await Replica.with(database) { other in
                let taken = try #require(try await other.claim())
                #expect(taken.id == second)
                let none = try await other.claim()
                #expect(none?.id == nil, "one at a time")
                #expect(try await other.end(taken)?.hasNext == true)
                let next = try await other.claim()
                #expect(next?.id == first)
            }
        }
    }

    @Test("an operation that failed can be resumed while another of its account rests, and takes its turn")
    func resumed() async throws {
        try await Replica.with { database, replica in
            let account = AccountID.new()
            let failed = try await replica.begin(for: account)
            let inHand = try #require(try await replica.claim())
            _ = try await replica.sagas.end(.init(saga: inHand, state: .failed, result: Array("{}".utf8)))
            let resting = try await replica.begin(for: account)
            let rests = try #require(try await replica.claim())
            #expect(rests.id == resting)
            try await database.psql("SELECT session_client.resume_saga('\(failed)', 'a test')")
            let none = try await replica.claim()
            #expect(none?.id == nil, "one at a time")
            _ = try await replica.table.postpone(rests, because: "a step was refused", for: .seconds(3600))
            let taken = try await replica.claim()
            #expect(taken?.id == failed)
        }
    }

    @Test("a look reads each account's lane, not all that runs, also when it was planned while nothing ran")
    func plan() async throws {
        try await Replica.with { database, replica in
            try await database.psql(
                """
                INSERT INTO session_client.saga (id, type, account, body, body_hash, correlation_id, state, ended_at)
                SELECT gen_random_uuid(), 'A', gen_random_uuid(), '{}', gen_random_uuid(), gen_random_uuid(), 'done', now()
                  FROM generate_series(1, 10000);
                """)
            try await database.psql("VACUUM ANALYZE session_client.saga")
            let query = replica.table.claimQuery(notOlderThan: .days(1))
            let lines = try await replica.pool.withConnection { database in
                try database.query("EXPLAIN (COSTS OFF) \(query)").map { try $0.decode(0, as: String.self) }
            }
            let plan = lines.joined(separator: "\n")
            #expect(plan.contains("Index Cond: ((account = c.account) AND (lane = c.lane))"), "\(plan)")
            #expect(plan.contains("saga_due on saga c"), "\(plan)")
        }
    }

    @Test("what can't be read of one step is that step's error alone, and says nothing of what is recorded")
    func unreadable() async throws {
        try await Replica.with { database, replica in
            var sagas: [ClaimedSaga] = []
            for _ in 0..<3 {
                _ = try await replica.begin(for: .new())
                sagas.append(try #require(try await replica.claim()))
            }
            let beginnings = sagas.map { replica.beginning(of: "clear", in: $0) }
            let endings = sagas.map { StepWriter.Ending(saga: $0.id, name: "clear", outcome: .accepted(event: nil)) }
            let (begun, _) = try await replica.write(beginnings)
            let fresh = try begun.map { try $0.get()?.isFresh }
            #expect(fresh == [true, true, true])
            let (_, ended) = try await replica.write(endings: endings)
            let outcomes = try ended.map { try $0.get() }
            #expect(outcomes == Array(repeating: .accepted(event: nil), count: 3))
            let unreadable = #"{"position": "Robert Builder"}"#
            try await database.psql(
                """
                UPDATE session_client.saga_step SET result = '\(unreadable)' WHERE saga = '\(sagas[0].id)';
                UPDATE session_client.saga_step SET result = NULL WHERE saga = '\(sagas[1].id)';
                """)
            // Written together, each by a later run.
            let (again, results) = try await replica.write(beginnings, endings: endings)
            for (index, isFinal) in [(0, false), (1, true)] {
                let beginning = #expect(throws: SagaError.self) { try again[index].get() }
                let ending = #expect(throws: SagaError.self) { try results[index].get() }
                #expect(beginning?.isFinal == isFinal && ending?.isFinal == isFinal)
                #expect(beginning?.description.contains("Robert") == false)
            }
            #expect(try again[2].get()?.outcome == .accepted(event: nil))
            #expect(try results[2].get() == .accepted(event: nil))
        }
    }

    @Test("when an account is closed, its sagas that rest end, and no run of them writes a step any more")
    func closing() async throws {
        try await Replica.with { database, replica in
            let account = AccountID.new()
            let (first, second, third, fourth) = try await (
                replica.begin(for: account), replica.begin(for: account), replica.begin(for: account),
                replica.begin(for: account)
            )
            let stranger = try await replica.begin(for: .new())
            let rests = try #require(try await replica.claim())
            let step = replica.beginning(of: "summary", in: rests)
            _ = try await replica.write([step])
            _ = try await replica.table.postpone(rests, because: "a step was refused", for: .seconds(3600))
            let restsToo = try #require(try await replica.claim())
            _ = try await replica.table.postpone(restsToo, because: "a step was refused", for: .seconds(3600))
            let closing = try #require(try await replica.claim())
            #expect([rests.id, restsToo.id, closing.id] == [first, second, third])
            try await replica.sagas.endOthers(of: closing, atATime: 1)
            let states = try await database.psql(
                """
                SELECT string_agg(state, ' ' ORDER BY id <> '\(first)', id <> '\(second)', id)
                  FROM session_client.saga
                """)
            // The fourth has asked nothing yet: its first step will be refused.
            #expect(states == "failed failed running running running")
            let said = try await database.psql(
                """
                SELECT string_agg((body ->> 'operation') || ' ' || (body ->> 'state'), ', '
                                  ORDER BY body ->> 'operation' <> '\(first)')
                  FROM session_client.operations WHERE type = 'OperationEnded'
                """)
            #expect(said == "\(first) failed, \(second) failed")
            // A run that knows nothing of it.
            let (begun, ended) = try await replica.write(
                [step, replica.beginning(of: "checkIn", in: rests)],
                endings: [.init(saga: first, name: "summary", outcome: .accepted(event: nil))])
            let attempts = try begun.map { try $0.get()?.attempt }
            #expect(attempts == [nil, nil])
            #expect(throws: SagaError.self) { try ended[0].get() }
            let steps = try await database.psql("SELECT count(*), count(outcome) FROM session_client.saga_step")
            #expect(steps == "1|0")
            // Asked again, it changes nothing.
            try await replica.sagas.endOthers(of: closing)
            #expect(try await replica.end(closing)?.hasNext == true)
            let next = [try await replica.claim()?.id, try await replica.claim()?.id]
            #expect(Set(next) == [fourth, stranger])
        }
    }
}

/// What a process has of sagas.
private struct Replica {
    let table: SagaTable
    let sagas: SagaWriter
    let pool: Pool

    static func with(_ body: (TestDatabase, Replica) async throws -> Void) async throws {
        try await TestDatabase.with(.services) { database in
            try await Self.with(database) { try await body(database, $0) }
        }
    }

    /// Another process on the same database.
    static func with(_ database: TestDatabase, _ body: (Replica) async throws -> Void) async throws {
        let pool = Pool("test", configuration: Configuration(try database.url(as: "session_client")))
        do {
            let operations = try await pool.withConnection {
                try Log.open(LogName(schema: "session_client", table: "operations"), $0)
            }
            let table = SagaTable(pool: pool, ownership: .seconds(3600))
            try await body(
                Replica(
                    table: table,
                    sagas: SagaWriter(
                        pool: pool, operations: operations, owner: table.owner, ownership: table.ownership),
                    pool: pool))
        } catch {
            await pool.close()
            throw error
        }
        await pool.close()
    }

    /// Records a saga that waits for a process to take it.
    func begin(for account: AccountID) async throws -> ID<OperationSubject> {
        let (id, type, body) = (ID<OperationSubject>.new(), RespondToAllPingsSaga.type, Array("{}".utf8))
        let hash = BodyHash(type: type, version: 1, key: .account(account), account: account, body: body)
        _ = try await sagas.begin(
            SagaWriter.Beginning(
                id: id, type: type, lane: RespondToAllPingsSaga.lane, account: account, body: body, hash: hash,
                correlationID: .new(), traceParent: nil, isWanted: false)
        ) { _ in }
        return id
    }

    func claim() async throws -> ClaimedSaga? { try await table.claim(notOlderThan: .days(1)) }

    func end(_ saga: ClaimedSaga) async throws -> SagaWriter.Ended? {
        try await sagas.end(.init(saga: saga, state: .done, result: Array("{}".utf8)))
    }

    func beginning(of step: String, in saga: ClaimedSaga) -> StepWriter.Beginning {
        .init(saga: saga.id, name: step, command: .new(), hash: .new())
    }

    /// Writes steps as one batch.
    func write(
        _ beginnings: [StepWriter.Beginning] = [], endings: [StepWriter.Ending] = []
    ) async throws -> ([Result<StepWriter.Step?, any Error>], [Result<Outcome, any Error>]) {
        let statements = StepStatements(owner: table.owner)
        let batch = StepWriter.Batch(
            beginnings: beginnings.map { Gathered($0) }, endings: endings.map { Gathered($0) })
        return try await pool.withConnection { try statements.execute(batch, $0) }
    }
}

extension TestDatabase {
    /// Asks until the answer is as wanted.
    /// - Throws: ``TimedOut``, with the last answer.
    fileprivate func wait(for what: String, _ sql: String, until isWanted: (String) -> Bool) async throws {
        var last = ""
        let end = ContinuousClock.now + .patience
        repeat {
            last = try await psql(sql)
            if isWanted(last) { return }
            try await Task.sleep(for: .milliseconds(20))
        } while ContinuousClock.now < end
        throw TimedOut("waited for \(what), which did not happen; last: \(last)")
    }
}
