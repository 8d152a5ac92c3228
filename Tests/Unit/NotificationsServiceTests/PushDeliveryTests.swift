import Bus
import Logging
import Postgres
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import ServiceLifecycle
import Storage
import StoreKit
import Synchronization
import TestKit
import Testing

@testable import NotificationsService

@Suite("Notifications: in which order pushes are sent")
struct PushDeliveryTests {
    private static let tables = DatabaseTemplate.tables(of: "notifications", in: "Notifications")

    @Test("a critical push doesn't wait for three hundred others, though the receiver answers none of them (S38)")
    func criticalFirst() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            try await outbox.add(300, .groupInvitation)
            try await outbox.sending {
                // The rest of the places is kept.
                try await outbox.receiver.wait("as many as may be sent at a time", count: 12)
                try await outbox.add(1, .dependentCheckInMissed)
                let place = try await outbox.receiver.asked.wait("the critical one") { pushes in
                    pushes.firstIndex { $0.notification.priority == .critical }
                }
                #expect(place < 12 + 32)
            }
        }
    }

    @Test("the push of a reminder waits for all others, also if it is due before them (S38, S39)")
    func reminderLast() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            try await outbox.add(.system, .init(reminder: "Tea"), to: try await outbox.account())
            // It has failed before, and its push service is back.
            try await outbox.psql(
                """
                UPDATE notifications.push
                   SET attempts = 2, last_error = 'a test', next_attempt_at = clock_timestamp() + interval '1 hour'
                """)
            let hurried = try await outbox.hurry(limit: 10)
            #expect(hurried.count == 1)
            try await outbox.add(40, .groupInvitation)
            try await outbox.sending {
                // The rest of the places is kept.
                try await outbox.receiver.wait("as many as may be sent at a time", count: 12)
                #expect(!outbox.receiver.asked.value.contains { $0.notification.details.isReminder })
                outbox.receiver.answer { _ in .success(.taken("it")) }
                try await outbox.receiver.wait("all", count: 41)
            }
        }
    }

    @Test("an account's pushes take only its share of the places, however slow they are (S38)")
    func shares() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            let slow = try await outbox.account()
            try await outbox.add(300, .pingsCleared, to: slow)
            try await outbox.add(20, .dependentAlertRaised, to: slow)
            try await outbox.sending {
                try await outbox.receiver.wait("those that its device may get at a time", count: 2)
                try await outbox.add(8, .contactAdded)
                try await outbox.receiver.wait("those of others", count: 10)
                #expect(outbox.receiver.asked.value.count { $0.account == slow } == 2)
                // When the receiver answers, everything gets there.
                outbox.receiver.answer { _ in .success(.taken("it")) }
                try await outbox.receiver.wait("all", count: 328)
            }
        }
    }

    @Test("an alarm reaches the phone that works, though its owner's three other devices don't answer (S38)")
    func oneDeviceAnswers() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            let bob = try await outbox.account()
            var dead = try await outbox.devices(of: bob)
            for _ in 0..<2 { dead.insert(try await outbox.register(bob)) }
            try await outbox.add(6, .dependentCheckInMissed, to: bob)
            // They have failed before.
            try await outbox.psql("UPDATE notifications.push SET attempts = 2, last_error = 'a test'")
            let phone = try await outbox.register(bob)
            outbox.receiver.hang(dead)
            outbox.receiver.answer { _ in .success(.taken("it")) }
            try await outbox.sending {
                try await outbox.receiver.wait("one for each of the others", count: 3)
                try await outbox.add(6, .dependentAlertRaised, to: bob)
                try await outbox.receiver.asked.wait("all for the phone") { pushes in
                    pushes.count { $0.device == phone } == 6 ? true : nil
                }
                #expect(Set(outbox.receiver.asked.value.prefix(3).map(\.device)) == dead)
                #expect(outbox.receiver.asked.value.count == 9)
            }
        }
    }

    @Test("a push service that answers nothing holds up no alarm that goes through another one (S38, A14)")
    func oneServiceAnswers() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            try await outbox.add(300, .dependentCheckInMissed)
            try await outbox.sending {
                try await outbox.receiver.wait("as many as may be sent at a time", count: PushPlaces.total)
                try await outbox.add(1, .dependentAlertRaised, on: .android)
                try await outbox.android.wait("the one for the other service", count: 1)
                #expect(outbox.receiver.asked.value.count == PushPlaces.total)
            }
        }
    }

    @Test("a push that is sent once more never comes after the opposite of its alarm (S38, A1)")
    func overtaken() async throws {
        for (first, second) in [
            (NotificationKind.dependentAlertRaised, NotificationKind.dependentAlertCleared),
            (.dependentAlarmEnded, .dependentAlertRaised),
        ] {
            try await HeldOutbox.with(Self.tables) { outbox in
                let bob = AccountID.new()
                let alarm = AlarmID.new()
                try await outbox.open(bob)
                outbox.receiver.answer { push in
                    push.notification.kind == first ? .failure(.unavailable("it is off")) : .success(.taken("it"))
                }
                try await outbox.sending {
                    try await outbox.add(first, of: alarm, to: bob)
                    try await outbox.receiver.wait("the first", count: 1)
                    // Of another alarm, nothing is the opposite: when that is taken, the first is sent once more.
                    try await outbox.add(second, of: .new(), to: bob)
                    try await outbox.waitUntil("the first alone to wait", "true", are: 1)
                    let count = outbox.receiver.asked.value.count
                    try await outbox.receiver.wait("the first once more", count: count + 1)
                    // It isn't due, however it was on its way, while the opposite is sent.
                    try await outbox.psql("UPDATE notifications.push SET attempts = 61, next_attempt_at = 'infinity'")
                    try await outbox.add(second, of: alarm, to: bob)
                    try await outbox.waitUntil("the first alone to wait", "true", are: 1)
                    let sent = outbox.receiver.asked.value.count
                    try await outbox.psql("UPDATE notifications.push SET next_attempt_at = clock_timestamp()")
                    try await outbox.waitUntil("nothing to wait", "true", are: 0)
                    #expect(outbox.receiver.asked.value.count == sent)
                }
                let dropped = try await outbox.psql(
                    "SELECT answer FROM notifications.push_attempt WHERE result = 'expired'")
                #expect(dropped == "what it says isn't so any more")
            }
        }
    }

    @Test(
        "what reminds of a trip isn't pushed once that is over or its time has passed (A7)",
        arguments: [
            "cleared_at = now()",
            "details = jsonb_set(details::jsonb, '{deadline}', notifications.microseconds(now())::text::jsonb)::json",
        ])
    func tripOver(_ change: String) async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            outbox.receiver.answer { _ in .failure(.unavailable("it is off")) }
            try await outbox.sending {
                for _ in 0..<2 {
                    let bob = try await outbox.account()
                    let before = outbox.receiver.asked.value.count
                    try await outbox.add(
                        .checkInReminder, .init(deadline: .now + .hours(1), trip: .new()), to: bob)
                    try await outbox.receiver.wait("it to be refused", count: before + 1)
                }
                // They aren't due, however they were on their way.
                try await outbox.psql("UPDATE notifications.push SET attempts = 61, next_attempt_at = 'infinity'")
                let first = "(SELECT min(n.id::text) FROM notifications.notification AS n)"
                try await outbox.psql("UPDATE notifications.notification SET \(change) WHERE id::text = \(first)")
                try await outbox.psql("UPDATE notifications.push SET next_attempt_at = clock_timestamp()")
                try await outbox.waitUntil("the other one alone to wait", "true", are: 1)
                try await outbox.waitUntil("that one to wait", "p.notification::text <> \(first)", are: 1)
            }
        }
    }

    @Test(
        "that a push about an alarm is refused isn't believed at once; what nobody can ever take is dropped (S38, A14)")
    func refused() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            outbox.receiver.answer { _ in .failure(.refused("it answered 400")) }
            try await outbox.sending {
                try await outbox.add(1, .groupInvitation)
                try await outbox.waitUntil("that one to be dropped", "true", are: 0)
                try await outbox.add(1, .dependentAlertRaised)
                try await outbox.receiver.wait("one more attempt", count: 3)
                // That others are taken says nothing about it; nor does how often it failed before.
                try await outbox.psql("UPDATE notifications.push SET attempts = 100")
                try await outbox.psql("UPDATE notifications.push SET next_attempt_at = clock_timestamp()")
                try await outbox.receiver.wait("one more attempt", count: 4)
                outbox.receiver.answer { _ in .success(.taken("it")) }
                try await outbox.psql("UPDATE notifications.push SET next_attempt_at = clock_timestamp()")
                try await outbox.waitUntil("it to be taken", "true", are: 0)
                outbox.receiver.answer { _ in .failure(.unfit("it is too large")) }
                try await outbox.add(1, .dependentAlertRaised)
                try await outbox.waitUntil("that one to be dropped, too", "true", are: 0)
            }
            let results = try await outbox.psql(
                "SELECT string_agg(result, ' ' ORDER BY began_at) FROM notifications.push_attempt WHERE result <> 'retried'"
            )
            #expect(results == "refused done refused")
        }
    }

    @Test("that a push about an alarm is refused is believed after half an hour (S38)")
    func refusedForLong() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            outbox.receiver.answer { _ in .failure(.refused("it answered 400")) }
            try await outbox.sending {
                try await outbox.add(1, .dependentAlertRaised)
                try await outbox.waitUntil("a refusal", "p.last_error LIKE 'refused: %'", are: 1)
                try await outbox.psql(
                    "UPDATE notifications.push_attempt SET began_at = began_at - interval '31 minutes'")
                try await outbox.waitUntil("it to be dropped", "true", are: 0)
            }
        }
    }

    @Test("a push that waits goes by the service under which its device has registered since (A14)")
    func registeredElsewhere() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            let bob = try await outbox.account()
            try await outbox.add(1, .dependentCheckInMissed, to: bob)
            let device = try #require(try await outbox.devices(of: bob).first)
            try await outbox.register(bob, device, on: .android)
            try await outbox.sending {
                try await outbox.android.wait("it", count: 1)
                #expect(outbox.receiver.asked.value.isEmpty)
            }
        }
    }

    @Test("which platforms there are devices of is said as soon as one is registered; canaries' don't count (A14)")
    func platforms() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            try await outbox.open(.canary(.responder, of: Partition(3), among: 8))
            try await outbox.sending {
                try await outbox.platforms.wait("none") { $0 == [] ? true : nil }
                try await outbox.add(1, .groupInvitation, on: .android)
                try await outbox.platforms.wait("that one") { $0 == [.android] ? true : nil }
            }
        }
    }

    @Test("an alarm that was never tried goes before three hundred that failed (S38)")
    func untriedFirst() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            try await outbox.add(300, .dependentCheckInMissed)
            try await outbox.psql("UPDATE notifications.push SET attempts = 2, last_error = 'a test'")
            try await outbox.add(1, .dependentAlertRaised)
            try await outbox.sending {
                try await outbox.receiver.asked.wait("it, while none is answered") { pushes in
                    pushes.contains { $0.notification.kind == .dependentAlertRaised } ? true : nil
                }
            }
        }
    }

    @Test("failed pushes are made due a thousand at a time, and not while enough of them are due (S38)")
    func hurried() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            try await outbox.add(30, .groupInvitation)
            let wait = "UPDATE notifications.push SET attempts = 2, last_error = 'a test', next_attempt_at = 'infinity'"
            try await outbox.psql(wait)
            try await outbox.add(2, .dependentCheckInMissed)
            try await outbox.psql("\(wait) WHERE priority = 0")
            let due = "SELECT count(*) FROM notifications.push AS p WHERE p.next_attempt_at < 'infinity'"
            var hurried = try await outbox.hurry(limit: 10)
            #expect(hurried.count == 10 && hurried.isMore)
            #expect(try await outbox.psql("\(due) AND p.priority = 0") == "2")
            hurried = try await outbox.hurry(limit: 10)
            #expect(hurried.count == 0 && hurried.isMore)
            #expect(try await outbox.psql(due) == "10")
            try await outbox.psql("DELETE FROM notifications.push WHERE next_attempt_at < 'infinity'")
            for count in [10, 10, 2] {
                hurried = try await outbox.hurry(limit: 10)
                #expect(hurried.count == count && hurried.isMore == (count == 10))
                try await outbox.psql("DELETE FROM notifications.push WHERE next_attempt_at < 'infinity'")
            }
        }
    }

    @Test("a claimed alarm is sent as soon as the database says again that it is wanted (S38)")
    func wantedAgain() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            let bob = try await outbox.account()
            try await outbox.add(2, .dependentCheckInMissed, to: bob)
            try await outbox.sending {
                // The device has the other one claimed as well.
                try await outbox.receiver.wait("the first", count: 1)
                // Only the question whether one is still wanted fails.
                try await outbox.psql(
                    """
                    ALTER TABLE notifications.push_device RENAME TO push_device_elsewhere;
                    CREATE FUNCTION notifications.devices_for_most() RETURNS SETOF notifications.push_device_elsewhere
                        LANGUAGE plpgsql SECURITY DEFINER
                    AS $$ BEGIN
                        IF current_query() LIKE 'SELECT EXISTS (SELECT FROM notifications.notification AS n%' THEN RAISE 'not now'; END IF;
                        RETURN QUERY SELECT * FROM notifications.push_device_elsewhere;
                    END $$;
                    CREATE VIEW notifications.push_device AS SELECT * FROM notifications.devices_for_most();
                    GRANT EXECUTE ON FUNCTION notifications.devices_for_most() TO notifications;
                    GRANT SELECT ON notifications.push_device TO notifications;
                    """)
                outbox.receiver.answer { _ in .success(.taken("it")) }
                try await outbox.waitUntil("the first to be over", "true", are: 1)
                try await outbox.psql(
                    """
                    DROP VIEW notifications.push_device;
                    DROP FUNCTION notifications.devices_for_most();
                    ALTER TABLE notifications.push_device_elsewhere RENAME TO push_device;
                    """)
                try await outbox.receiver.wait("the second", count: 2)
            }
        }
    }

    @Test("what isn't sent keeps its turn when its process stops, and doesn't count as tried (S38)")
    func givenBack() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            try await outbox.add(100, .groupInvitation)
            try await outbox.psql("UPDATE notifications.push SET next_attempt_at = created_at")
            try await outbox.sending {
                try await outbox.receiver.wait("as many as may be sent at a time", count: 12)
            }
            let kept = try await outbox.psql(
                "SELECT count(*) FROM notifications.push AS p WHERE p.next_attempt_at = p.created_at AND p.attempts = 0"
            )
            // Between the order to stop and its arrival, answers may have freed places for others.
            #expect(kept == "\(100 - outbox.receiver.asked.value.count)")
        }
    }

    @Test("a critical push is tried again within 30 s; when the receiver is back, everything is sent at once (S38)")
    func back() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            try await outbox.add(20, .groupInvitation)
            try await outbox.add(1, .dependentCheckInMissed)
            // They have failed for long, so others wait up to ten minutes.
            try await outbox.psql("UPDATE notifications.push SET attempts = 40")
            outbox.receiver.answer { _ in .failure(.unavailable("it is off")) }
            try await outbox.sending {
                try await outbox.receiver.wait("each once", count: 21)
                try await outbox.waitUntil("all of them failed", "p.last_error IS NULL", are: 0)
                let late = "p.priority = 0 AND p.next_attempt_at > clock_timestamp() + interval '30 s'"
                try await outbox.waitUntil("the critical one to be due", late, are: 0)
                outbox.receiver.answer { _ in .success(.taken("it")) }
                try await outbox.add(1, .contactAdded)
                try await outbox.waitUntil("nothing to wait", "true", are: 0)
            }
        }
    }

    @Test(
        """
        a canary's push ends in a row and never reaches the receiver; it waits for none of people's and makes none of \
        them due (A1)
        """)
    func canary() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            let canary = AccountID.canary(.responder, of: Partition(3), among: 8)
            let alarms = [AlarmID.new(at: .now - .minutes(1)), .new()]
            try await outbox.add(300, .groupInvitation)
            try await outbox.add(20, .dependentCheckInMissed)
            try await outbox.open(canary)
            for alarm in alarms { try await outbox.add(.dependentCheckInMissed, of: alarm, to: canary) }
            try await outbox.add(1, .dependentCheckedInLate, to: canary)
            #expect(try await outbox.psql("SELECT count(*) FROM notifications.push WHERE priority = 4") == "3")
            try await outbox.sending {
                // Nothing of these is answered.
                try await outbox.receiver.wait("as many as may be sent at a time", count: 16)
                try await outbox.waitUntil("the canary's pushes to be taken", "p.priority = 4", are: 0)
                #expect(!outbox.receiver.asked.value.contains { $0.account.isCanary })
            }
            #expect(
                try await outbox.psql("SELECT account, alarm FROM notifications.canary WHERE alarm IS NOT NULL")
                    == "\(canary)|\(alarms[1])")
        }
    }

    @Test("a canary's push that gets through doesn't make people's due that failed (A1)")
    func canaryHurriesNobody() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            let canary = AccountID.canary(.responder, of: Partition(3), among: 8)
            try await outbox.open(canary)
            try await outbox.add(20, .groupInvitation)
            try await outbox.psql("UPDATE notifications.push SET attempts = 40")
            outbox.receiver.answer { _ in .failure(.unavailable("it is off")) }
            try await outbox.sending {
                try await outbox.receiver.wait("each once", count: 20)
                try await outbox.waitUntil("all of them failed", "p.last_error IS NULL", are: 0)
                // One is sent after the other, so what follows from the first has been done.
                for _ in 0..<2 { try await outbox.add(.dependentCheckInMissed, of: .new(), to: canary) }
                try await outbox.waitUntil("the canary's pushes to be taken", "p.priority = 4", are: 0)
                let due = try await outbox.psql(
                    """
                    SELECT count(*) FROM notifications.push
                     WHERE next_attempt_at < clock_timestamp() + interval '10 seconds'
                    """)
                #expect(due == "0" && outbox.receiver.asked.value.count == 20)
            }
        }
    }

    @Test("a critical push that waits for long is reported, and so is its end (S38)")
    func reported() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            try await outbox.add(1, .dependentCheckInMissed)
            try await outbox.psql("UPDATE notifications.push SET created_at = created_at - interval '1 minute'")
            outbox.receiver.answer { _ in .failure(.unavailable("it is off")) }
            try await outbox.sending {
                let problem = try await outbox.trouble.wait("a report") { $0 }
                #expect(problem.hasPrefix("a push about an alarm has waited for "))
                outbox.receiver.answer { _ in .success(.taken("it")) }
                try await outbox.psql("UPDATE notifications.push SET next_attempt_at = clock_timestamp()")
                try await outbox.trouble.wait("its end") { $0 == nil ? true : nil }
            }
        }
    }

    @Test("that devices can't be forgotten is said once, and so is that they can again (S38)")
    func cannotForget() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            try await outbox.psql("REVOKE DELETE ON notifications.push_device FROM notifications")
            let (fails, works) = (
                "forgetting devices that have left fails; it is tried each second",
                "forgetting devices that have left works again"
            )
            try await outbox.sending {
                try await outbox.lines.wait("the line") { $0.contains(fails) ? true : nil }
                // It fails again before the second of these looks.
                for _ in 0..<2 {
                    outbox.platforms.update { $0 = nil }
                    try await outbox.platforms.wait("the next look") { $0 }
                }
                try await outbox.psql("GRANT DELETE ON notifications.push_device TO notifications")
                try await outbox.lines.wait("its end") { $0.contains(works) ? true : nil }
            }
            #expect(outbox.lines.value.filter { $0.hasPrefix("forgetting") } == [fails, works])
        }
    }

    @Test("while nobody can look whether pushes about alarms wait, that is reported (S38)")
    func cannotCount() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            try await outbox.psql("REVOKE SELECT ON notifications.push FROM notifications")
            try await outbox.sending {
                let problem = try await outbox.trouble.wait("a report") { $0 }
                #expect(problem == "it isn't known whether pushes about alarms wait")
                try await outbox.psql("GRANT SELECT ON notifications.push TO notifications")
                try await outbox.trouble.wait("its end") { $0 == nil ? true : nil }
            }
            let lines = outbox.lines.value.filter { $0.hasPrefix("counting") }
            #expect(lines.first == "counting the pushes that wait fails; it is tried each second")
        }
    }
}
