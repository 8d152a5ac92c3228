import NotificationsService
import Postgres
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import Storage
import StoreKit
import TestKit
import Testing

@Suite("Notifications: what each table keeps")
struct NotificationsTableTests {
    private static let tables = DatabaseTemplate.tables(of: "notifications", in: "Notifications")
    private let anna = AccountID.new()
    private let ben = AccountID.new()
    private let details = NotificationDetails(
        at: Instant(microseconds: 7), deadline: Instant(microseconds: 8), lead: .minutes(30), count: 9,
        isMyResponder: true,
        iAmResponder: false, alarm: .new(), group: .new(), text: "é")
    private let reminder = NotificationDetails(reminder: "é")

    /// The `n`th of a few times.
    private func time(_ n: Int64) -> Instant { Instant(microseconds: 1_700_000_000_000_000 + n) }

    @Test("every property of every row has its column, and comes back from it unchanged")
    func roundTrips() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var (open, closed) = (Tables.account.blank, Tables.account.blank)
            (open.unread, open.total, open.forgetting, closed.closed) = (3, 70_000, time(1), time(2))
            try await Tables.account.expectRoundTrip(
                of: [(anna, open), (ben, closed)], in: database, as: "notifications")

            let id = NotificationID.new()
            let later = ScheduledNotification(
                id: id, kind: .contactAdded, subject: ben, details: details, due: time(3))
            let latest = ScheduledNotification(id: id, kind: .system, details: reminder, due: time(4))
            try await Tables.scheduled.expectRoundTrip(
                of: [(NotificationKey(anna, id), later), (NotificationKey(ben, id), latest)], in: database,
                as: "notifications")
            try await Tables.held.expectRoundTrip(
                of: [(PaceKey(anna, Pace(name: "ping")), later), (PaceKey(anna, Pace(name: "request")), latest)],
                in: database, as: "notifications")

            let read = QuartetNotification(
                id: id, kind: .contactAdded, subject: ben, details: details, created: time(5), read: time(6),
                cleared: time(7), answered: time(9))
            let new = QuartetNotification(id: id, kind: .pingReceived, details: .none, created: time(8))
            try await Tables.notification.expectRoundTrip(
                of: [(NotificationKey(anna, id), read), (NotificationKey(ben, id), new)], in: database,
                as: "notifications")

            var device = Tables.pushDevice.blank
            (device.token, device.platform, device.registered, device.isLeaving) = ("token", .android, time(9), true)
            try await Tables.pushDevice.expectRoundTrip(
                of: [(PushDeviceKey(anna, .new()), device)], in: database, as: "notifications")

            var signedOut = Tables.signedOutDevice.blank
            signedOut.at = time(12)
            try await Tables.signedOutDevice.expectRoundTrip(
                of: [(PushDeviceKey(anna, .new()), signedOut)], in: database, as: "notifications")

            try await database.psql(
                """
                INSERT INTO notifications.notification (account, id, kind, category, details, created_at)
                VALUES ('\(anna)', '\(id)', 'system', 'system', '{}', now())
                """)
            var shown = Tables.shown.blank
            (shown.at, shown.heard) = (time(10), time(11))
            try await Tables.shown.expectRoundTrip(
                of: [(ShownKey(anna, id, .new()), shown)], in: database, as: "notifications")
        }
    }

    @Test("a word or document that this release can't read is an error that names its column")
    func unreadable() async throws {
        try await TestDatabase.with(Self.tables) { database in
            let connection = try await Connection.connect(Configuration(try database.url(as: "notifications")))
            for (column, values) in [("kind", "'tomorrows', '{}'"), ("details", "'system', '[]'")] {
                let account = AccountID.new()
                try await database.psql(
                    """
                    INSERT INTO notifications.notification (account, id, category, created_at, kind, details)
                    VALUES ('\(account)', gen_random_uuid(), 'system', now(), \(values))
                    """)
                try await connection.run { database in
                    let row = try #require(
                        try database.query(
                            """
                            SELECT \(unescaped: Tables.notification.selection)
                              FROM notifications.notification AS n WHERE n.account = \(account)
                            """
                        ).only)
                    do {
                        _ = try Tables.notification.decode(row)
                        Issue.record("\(column) was read")
                    } catch PostgresError.decoding(let named, _) { #expect(named == column) }
                }
            }
            await connection.close()
        }
    }
}
