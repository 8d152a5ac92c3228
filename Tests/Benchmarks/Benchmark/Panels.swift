import EdgeClient
import Foundation

/// How long it takes to answer what the pages for operators ask, beside a full log: every named query, since panels show those, and
/// what panels ask besides.
extension ProductBenchmark {
    private static var rounds: Int { 30 }

    /// What there is to look at.
    private struct Subjects {
        let handle: String
        let alarm: String
        let operation: String
        let group: String
    }

    func panels(_ report: inout Report) async throws {
        say("the panels of operators")
        let key = try makeOperatorKey()
        let subjects = try await subjects(key)
        let values = ["id": subjects.operation, "alarm": subjects.alarm, "handle": subjects.handle]
        var slowest = 0.0
        for query in try await look("queries", key)["queries"].array {
            guard let name = query["name"].string else { throw Failure("a named query has no name: \(query)") }
            let parameters = query["parameters"].array.compactMap(\.string).map { "\($0)=\(values[$0] ?? "")" }
            let path = "queries/\(name)" + (parameters.isEmpty ? "" : "?\(parameters.joined(separator: "&"))")
            slowest = max(slowest, try await panel(name, path, key, &report))
        }
        for (name, path) in [
            ("live_tail", "tail"), ("receipts", "told/\(subjects.alarm)"), ("group_moment", "groups/\(subjects.group)"),
            ("story_of_nothing", "story/\(EdgeClient.newKey())"), ("metrics", "metrics"),
        ] {
            slowest = max(slowest, try await panel(name, path, key, &report))
        }
        report.add("panel_slowest_max_ms", slowest, aim: "<= 50")
    }

    /// Asks again and again.
    /// - Returns: The longest time. A request that was refused, because it takes too long, took for ever.
    private func panel(_ name: String, _ path: String, _ key: String, _ report: inout Report) async throws -> Double {
        var waits: [Double] = []
        for _ in 0..<Self.rounds {
            let begun = ContinuousClock.now
            let answer = try await edge.send("GET", "/v1/operator/\(path)", token: key)
            if !answer.isSuccess { say("\(path) was refused: \(answer)") }
            waits.append(answer.isSuccess ? (ContinuousClock.now - begun).milliseconds : .infinity)
        }
        waits.sort()
        report.add("panel_\(name)_p50_ms", waits.percentile(0.5))
        report.add("panel_\(name)_max_ms", waits.percentile(1))
        return waits.percentile(1)
    }

    private func look(_ path: String, _ key: String) async throws -> JSON {
        let answer = try await edge.send("GET", "/v1/operator/\(path)", token: key)
        guard answer.isSuccess else { throw Failure("\(path) was answered with \(answer)") }
        return answer.body
    }

    /// An alarm that somebody was told of, an operation and a group session.
    private func subjects(_ key: String) async throws -> Subjects {
        let anna = try await Device.signUp("anna", name: "Anna", at: edge)
        let bob = try await Device.signUp("bob", name: "Bob", at: edge)
        let code = try await bob.read("/v1/contacts")["code"]
        try await anna.act("AddContact", ["code": code, "iAmResponder": true])
        try await bob.act("RaiseAlert")
        try await anna.operate("ClearAllReceivedPings")
        let created = try await anna.act(
            "CreateGroupSession",
            [
                "activity": ["identifier": "org.example.four", "type": "generic", "title": "Four in a row"],
                "seats": 2, "capacity": 2,
            ])
        guard let operation = try await look("queries/sagas", key)[0]["id"].string, let group = created["group"].string
        else { throw Failure("there is no operation or group session to look at") }
        return Subjects(handle: "bob", alarm: try await alarm(toldTo: anna), operation: operation, group: group)
    }

    private func alarm(toldTo anna: Device) async throws -> String {
        for _ in 0..<300 {
            let notifications = try await anna.read("/v1/notifications")["notifications"].array
            if let alarm = notifications.compactMap({ $0["details"]["alarm"].string }).first { return alarm }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw Failure("nobody was told of an alert within 30 seconds")
    }
}
