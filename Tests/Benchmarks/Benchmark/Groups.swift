import EdgeClient
import Foundation
import NIOCore
import NIOPosix

/// Group sessions of five people, each with a stream of their own, who play a game. A move is a request to the edge; it has
/// arrived when all five streams have it.
extension ProductBenchmark {
    /// Contacts of each account: enough for the people of one table to be each other's.
    private static var contacts: Int { 2 * (Table.seats - 1) }
    private static var patience: Double { 150 }

    func groups(_ most: Int, _ seconds: Int, _ report: inout Report) async throws {
        say("\(Table.seats * most) accounts")
        let people = try crowd(Table.seats * most, contacts: Self.contacts)
        var tables: [Table] = []
        defer { for table in tables { table.close() } }
        func grow(to count: Int) async throws {
            let missing = stride(from: tables.count, to: min(count, most), by: 1).map { number in
                Array(people[Table.seats * number..<Table.seats * (number + 1)])
            }
            tables += try await seat(missing)
            try await waitUntilHandled()
        }

        var (good, bad, count) = (0, most + 1, min(50, most))
        while bad - good > max(10, good / 10) {
            try await grow(to: count)
            let times = try await play(Array(tables.prefix(count)), every: .milliseconds(100), seconds)
            say("\(count) groups at ten moves a second: p50 \(times.p50) ms, p99 \(times.p99) ms")
            if times.p99 <= Self.patience { good = count } else { bad = count }
            count = bad > most ? min(most, 2 * good) : (good + bad) / 2
            if good == most { break }
        }
        report.add("groups_at_10_moves", Double(good), aim: ">= 150 required, 1000 wanted")

        try await grow(to: most)
        let times = try await play(tables, every: .seconds(1), max(10, seconds))
        report.add("group_move_p50_ms_\(most)_groups", times.p50)
        report.add("group_move_p99_ms_\(most)_groups", times.p99, aim: "<= 100")
        report.add("group_move_answer_p99_ms_\(most)_groups", times.answerP99)
    }

    /// Creates a session for each five people and opens their streams.
    private func seat(_ people: [[Device]]) async throws -> [Table] {
        guard !people.isEmpty else { return [] }
        say("\(people.count) group sessions more")
        return try await withThrowingTaskGroup(of: Table.self) { group in
            var tables: [Table] = []
            for (number, people) in people.enumerated() {
                if number >= 16, let table = try await group.next() { tables.append(table) }
                group.addTask { try await self.seat(people) }
            }
            return try await group.reduce(into: tables) { $0.append($1) }
        }
    }

    private func seat(_ people: [Device]) async throws -> Table {
        let host = people[0]
        let created = try await host.act(
            "CreateGroupSession",
            ["activity": ["identifier": "org.example.bench", "type": "generic", "title": "Bench"], "seats": 0])
        let group = created["group"]
        try await host.act(
            "ActivateGroupSession",
            ["group": group, "contacts": .array(people.dropFirst().map { .string($0.account) })])
        for person in people.dropFirst() { try await person.act("JoinGroupSession", ["group": group]) }
        try await host.act("StartGame", ["group": group, "lead": 0])
        let table = Table(group: group.string ?? "", tokens: people.map(\.token), port: port)
        try await table.open()
        return table
    }

    private func play(
        _ tables: [Table], every interval: TimeAmount, _ seconds: Int
    ) async throws -> (p50: Double, p99: Double, answerP99: Double) {
        // The first seconds don't count: connections and caches warm up.
        let (begun, warm) = (NIODeadline.now(), TimeAmount.seconds(2))
        let end = begun + warm + .seconds(Int64(seconds))
        for table in tables { table.play(every: interval, until: end) }
        try await Task.sleep(for: .nanoseconds(warm.nanoseconds))
        for table in tables { _ = table.take() }
        try await Task.sleep(for: .seconds(seconds))
        // What isn't heard by then counts as long as it waits.
        let last = ContinuousClock.now + .seconds(20)
        while tables.contains(where: { $0.open > 0 }) {
            guard ContinuousClock.now < last else {
                throw Failure("\(tables.reduce(0) { $0 + $1.open }) moves don't arrive")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
        let failures = tables.flatMap(\.failures)
        guard failures.isEmpty else { throw Failure("\(failures.count) failures, such as: \(failures[0])") }
        let times = tables.map { $0.take() }
        let waits = times.flatMap(\.waits).sorted()
        return (waits.percentile(0.5), waits.percentile(0.99), times.flatMap(\.answers).sorted().percentile(0.99))
    }
}
