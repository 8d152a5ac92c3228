import EdgeClient
import Foundation
import TestKit
import Testing

/// A synthetic alarm of each partition goes the way of people's, so that it is seen where that way is broken.
@Suite("End to end: canaries", .serialized, .timeLimit(.minutes(60)))
struct CanaryTests {
    @Test(
        """
        with two replicas of each service each partition's canary is missed again and again, each time once; no person \
        hears, sees or counts any of it (A1)
        """)
    func rounds() async throws {
        let receiver = PushReceiver { _, _ in 200 }
        try await receiver.listen {
            try await Quartet.with(services: [.session, .contacts]) { quartet in
                var others: [ChildProcess] = []
                let environment = receiver.environment.merging(Quartet.canaries) { $1 }
                for service in [Quartet.Service.notifications, .sessionClient] {
                    try await quartet.start(service, environment: environment)
                }
                for service in Quartet.Service.allCases {
                    others.append(try await quartet.startAnother(service, environment: environment))
                }
                let (anna, bob) = try await quartet.signUp("anna", "bob")
                try await anna.add(bob)
                try await quartet.wait(
                    for: "three rounds of each",
                    """
                    SELECT count(*) FROM (SELECT FROM session.log AS l
                                           WHERE l.type = 'CheckedIn' AND session.is_canary(l.key)
                                           GROUP BY l.key HAVING count(*) >= 3) AS k
                    """
                ) { $0 == "8" }
                try await quartet.expectRoundsOnce()
                try await Self.expectHidden(quartet, from: anna)
                // No person's push came of it.
                #expect(receiver.received.value.isEmpty)
                try await bob.act("RaiseAlert")
                try await anna.wait(toHear: "dependentAlertRaised")
                for process in others { await process.end() }
            }
        }
    }

    private static func expectHidden(_ quartet: Quartet, from anna: Device) async throws {
        let (alarm, canary) = try await (
            quartet.psql("SELECT body ->> 'alarm' FROM session.log WHERE type = 'CheckInMissed' LIMIT 1"),
            quartet.psql("SELECT account FROM session.canary LIMIT 1")
        )
        #expect(try await quartet.psql("SELECT session_client.told('\(alarm)') IS NULL") == "t")
        for query in ["recent_alarms", "told", "alarms"] {
            let shown = try await quartet.named(":\(query)")
            #expect(!shown.contains("ca9a4900") && !shown.contains(alarm), "\(query): \(shown)")
        }
        let people = try await quartet.named(":people")
        #expect(people.contains("anna") && !people.contains("ca9a4900"), "\(people)")
        let metrics = try await quartet.metrics(of: .sessionClient)
        #expect(!metrics.contains { $0.hasPrefix("quartet_alarm_seconds_count") && !$0.hasSuffix(" 0") })
        #expect(metrics.count { $0.hasPrefix("quartet_canary_lateness_seconds{") } == 8)
        let pushes = try await quartet.metrics(of: .notifications)
        #expect(!pushes.contains { $0.hasPrefix("quartet_push_total") && !$0.hasSuffix(" 0") })
        // Neither by its id nor by what it lacks.
        let card = try await quartet.edge.send("GET", "/v1/people/\(canary)", token: anna.token)
        #expect(card.status == 404, "\(card)")
        let secrets = try await quartet.psql(
            """
            SELECT (SELECT count(*) FROM session.handle AS h WHERE session.is_canary(h.account))
                 + (SELECT count(*) FROM contacts.contact_code AS c WHERE contacts.is_canary(c.account))
                 + (SELECT count(*) FROM session.credential AS c WHERE session.is_canary(c.account))
                 + (SELECT count(*) FROM session.device AS d WHERE session.is_canary(d.account))
            """)
        #expect(secrets == "0")
        // They don't grow.
        let most = try await quartet.psql(
            "SELECT max(total) FROM notifications.account WHERE notifications.is_canary(account)")
        #expect((Int(most) ?? .max) <= 20)
    }

