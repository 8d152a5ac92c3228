import Postgres
package import QuartetNotificationsContract
package import QuartetNotificationsRules
import QuartetVocabulary
package import Storage

// notifications.notification

extension Tables {
    package static let notification = Table<NotificationKey, QuartetNotification>(
        "notifications.notification", as: "n",
        key: TableKey(KeyColumn("account", \.account), KeyColumn("id", \.id), make: NotificationKey.init),
        blank: .init(id: .blank, kind: .system, details: .none, created: .blank),
        columns: [
            Column("id", \.id),
            Column("kind", \.kind),
            Column("category", writing: { $0.kind.category }),
            Column("pace", writing: { $0.pace }),
            Column("subject", \.subject),
            Column(json: "details", \.details),
            Column("created_at", \.created),
            Column("read_at", \.read),
            Column("cleared_at", \.cleared),
            Column("answered_at", \.answered),
        ])

    /// How many columns its selection has.
    static let notificationColumnCount = notification.selection.count { $0 == "," } + 1

    /// The columns that change after delivery.
    static let mark = notification.only(["read_at", "cleared_at", "answered_at"])

    /// What can still be read or cleared about group sessions.
    static func uncleared(about groups: [AccountID: Set<GroupID>]) -> Query {
        let groups = groups.flatMap { account, groups in
            groups.map { (account: account, group: $0.description) }
        }.sorted { $0 < $1 }
        return """
            SELECT \(unescaped: notification.selection)
              FROM unnest(\(groups.map(\.account)), \(groups.map(\.group))) AS w(account, group_id)
              JOIN notifications.notification AS n
                ON n.account = w.account AND n.details ->> 'group' = w.group_id AND n.cleared_at IS NULL
               AND n.details ->> 'group' IS NOT NULL
            """
    }
}

extension Pipeline {
    func notifications(_ keys: Set<NotificationKey>) -> Pending? {
        guard !keys.isEmpty else { return nil }
        let keys = keys.sorted()
        return query(
            """
            SELECT \(unescaped: Tables.notification.selection)
              FROM unnest(\(keys.map(\.account)), \(keys.map(\.id))) AS w(account, id)
              JOIN notifications.notification AS n ON n.account = w.account AND n.id = w.id
            """)
    }

