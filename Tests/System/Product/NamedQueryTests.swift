import EdgeClient
import Foundation
import TestKit
import Testing

/// What `make psql` offers by name.
@Suite("End to end: named queries", .timeLimit(.minutes(60)))
struct NamedQueryTests {
    @Test(
        "every named query runs in psql, and :told lists who was notified of an alarm, was shown it and read it (A13)")
    func all() async throws {
        try await Quartet.with(pushingTo: PushReceiver { _, _ in 200 }, hasOperators: true) { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            try await anna.act("RegisterPush", ["token": "secret-of-annas-phone", "platform": "ios"])
            try await quartet.missCheckIn(of: bob)
            try await anna.wait(toHear: "dependentCheckInMissed")
            let notification = try #require(
                try await anna.read("/v1/notifications")["notifications"].array.first {
                    $0["kind"].string == "dependentCheckInMissed"
                })
            let alarm = try #require(notification["details"]["alarm"].string)
            let shown = try await anna.act("ShowNotifications", ["ids": [notification["id"]]])
            #expect(shown["ids"] == [notification["id"]] && shown["device"].string == anna.id)
            try await anna.act("MarkRead", ["id": notification["id"]])
            try await quartet.wait(
                for: "the push to be recorded", "SELECT count(*) FROM notifications.push_attempt WHERE result = 'done'"
            ) { $0 != "0" }

            let help = try await quartet.named(":help")
            let names = help.split(separator: "\n").compactMap { $0.split(separator: "|").first.map(String.init) }
                .filter { $0.hasPrefix(":") }
            #expect(names.contains(":told") && names.count > 20)
            for name in names {
                _ = try await quartet.named(
                    "\\set handle bob\n\\set id \(EdgeClient.newKey())\n\\set alarm \(alarm)\n\(name)")
            }
            for name in Self.panels {
                let plan = try await quartet.named(
                    "SET enable_seqscan = off;\n\\set id \(EdgeClient.newKey())\nEXPLAIN (COSTS OFF) :\(name)")
                let scanned = plan.matches(of: /Seq Scan on (\w+)/).map { String($0.1) }.filter { table in
                    !Self.small.contains { table.hasSuffix($0) }
                }
                #expect(plan.contains("->") && scanned.isEmpty, "\(name) reads all rows of \(scanned)")
            }
            // What the functions of the pages for requests ask each log.
            let story = try await quartet.named(
                """
                SET enable_seqscan = off;
                EXPLAIN (COSTS OFF)
                SELECT FROM session_client.messages AS m WHERE m.correlation_id = '\(EdgeClient.newKey())' ORDER BY m.recorded_at
                """)
            #expect(story.matches(of: /_by_request/).count == 10, "\(story)")
            #expect(!story.contains("Seq Scan") && Self.readWhole(story).isEmpty, "\(story)")
            for lookUp in Self.lookUps {
                let query = lookUp.replacing("$1", with: EdgeClient.newKey())
                let plan = try await quartet.named("SET enable_seqscan = off;\nEXPLAIN (COSTS OFF)\n\(query);")
                #expect(plan.contains("Index") && !plan.contains("Seq Scan") && Self.readWhole(plan).isEmpty, "\(plan)")
            }
            let people = try await quartet.named(":people")
            #expect(people.contains("bob|Bob|\(bob.account)"))
            let person = try await quartet.named("\\set handle bob\n:person")
            #expect(person.contains("contact|anna|my responder") && person.contains("alarm \(alarm)"))
            let alarms = try await quartet.named(":alarms")
            #expect(alarms.contains("bob|missed check-in|\(alarm)") && alarms.contains("anna at "))
            let published = try await quartet.named("\\set handle bob\n:published")
            #expect(published.contains("CheckInMissed") && published.contains("AlertRelayed"))
            let owners = try await quartet.named(":owners")
            #expect(
                owners.contains(
                    "contacts.relation|table|contacts_owner|contacts|contacts quartet_operator quartet_reader"))
            for chosen in ["\\set alarm \(alarm)", "\\set handle bob", ""] {
                let receipts = try await quartet.named("\(chosen)\n:told").split(separator: "\n").map {
                    $0.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
                }.filter { $0.count == 13 }
                #expect(
                    receipts.map { Array($0[0...2]) }.sorted { $0[1] < $1[1] } == [
                        ["bob", "anna", "dependentCheckInMissed"], ["bob", "bob", "checkInMissed"],
                    ])
                let row = try #require(receipts.first { $0[1] == "anna" })
                // Notified, pushed, shown, read: each not before what came before it.
                let delays = row[6...9].map { Double($0) ?? -1 }
                #expect(delays[0] > 0 && delays[1] >= delays[0] && delays[3] >= delays[0], "\(row)")
                #expect(row[11].hasPrefix("done: "))
            }
            try await Self.expectTold(alarm, of: bob, to: anna, quartet)
        }
    }
}

