import Postgres
import QuartetNotificationsContract
package import QuartetNotificationsRules
import QuartetVocabulary
package import Storage

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

extension Tables {
    package static let signedOutDevice = Table<PushDeviceKey, SignedOutDeviceRow>(
        "notifications.signed_out_device", as: "o",
        key: TableKey(KeyColumn("account", \.account), KeyColumn("device", \.device), make: PushDeviceKey.init),
        blank: .blank, columns: [Column("signed_out_at", \.at)])
}

extension Pipeline {
    func signedOutDevices(_ keys: Set<PushDeviceKey>) -> Pending? {
        guard !keys.isEmpty else { return nil }
        let keys = keys.sorted()
        return query(
            """
            SELECT \(unescaped: Tables.signedOutDevice.selection)
              FROM unnest(\(keys.map(\.account)), \(keys.map(\.device))) AS u(account, device)
              JOIN notifications.signed_out_device AS o ON o.account = u.account AND o.device = u.device
            """)
    }

    func pushDevices(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.pushDevice.selection)
              FROM notifications.push_device AS d
             WHERE d.account = ANY (\(accounts.sorted()))
            """)
    }

    /// Doesn't wait for a row that is being recorded; retention deletes that one.
    func deleteTakenPushes(of accounts: [AccountID]) {
        guard !accounts.isEmpty else { return }
        query(
            """
            DELETE FROM notifications.push_taken AS t
             USING (SELECT p.account FROM notifications.push_taken AS p WHERE p.account = ANY (\(accounts))
                       FOR UPDATE SKIP LOCKED) AS o
             WHERE t.account = o.account
            """)
    }

    func deleteTestPushes(of accounts: [AccountID]) {
        guard !accounts.isEmpty else { return }
        query("DELETE FROM notifications.test_push AS t WHERE t.account = ANY (\(accounts))")
    }

    /// Locks devices whose pushes are deleted next. An operator's test is added under the lock on its device alone: the deletion,
    /// a statement of its own, then sees it.
    func lockPushDevices(_ keys: Set<PushDeviceKey>) {
        guard !keys.isEmpty else { return }
        let keys = keys.sorted()
        query(
            """
            SELECT FROM notifications.push_device AS d
              JOIN unnest(\(keys.map(\.account)), \(keys.map(\.device))) AS u(account, device)
                ON u.account = d.account AND u.device = d.device
             ORDER BY d.account, d.device
               FOR UPDATE OF d
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
               AND NOT (p.body -> 'notification' ->> 'category' = \(NotificationCategory.system.rawValue)
                        AND p.body -> 'notification' ->> 'subject' IS NULL
                        AND p.body -> 'notification' -> 'details' ->> 'reminder' IS NULL)
            """)
    }

    /// Adds waiting pushes, except of notifications that wait already.
    func insert(_ pushes: [WaitingPush]) throws {
        guard !pushes.isEmpty else { return }
        query(
            """
            INSERT INTO notifications.push (account, device, notification, body)
            SELECT * FROM unnest(\(pushes.map(\.key.account)), \(pushes.map(\.key.device)),
                                 \(pushes.map(\.body.notification.id)), \(try pushes.map { try JSON(encoding: $0.body) }))
            ON CONFLICT ON CONSTRAINT push_waits_once DO NOTHING
            """)
    }

    /// Deletes some pushes if more than ``NotificationsLimits/pushes`` wait for a device: the least urgent first, then the
    /// oldest, and critical ones only if more than ``NotificationsLimits/criticalPushes`` wait. Done whenever pushes are added, so
    /// that their number is bounded even while none are sent. One that is being sent stays. Operators' tests take no room: there
    /// are five a day at most. The record of attempts says which were deleted.
    func displacePushes(to keys: Set<PushDeviceKey>, limits: NotificationsLimits) {
        guard !keys.isEmpty else { return }
        let keys = keys.sorted()
        query(
            """
            WITH too_many AS MATERIALIZED (
                SELECT w.account, w.device, o.notification
                  FROM unnest(\(keys.map(\.account)), \(keys.map(\.device))) AS w(account, device)
                 CROSS JOIN LATERAL (SELECT s.notification
                                       FROM (SELECT q.notification, q.priority,
                                                    row_number() OVER (ORDER BY q.priority, q.created_at DESC,
                                                                                q.notification DESC) AS place
                                               FROM notifications.push AS q
                                              WHERE q.account = w.account AND q.device = w.device
                                                AND NOT q.is_test) AS s
                                      WHERE s.place > \(Int64(limits.pushes))
                                        AND (s.priority > 0 OR s.place > \(Int64(limits.criticalPushes)))) AS o
            ), displaced AS (
                DELETE FROM notifications.push AS p
                 USING too_many AS t
                 WHERE p.account = t.account AND p.device = t.device AND p.notification = t.notification
                   AND (p.attempts = 0 OR p.last_error IS NOT NULL OR p.next_attempt_at <= clock_timestamp())
                RETURNING p.account, p.device, p.notification, p.attempts
            )
            INSERT INTO notifications.push_attempt
                   (account, notification, device, attempt, began_at, took, result, answer)
            SELECT d.account, d.notification, d.device, d.attempts + 1, clock_timestamp(), interval '0', 'displaced',
                   'too many pushes waited for the device'
              FROM displaced AS d
              JOIN notifications.notification AS n ON n.account = d.account AND n.id = d.notification
            ON CONFLICT ON CONSTRAINT attempt_is_made_once DO NOTHING
            """)
    }
}
