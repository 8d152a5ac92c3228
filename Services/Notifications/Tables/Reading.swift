import Postgres
package import QuartetNotificationsRules
import QuartetVocabulary
package import Storage

// notifications.shown. A foreign key deletes its rows with their notification.

extension Tables {
    package static let shown = Table<ShownKey, ShownRow>(
        "notifications.shown", as: "s",
        key: TableKey(
            KeyColumn("account", \.account), KeyColumn("notification", \.notification), KeyColumn("device", \.device),
            make: ShownKey.init),
        blank: .blank,
        columns: [
            Column("shown_at", \.at),
            Column("recorded_at", \.heard),
        ])
}

extension Pipeline {
    func shown(_ keys: Set<ShownKey>) -> Pending? {
        guard !keys.isEmpty else { return nil }
        let keys = keys.sorted()
        return query(
            """
            SELECT \(unescaped: Tables.shown.selection)
              FROM unnest(\(keys.map(\.account)), \(keys.map(\.notification)), \(keys.map(\.device)))
                   AS w(account, notification, device)
              JOIN notifications.shown AS s
                ON s.account = w.account AND s.notification = w.notification AND s.device = w.device
            """)
    }
}
