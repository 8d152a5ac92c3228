import NotificationsContract
package import NotificationsRules
import Postgres
package import Storage
import Vocabulary

// The statements on notifications.push_device, and those on notifications.push by which the rules write it. An
// account's rows of both are kept by the lock on the account.

extension Tables {
    package static let pushDevice = Table<PushPlace, PushDeviceRow>(
        "notifications.push_device", as: "d",
        key: TableKey(KeyColumn("account", \.account), KeyColumn("device", \.device), make: PushPlace.init),
        blank: .blank,
        columns: [
            Column("token", \.token),
            Column("platform", \.platform),
            Column("registered_at", \.registered),
            Column("is_leaving", \.isLeaving),
        ])
}

extension Pipeline {
    func pushDevices(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.pushDevice.selection)
              FROM notifications.push_device AS d
             WHERE d.account = ANY (\(accounts.sorted()))
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
                                 \(pushes.map(\.body.notification.id)), \(try pushes.map { try JSON(encoding: $0.body) }))
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
