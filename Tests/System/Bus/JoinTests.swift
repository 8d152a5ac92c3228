import Bus
import Foundation
import LedgerContract
import LedgerEdge
import Postgres
import QuartetVocabulary
import TestKit
import Testing

// How streams are joined: many at once, from far back, with little room, and while there is a backlog.

extension StreamTests {
    @Test("readers with a buffer of two events, who resume after five at most, miss nothing and see nothing twice")
    func littleRoom() async throws {
        try await withRandom { random in
            let accounts = (0..<4).map { _ in AccountID.new() }
            let callers = (0..<8).map { _ in random.fork() }
            let readers = (0..<12).map { _ in random.fork() }
            try await LedgerFixture.with { fixture in
                try await ChildProcess.with("faulty-ledger", [fixture.serviceURL]) { _ in
                    try await fixture.withClient { client in
                        var settings = StreamReader.Settings()
                        (settings.bufferLimit, settings.resumeLimit) = (2, 5)
                        let streams = StreamReader(tail: client.tail, pool: client.pool, settings: settings)
                        let (history, done) = (LedgerHistory(), Observed(0))
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            for (number, seed) in callers.enumerated() {
                                group.addTask {
                                    try await history.call(
                                        client, as: "caller\(number)", account: accounts[number % 4], count: 50,
                                        random: seed, done: done)
                                }
                            }
                            for (number, seed) in readers.enumerated() {
                                group.addTask {
                                    try await Self.follow(streams, accounts[number % 4], until: 100, random: seed)
                                }
                            }
                            try await group.waitForAll()
                        }
                    }
                }
            }
        }
    }

    @Test(
        "of many streams joined by one statement, each continues exactly where its state ends, while all of them grow")
    func manyAtOnce() async throws {
        try await withRandom { random in
            let accounts = (0..<8).map { _ in AccountID.new() }
            let callers = (0..<8).map { _ in random.fork() }
            try await LedgerFixture.with { fixture in
                try await ChildProcess.with("faulty-ledger", [fixture.serviceURL]) { _ in
                    try await fixture.withClient { client in
                        let (history, done) = (LedgerHistory(), Observed(0))
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            for (number, seed) in callers.enumerated() {
                                group.addTask {
                                    try await history.call(
                                        client, as: "caller\(number)", account: accounts[number], count: 60,
                                        random: seed,
                                        done: done)
                                }
                            }
                            for _ in 0..<4 {
                                group.addTask {
                                    while done.value < 8 * 60 { try await Self.followAll(client.streams, accounts) }
                                }
                            }
                            try await group.waitForAll()
                        }
                        // An account that the owner doesn't know has no state.
                        let nobody = try await client.streams.subscribe(
                            to: [.new()],
                            state: "SELECT to_json(b.amount) FROM ledger.balance AS b WHERE b.account = stream.account")
                        #expect(nobody.map { $0.state?.body } == [nil])
                    }
                }
            }
        }
    }

    /// Joins all of these streams together and folds a few events of each.
    private static func followAll(_ streams: StreamReader, _ accounts: [AccountID]) async throws {
        let subscriptions = try await streams.subscribe(
            to: accounts,
            state: """
                SELECT json_build_object(
                         'amount', coalesce((SELECT b.amount FROM ledger.balance AS b WHERE b.account = stream.account), 0),
                         'entries', (SELECT count(*) FROM ledger.entry AS e WHERE e.account = stream.account))
                """)
        for subscription in subscriptions {
            guard let state = subscription.state else { throw Unexpected("no state") }
            var fold = try JSONDecoder().decode(Fold.self, from: Data(state.body))
            for _ in 0..<3 where fold.entries < 60 {
                guard case .event(let message, _) = await subscription.next() else { throw Unexpected("no event") }
                let entry = try EntryPosted.decoded(from: message.message.body)
                fold.entries += 1
                fold.amount += entry.amount
                guard fold.amount == entry.balance else {
                    throw Unexpected("the fold is \(fold), the event says \(entry): one was missed or came twice")
                }
            }
        }
    }

    @Test("a resume skips other streams' rows; from too far back it starts with a snapshot marked as refetched")
    func farBack() async throws {
        try await LedgerFixture.with { fixture in
            try await ChildProcess.with("faulty-ledger", [fixture.serviceURL]) { _ in
                try await fixture.withClient { client in
                    let account = AccountID.new()
                    func post(_ n: Int64) async throws {
                        _ = try await client.post(PostEntry(client: "a", n: n, amount: 1), for: account)
                    }
                    try await post(1)
                    let token = try await client.streams.subscribe(
                        to: .account(account), from: nil, state: Self.state(of: account)
                    ).token
                    try await fixture.database.psql(
                        """
                        INSERT INTO ledger.log (partition, position, kind, type, version, key, body, message_id)
                        SELECT \(token.partition), \(token.position) + n, 'event', 'EntryPosted', 1, 'account/' || n, '{}',
                               gen_random_uuid()
                          FROM generate_series(1, 900) AS n
                        """)
                    for n in 2...4 { try await post(Int64(n)) }
                    let resumed = try await client.streams.subscribe(
                        to: .account(account), from: token, state: Self.state(of: account))
                    guard case .resumed = resumed.beginning else {
                        throw Unexpected("not resumed: \(resumed.beginning)")
                    }
                    for n in 2...4 {
                        guard case .event(let message, _) = await resumed.next() else {
                            throw Unexpected("no event \(n)")
                        }
                        #expect(try EntryPosted.decoded(from: message.message.body).balance == Int64(n))
                    }
                    #expect(resumed.token.position.number >= token.position.number + 900)

                    for limit in [\StreamReader.Settings.resumeLimit, \.resumeByteLimit] {
                        var settings = StreamReader.Settings()
                        settings[keyPath: limit] = 100
                        let limited = try await StreamReader(tail: client.tail, pool: client.pool, settings: settings)
                            .subscribe(
                                to: .account(account), from: token, state: Self.state(of: account))
                        guard case .snapshot(let body, isRefetched: true) = limited.beginning else {
                            throw Unexpected("it went on past its limit: \(limited.beginning)")
                        }
                        #expect(try JSONDecoder().decode(Fold.self, from: Data(body)).entries == 4)
                    }
                }
            }
        }
    }

    @Test("readers who join while the tail reads a backlog miss nothing and see nothing twice")
    func backlog() async throws {
        let (rounds, perRound) = (8, 150)
        let accounts = (0..<20).map { _ in AccountID.new() }
        try await LedgerFixture.with { fixture in
            try await fixture.withClient { client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for account in accounts.prefix(5) {
                        group.addTask {
                            var last = 0
                            while last < rounds * perRound {
                                let subscription = try await client.streams.subscribe(
                                    to: .account(account), from: nil,
                                    state: """
                                        SELECT to_json(coalesce(max((l.body ->> 'n')::int), 0)) FROM ledger.log AS l
                                         WHERE l.key = stream.key
                                        """)
                                let state = try #require(subscription.state)
                                last = try JSONDecoder().decode(Int.self, from: Data(state.body))
                                for _ in 0..<40 where last < rounds * perRound {
                                    guard case .event(let message, _) = await subscription.next() else { break }
                                    let numbered = try JSONDecoder().decode(
                                        Numbered.self, from: Data(message.message.body))
                                    guard numbered.n == last + 1 else {
                                        throw Unexpected("\(numbered.n) came after \(last)")
                                    }
                                    last = numbered.n
                                }
                            }
                        }
                    }
                    group.addTask {
                        for round in 0..<rounds {
                            try await fixture.database.psql(
                                Self.backlog(of: accounts, from: round * perRound, perRound))
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    private struct Numbered: Decodable {
        let n: Int
    }

    /// Appends so many numbered events of two kilobytes to each account's stream at once.
    private static func backlog(of accounts: [AccountID], from first: Int, _ count: Int) -> String {
        """
        SELECT ledger.log_append(
                   ARRAY[0, 1, 2, 3], array_agg(r.slot ORDER BY r.n, r.key), array_agg(r.ordinal ORDER BY r.n, r.key),
                   array_agg('event'::text), array_agg('EntryPosted'::text), array_agg(1::smallint),
                   array_agg(r.key ORDER BY r.n, r.key), NULL, array_agg(r.body ORDER BY r.n, r.key), array_agg(gen_random_uuid()),
                   NULL, NULL, NULL, NULL, NULL, NULL, NULL)
          FROM (SELECT a.key, p.slot, n.n, json_build_object('n', n.n, 'padding', repeat('x', 2000)) AS body,
                       (row_number() OVER (PARTITION BY p.slot ORDER BY n.n, a.key))::int AS ordinal
                  FROM unnest(ARRAY[\(accounts.map { "'account/\($0)'" }.joined(separator: ", "))]) AS a(key)
                 CROSS JOIN LATERAL (SELECT ledger.log_partition_of(a.key)::int + 1 AS slot) AS p
                 CROSS JOIN generate_series(\(first + 1), \(first + count)) AS n(n)) AS r;
        SELECT pg_notify('ledger.log', '0,1,2,3')
        """
    }
}
