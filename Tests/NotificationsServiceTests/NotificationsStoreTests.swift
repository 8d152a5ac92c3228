import NotificationsContract
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
                }
            }
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
