import Foundation
import NotificationsContract
import Postgres
import Vocabulary
import WorkingSet

// The statements on notifications.push_device, and those on notifications.push by which the rules write it. An
// account's rows of both are kept by the lock on the account.

extension Pipeline {
    func pushDevices(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT d.account, d.device, d.token, d.platform, d.registered_at, d.is_leaving
              FROM notifications.push_device AS d
             WHERE d.account = ANY (\(accounts.sorted()))
            """)
    }

    func save(_ changes: WorkingSet<PushPlace, PushDeviceRow>.Changes) {
        if !changes.deleted.isEmpty {
            query(
                """
                DELETE FROM notifications.push_device AS d
                 USING unnest(\(changes.deleted.map(\.account)), \(changes.deleted.map(\.device))) AS u(account, device)
                 WHERE d.account = u.account AND d.device = u.device
                """)
        }
        let rows = changes.inserted + changes.updated.map { ($0.key, $0.row) }
        guard !rows.isEmpty else { return }
        query(
            """
            INSERT INTO notifications.push_device (account, device, token, platform, registered_at, is_leaving)
            SELECT * FROM unnest(\(rows.map(\.key.account)), \(rows.map(\.key.device)), \(rows.map(\.row.token)),
                                 \(rows.map(\.row.platform.rawValue)), \(rows.map(\.row.registered)),
                                 \(rows.map(\.row.isLeaving)))
            ON CONFLICT ON CONSTRAINT device_is_registered_once DO UPDATE
               SET token = excluded.token, platform = excluded.platform, registered_at = excluded.registered_at,
                   is_leaving = excluded.is_leaving
            """)
    }

    /// Drops what waits to be sent to devices.
    func deletePushes(to places: Set<PushPlace>) {
        guard !places.isEmpty else { return }
        let places = places.sorted()
        query(
            """
            DELETE FROM notifications.push AS p
             USING unnest(\(places.map(\.account)), \(places.map(\.device))) AS u(account, device)
             WHERE p.account = u.account AND p.device = u.device
            """)
    }

    /// Drops what waits to be sent to devices, but for what is about the account itself.
    func deletePushesButWarnings(to places: Set<PushPlace>) {
        guard !places.isEmpty else { return }
        let places = places.sorted()
        query(
            """
            DELETE FROM notifications.push AS p
             USING unnest(\(places.map(\.account)), \(places.map(\.device))) AS u(account, device)
             WHERE p.account = u.account AND p.device = u.device
               AND p.body -> 'notification' ->> 'category' <> \(NotificationCategory.system.rawValue)
            """)
    }

    /// Has pushes wait to be sent. When more than `limit` wait for a device, the oldest go: here, so that what a
    /// receiver doesn't take is bounded also while nothing is sent at all.
    func insert(_ pushes: [WaitingPush], limit: Int) throws {
        guard !pushes.isEmpty else { return }
        query(
            """
            INSERT INTO notifications.push (account, device, notification, body)
            SELECT * FROM unnest(\(pushes.map(\.place.account)), \(pushes.map(\.place.device)),
                                 \(pushes.map(\.body.notification.id)), \(try pushes.map { try $0.body.stored }))
            ON CONFLICT ON CONSTRAINT push_waits_once DO NOTHING
            """)
        let places = Set(pushes.map(\.place)).sorted()
        query(
            """
            WITH too_many AS MATERIALIZED (
                SELECT w.account, w.device, o.notification
                  FROM unnest(\(places.map(\.account)), \(places.map(\.device))) AS w(account, device)
                 CROSS JOIN LATERAL (SELECT o.notification
                                       FROM notifications.push AS o
                                      WHERE o.account = w.account AND o.device = w.device
                                      ORDER BY o.created_at DESC, o.notification DESC
                                     OFFSET \(Int64(limit))) AS o
            )
            DELETE FROM notifications.push AS p
             USING too_many AS t
             WHERE p.account = t.account AND p.device = t.device AND p.notification = t.notification
            """)
    }
}

extension Row {
    func pushDevice() throws -> PushDeviceRow {
        let platform = try decode(3, as: String.self)
        guard let platform = PushPlatform(rawValue: platform) else {
            throw PostgresError.decoding(column: "platform", reason: "nobody here knows \(platform)")
        }
        return PushDeviceRow(
            token: try decode(2, as: String.self), platform: platform, registered: try decode(4, as: Instant.self),
            isLeaving: try decode(5, as: Bool.self))
    }
}

extension PushBody {
    init(stored json: JSON) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(json.bytes))
    }

    var stored: JSON {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return JSON(Array(try encoder.encode(self)))
        }
    }
}
