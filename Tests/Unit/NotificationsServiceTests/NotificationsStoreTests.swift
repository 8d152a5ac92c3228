import ContractSupport
import NotificationsContract
import NotificationsRules
import NotificationsService
import Postgres
import StoreKit
import TestKit
import Testing
import Vocabulary

@Suite("Notifications: the tables")
struct NotificationsStoreTests {
    private static let tables = DatabaseTemplate.tables(of: "notifications", in: "Notifications")
    typealias Trial = StoreTrial<NotificationsStore>

    @Test("S13: whatever comes, in batches of any size, the tables end as the rules alone would, and publish that")
    func sameAsRules() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                for _ in 0..<4 {
                    // What is too old is found by the server's clock: let the story end now.
                    var inbox = Inbox(seed: random.next(), time: .now - .days(120))
                    inbox.rows.limits.history = 12
                    inbox.rows.limits.scheduled = 3
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
                    var rest = inbox.history[...]
                    while !rest.isEmpty {
                        let batch = rest.prefix(Int.random(in: 1...24, using: &random))
                        rest = rest.dropFirst(batch.count)
                        let ended = try await trial.handle(batch.map { .init($0.command, $0.context) })
                        for (mine, theirs) in zip(batch, ended) {
                            try #require(mine.ended == theirs, "\(mine.command)")
                        }
                    }
                    await trial.close()
                    let reader = try await Trial(store, in: database, as: "session_client")
                    for account in accounts {
                        let states = try await reader.published(
                            "SELECT s.state FROM notifications.notifications_state AS s WHERE s.account = \(account)",
                            as: NotificationsState.self)
                        try #require(states == [inbox.state(account)])
                    }
                    await reader.close()
                    try #require(try await database.psql("SELECT count(*) FROM notifications.wrong_count") == "0")
                    try await Self.check(inbox, accounts, in: database)
                }
            }
        }
    }

    /// Compares what is kept besides what is published.
    private static func check(_ inbox: Inbox, _ accounts: [AccountID], in database: TestDatabase) async throws {
        func lines(_ sql: String) async throws -> Set<String> {
            Set(try await database.psql(sql).split(separator: "\n").map(String.init))
        }
        let list = accounts.map { "'\($0)'" }.joined(separator: ", ")
        // Whoever sets exactly the wanted timers has every deadline.
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
        let context = CommandContext(commandID: .new(), account: account, key: .account(account), time: time)
        return try await trial.handle([.init(command, context)])[0]
    }

    @Test("S39: what is scheduled sets its timer, and cancelling takes it away; one that fired too early is set again")
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
            guard case .failure(let rejection) = try await ask(deliver) else { throw Unexpected() }
            #expect(rejection.code == .notDue)
            #expect(try await timersSet() == names[0])
            #expect(try await ask(deliver, at: due).get().count == 1)
            #expect(try await timersSet() == "ForgetOldNotifications")
            // What came too early to find anything too old is set again, too.
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

    @Test("S38: of what waits for a device that nobody can reach, the newest stay")
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

    @Test("R21: nobody but notifications reads what a device is pushed to with, not even people at psql")
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

    @Test("S3: session-client only reads what is published, and nobody else writes; everything is explained")
    func privileges() async throws {
        try await TestDatabase.with(Self.tables) { database in
            let rights = try await database.psql(
                """
                SELECT string_agg(c.relname, ' ' ORDER BY c.relname)
                  FROM pg_class AS c
                 WHERE c.relnamespace = 'notifications'::regnamespace AND c.relkind IN ('r', 'v')
                   AND has_table_privilege('session_client', c.oid, 'SELECT')
                """)
            #expect(rights == "log log_partition notification notifications_state outcome unread")
            let strangers = try await database.psql(
                """
                SELECT count(*)
                  FROM pg_class AS c, unnest(ARRAY['session', 'contacts', 'session_client']) AS role,
                       unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) AS privilege
                 WHERE c.relnamespace = 'notifications'::regnamespace AND c.relkind IN ('r', 'v')
                   AND has_table_privilege(role, c.oid, privilege)
                """)
            #expect(strangers == "0")
            let undocumented = try await database.psql(
                """
                SELECT string_agg(c.relname || coalesce('.' || a.attname, ''), ' ')
                  FROM pg_class AS c
                  LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                 WHERE c.relnamespace = 'notifications'::regnamespace AND c.relkind IN ('r', 'v')
                   AND (col_description(c.oid, a.attnum) IS NULL OR obj_description(c.oid) IS NULL)
                """)
            #expect(undocumented == "")
        }
    }
}
