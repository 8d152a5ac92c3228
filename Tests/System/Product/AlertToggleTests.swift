import EdgeClient
import TestKit
import Testing

/// An alert that goes on and off again and again while what tells of it keeps being killed.
@Suite("End to end: alerts toggled", .serialized, .timeLimit(.minutes(60)))
struct AlertToggleTests {
    /// How often the alert is raised, and how often it is cleared.
    private static let times = 500

    @Test(
        """
        when an alert is toggled 1,000 times while notifications is killed, every responder hears of each change \
        once, in order (S34)
        """)
    func toggled() async throws {
        try await Quartet.with { quartet in
            try await quartet.announceEveryAlert()
            let (bob, anna, carl) = try await quartet.signUp("bob", "anna", "carl")
            for responder in [anna, carl] { try await responder.add(bob) }

            let isOn = Observed(true)
            async let storm: Void = quartet.killAgainAndAgain(.notifications, while: isOn)
            for _ in 0..<Self.times {
                try await bob.act("RaiseAlert")
                try await bob.act("ClearAlert")
            }
            isOn.update { $0 = false }
            try await storm

            let tellings = [
                Telling(to: bob.account, raised: "alertRaised", cleared: "alertCleared"),
                Telling(to: anna.account, raised: "dependentAlertRaised", cleared: "dependentAlertCleared"),
                Telling(to: carl.account, raised: "dependentAlertRaised", cleared: "dependentAlertCleared"),
            ]
            for telling in tellings {
                try await quartet.wait(
                    for: "everything to be told to \(telling.account)",
                    "SELECT count(*) FROM notifications.notification WHERE \(telling.isMeant)"
                ) { $0 == "\(2 * Self.times)" }
            }
            // Anything announced twice would be announced by now.
            try await quartet.waitUntilQuiet()
            for telling in tellings { try await expectAlternation(telling, quartet) }
            for table in ["parked", "dead_letter", "wrong_count"] {
                let count = try await quartet.psql("SELECT count(*) FROM notifications.\(table)")
                #expect(count == "0", "\(table)")
            }
        }
    }

    /// A notification about the alert.
    private struct Telling: Sendable {
        let account: String
        let raised: String
        let cleared: String

        init(to account: String, raised: String, cleared: String) {
            (self.account, self.raised, self.cleared) = (account, raised, cleared)
        }

        /// Which rows of the history are meant.
        var isMeant: String { "account = '\(account)' AND kind IN ('\(raised)', '\(cleared)')" }
    }

    /// An account's notifications alternate, beginning with a raised alert, each at a later time than the one before,
    /// and is what happened: in the history, and in the order in which it was said.
    private func expectAlternation(_ telling: Telling, _ quartet: Quartet) async throws {
        let told = [
            """
            SELECT n.kind, (n.details ->> 'at')::bigint AS occurred,
                   row_number() OVER (ORDER BY n.created_at, (n.details ->> 'at')::bigint) AS place
              FROM notifications.notification AS n
             WHERE \(telling.isMeant)
            """,
            """
            SELECT l.body -> 'notification' ->> 'kind' AS kind,
                   (l.body -> 'notification' -> 'details' ->> 'at')::bigint AS occurred,
                   row_number() OVER (ORDER BY l.position) AS place
              FROM notifications.log AS l
             WHERE l.key = 'account/\(telling.account)' AND l.type = 'NotificationDelivered'
               AND l.body -> 'notification' ->> 'kind' IN ('\(telling.raised)', '\(telling.cleared)')
            """,
        ]
        for rows in told {
            // How many, how many of the kind of their place, and how many later than the one before.
            let counts = try await quartet.psql(
                """
                SELECT count(*) || ' '
                       || count(*) FILTER (WHERE kind = CASE place % 2 WHEN 1 THEN '\(telling.raised)'
                                                                       ELSE '\(telling.cleared)' END) || ' '
                       || count(*) FILTER (WHERE occurred > earlier)
                  FROM (SELECT kind, occurred, place, lag(occurred, 1, 0::bigint) OVER (ORDER BY place) AS earlier
                          FROM (\(rows)) AS told) AS placed
                """)
            let all = 2 * Self.times
            #expect(counts == "\(all) \(all) \(all)", "\(telling)")
        }
        // Session's events and the notifications agree on the times.
        let differing = try await quartet.psql(
            """
            WITH happened AS (
                SELECT CASE l.type WHEN 'AlertRaised' THEN '\(telling.raised)' ELSE '\(telling.cleared)' END AS kind,
                       (l.body ->> 'at')::bigint AS occurred
                  FROM session.log AS l
                 WHERE l.type IN ('AlertRaised', 'AlertCleared')
            ), told AS (
                SELECT n.kind, (n.details ->> 'at')::bigint AS occurred
                  FROM notifications.notification AS n
                 WHERE \(telling.isMeant)
            )
            SELECT count(*)
              FROM happened FULL JOIN told ON told.kind = happened.kind AND told.occurred = happened.occurred
             WHERE told.kind IS NULL OR happened.kind IS NULL
            """)
        #expect(differing == "0", "\(telling)")
    }
}
