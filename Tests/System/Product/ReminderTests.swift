import EdgeClient
import RPCClient
import TestKit
import Testing

/// Reminders that somebody gave themselves.
@Suite("End to end: reminders", .timeLimit(.minutes(60)))
struct ReminderTests {
    @Test(
        "a reminder is seen on every device of its person alone, can be taken back, and is set once however often it is asked for (S39)"
    )
    func setting() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await anna.add(bob)
            let tablet = try await Device.signIn("anna", at: quartet.edge)
            let tabletSees = try await LiveView.open(tablet)
            let bobSees = try await LiveView.open(bob)
            let key = EdgeClient.newKey()
            let later = try await anna.reminder("Water the bonsai", inHours: 2)
            let sooner = try await anna.reminder("Tea", inHours: 1)
            let first = try await anna.act("ScheduleReminder", later, key: key)
            #expect(first["scheduled"]["id"] == later["id"])
            let seen = try await tabletSees.wait("NotificationScheduled", in: "notifications").data["body"]["scheduled"]
            #expect(seen["id"] == later["id"] && seen["due"] == later["due"])
            #expect(seen["details"] == ["reminder": "Water the bonsai"])
            let again = try await anna.act("ScheduleReminder", later, key: key)
            #expect(again == first, "the same request has the same answer")
            let underAnotherKey = try await anna.act("ScheduleReminder", later)
            #expect(underAnotherKey == .null)
            try await anna.act("ScheduleReminder", sooner)
            let list = try await tablet.read("/v1/reminders")["reminders"].array
            #expect(list.map { $0["id"] } == [sooner["id"], later["id"]])
            #expect(list.map { $0["details"]["reminder"] } == ["Tea", "Water the bonsai"])

