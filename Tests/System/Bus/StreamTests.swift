import Bus
import Foundation
import LedgerContract
import LedgerEdge
import Postgres
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@Suite
struct StreamTests {
    /// What a reader folds: the snapshot's balance, then each event's.
    struct Fold: Codable, Sendable {
        var amount: Int64
        var entries: Int64
    }

    static func state(of account: AccountID) -> Query {
        """
        SELECT json_build_object(
                 'amount', coalesce((SELECT b.amount FROM ledger.balance AS b WHERE b.account = \(account)), 0),
                 'entries', (SELECT count(*) FROM ledger.entry AS e WHERE e.account = \(account)))
        """
    }

    /// Follows a stream, leaving and coming back at random, until it has seen `count` entries.
    @discardableResult
    static func follow(
        _ streams: StreamReader, _ account: AccountID, until count: Int64, patience upTo: Int = 30, random: SeededRandom
    ) async throws -> Fold {
        var random = random
        var token: ResumeToken?
        var fold = Fold(amount: 0, entries: 0)
        while true {
            let subscription: Subscription
            do {
                subscription = try await streams.subscribe(
                    to: .account(account), from: token, state: state(of: account))
            } catch let error as PostgresError where error.isConnectionLost {
                try await Task.sleep(for: .milliseconds(20))
                continue
            }
            if case .snapshot(let body, _) = subscription.beginning {
                fold = try JSONDecoder().decode(Fold.self, from: Data(body))
            }
            token = subscription.token
            var patience = Int.random(in: 1...upTo, using: &random)
            while fold.entries < count, patience > 0, let element = await subscription.next() {
                guard case .event(let message, let next) = element else { break }
                let entry = try EntryPosted.decoded(from: message.message.body)
                fold.entries += 1
                fold.amount += entry.amount
                guard fold.amount == entry.balance else {
                    throw Unexpected("the fold is \(fold), the event says \(entry): one was missed or came twice")
                }
                token = next
                patience -= 1
            }
            subscription.end()
            if fold.entries >= count { return fold }
            // Sometimes it forgets where it was and takes a snapshot.
            if random.oneIn(5) { token = nil }
            try Task.checkCancellation()
        }
    }

    @Test("readers that come and go, across restarts of service and database, miss nothing and see nothing twice")
    func comeAndGo() async throws {
        try await withRandom { random in
            let accounts = (0..<4).map { _ in AccountID.new() }
            let callers = (0..<8).map { _ in random.fork() }
            let readers = (0..<24).map { _ in random.fork() }
            try await PrivateCluster.with(isDurable: true) { postgres in
                let fixture = try LedgerFixture(try await TestDatabase.make(.ledger, on: postgres.cluster()))
                let history = LedgerHistory()
                let done = Observed(0)
                let service = try await fixture.startService(leaseMilliseconds: 1000)
                try await fixture.withClient { client in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for (number, seed) in callers.enumerated() {
                            group.addTask {
                                try await history.call(
                                    client, as: "caller\(number)", account: accounts[number % 4], count: 100,
                                    random: seed,
                                    done: done)
                            }
                        }
                        for (number, seed) in readers.enumerated() {
                            group.addTask {
                                try await Self.follow(
                                    client.streams, accounts[number % 4], until: 200, random: seed)
                            }
                        }
                        group.addTask {
                            try await done.wait("entries") { $0 >= 200 ? true : nil }
                            service.send(.kill)
                            let second = try await fixture.startService(leaseMilliseconds: 1000)
                            try await done.wait("entries") { $0 >= 400 ? true : nil }
                            try await postgres.crash()
                            try await postgres.start()
                            try await done.wait("entries") { $0 >= 800 ? true : nil }
                            await second.end()
                        }
                        try await group.waitForAll()
                    }
                }
                try await history.check(fixture)
            }
        }
    }

    @Test("a subscriber that leaves while an event is offered harms no one")
    func leaving() async throws {
        try await LedgerFixture.with { fixture in
            try await ChildProcess.with("faulty-ledger", [fixture.serviceURL]) { _ in
                try await fixture.withClient { client in
                    let account = AccountID.new()
                    let (isEnough, left) = (Observed(false), Observed(0))
                    var count: Int64 = 0
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for _ in 0..<8 {
                            group.addTask {
                                defer { left.update { $0 += 1 } }
                                // Dropped without a word, as by a request that is cancelled.
                                while !isEnough.value {
                                    let subscription = try await client.streams.subscribe(
                                        to: .account(account), from: nil, state: Self.state(of: account))
                                    _ = await subscription.next()
                                }
                            }
                        }
                        // Until the last has left: each waits for one more.
                        while left.value < 8 {
                            count += 1
                            _ = try await client.post(PostEntry(client: "a", n: count, amount: 1), for: account)
                            if count == 300 { isEnough.update { $0 = true } }
                        }
                        try await group.waitForAll()
                    }
                    let last = try await client.streams.subscribe(
                        to: .account(account), from: nil, state: Self.state(of: account))
                    guard case .snapshot(let body, _) = last.beginning else { throw Unexpected("no snapshot") }
                    let fold = try JSONDecoder().decode(Fold.self, from: Data(body))
                    #expect(fold.entries == count)
                }
            }
        }
    }

    @Test(
        "a token of another incarnation, ahead of the log or before its history gets a snapshot marked as refetched")
    func refetched() async throws {
        try await LedgerFixture.with { fixture in
            try await ChildProcess.with("faulty-ledger", [fixture.serviceURL]) { _ in
                try await fixture.withClient { client in
                    let account = AccountID.new()
                    for n in 1...3 {
                        _ = try await client.post(PostEntry(client: "a", n: Int64(n), amount: 1), for: account)
                    }
                    let first = try await client.streams.subscribe(
                        to: .account(account), from: nil, state: Self.state(of: account))
                    let token = first.token
                    guard case .snapshot(_, isRefetched: false) = first.beginning else {
                        throw Unexpected("no snapshot: \(first.beginning)")
                    }
                    let again = try await client.streams.subscribe(
                        to: .account(account), from: ResumeToken("\(token)"), state: Self.state(of: account))
                    guard case .resumed = again.beginning else { throw Unexpected("not resumed: \(again.beginning)") }
                    let foreign = try #require(Incarnation("1-1-1"))
                    let bad = [
                        ResumeToken(
                            log: token.log, incarnation: foreign, partition: token.partition, position: token.position),
                        ResumeToken(
                            log: token.log, incarnation: token.incarnation, partition: token.partition,
                            position: Position(token.position.number + 1000)),
                    ]
                    for token in bad {
                        let subscription = try await client.streams.subscribe(
                            to: .account(account), from: token, state: Self.state(of: account))
                        guard case .snapshot(_, isRefetched: true) = subscription.beginning else {
                            throw Unexpected("\(token) was gone on from: \(subscription.beginning)")
                        }
                    }
                    try await fixture.database.psql(
                        "UPDATE ledger.log_partition SET base_position = 1 WHERE partition = \(token.partition)")
                    let old = ResumeToken(
                        log: token.log, incarnation: token.incarnation, partition: token.partition, position: .start)
                    let subscription = try await client.streams.subscribe(
                        to: .account(account), from: old, state: Self.state(of: account))
                    guard case .snapshot(_, isRefetched: true) = subscription.beginning else {
                        throw Unexpected("history that is gone was read: \(subscription.beginning)")
                    }
                }
            }
        }
    }
}