    @Test(
        """
        whichever leg is stopped, and in whichever partition, it is named with the partitions in the metric, in psql and \
        by the doctor, until it goes on (A1)
        """)
    func legs() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            let edge = try quartet.forOperators.merging(Quartet.canaries) { $1 }
            try await quartet.start(.sessionClient, environment: edge)
            try await quartet.waitForCanaries("all to be opened", late: "")
            let well = try await quartet.doctor(environment: Quartet.canaries)
            #expect(well.line("canary")?.hasPrefix("ok ") == true, "\(well)")

            // Alarms that were on their way may stand further on.
            for (service, legs) in [
                (Quartet.Service.session, ["decided session", "ended"]), (.contacts, ["relayed contacts"]),
                (.notifications, ["notified notifications", "pushed notifications"]),
                (
                    .sessionClient,
                    ["relayed session-client", "notified session-client", "pushed notifications", "ended"]
                ),
            ] {
                var named: Set<String> = []
                // All may stand further on just then.
                for _ in 0..<5 where !named.contains(legs[0]) {
                    try await quartet.kill(service)
                    named = try await quartet.waitForAllCanaries(at: legs)
                    let ill = try await quartet.doctor(environment: Quartet.canaries)
                    let line = ill.line("canary") ?? ""
                    #expect(line.hasPrefix("WRONG ") && line.contains("that of partition "), "\(ill)")
                    let isRelaying = named == ["relayed contacts"]
                    #expect(!isRelaying || line.contains(" s to be relayed by contacts"), "\(ill)")
                    try await quartet.start(service, environment: service == .sessionClient ? edge : [:])
                    try await quartet.waitForCanaries("\(service) to catch up", late: "")
                }
                #expect(named.contains(legs[0]), "\(named)")
            }
            for (leg, lock) in [
                ("pushed notifications", "LOCK TABLE notifications.canary_receipt IN SHARE MODE"),
                ("ended", "SELECT FROM session_client.session_commands_partition FOR UPDATE"),
            ] {
                let release = try await quartet.hold(lock)
                _ = try await quartet.waitForAllCanaries(at: [leg])
                await release()
                try await quartet.waitForCanaries("\(leg) to go on", late: "")
            }
        }
    }

    @Test("one partition that stands still is named, and only it, whichever it is (A1)")
    func partitions() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: Quartet.canaries)
            try await quartet.waitForCanaries("all to be opened", late: "")
            for partition in 0..<8 {
                let release = try await quartet.hold(
                    """
                    SELECT count(*)
                      FROM (SELECT FROM contacts.log_partition WHERE partition = \(partition) FOR UPDATE) AS p
                    """)
                try await quartet.waitForCanaries(
                    "partition \(partition) to be named", late: "\(partition) relayed contacts")
                try await quartet.waitForLateness(of: partition, above: 5)
                await release()
            }
            try await quartet.waitForCanaries("all to go on", late: "")
        }
    }

    @Test("as long as a service may be of a release that doesn't know canaries, they are not opened (A1)")
    func unknown() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.wait(for: "contacts to say so", "SELECT count(*) FROM contacts.canary_support") {
                $0 == "1"
            }
            _ = try await quartet.psql("DELETE FROM contacts.canary_support")
            try await quartet.start(.sessionClient, environment: Quartet.canaries)
            try await quartet.waitForLateness(of: 0, above: 2)
            let sent = try await quartet.psql(
                """
                SELECT (SELECT count(*) FROM session_client.session_commands WHERE type = 'SetCanary')
                     + (SELECT count(*) FROM session_client.contacts_commands)
                """)
            #expect(sent == "0")
            try await quartet.restart(.contacts)
            try await quartet.waitForCanaries("all to be opened", late: "")
        }
    }

    @Test("turned off, canaries rest once the alarm is over; turned on, they go on (A1)")
    func off() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            func wait(for what: String, resting count: Int) async throws {
                try await quartet.wait(
                    for: what, "SELECT count(*) FILTER (WHERE due_at IS NULL) FROM session.canary HAVING count(*) = 8"
                ) { $0 == "\(count)" }
            }
            for _ in 0..<2 {
                try await quartet.start(.sessionClient, environment: Quartet.canaries)
                try await wait(for: "all to be awake", resting: 0)
                try await quartet.kill(.sessionClient)
                try await quartet.start(.sessionClient)
                try await wait(for: "all to rest", resting: 8)
                let standing = try await quartet.psql(
                    "SELECT count(*) FROM session_client.canary WHERE leg IS NOT NULL OR alarm IS NOT NULL")
                #expect(standing == "0")
                try await quartet.kill(.sessionClient)
            }
        }
    }
}