extension NamedQueryTests {
    /// What the console asks again and again.
    private static let panels = [
        "health", "counts", "lag", "throughput", "timers", "workers", "leases", "acts", "dead_letters", "parked",
        "sagas", "saga_steps", "groups", "recent_alarms", "told", "operator_keys", "outcomes", "keys", "published",
        "retention", "pushes", "canary", "chain", "test_pushes", "waiting_alarms",
    ]
    /// How `session_client.request_of` finds the request of an id, besides by the request itself.
    private static let lookUps = [
        "SELECT s.correlation_id FROM session_client.saga AS s WHERE s.id = '$1'",
        """
        SELECT m.correlation_id
          FROM session_client.all_outcomes AS o
          JOIN session_client.messages AS m ON m.log = o.consumer || '.log' AND m.partition = o.partition
                                           AND m.position = o.position
         WHERE o.command_id = '$1' LIMIT 1
        """,
        "SELECT d.correlation_id FROM session_client.all_dead_letters AS d WHERE d.message_id = '$1'",
    ]

    /// The tables that a plan reads from one end of an index to the other: without a condition, and below no Limit.
    private static func readWhole(_ plan: String) -> [String] {
        let lines = plan.split(separator: "\n")
        // How far the Limits above a line are indented.
        var limits: [Int] = []
        var found: [String] = []
        for (number, line) in lines.enumerated() {
            let indent = line.prefix { $0 == " " }.count
            if line.contains("->") { limits.removeAll { $0 >= indent } }
            if line.hasPrefix("Limit") || line.contains("->  Limit") { limits.append(indent) }
            let scan = line.firstMatch(of: /Index (?:Only )?Scan (?:Backward )?using \w+ on (\w+)/)
            guard let scan else { continue }
            let hasCondition = lines.dropFirst(number + 1).first?.contains("Index Cond:") == true
            if !hasCondition, limits.isEmpty { found.append(String(scan.1)) }
        }
        return found
    }

    /// Tables with a row for each partition or worker, or at most a thousand for each partition.
    private static let small = ["_partition", "lease", "member", "parked", "retention"]

    /// The same as JSON, over HTTP and in psql.
    private static func expectTold(
        _ alarm: String, of bob: Device, to anna: Device, _ quartet: Quartet
    ) async throws {
        let key = try await quartet.makeKey("anna", "read")
        let told = try await quartet.edge.send("GET", "/v1/operator/told/\(alarm)", token: key)
        #expect(told.status == 200 && told.body["kind"] == "missedCheckIn" && told.body["person"]["handle"] == "bob")
        #expect((told.body["noticedMs"].number ?? -1) >= 0 && told.body["event"]["log"] == "session.log", "\(told)")
        let responder = try #require(told.body["recipients"].array.first { $0["isPerson"] == false })
        #expect(told.body["recipients"].array.count == 2 && responder["handle"] == "anna")
        let notification = responder["notifications"][0]
        #expect(notification["kind"] == "dependentCheckInMissed" && notification["event"]["log"] == "notifications.log")
        #expect(notification["shown"][0]["device"].string == anna.id && notification["read"].string != nil)
        #expect(notification["pushes"][0]["result"] == "done" && notification["pushes"][0]["attempt"] == 1)
        // Each comes after what it followed from.
        let delays = [
            notification["notifiedMs"], notification["pushes"][0]["afterMs"], notification["shown"][0]["afterMs"],
            notification["readMs"],
        ].map { $0.number ?? -1 }
        #expect(
            delays[0] > 0 && delays[1] >= delays[0] && delays[2] >= delays[0] && delays[3] >= delays[0], "\(delays)")
        // Where it says, the log has the event.
        let place = notification["event"]
        let event = try await quartet.psql(
            """
            SELECT type || ' ' || key FROM notifications.log
             WHERE partition = \(place["partition"]) AND position = \(place["position"])
            """)
        #expect(event.hasPrefix("NotificationDelivered account/\(anna.account)"))
        let inPsql = try await quartet.named("\\set alarm \(alarm)\n:told_json")
        let line = try #require(inPsql.split(separator: "\n").last { $0.hasPrefix("{") })
        #expect(try JSON(parsing: String(line)) == told.body)
        let unreadable = try await quartet.edge.send("GET", "/v1/operator/queries/person?handle=%00", token: key)
        #expect(unreadable.status == 400 && unreadable.body["code"] == "invalidParameter", "\(unreadable)")
        let summary = try await quartet.edge.send("GET", "/v1/operator/queries/told?alarm=\(alarm)", token: key)
        #expect(summary.body.array.count == 2 && summary.body[0]["alarm"].string == alarm)
    }
}

extension Quartet {
    /// What `make psql` answers, a line a row.
    func named(_ query: String) async throws -> String {
        let root = Products.package
        let script = FileManager.default.temporaryDirectory.appending(path: "\(EdgeClient.newKey()).sql")
        try "\\i \(root.path)/Services/SessionClient/Operators/psqlrc\n\(query)\n".write(
            to: script, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: script) }
        return try await psql(file: script)
    }
}
