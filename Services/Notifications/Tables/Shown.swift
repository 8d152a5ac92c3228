package import NotificationsRules
import Postgres
package import Storage
import Vocabulary

// The statements on notifications.shown. Its rows go with their notification, by a foreign key.

extension Tables {
    package static let shown = Table<ShownPlace, ShownRow>(
        "notifications.shown", as: "s",
        key: TableKey(
            KeyColumn("account", \.account), KeyColumn("notification", \.notification), KeyColumn("device", \.device),
            make: ShownPlace.init),
        blank: .blank,
        columns: [
            Column("shown_at", \.at),
            Column("recorded_at", \.heard),
        ])
}

extension Pipeline {
    func shown(_ places: Set<ShownPlace>) -> Pending? {
        guard !places.isEmpty else { return nil }
        let places = places.sorted()
        return query(
            """
            SELECT \(unescaped: Tables.shown.selection)
              FROM unnest(\(places.map(\.account)), \(places.map(\.notification)), \(places.map(\.device)))
                   AS w(account, notification, device)
              JOIN notifications.shown AS s
                ON s.account = w.account AND s.notification = w.notification AND s.device = w.device
            """)
    }
}
