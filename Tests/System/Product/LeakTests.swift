import EdgeClient
import Postgres
import TestKit
import Testing

/// Leftovers of lost database connections.
@Suite("End to end: leaks", .timeLimit(.minutes(60)))
struct LeakTests {
    @Test("fifty lost connections of each kind leak no thread, descriptor or memory in any service")
    func lostConnections() async throws {
        try await Quartet.with(services: []) { quartet in
            for service in Quartet.Service.allCases {
                try await quartet.start(service, environment: ["RETENTION_INTERVAL": "1s"])
            }
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await anna.add(bob)
            let superuser = try await Connection.connect(Configuration(quartet.databaseURL))

            _ = try await lose(5, superuser, anna, bob)
            var before: [Quartet.Service: Holdings] = [:]
            for service in Quartet.Service.allCases {
                before[service] = try Holdings(of: try quartet.process(of: service))
            }
            let lost = try await lose(50, superuser, anna, bob)
            await superuser.close()

            for (service, before) in before {
                let process = try quartet.process(of: service)
                // Threads that the system keeps in store end when they had nothing to do for a while.
                var after = try Holdings(of: process)
                for _ in 0..<1200 where !after.isBack(to: before) {
                    try await Task.sleep(for: .milliseconds(100))
                    after = try Holdings(of: process)
                }
                #expect(after.isBack(to: before), "\(service): \(before) before, \(after) after losing \(lost)")
            }
        }
    }

    /// By role, what the sessions of a service are for.
    private static let kinds = [
        "session": ["doorbells", "retention", "timers", "worker"], "contacts": ["doorbells", "retention", "worker"],
        "notifications": ["doorbells", "push", "retention", "timers", "worker"],
        "session_client": ["appender", "doorbells", "reads", "retention", "saga steps", "tail", "worker"],
    ].flatMap { role, kinds in kinds.map { "\(role) \($0)" } }

    /// Has something asked of all services while the server ends each of their sessions as soon as it has been there for a
    /// while, until so many of each kind are lost. Returns how many were lost of each.
    private func lose(
        _ count: Int, _ superuser: Connection, _ anna: Device, _ bob: Device
    ) async throws -> [String: Int] {
        var lost: [String: Int] = [:]
        while Self.kinds.contains(where: { lost[$0, default: 0] < count }) {
            async let reads = anna.read("/v1/contacts")
            async let others = bob.read("/v1/notifications")
            async let operation = bob.operate("ClearAllReceivedPings", [:])
            let ended = try await superuser.run { database in
                try database.query(
                    """
                    SELECT a.usename || ' ' || CASE WHEN a.application_name LIKE '%/%' THEN 'worker'
                                                    ELSE substring(a.application_name FROM ' (.*)') END,
                           pg_terminate_backend(a.pid)
                      FROM pg_stat_activity AS a
                     WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
                       AND a.backend_start < clock_timestamp() - interval '1100 milliseconds'
                    """
                ).compactMap { try $0.decode(0, as: String?.self) }
            }
            for kind in ended { lost[kind, default: 0] += 1 }
            _ = try await (reads, others, operation)
        }
        return lost
    }
}
