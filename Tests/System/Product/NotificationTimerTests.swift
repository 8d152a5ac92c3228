import EdgeClient
import Foundation
import TestKit
import Testing

/// Notifications that come by themselves when they are due.
@Suite("End to end: the timers of notifications", .timeLimit(.minutes(60)))
struct EndToEndNotificationTimerTests {
    @Test("the history goes back 30 days, and deleted notifications don't count as unread (S37)")
    func history() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let annaSees = try await LiveView.open(anna)
            for _ in 0..<3 {
                try await anna.act("RaiseAlert")
                try await anna.act("ClearAlert")
            }
            try await quartet.wait(for: "six notifications", "SELECT max(unread) FROM notifications.unread") {
                $0 == "6"
            }
            let history = try await anna.read("/v1/notifications?limit=200")["notifications"].array
            for kind in ["alertRaised", "alertCleared"] as [JSON] {
                let first = try #require(history.first { $0["kind"] == kind })
                try await anna.act("MarkRead", ["id": first["id"]])
            }
            let timers = try await quartet.psql("SELECT string_agg(name, ' ') FROM notifications.timer")
            #expect(timers == "ForgetOldNotifications")

            // The world's clock can't be moved, so the past is.
            _ = try await quartet.psql(
                """
                WITH old AS (
                    UPDATE notifications.notification SET created_at = created_at - interval '31 days'
                     WHERE kind = 'alertRaised' RETURNING account, created_at
                ), oldest AS (
                    SELECT o.account, min(o.created_at) + interval '720 hours' AS forget_at
                      FROM old AS o GROUP BY o.account
                ), moved AS (
                    UPDATE notifications.account AS a SET forget_at = o.forget_at
                      FROM oldest AS o WHERE a.account = o.account RETURNING a.account, a.forget_at
                )
                UPDATE notifications.timer AS t SET due_at = m.forget_at
                  FROM moved AS m WHERE t.key = 'account/' || m.account
                """)
            let forgotten = try await annaSees.wait("NotificationsForgotten", in: "notifications").data["body"]
            #expect(forgotten["count"] == 3 && forgotten["unread"] == 2)
            let (kinds, unread) = try await (anna.kinds(), anna.unread())
            #expect(kinds == ["alertCleared", "alertCleared", "alertCleared"] && unread == 2)
            let wrong = try await quartet.psql("SELECT count(*) FROM notifications.wrong_count")
            #expect(wrong == "0")
            // And when the oldest of the rest will be too old.
            let next = try await quartet.psql(
                """
                SELECT string_agg(t.name || ' ' || (t.due_at = n.oldest + interval '720 hours'), ' ')
                  FROM notifications.timer AS t,
                       (SELECT min(created_at) AS oldest FROM notifications.notification) AS n
                """)
            #expect(next == "ForgetOldNotifications true")
        }
    }

    @Test("lost timers are set again, exactly as they were (S37, S39)")
    func lostTimers() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            try await anna.act("RaiseAlert")
            try await quartet.waitUntilQuiet()
            try await quartet.askNotifications(
                "ScheduleNotification",
                [
                    "details": [:], "due": .int((Int64(Date().timeIntervalSince1970) + 3600) * 1_000_000),
                    "id": .string(EdgeClient.newKey()), "kind": "system",
                ], for: anna)
            try await quartet.waitUntilQuiet()
            let timers =
                "SELECT count(*) || ' ' || string_agg(t::text, ' ' ORDER BY name) FROM notifications.timer AS t"
            let before = try await quartet.psql(timers)
            #expect(before.hasPrefix("2 "))
            try await quartet.kill(.notifications)
            _ = try await quartet.psql("DELETE FROM notifications.timer")
            try await quartet.start(.notifications)
            try await quartet.process(of: .notifications).waitForLine(containing: "repaired timers")
            let after = try await quartet.psql(timers)
            #expect(after == before)
            let metrics = try await quartet.metrics(of: .notifications)
            #expect(metrics.contains(#"quartet_timers_healed_total{schema="notifications"} 2"#), "\(metrics)")
        }
    }

    @Test(
        "a scheduled notification is delivered when due, once, even if nothing ran then; a cancelled one isn't (S39)")
    func scheduled() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let annaSees = try await LiveView.open(anna)
            let (kept, cancelled) = (EdgeClient.newKey(), EdgeClient.newKey())
            let due = (Int64(Date().timeIntervalSince1970) + 3600) * 1_000_000
            for id in [kept, cancelled] {
                try await quartet.askNotifications(
                    "ScheduleNotification",
                    ["details": [:], "due": .int(due), "id": .string(id), "kind": "system"], for: anna)
            }
            let scheduled = "SELECT string_agg(name, ' ' ORDER BY name) FROM notifications.timer"
            let names = [kept, cancelled].sorted().map { "DeliverScheduledNotification/\($0)" }
            try await quartet.wait(for: "both timers", scheduled) { $0 == names.joined(separator: " ") }
            try await quartet.askNotifications("CancelNotification", ["id": .string(cancelled)], for: anna)
            try await annaSees.wait("ScheduledNotificationCancelled", in: "notifications")
            let left = try await quartet.psql(scheduled)
            #expect(left == "DeliverScheduledNotification/\(kept)")

            try await quartet.kill(.notifications)
            // The world's clock can't be moved, so the time is: to the past while nobody is there to see it pass.
            _ = try await quartet.psql(
                """
                WITH moved AS (
                    UPDATE notifications.scheduled
                       SET due_at = date_trunc('milliseconds', clock_timestamp()) - interval '10 minutes'
                    RETURNING account, id, due_at
                )
                UPDATE notifications.timer AS t
                   SET due_at = m.due_at,
                       body = json_build_object('account', m.account, 'id', m.id,
                                                'due', notifications.microseconds(m.due_at))
                  FROM moved AS m WHERE t.name = 'DeliverScheduledNotification/' || m.id
                """)
            try await quartet.start(.notifications)
            let told = try await annaSees.wait(notification: "system")
            #expect(told["notification"]["id"].string == kept && told["unread"] == 1)
            // After a kill and a restart it isn't announced again.
            try await quartet.restart(.notifications)
            try await quartet.wait(
                for: "all timers' commands to have ended",
                """
                SELECT count(*) FROM notifications.due AS d
                 WHERE NOT EXISTS (SELECT FROM notifications.outcome AS o WHERE o.command_id = d.command_id)
                """
            ) { $0 == "0" }
            try await quartet.waitUntilQuiet()
            let kinds = try await anna.kinds()
            #expect(kinds == ["system"])
            let after = try await quartet.psql(
                "SELECT (SELECT count(*) FROM notifications.scheduled) || ' ' || (\(scheduled))")
            #expect(after == "0 ForgetOldNotifications")
        }
    }
}

extension Quartet {
    /// Sends notifications a command for an account, as session-client does; its API has none for this.
    func askNotifications(_ type: String, _ body: JSON, for device: Device) async throws {
        let key = "account/\(device.account)"
        _ = try await psql(
            """
            SELECT session_client.notifications_commands_append(
                ARRAY[session_client.notifications_commands_partition_of('\(key)')], ARRAY[1], ARRAY[1],
                ARRAY['command'], ARRAY['\(type)'], ARRAY[1::smallint], ARRAY['\(key)'],
                ARRAY['\(device.account)'::uuid], ARRAY['\(body)'::json], ARRAY[gen_random_uuid()],
                ARRAY['\(EdgeClient.newKey())'::uuid], ARRAY[NULL::text], ARRAY[NULL::uuid], ARRAY[gen_random_uuid()],
                ARRAY[NULL::uuid], ARRAY[NULL::text], ARRAY[NULL::bigint]);
            SELECT pg_notify('session_client.notifications_commands', '');
            """)
    }
}
