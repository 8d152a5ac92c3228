import NotificationsContract
package import NotificationsRules
import Postgres
package import Storage
import Vocabulary

// notifications.push_device, and the rules' statements on notifications.push. The rows of both are protected by the
// lock on the account.

extension Tables {
    package static let pushDevice = Table<PushDeviceKey, PushDeviceRow>(
        "notifications.push_device", as: "d",
        key: TableKey(KeyColumn("account", \.account), KeyColumn("device", \.device), make: PushDeviceKey.init),
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

    func deletePushes(to keys: Set<PushDeviceKey>) {
        guard !keys.isEmpty else { return }
        let keys = keys.sorted()
        query(
            """
            DELETE FROM notifications.push AS p
             USING unnest(\(keys.map(\.account)), \(keys.map(\.device))) AS u(account, device)
             WHERE p.account = u.account AND p.device = u.device
            """)
    }

    /// Deletes waiting pushes, except warnings about the account itself.
    func deletePushesButWarnings(to keys: Set<PushDeviceKey>) {
        guard !keys.isEmpty else { return }
        let keys = keys.sorted()
        query(
            """
            DELETE FROM notifications.push AS p
             USING unnest(\(keys.map(\.account)), \(keys.map(\.device))) AS u(account, device)
             WHERE p.account = u.account AND p.device = u.device
               AND p.body -> 'notification' ->> 'category' <> \(NotificationCategory.system.rawValue)
            """)
    }

    /// Adds waiting pushes. If more than `limit` wait for a device, the oldest are deleted: here, so that their number
    /// is bounded even while none are sent.
    func insert(_ pushes: [WaitingPush], limit: Int) throws {
        guard !pushes.isEmpty else { return }
        query(
            """
            INSERT INTO notifications.push (account, device, notification, body)
            SELECT * FROM unnest(\(pushes.map(\.key.account)), \(pushes.map(\.key.device)),
                                 \(pushes.map(\.body.notification.id)), \(try pushes.map { try JSON(encoding: $0.body) }))
            ON CONFLICT ON CONSTRAINT push_waits_once DO NOTHING
            """)
        let keys = Set(pushes.map(\.key)).sorted()
        query(
            """
            WITH too_many AS MATERIALIZED (
                SELECT w.account, w.device, o.notification
                  FROM unnest(\(keys.map(\.account)), \(keys.map(\.device))) AS w(account, device)
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
