import Postgres
import QuartetContractSupport
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import Storage
import StoreKit
import TestKit
import Testing

@testable import NotificationsService

@Suite("Notifications: test pushes")
struct TestPushTests {
    private typealias Trial = StoreTrial<NotificationsStore>
    private static let tables = DatabaseTemplate.tables(of: "notifications", in: "Notifications")

    private static func send(to account: AccountID, _ device: PushDeviceID, because why: String = "'why'") -> String {
        """
        SET SESSION AUTHORIZATION quartet_operator;
        SELECT notifications.send_test_push('\(account)', '\(device)', \(why))
        """
    }

    private static let results = """
        SELECT concat_ws(' ', r.result, r.attempts, r.answer) FROM notifications.test_push_result AS r ORDER BY r.asked_at
        """

    @Test(
        "a test push has one result, which is recorded, and nothing else is: no notification, attempt, count or reach (A14)",
        arguments: [
            (Result<PushAnswer, PushFailure>.success(.taken("it")), "accepted 1 it"),
            (.success(.logged("it was only logged")), "only logged 1 it was only logged"),
            (.failure(.refused("it is a test")), "refused 1 it is a test"),
            (.failure(.gone()), "gone 1 the receiver answered that the device is gone"),
        ])
    func counted(_ answer: Result<PushAnswer, PushFailure>, _ result: String) async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            let bob = try await outbox.account()
            let device = try #require(try await outbox.devices(of: bob).first)
            outbox.receiver.answer { _ in answer }
            _ = try await outbox.psql(Self.send(to: bob, device))
            // Even of what has its id in the history, no attempt would be recorded.
            try await outbox.psql(
                """
                INSERT INTO notifications.notification (account, id, kind, category, details, created_at)
                SELECT p.account, p.notification, 'system', 'system', '{}', now() FROM notifications.push AS p
                """)
            #expect(try await outbox.countedAsWaiting() == 0)
            try await outbox.sending { try await outbox.waitUntil("nothing to wait", "true", are: 0) }
            #expect(try await outbox.psql(Self.results) == result)
            let push = try #require(outbox.receiver.asked.value.first)
            #expect(push.isTest == true && push.unread == nil && push.account == bob && push.device == device)
            #expect(PushText(push).title == "Test: no alarm" && push.notification.priority == .normal)
            let counted = try await outbox.psql(
                """
                SELECT concat_ws(' ', a.unread, a.total, (SELECT count(*) FROM notifications.push_attempt),
                                 (SELECT count(*) FROM notifications.push_taken))
                  FROM notifications.account AS a
                """)
            #expect(counted == "0 0 0 0")
            let act = "SELECT act || ': ' || reason FROM notifications.operator_act"
            #expect(try await outbox.psql(act) == "send_test_push: why")
        }
    }

    @Test("a test push that can't be sent is tried again for ten minutes, and its result says why it waits (A14)")
    func expires() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            let bob = try await outbox.account()
            let device = try #require(try await outbox.devices(of: bob).first)
            outbox.receiver.answer { _ in .failure(.unavailable("it is off")) }
            _ = try await outbox.psql(Self.send(to: bob, device))
            #expect(try await outbox.psql(Self.results) == "waiting")
            try await outbox.sending {
                try await outbox.waitUntil(
                    "two attempts to fail", "p.attempts >= 2 AND p.last_error IS NOT NULL", are: 1)
                #expect(try await outbox.psql(Self.results).hasPrefix("waiting "))
                #expect(try await outbox.psql(Self.results).hasSuffix(" it is off"))
                // What failed so often would wait for ten minutes, and the service wants to be left alone for longer. Eight
                // minutes aren't ten.
                outbox.receiver.answer { _ in .failure(.unavailable("it is off", retryAfter: .seconds(1800))) }
                try await outbox.psql(
                    """
                    UPDATE notifications.push
                       SET created_at = now() - interval '8 minutes', attempts = 40, last_error = 'none yet', next_attempt_at = now()
                    """)
                try await outbox.waitUntil(
                    "one more attempt to fail", "p.attempts = 41 AND p.last_error = 'it is off'", are: 1)
                #expect(try await outbox.psql(Self.results) == "waiting 41 it is off")
                let isSoon = "SELECT next_attempt_at <= clock_timestamp() + interval '1 minute' FROM notifications.push"
                #expect(try await outbox.psql(isSoon) == "t")
                outbox.receiver.answer { _ in .failure(.unavailable("it is off")) }
                try await outbox.psql("UPDATE notifications.push SET next_attempt_at = now()")
                try await outbox.waitUntil(
                    "another attempt to fail", "p.attempts = 42 AND p.last_error = 'it is off'", are: 1)
                let isSooner =
                    "SELECT next_attempt_at <= clock_timestamp() + interval '30 seconds' FROM notifications.push"
                #expect(try await outbox.psql(isSooner) == "t")
                try await outbox.psql(
                    "UPDATE notifications.push SET created_at = now() - interval '10 minutes', next_attempt_at = now()")
                try await outbox.waitUntil("nothing to wait", "true", are: 0)
            }
            #expect(try await outbox.psql(Self.results).hasSuffix(" it could not be sent for ten minutes: it is off"))
            #expect(try await outbox.psql(Self.results).hasPrefix("expired "))
        }
    }

    @Test("what is recorded late of a test push changes nothing, and one that was taken stays so (A14)")
    func late() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            let bob = try await outbox.account()
            let device = try #require(try await outbox.devices(of: bob).first)
            let test = try #require(
                NotificationID(String(try await outbox.psql(Self.send(to: bob, device)).suffix(36))))
            func attempt(_ number: Int32, _ result: PushAttempt.Result, _ answer: String) -> PushAttempt {
                let claimed = ClaimedPush(
                    account: bob, device: device, notification: test, body: JSON(Array("{}".utf8)), attempt: number,
                    priority: 2,
                    due: .now, startBy: .now, token: "token-of-\(device)", platform: .ios, registered: .now,
                    isOver: false, isSuperseded: false, isTest: true)
                return PushAttempt(claimed: claimed, result: result, answer: answer)
            }
            try await outbox.record([attempt(2, .retried, "second"), attempt(1, .retried, "first")])
            #expect(try await outbox.psql(Self.results) == "waiting 2 second")
            // The process was killed before it removed the push, which was then tried again.
            try await outbox.record([attempt(3, .done, "it"), attempt(4, .retried, "it is off")])
            #expect(try await outbox.psql(Self.results) == "accepted 3 it")
            try await outbox.record([attempt(5, .expired, "it could not be sent for ten minutes")])
            #expect(try await outbox.psql(Self.results) == "accepted 3 it")
        }
    }

    @Test("a device can be unregistered while a test push to it is being added, and the test goes with it (A14)")
    func unregistered() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            let bob = try await outbox.account()
            let device = try #require(try await outbox.devices(of: bob).first)
            // Open until the rules wait for it.
            async let sent = outbox.psql(
                """
                DO $$
                DECLARE ends timestamptz := clock_timestamp() + interval '2 minutes';
                BEGIN
                    PERFORM notifications.send_test_push('\(bob)', '\(device)', 'why');
                    WHILE NOT EXISTS (SELECT FROM pg_stat_activity AS a WHERE pg_backend_pid() = ANY (pg_blocking_pids(a.pid))) LOOP
                        IF clock_timestamp() > ends THEN RAISE EXCEPTION 'nobody waits'; END IF;
                        PERFORM pg_sleep(0.01), pg_stat_clear_snapshot();
                    END LOOP;
                END
                $$
                """)
            try await outbox.waitUntilLocked(device)
            try await outbox.unregister(bob, device)
            _ = try await sent
            let left =
                "SELECT (SELECT count(*) FROM notifications.push) + (SELECT count(*) FROM notifications.push_device)"
            #expect(try await outbox.psql(left) == "0")
            #expect(try await outbox.psql(Self.results).hasPrefix("dropped "))
        }
    }

    @Test(
        """
        a test push is refused without a reason, for a device that isn't registered or is a canary's, and after five of a day, \
        and that leaves nothing (A14)
        """)
    func refused() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            let (bob, carol, dora) = (
                try await outbox.account(), try await outbox.account(), try await outbox.account()
            )
            let carols = try #require(try await outbox.devices(of: carol).first)
            let doras = try #require(try await outbox.devices(of: dora).first)
            let device = try #require(try await outbox.devices(of: bob).first)
            let other = try await outbox.register(bob)
            let canary = AccountID.canary(.responder, of: Partition(3), among: 8)
            try await outbox.open(canary)
            let canarys = try #require(try await outbox.devices(of: canary).first)
            func refusal(_ statement: String) async throws -> String {
                do {
                    return try await outbox.psql(statement)
                } catch {
                    return "\(error)"
                }
            }
            for (statement, sentence) in [
                (Self.send(to: bob, device, because: "' '"), "a test push needs a reason"),
                (Self.send(to: bob, device, because: "NULL"), "a test push needs a reason"),
                (Self.send(to: bob, device, because: "repeat('x', 1001)"), "a test push needs a reason"),
                (Self.send(to: carol, device), "has no device \(device) that is registered for pushes"),
                (Self.send(to: canary, canarys), "is synthetic"),
            ] {
                let said = try await refusal(statement)
                #expect(said.contains(sentence), "\(said)")
            }
            let rows = """
                SELECT concat_ws(' ', (SELECT count(*) FROM notifications.push), (SELECT count(*) FROM notifications.test_push),
                                 (SELECT count(*) FROM notifications.operator_act))
                """
            #expect(try await outbox.psql(rows) == "0 0 0")
            for _ in 0..<5 { _ = try await outbox.psql(Self.send(to: bob, device)) }
            let sixth = try await refusal(Self.send(to: bob, device))
            #expect(sixth.contains("five test pushes to this device within a day are the most"), "\(sixth)")
            #expect(try await outbox.psql(rows) == "5 5 5")
            // Of each device.
            _ = try await outbox.psql(Self.send(to: bob, other))
            _ = try await outbox.psql(
                "UPDATE notifications.test_push SET asked_at = asked_at - interval '25 hours' WHERE device = '\(device)'"
            )
            _ = try await outbox.psql(Self.send(to: bob, device))
            #expect(try await outbox.psql(rows) == "7 7 7")
            // Of all devices within an hour, even in one statement.
            let many = try await refusal(
                """
                UPDATE notifications.test_push SET asked_at = asked_at - interval '2 hours';
                INSERT INTO notifications.test_push (id, account, device)
                SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid() FROM generate_series(1, 49);
                SET SESSION AUTHORIZATION quartet_operator;
                SELECT notifications.send_test_push(d.account, d.device, 'why')
                  FROM (VALUES ('\(carol)'::uuid, '\(carols)'::uuid), ('\(dora)', '\(doras)')) AS d(account, device)
                """)
            #expect(many.contains("fifty test pushes within an hour are the most"), "\(many)")
            #expect(try await outbox.psql(rows) == "7 7 7")
            let delete = "SELECT notifications.delete_old_test_pushes(100)"
            #expect(try await outbox.psql(delete) == "0")
            _ = try await outbox.psql(
                "UPDATE notifications.test_push SET asked_at = asked_at - interval '30 days' WHERE device = '\(device)'"
            )
            #expect(try await outbox.psql(delete) == "6")
        }
    }

    @Test(
        "test pushes take no room from others, and go with their device when it is signed out, and their account when it is closed (A14)"
    )
    func takesNoRoom() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var limits = NotificationsLimits()
            (limits.pushes, limits.criticalPushes) = (2, 1)
            let trial = try await Trial(NotificationsStore(limits: limits), in: database, as: "notifications")
            let (account, device) = (AccountID.new(), PushDeviceID.new())
            func ask(_ body: any CommandBody) async throws {
                for ended in try await trial.handle([Trial.Command(body, by: account, at: .now)]) {
                    _ = try ended.get()
                }
            }
            try await ask(OpenAccount())
            try await ask(RegisterPush(device: device, token: "a-token", platform: .web))
            // An alarm's beginning, its end, and tests that came after both.
            try await ask(DeliverNotification(id: .new(), kind: .dependentAlertRaised))
            try await ask(DeliverNotification(id: .new(), kind: .dependentAlertCleared))
            for _ in 0..<5 { _ = try await database.psql(Self.send(to: account, device)) }
            let waiting = """
                SELECT string_agg(concat_ws(' ', p.priority, p.count), ', ' ORDER BY p.priority)
                  FROM (SELECT q.priority, count(*) FROM notifications.push AS q WHERE NOT q.is_test GROUP BY q.priority) AS p
                """
            try await ask(DeliverNotification(id: .new(), kind: .groupStarted))
            #expect(try await database.psql(waiting) == "0 1, 1 1")
            try await ask(UnregisterPush(device: device, stillWarns: true, isSignedOut: true))
            #expect(try await database.psql("SELECT count(*) FROM notifications.push") == "0")
            let result = "SELECT DISTINCT r.result || ': ' || r.answer FROM notifications.test_push_result AS r"
            #expect(try await database.psql(result) == "dropped: the device is registered for pushes no more, or anew")
            #expect(try await database.psql("SELECT count(*) FROM notifications.test_push") == "5")
            try await ask(CloseAccount())
            #expect(try await database.psql("SELECT count(*) FROM notifications.test_push") == "0")
            await trial.close()
        }
    }
}