    /// Reads everything that can still be read or cleared.
    func unclearedNotifications(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.notification.selection)
              FROM notifications.notification AS n
             WHERE n.account = ANY (\(accounts.sorted())) AND n.cleared_at IS NULL
            """)
    }

    /// Reads what can still be read or cleared about group sessions.
    func unclearedNotifications(about groups: [AccountID: Set<GroupID>]) -> Pending? {
        groups.values.allSatisfy(\.isEmpty) ? nil : query(Tables.uncleared(about: groups))
    }

    /// Reads the ends of alarms that accounts were notified of.
    func notifications(ofEndsOf alarms: [AccountID: Set<AlarmID>]) -> Pending? {
        let alarms = alarms.flatMap { account, alarms in
            alarms.map { (account: account, alarm: $0) }
        }.sorted { $0 < $1 }
        guard !alarms.isEmpty else { return nil }
        // The kinds are written out, as in the index.
        return query(
            """
            SELECT \(unescaped: Tables.notification.selection)
              FROM unnest(\(alarms.map(\.account)), \(alarms.map(\.alarm))) AS w(account, alarm)
              JOIN notifications.notification AS n
                ON n.account = w.account AND n.alarm = w.alarm
               AND n.kind IN ('alertCleared', 'dependentAlertCleared', 'dependentCheckedInLate', 'dependentAlarmEnded')
            """)
    }

    /// Reads accounts' notifications of alarms and their ends, for each account since a time of its own.
    func notifications(ofAlarmsTo accounts: [AccountID: Instant]) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        let accounts = accounts.sorted { $0.key < $1.key }
        return query(
            """
            SELECT \(unescaped: Tables.notification.selection)
              FROM unnest(\(accounts.map(\.key)), \(accounts.map(\.value))) AS w(account, start)
              JOIN notifications.notification AS n
                ON n.account = w.account AND n.created_at >= w.start
               AND n.kind IN ('alertRaised', 'checkInMissed', 'dependentAlertRaised', 'dependentCheckInMissed',
                              'alertCleared', 'dependentAlertCleared', 'dependentCheckedInLate', 'dependentAlarmEnded')
            """)
    }

    /// Reads what accounts were told of drills.
    func notifications(ofDrillsTo accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        // The condition is the index's.
        return query(
            """
            SELECT \(unescaped: Tables.notification.selection)
              FROM unnest(\(accounts.sorted())) AS w(account)
              JOIN notifications.notification AS n
                ON n.account = w.account AND n.details ->> 'drill' IS NOT NULL
            """)
    }

    /// Reads the reminders that were delivered to accounts within a day of one of some times. A time that nothing is near, such as one that is
    /// long past, costs nothing.
    func remindersDelivered(to accounts: [AccountID: Set<Instant>]) -> Pending? {
        let times = accounts.sorted { $0.key < $1.key }.flatMap { entry in
            entry.value.sorted().map { (account: entry.key, due: $0) }
        }
        guard !times.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.notification.selection)
              FROM (SELECT t.account, unnest(range_agg(tstzrange(t.due - interval '1 day', t.due + interval '1 day'))) AS days
                      FROM unnest(\(times.map(\.account)), \(times.map(\.due))) AS t(account, due)
                     GROUP BY t.account) AS w
             CROSS JOIN LATERAL (
                SELECT o.* FROM notifications.notification AS o
                 WHERE o.account = w.account AND o.created_at >= lower(w.days) AND o.created_at < upper(w.days)
                   AND o.kind = \(NotificationKind.system) AND o.details ->> 'reminder' IS NOT NULL
                 -- While there are few, all people's would be read, and joined.
                OFFSET 0) AS n
            """)
    }

    func allNotifications(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.notification.selection)
              FROM notifications.notification AS n
             WHERE n.account = ANY (\(accounts.sorted()))
            """)
    }

    /// Reads what the rules may find too old, and a little more since they decide later. Also reads the next few, the
    /// oldest of which says when to look again.
    func oldNotifications(_ accounts: [AccountID: Int32], age: Interval) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        let accounts = accounts.sorted { $0.key < $1.key }
        // The same time for both halves. With a running clock, a row could fall between them.
        let limit: Query = "statement_timestamp() + interval '1 hour' - \(age.microseconds) * interval '1 microsecond'"
        return query(
            """
            SELECT \(unescaped: Tables.notification.selection)
              FROM unnest(\(accounts.map(\.key)), \(accounts.map(\.value))) AS w(account, count)
             CROSS JOIN LATERAL (
                       (SELECT o.*
                          FROM notifications.notification AS o
                         WHERE o.account = w.account AND o.created_at < \(limit))
                        UNION ALL
                       (SELECT o.*
                          FROM notifications.notification AS o
                         WHERE o.account = w.account AND o.created_at >= \(limit)
                         ORDER BY o.created_at, o.id
                         LIMIT w.count)) AS n
            """)
    }

    /// Reads the notifications that would make room in accounts that would exceed the limit, as many as may have to: of the
    /// whole history, and of each account that has its share of it. Behind the columns of each notification stands how many there
    /// are about its subject.
    func evictedNotifications(_ deliveries: [AccountID: Int32], limits: NotificationsLimits) -> Pending? {
        guard !deliveries.isEmpty else { return nil }
        let deliveries = deliveries.sorted { $0.key < $1.key }
        func kinds(_ priority: NotificationPriority) -> [NotificationKind] {
            NotificationKind.allCases.filter { $0.priority == priority }
        }
        // A history has so many rows at most, and only those of accounts that are full are read.
        return query(
            """
            WITH full_history AS MATERIALIZED (
                SELECT o.account, o.id, o.subject, w.count, o.created_at,
                       CASE WHEN o.details ->> 'reminder' IS NOT NULL THEN -1
                            WHEN o.kind = ANY (\(kinds(.critical))) THEN 2
                            WHEN o.kind = ANY (\(kinds(.normal))) THEN 1 ELSE 0 END AS rank
                  FROM unnest(\(deliveries.map(\.key)), \(deliveries.map(\.value)),
                              \(deliveries.map { Int64(limits.history(of: $0.key)) })) AS w(account, count, history)
                  JOIN notifications.account AS a ON a.account = w.account AND a.total + w.count > w.history
                  JOIN notifications.notification AS o ON o.account = w.account
            ), ranked AS (
                SELECT h.account, h.id, h.count,
                       row_number() OVER (PARTITION BY h.account ORDER BY h.rank, h.created_at, h.id) AS place,
                       row_number() OVER (PARTITION BY h.account, h.subject ORDER BY h.rank, h.created_at, h.id) AS own_place,
                       count(h.subject) OVER (PARTITION BY h.account, h.subject) AS own_count
                  FROM full_history AS h
            )
            SELECT \(unescaped: Tables.notification.selection), r.own_count
              FROM ranked AS r
              JOIN notifications.notification AS n ON n.account = r.account AND n.id = r.id
             WHERE r.place <= r.count
                OR (r.own_count + r.count >= \(Int64(limits.share)) AND r.own_place <= r.count)
            """)
    }

    func save(_ changes: WorkingSet<NotificationKey, QuartetNotification>.Changes) throws {
        // A notification that was deleted and delivered again under the same id within one batch is replaced, along
        // with everything that refers to it.
        let back = changes.updated.filter { !$0.row.isSameDelivery(as: $0.before) }
        let marked = changes.updated.filter { $0.row.isSameDelivery(as: $0.before) }
        delete(changes.deleted + back.map(\.key), from: Tables.notification)
        try update(marked.map { ($0.key, $0.row) }, in: Tables.mark)
        try insert(changes.inserted + back.map { ($0.key, $0.row) }, into: Tables.notification)
    }
}

extension QuartetNotification {
    /// Whether the two differ at most in what happened after delivery.
    fileprivate func isSameDelivery(as other: Self) -> Bool {
        created == other.created && kind == other.kind && subject == other.subject && details == other.details
    }
}
