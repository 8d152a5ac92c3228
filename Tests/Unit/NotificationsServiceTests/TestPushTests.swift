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
            try await outbox.sending { try await outbox.waitUntil("nothing to wait", "true", are: 0) }
            #expect(try await outbox.psql(Self.results) == result)
            let push = try #require(outbox.receiver.asked.value.first)
            #expect(push.isTest == true && push.unread == 0 && push.account == bob && push.device == device)
            #expect(PushText(push).title == "Test: no alarm")
            let counted = try await outbox.psql(
                """
                SELECT concat_ws(' ', a.unread, a.total, (SELECT count(*) FROM notifications.notification),
                                 (SELECT count(*) FROM notifications.push_attempt), (SELECT count(*) FROM notifications.push_taken))
                  FROM notifications.account AS a
                """)
            #expect(counted == "0 0 0 0 0")
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
                try await outbox.psql(
                    "UPDATE notifications.push SET created_at = created_at - interval '10 minutes', next_attempt_at = now()"
                )
                try await outbox.waitUntil("nothing to wait", "true", are: 0)
            }
            #expect(try await outbox.psql(Self.results).hasSuffix(" it could not be sent for ten minutes: it is off"))
            #expect(try await outbox.psql(Self.results).hasPrefix("expired "))
        }
    }

    @Test(
        """
        a test push is refused without a reason, for a device that isn't registered or is a canary's, and after five of a day, \
        and that leaves nothing (A14)
        """)
    func refused() async throws {
        try await HeldOutbox.with(Self.tables) { outbox in
            let (bob, carol) = (try await outbox.account(), try await outbox.account())
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