            // Nobody else reads it or takes it back.
            let others = try await bob.read("/v1/reminders")
            #expect(others == ["reminders": []])
            let foreign = try await bob.act("CancelReminder", ["id": later["id"]])
            #expect(foreign == .null)
            let signedOut = try await quartet.edge.send("GET", "/v1/reminders")
            #expect(signedOut.status == 401)
            try await tablet.act("CancelReminder", ["id": later["id"]])
            try await tabletSees.wait("ScheduledNotificationCancelled", in: "notifications")
            let left = try await anna.read("/v1/reminders")["reminders"].array
            #expect(left.map { $0["id"] } == [sooner["id"]])
            let late = try await anna.act("CancelReminder", ["id": later["id"]])
            #expect(late == .null)
            try await quartet.waitUntilQuiet()
            #expect(!bobSees.all.contains { "\($0.data)".contains("bonsai") })
            // One device's sign-out takes nothing from the account.
            try await tablet.signOut()
            let kept = try await anna.read("/v1/reminders")["reminders"].array
            #expect(kept.count == 1)
        }
    }

    @Test(
        "a reminder that was asked for in time comes, though its service is there again only after its time, and later than others are handled (S39)"
    )
    func late() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.notifications)
            let now = try #require(try await anna.read("/v1/time")["received"].int)
            let key = EdgeClient.newKey()
            let reminder: JSON = [
                "id": .string(EdgeClient.newKey()), "text": "Water the bonsai", "due": .int(now + 1_000_000),
            ]
            let asked = try await quartet.edge.send(
                "POST", "/v1/commands/ScheduleReminder", body: reminder, token: anna.token, key: key)
            #expect(asked.status == 202)
            // Its time has passed by now. Six minutes go by.
            _ = try await quartet.psql(
                """
                UPDATE session_client.notifications_commands
                   SET recorded_at = recorded_at - interval '6 minutes', expires_at = expires_at - interval '6 minutes'
                 WHERE type = 'ScheduleReminder'
                """)
            try await quartet.start(.notifications)
            let answer = try await anna.act("ScheduleReminder", reminder, key: key)
            #expect(answer["scheduled"]["id"] == reminder["id"])
            try await anna.wait(toHear: "system")
            let history = try await anna.read("/v1/notifications")["notifications"]
            #expect(history[0]["details"] == ["reminder": "Water the bonsai"])
        }
    }

    @Test("a reminder that waited until its text was emptied has expired, so that an app asks for it anew (S39, S22)")
    func emptied() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.notifications)
            let key = EdgeClient.newKey()
            let reminder = try await anna.reminder("Water the bonsai", inHours: 2)
            let asked = try await quartet.edge.send(
                "POST", "/v1/commands/ScheduleReminder", body: reminder, token: anna.token, key: key)
            #expect(asked.status == 202)
            // As it is when it was parked and retention has emptied it.
            _ = try await quartet.psql(
                """
                UPDATE session_client.notifications_commands
                   SET body = '{}', recorded_at = recorded_at - interval '61 minutes', expires_at = expires_at - interval '61 minutes'
                 WHERE type = 'ScheduleReminder'
                """)
            try await quartet.start(.notifications)
            let refusal = await #expect(throws: EdgeClient.Refused.self) {
                try await anna.act("ScheduleReminder", reminder, key: key)
            }
            #expect(refusal?.body["code"] == "expired")
            try await anna.act("ScheduleReminder", reminder)
            let list = try await anna.read("/v1/reminders")["reminders"].array
            #expect(list.map { $0["id"] } == [reminder["id"]])
        }
    }

    @Test("kill -9 between the time of a reminder and its delivery, and within that, gives one notification (S39)")
    func killed() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let annaSees = try await LiveView.open(anna)
            let reminder = try await anna.reminder("Water the bonsai", inHours: 1)
            try await anna.act("ScheduleReminder", reminder)
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.notifications)
            try await quartet.moveReminders()
            let letGo = try await quartet.hold(
                """
                SELECT partition::text FROM notifications.log_partition
                 WHERE partition = notifications.log_partition_of('account/\(anna.account)') FOR UPDATE
                """)
            let delivered = "SELECT count(*) FROM notifications.log WHERE type = 'NotificationDelivered'"
            for _ in 0..<2 {
                // It has taken the timer out, has decided, and can't record that.
                try await quartet.start(.notifications)
                try await quartet.wait(
                    for: "the delivery to wait for its partition",
                    """
                    SELECT (SELECT count(*) FROM notifications.due WHERE type = 'DeliverScheduledNotification')
                           || ' ' || (SELECT least(count(*), 1) FROM pg_stat_activity
                                       WHERE datname = current_database() AND usename = 'notifications'
                                         AND wait_event_type = 'Lock')
                    """
                ) { $0 == "1 1" }
                try await quartet.kill(.notifications)
                try await quartet.wait(
                    for: "the server to notice that it is gone",
                    """
                    SELECT count(*) FROM pg_stat_activity
                     WHERE datname = current_database() AND usename = 'notifications'
                    """
                ) { $0 == "0" }
                #expect(try await quartet.psql(delivered) == "0")
            }
            await letGo()
            try await quartet.start(.notifications)
            let told = try await annaSees.wait(notification: "system")
            #expect(told["notification"]["id"] == reminder["id"] && told["unread"] == 1)
            try await quartet.waitUntilQuiet()
            let timers = "SELECT count(*) FROM notifications.due WHERE type = 'DeliverScheduledNotification'"
            let counts = try await quartet.psql("SELECT (\(delivered)) || ' ' || (\(timers))")
            #expect(counts == "1 1")
            let (kinds, left) = try await (anna.kinds(), anna.read("/v1/reminders"))
            #expect(kinds == ["system"] && left == ["reminders": []])
            let history = try await anna.read("/v1/notifications")["notifications"]
            #expect(history[0]["details"] == ["reminder": "Water the bonsai"])
        }
    }

    @Test(
        """
        a reminder's text leaves the logs within the hour, but not before it is handed on; who comes back to any place before that \
        gets the state, which has it, and who comes back to a later one misses nothing (S39, R21)
        """)
    func texts() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let annaSees = try await LiveView.open(anna)
            _ = try await annaSees.snapshot(of: "notifications")
            let before = try #require(annaSees.lastEventID)
            let key = EdgeClient.newKey()
            let reminder = try await anna.reminder("Water the bonsai", inHours: 1)
            try await anna.act("ScheduleReminder", reminder, key: key)
            try await annaSees.wait("NotificationScheduled", in: "notifications")
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.notifications)
            try await quartet.moveReminders("Water the bonsai")
            try await quartet.start(.notifications)
            let told = try await annaSees.wait(notification: "system")
            #expect(told["notification"]["details"] == ["reminder": ""], "one event has the text")
            // The next that comes after this place is an event that stays, and behind that is one that goes.
            let between = try #require(annaSees.lastEventID)
            try await anna.act("MarkAllRead")
            try await annaSees.wait("AllNotificationsRead", in: "notifications")
            try await anna.act("ScheduleReminder", try await anna.reminder("Feed the parrot", inHours: 5))
            try await annaSees.wait("a second") {
                $0.data["body"]["scheduled"]["details"]["reminder"] == "Feed the parrot"
            }
            let after = try #require(annaSees.lastEventID)
            let outcomes = try await quartet.psql(
                "SELECT count(*) FROM notifications.outcome WHERE body::text ~ 'bonsai|parrot'")
            #expect(outcomes == "2")
            let empty = "SELECT session_client.empty_secrets(1000) || ' ' || notifications.empty_reminders(1000)"
            let tooEarly = try await quartet.psql(empty)
            #expect(tooEarly == "0 0")

            // They are old, and session-client has handled them.
            let isHandled = """
                SELECT bool_and(t.position <= notifications.log_handled(t.partition)) FROM notifications.reminder_text AS t
                """
            try await quartet.wait(for: "both to be handled", isHandled) { $0 == "t" }
            try await quartet.age()
            // Retention may be quicker.
            _ = try await quartet.psql(empty)
            let (delivered, open) = try await (
                quartet.tablesContaining("bonsai"), quartet.tablesContaining("parrot")
            )
            #expect(delivered == ["notifications.notification"] && open == ["notifications.scheduled"])
            let again = try await anna.act("ScheduleReminder", reminder, key: key)
            #expect(again == .null)

            for place in [before, between] {
                let back = try await LiveView.open(anna, after: place)
                let state = try await back.snapshot(of: "notifications")
                #expect(state["notifications"][0]["details"]["reminder"] == "Water the bonsai")
                #expect(state["scheduled"].array.map { $0["details"]["reminder"] } == ["Feed the parrot"])
                await back.close()
            }
            let later = try await LiveView.open(anna, after: after)
            try await later.wait("to go on there") { $0.name == "notifications.resumed" }
            #expect(!later.all.contains { $0.name == "notifications.snapshot" })
        }
    }

    @Test(
        """
        texts are emptied as far as each partition is handled, so many at a time, whichever of them stands still; and \
        nothing else in the log is (S39, R21)
        """)
    func partitions() async throws {
        try await TestDatabase.with(Quartet.template) { database in
            // Four events in each of eight partitions, of which every other has a text. Partition 0 isn't handled, and of the others only
            // the first three are.
            try await database.psql(
                """
                INSERT INTO notifications.log (partition, position, kind, type, version, key, body, message_id, command_id, outcome, command_hash)
                SELECT p, n, 'event', CASE n % 2 WHEN 0 THEN 'NotificationScheduled' ELSE 'NotificationDelivered' END, 1, 'account/x',
                       '{"text":"bonsai"}', gen_random_uuid(), gen_random_uuid(), 'accepted', gen_random_uuid()
                  FROM generate_series(0, 7) AS p, generate_series(1, 4) AS n;
                INSERT INTO session_client.lease (source, partition) SELECT 'notifications.log', p FROM generate_series(0, 7) AS p;
                INSERT INTO session_client.batch (source, partition, number, position, owner, epoch, given_time, messages)
                SELECT 'notifications.log', p, 1, 3, gen_random_uuid(), 1, now(), 3 FROM generate_series(1, 7) AS p
                """)
            let empty = "SELECT notifications.empty_reminders(5)"
            #expect(try await database.psql(empty) == "0", "they are new")
            try await database.psql(
                "UPDATE notifications.reminder_text SET recorded_at = recorded_at - interval '61 minutes'")
            var emptied: [String] = []
            for _ in 0..<3 { emptied.append(try await database.psql(empty)) }
            #expect(emptied == ["5", "2", "0"])
            for table in ["log", "outcome"] {
                let left = try await database.psql(
                    """
                    SELECT string_agg(type || ' ' || count, ', ' ORDER BY type)
                      FROM (SELECT type, count(*) FROM notifications.\(table) WHERE body::text LIKE '%bonsai%' GROUP BY type) AS t
                    """)
                #expect(left == "NotificationDelivered 16, NotificationScheduled 9", "\(table)")
            }
            let places = try await database.psql("SELECT count(*), min(position) FROM notifications.reminder_text")
            #expect(places == "9|2")
        }
    }

    @Test(
        "the hundred-and-first open reminder is refused, and the thirty-first within 24 hours, over HTTP and gRPC (S39)"
    )
    func limit() async throws {
        try await Quartet.with { quartet in
            try await quartet.overEach { carrier in
                let hal = try await carrier.signUp("hal", at: quartet)
                try await quartet.waitUntilQuiet()
                func setOpen(_ count: Int, every interval: String) async throws {
                    _ = try await quartet.psql(
                        """
                        DELETE FROM notifications.scheduled WHERE account = '\(hal.account)';
                        INSERT INTO notifications.scheduled (account, id, kind, details, due_at)
                        SELECT '\(hal.account)', gen_random_uuid(), 'system', '{"reminder":"Tea"}',
                               date_trunc('milliseconds', clock_timestamp()) + n * interval '\(interval)'
                          FROM generate_series(1, \(count)) AS n
                        """)
                }
                let reminder = try await hal.reminder("Tea", inHours: 1)
                for (count, interval) in [(100, "2 days"), (30, "1 minute")] {
                    try await setOpen(count, every: interval)
                    try await carrier.expect("limitReached", of: "ScheduleReminder", reminder, token: hal.token)
                    let list = try await carrier.act("ListReminders", token: hal.token)["reminders"].array
                    #expect(list.count == count)
                    _ = try await carrier.act("CancelReminder", ["id": list[0]["id"]], token: hal.token)
                    let next = try await hal.reminder("Tea", inHours: 1)
                    _ = try await carrier.act("ScheduleReminder", next, token: hal.token)
                }
            }
        }
    }
}

