import Postgres
import QuartetContractSupport
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@testable import NotificationsService

@Suite("Notifications: the tables")
struct NotificationsStoreTests {
    private static let tables = DatabaseTemplate.tables(of: "notifications", in: "Notifications")
    typealias Trial = StoreTrial<NotificationsStore>

    @Test("after any commands, in batches of any size, the tables hold and publish what the rules alone give (S13)")
    func sameAsRules() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                for _ in 0..<4 {
                    // The server's clock decides what is too old, so the story ends now.
                    var inbox = Inbox(seed: random.next(), time: .now - .days(120))
                    inbox.rows.limits.history = 12
                    inbox.rows.limits.scheduled = 3
                    inbox.rows.limits.dailyReminders = 2
                    inbox.rows.limits.pushDevices = 3
                    let accounts = try (0..<3).map { _ in try inbox.person() }
                    let ids = (0..<30).map { _ in inbox.id() as NotificationID }
                    for _ in 0..<500 {
                        inbox.pass(.minutes(Int64.random(in: 0...600, using: &random)))
                        let account = accounts.randomElement(using: &random) ?? accounts[0]
                        let command = NotificationsPropertyTests.command(
                            on: account, accounts, ids, in: inbox, using: &random)
                        do { try inbox.ask(account, command) } catch is Rejection {}
                    }
                    let store = NotificationsStore(limits: inbox.rows.limits)
                    let trial = try await Trial(store, in: database, as: "notifications")
                    try await trial.replay(inbox, using: &random)
                    await trial.close()
                    let reader = try await Trial(store, in: database, as: "session_client")
                    let states = try await reader.published(
                        in: "notifications.notifications_state", of: accounts, as: NotificationsState.self)
                    try #require(states == accounts.map { inbox.rows.published($0) })
                    await reader.close()
                    try #require(try await database.psql("SELECT count(*) FROM notifications.wrong_count") == "0")
                    try await Self.check(inbox, accounts, in: database)
                }
            }
        }
    }

    /// Compares the rows that aren't published.
    private static func check(_ inbox: Inbox, _ accounts: [AccountID], in database: TestDatabase) async throws {
        func lines(_ sql: String) async throws -> Set<String> {
            Set(try await database.psql(sql).split(separator: "\n").map(String.init))
        }
        let list = accounts.map { "'\($0)'" }.joined(separator: ", ")
        // Exactly the wanted timers are set, so no deadline is missed.
        let wanted = accounts.flatMap { account in
            inbox.rows.wantedTimers(of: account).map {
                "account/\(account) \($0.due.microseconds) \(type(of: $0.command.body).type)"
            }
        }
        let set = try await lines(
            """
            SELECT concat_ws(' ', t.key, notifications.microseconds(t.due_at), t.type)
              FROM notifications.timer AS t
             WHERE t.key IN (SELECT 'account/' || a.account FROM notifications.account AS a
                              WHERE a.account IN (\(list)))
            """)
        try #require(set == Set(wanted))
        let shown = inbox.rows.shown.keys.filter { accounts.contains($0.account) }.map {
            "\($0.account) \($0.notification) \($0.device)"
        }
        let kept = try await lines(
            """
            SELECT concat_ws(' ', s.account, s.notification, s.device)
              FROM notifications.shown AS s WHERE s.account IN (\(list))
            """)
        try #require(kept == Set(shown))
        let devices = accounts.flatMap { account in
            inbox.rows.pushDevices(of: account).map {
                "\(account) \($0) \(inbox.rows[PushDeviceKey(account, $0)]?.token ?? "")"
            }
        }
        let registered = try await lines(
            """
            SELECT concat_ws(' ', d.account, d.device, d.token)
              FROM notifications.push_device AS d WHERE d.account IN (\(list)) AND NOT d.is_leaving
            """)
        try #require(registered == Set(devices))
        let pushes = inbox.rows.pushes.map { "\($0.key.account) \($0.key.device) \($0.body.notification.id)" }
        let waiting = try await lines(
            """
            SELECT concat_ws(' ', p.account, p.device, p.notification)
              FROM notifications.push AS p WHERE p.account IN (\(list))
            """)
        try #require(waiting == Set(pushes))
        let closed = accounts.filter { inbox.state($0).isClosed }.map(\.description)
        let redacted = try await lines(
            "SELECT r.account FROM notifications.redaction AS r WHERE r.account IN (\(list))")
        try #require(redacted == Set(closed))
    }

    /// Asks for one thing in a transaction of its own, as the log with this time has it.
    private static func ask(
        _ trial: Trial, _ account: AccountID, _ command: any CommandBody, at time: Instant = .now
    ) async throws -> Trial.Ended {
        try await trial.handle([.init(command, by: account, at: time)])[0]
    }

    @Test("scheduling sets a timer and cancelling removes it; one that fired too early is set again (S39)")
    func timers() async throws {
        try await TestDatabase.with(Self.tables) { database in
            let trial = try await Trial(NotificationsStore(), in: database, as: "notifications")
            let (account, now): (AccountID, Instant) = (.new(), .now)
            let (first, second): (NotificationID, NotificationID) = (.new(), .new())
            let due = now + .hours(1)
            func timersSet() async throws -> String {
                try await database.psql(
                    "SELECT string_agg(t.name, ' ' ORDER BY t.due_at, t.name) FROM notifications.timer AS t")
            }
            func ask(_ command: any CommandBody, at time: Instant? = nil) async throws -> Trial.Ended {
                try await Self.ask(trial, account, command, at: time ?? now)
            }
            _ = try await ask(OpenAccount()).get()
            #expect(try await timersSet() == "")
            _ = try await ask(ScheduleNotification(id: first, kind: .system, due: due)).get()
            _ = try await ask(ScheduleNotification(id: second, kind: .system, due: due + .hours(1))).get()
            let names = [first, second].map { "DeliverScheduledNotification/\($0)" }
            #expect(try await timersSet() == names.joined(separator: " "))
            _ = try await ask(CancelNotification(id: second)).get()
            #expect(try await timersSet() == names[0])

            // It fired, and the clock has gone back since.
            let deliver = DeliverScheduledNotification(account: account, id: first, due: due)
            try await database.psql("DELETE FROM notifications.timer")
            guard case .failure(let rejection) = try await ask(deliver) else { throw Unexpected("another event") }
            #expect(rejection.code == .notDue)
            #expect(try await timersSet() == names[0])
            #expect(try await ask(deliver, at: due).get().count == 1)
            #expect(try await timersSet() == "ForgetOldNotifications")
            // A clean-up that came too early is set again, too.
            try await database.psql("DELETE FROM notifications.timer")
            #expect(try await ask(ForgetOldNotifications(account: account), at: due).get().isEmpty)
            let forgetting = try await database.psql(
                "SELECT notifications.microseconds(t.due_at) FROM notifications.timer AS t")
            #expect(forgetting == "\((due + .days(30)).microseconds)")
            _ = try await ask(CloseAccount(), at: due).get()
            #expect(try await timersSet() == "")
            await trial.close()
        }
    }

    @Test("an unreachable device's outbox keeps the newest pushes (S38)")
    func outboxIsBounded() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var limits = NotificationsLimits()
            limits.pushes = 3
            let trial = try await Trial(NotificationsStore(limits: limits), in: database, as: "notifications")
            let account: AccountID = .new()
            let device: PushDeviceID = .new()
            _ = try await Self.ask(trial, account, OpenAccount()).get()
            _ = try await Self.ask(
                trial, account, RegisterPush(device: device, token: "a-token", platform: .web)
            ).get()
            var ids: [NotificationID] = []
            for _ in 0..<5 {
                ids.append(.new())
                let deliver = DeliverNotification(id: ids[ids.count - 1], kind: .system)
                _ = try await Self.ask(trial, account, deliver).get()
            }
            let waiting = try await database.psql(
                "SELECT string_agg(p.notification::text, ' ' ORDER BY p.created_at) FROM notifications.push AS p")
            #expect(waiting == ids.suffix(3).map(\.description).joined(separator: " "))
            _ = try await Self.ask(trial, account, UnregisterPush(device: device)).get()
            #expect(try await database.psql("SELECT count(*) FROM notifications.push") == "0")
            await trial.close()
        }
    }

    @Test(
        "five hundred pushes that aren't urgent don't displace an alarm's, and the record says which were displaced (S38)"
    )
    func alarmStaysInTheOutbox() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var limits = NotificationsLimits()
            limits.criticalPushes = 2
            let trial = try await Trial(NotificationsStore(limits: limits), in: database, as: "notifications")
            let account: AccountID = .new()
            func deliver(_ kind: NotificationKind, _ count: Int) async throws {
                let commands = (0..<count).map { _ in
                    Trial.Command(DeliverNotification(id: .new(), kind: kind), by: account, at: .now)
                }
                for ended in try await trial.handle(commands) { _ = try ended.get() }
            }
            /// How many of each priority.
            func waiting() async throws -> String {
                try await database.psql(
                    """
                    SELECT string_agg(p.priority || ' ' || p.count, ', ' ORDER BY p.priority)
                      FROM (SELECT q.priority, count(*) FROM notifications.push AS q GROUP BY q.priority) AS p
                    """)
            }
            _ = try await Self.ask(trial, account, OpenAccount()).get()
            _ = try await Self.ask(
                trial, account, RegisterPush(device: .new(), token: "a-token", platform: .web)
            ).get()
            try await deliver(.dependentCheckInMissed, 1)
            try await deliver(.newDevice, 1)
            try await deliver(.pingsCleared, 501)
            #expect(try await waiting() == "0 1, 1 1, 2 498")
            let displaced = try await database.psql(
                """
                SELECT concat_ws(' ', n.kind, a.result, count(*))
                  FROM notifications.push_attempt AS a
                  JOIN notifications.notification AS n ON n.account = a.account AND n.id = a.notification
                 GROUP BY n.kind, a.result
                """)
            #expect(displaced == "pingsCleared displaced 3")
            await trial.close()

            // Only alarms displace alarms, and never the last of them.
            limits.pushes = 1
            let small = try await Trial(NotificationsStore(limits: limits), in: database, as: "notifications")
            _ = try await Self.ask(
                small, account, DeliverNotification(id: .new(), kind: .dependentAlertRaised)
            ).get()
            _ = try await Self.ask(small, account, DeliverNotification(id: .new(), kind: .alertRaised)).get()
            #expect(try await waiting() == "0 2")
            await small.close()
        }
    }

    @Test("a push that is being sent isn't displaced, so the record never says that it wasn't sent (S38)")
    func sentIsNotDisplaced() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var limits = NotificationsLimits()
            limits.pushes = 3
            let trial = try await Trial(NotificationsStore(limits: limits), in: database, as: "notifications")
            let account: AccountID = .new()
            func deliver(_ count: Int) async throws {
                for _ in 0..<count {
                    _ = try await Self.ask(trial, account, DeliverNotification(id: .new(), kind: .system)).get()
                }
            }
            _ = try await Self.ask(trial, account, OpenAccount()).get()
            _ = try await Self.ask(
                trial, account, RegisterPush(device: .new(), token: "a-token", platform: .web)
            ).get()
            try await deliver(3)
            // As a claim does: the oldest is being sent, the next one failed and waits.
            try await database.psql(
                """
                WITH p AS (SELECT notification, row_number() OVER (ORDER BY created_at) AS place FROM notifications.push)
                UPDATE notifications.push AS q
                   SET attempts = 1, next_attempt_at = clock_timestamp() + interval '1 minute',
                       last_error = CASE p.place WHEN 2 THEN 'a test' END
                  FROM p WHERE p.notification = q.notification AND p.place <= 2
                """)
            try await deliver(3)
            let left = try await database.psql(
                "SELECT string_agg(p.attempts::text, ' ' ORDER BY p.created_at) FROM notifications.push AS p")
            #expect(left == "1 0 0 0")
            let displaced = try await database.psql(
                "SELECT string_agg(a.attempt::text, ' ' ORDER BY a.attempt) FROM notifications.push_attempt AS a")
            #expect(displaced == "1 2")
            await trial.close()
        }
    }

    /// What happens to a device for which a notification may wait that has been forgotten.
    enum Turn: Sendable {
        case register, signOut
        /// Another notification takes its place in the history.
        case forget
        /// The notification is delivered again.
        case deliver(NotificationKind)

        func command(_ id: NotificationID, _ device: PushDeviceID) -> any CommandBody {
            switch self {
            case .register: NotificationsStoreTests.registration(of: device)
            case .signOut: UnregisterPush(device: device, stillWarns: true)
            case .forget: DeliverNotification(id: .new(), kind: .groupEnded)
            case .deliver(let kind): DeliverNotification(id: id, kind: kind)
            }
        }
    }

    @Test(
        "of a notification that comes again, the first push counts when its device is signed out, in one batch or several (S48)",
        arguments: [
            (.contactAdded, [.deliver(.recoveryCodeUsed), .signOut], ""),
            (.recoveryCodeUsed, [.deliver(.contactAdded), .signOut], "recoveryCodeUsed"),
            // Once nothing waits any more, it's a new one.
            (.contactAdded, [.signOut, .register, .deliver(.recoveryCodeUsed)], "recoveryCodeUsed"),
            (.contactAdded, [.signOut, .register, .deliver(.recoveryCodeUsed), .signOut], "recoveryCodeUsed"),
            (
                .contactAdded,
                [.deliver(.recoveryCodeUsed), .signOut, .forget, .register, .deliver(.recoveryCodeUsed)],
                "recoveryCodeUsed"
            ),
            (nil, [.register, .deliver(.recoveryCodeUsed), .signOut], "recoveryCodeUsed"),
        ] as [(NotificationKind?, [Turn], String)], [1, 24])
    func againBeforeSignOut(sequence: (waiting: NotificationKind?, turns: [Turn], left: String), batch: Int)
        async throws
    {
        try await TestDatabase.with(Self.tables) { database in
            var limits = NotificationsLimits()
            limits.history = 1
            let trial = try await Trial(NotificationsStore(limits: limits), in: database, as: "notifications")
            let (account, id, device): (AccountID, NotificationID, PushDeviceID) = (.new(), .new(), .new())
            var before: [any CommandBody] = [OpenAccount()]
            if let kind = sequence.waiting {
                before += [Self.registration(of: device), DeliverNotification(id: id, kind: kind)]
            }
            before.append(DeliverNotification(id: .new(), kind: .groupEnded))
            for command in before { _ = try await Self.ask(trial, account, command).get() }
            var rest = sequence.turns[...]
            while !rest.isEmpty {
                let part = rest.prefix(batch)
                rest = rest.dropFirst(part.count)
                let commands = part.map { Trial.Command($0.command(id, device), by: account, at: .now) }
                for ended in try await trial.handle(commands) { _ = try ended.get() }
            }
            let left = try await database.psql(
                "SELECT string_agg(p.body -> 'notification' ->> 'kind', ' ') FROM notifications.push AS p")
            #expect(left == sequence.left)
            await trial.close()
        }
    }

    fileprivate static func registration(of device: PushDeviceID) -> RegisterPush {
        RegisterPush(device: device, token: "token-of-\(device)", platform: .web)
    }

    @Test("a warning isn't displaced by what its device's sign-out deletes (S48)")
    func warningBeforeSignOut() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var limits = NotificationsLimits()
            limits.pushes = 2
            let trial = try await Trial(NotificationsStore(limits: limits), in: database, as: "notifications")
            let (account, device): (AccountID, PushDeviceID) = (.new(), .new())
            _ = try await Self.ask(trial, account, OpenAccount()).get()
            _ = try await Self.ask(trial, account, Self.registration(of: device)).get()
            for _ in 0..<2 {
                _ = try await Self.ask(trial, account, DeliverNotification(id: .new(), kind: .alertRaised)).get()
            }
            let commands: [any CommandBody] = [
                DeliverNotification(id: .new(), kind: .passwordChanged),
                UnregisterPush(device: device, stillWarns: true),
            ]
            for ended in try await trial.handle(commands.map { .init($0, by: account, at: .now) }) {
                _ = try ended.get()
            }
            let left = try await database.psql(
                "SELECT p.body -> 'notification' ->> 'kind' FROM notifications.push AS p")
            #expect(left == "passwordChanged")
            #expect(try await database.psql("SELECT count(*) FROM notifications.push_attempt") == "0")
            await trial.close()
        }
    }

    @Test("clearing notifications about a group session reads no others (S37)")
    func clearingByGroup() async throws {
        try await TestDatabase.with(Self.tables) { database in
            let account = AccountID.new()
            try await database.psql(
                """
                INSERT INTO notifications.notification (account, id, kind, category, details, created_at)
                SELECT '\(account)', gen_random_uuid(), 'groupInvitation', 'group',
                       json_build_object('group', gen_random_uuid()), now()
                  FROM generate_series(1, 5000);
                ANALYZE notifications.notification
                """)
            let query = Tables.uncleared(about: [account: [GroupID.new()]])
            let connection = try await Connection.connect(Configuration(try database.url(as: "notifications")))
            let plan = try await connection.run { database in
                try database.query("EXPLAIN (COSTS OFF) \(query)").map { try $0.decode(0, as: String.self) }
            }.joined(separator: "\n")
            await connection.close()
            #expect(plan.contains("notification_of_group"), "\(plan)")
            // By both: the account alone finds all of its notifications.
            #expect(plan.contains(#/Index Cond: .*account = w.account.*= w.group_id/#), "\(plan)")
        }
    }

    @Test(
        "reminders displace nothing else in the history or among the pushes, and a device that is signed out gets none (S39, S48)"
    )
    func reminders() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var limits = NotificationsLimits()
            (limits.history, limits.pushes) = (3, 3)
            let trial = try await Trial(NotificationsStore(limits: limits), in: database, as: "notifications")
            let (account, device): (AccountID, PushDeviceID) = (.new(), .new())
            for command in [
                OpenAccount(), Self.registration(of: device),
                DeliverNotification(id: .new(), kind: .newDevice), DeliverNotification(id: .new(), kind: .groupEnded),
            ] as [any CommandBody] {
                _ = try await Self.ask(trial, account, command).get()
            }
            // All but the first come while the history is full, and the places of the device are taken.
            for number in 1...4 {
                let reminder = ScheduleReminder(text: "Tea", due: .now + .minutes(Int64(number)))
                _ = try await Self.ask(trial, account, reminder).get()
                let deliver = DeliverScheduledNotification(account: account, id: reminder.id, due: reminder.due)
                _ = try await Self.ask(trial, account, deliver, at: reminder.due).get()
            }
            func kinds(_ sql: String) async throws -> String {
                try await database.psql("SELECT string_agg(kind, ' ' ORDER BY kind) FROM (\(sql)) AS k (kind)")
            }
            let kept = try await kinds("SELECT n.kind FROM notifications.notification AS n")
            #expect(kept == "groupEnded newDevice system")
            let waiting = "SELECT p.body -> 'notification' ->> 'kind' FROM notifications.push AS p"
            #expect(try await kinds(waiting) == "groupEnded newDevice system")
            let texts = try await database.psql(
                "SELECT count(*) FROM notifications.push AS p WHERE p.body::text LIKE '%Tea%'")
            #expect(texts == "0")
            _ = try await Self.ask(trial, account, UnregisterPush(device: device, stillWarns: true)).get()
            #expect(try await kinds(waiting) == "newDevice")
            _ = try await Self.ask(trial, account, DeliverNotification(id: .new(), kind: .groupStarted)).get()
            let later = try await kinds("SELECT n.kind FROM notifications.notification AS n")
            #expect(later == "groupEnded groupStarted newDevice")
            await trial.close()
        }
    }

    @Test("that a device was signed out is remembered for an hour, longer than a registration can be under way (S38)")
    func signedOutDevices() async throws {
        try await TestDatabase.with(Self.tables) { database in
            let trial = try await Trial(NotificationsStore(), in: database, as: "notifications")
            let account: AccountID = .new()
            let device: PushDeviceID = .new()
            _ = try await Self.ask(trial, account, OpenAccount()).get()
            let register = RegisterPush(device: device, token: "a-token", platform: .web)
            _ = try await Self.ask(trial, account, register).get()
            let out = UnregisterPush(device: device, isSignedOut: true)
            for _ in 0..<2 { _ = try await Self.ask(trial, account, out).get() }
            func isRefused() async throws -> Bool {
                if case .failure(let refusal) = try await Self.ask(trial, account, register) {
                    refusal.code == .deviceSignedOut
                } else {
                    false
                }
            }
            #expect(try await isRefused())
            let delete = "SELECT notifications.delete_old_signed_out_devices(100)"
            _ = try await database.psql(
                "UPDATE notifications.signed_out_device SET signed_out_at = clock_timestamp() - interval '50 minutes'")
            #expect(try await database.psql(delete) == "0")
            #expect(try await isRefused())
            _ = try await database.psql(
                "UPDATE notifications.signed_out_device SET signed_out_at = clock_timestamp() - interval '61 minutes'")
            #expect(try await database.psql(delete) == "1")
            await trial.close()
        }
    }

    @Test("only notifications reads push tokens, not even people at psql (R21)")
    func tokens() async throws {
        try await TestDatabase.with(Self.tables) { database in
            let readers = try await database.psql(
                """
                SELECT string_agg(r.rolname, ' ' ORDER BY r.rolname)
                  FROM pg_roles AS r
                 WHERE has_column_privilege(r.oid, 'notifications.push_device', 'token', 'SELECT') AND NOT r.rolsuper
                   AND r.rolname NOT IN ('notifications_owner', 'pg_read_all_data')
                """)
            #expect(readers == "notifications")
        }
    }
}