extension Quartet {
    /// With these, they are missed every two seconds instead of every five minutes.
    fileprivate static let canaries = ["CANARY_INTERVAL": "2s"]

    /// Waits until all are late, at some of these legs, which are returned.
    fileprivate func waitForAllCanaries(at legs: [String]) async throws -> Set<String> {
        func parts(_ named: String) -> Set<String> { Set(named.split(separator: ",").map(String.init)) }
        let named = try await wait(
            for: "\(legs.joined(separator: " or ")) to be named",
            """
            SELECT string_agg(DISTINCT concat_ws(' ', c.leg, c.service), ',')
              FROM session_client.canary AS c
            HAVING bool_and(c.late > interval '5 seconds')
            """
        ) { !$0.isEmpty && parts($0).isSubset(of: legs) }
        return parts(named)
    }

    /// Waits until exactly these are late, by more than a few seconds.
    fileprivate func waitForCanaries(_ what: String, late: String) async throws {
        try await wait(
            for: what,
            """
            SELECT string_agg(concat_ws(' ', c.partition, c.leg, c.service), ', ' ORDER BY c.partition)
                       FILTER (WHERE c.leg = 'opened' OR c.late > interval '5 seconds')
              FROM session_client.canary AS c
            """
        ) { $0 == late }
    }

    /// Waits until the metric says that a partition's is later than so many seconds.
    fileprivate func waitForLateness(of partition: Int, above seconds: Double) async throws {
        var last: String?
        for _ in 0..<1200 {
            last = try await metrics(of: .sessionClient).first {
                $0.hasPrefix("quartet_canary_lateness_seconds{partition=\"\(partition)\"} ")
            }
            if let late = last?.split(separator: " ").last.flatMap({ Double($0) }), late > seconds { return }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw TimedOut("waited two minutes for the metric to say how late the canary is; last: \(last ?? "none")")
    }

    /// Each of their alarms began, was alerted, notified, pushed and ended once.
    fileprivate func expectRoundsOnce() async throws {
        let twice = try await psql(
            """
            SELECT m.log, m.type, m.body ->> 'alarm', count(*)
              FROM (SELECT 'session' AS log, l.type, l.body, l.key FROM session.log AS l
                     UNION ALL
                    SELECT 'contacts', l.type, l.body, l.key FROM contacts.log AS l) AS m
             WHERE m.type IN ('CheckInMissed', 'CheckedIn', 'ResponderAlerted', 'AlarmEnded', 'AlarmRepeated')
               AND session.is_canary(m.key)
             GROUP BY m.log, m.type, m.body ->> 'alarm'
            HAVING count(*) > 1 OR m.type = 'AlarmRepeated'
            """)
        #expect(twice.isEmpty, "\(twice)")
        let notified = try await psql(
            """
            SELECT n.account, n.kind, n.alarm, count(*) FROM notifications.notification AS n
             WHERE notifications.is_canary(n.account)
             GROUP BY n.account, n.kind, n.alarm HAVING count(*) > 1
            """)
        #expect(notified.isEmpty, "\(notified)")
        let refused = try await psql(
            "SELECT count(*) FROM session.log AS l WHERE l.outcome = 'rejected' AND session.is_canary(l.key)")
        #expect(refused == "0")
    }
}