extension Device {
    /// The fields of a new reminder, by the server's clock.
    func reminder(_ text: String, inHours hours: Int64) async throws -> JSON {
        let now = try #require(try await read("/v1/time")["received"].int)
        let due = now + hours * 3_600_000_000
        return ["id": .string(EdgeClient.newKey()), "text": .string(text), "due": .int(due)]
    }
}

extension Quartet {
    /// Has reminders become due ten minutes ago, while nobody is there to see it.
    func moveReminders(_ text: String? = nil) async throws {
        let isMeant = text.map { "details ->> 'reminder' = '\($0)'" } ?? "true"
        _ = try await psql(
            """
            WITH moved AS (
                UPDATE notifications.scheduled
                   SET due_at = date_trunc('milliseconds', clock_timestamp()) - interval '10 minutes'
                 WHERE \(isMeant)
                RETURNING account, id, due_at
            )
            UPDATE notifications.timer AS t
               SET due_at = m.due_at,
                   body = json_build_object('account', m.account, 'id', m.id, 'due', notifications.microseconds(m.due_at))
              FROM moved AS m WHERE t.name = 'DeliverScheduledNotification/' || m.id
            """)
    }

    /// Lets an hour pass for everything in the logs that may be emptied by then.
    fileprivate func age() async throws {
        _ = try await psql(
            """
            UPDATE session_client.notifications_commands SET recorded_at = recorded_at - interval '61 minutes';
            UPDATE notifications.reminder_text SET recorded_at = recorded_at - interval '61 minutes'
            """)
    }
}
