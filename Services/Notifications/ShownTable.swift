import NotificationsContract
import Postgres
import Vocabulary
import WorkingSet

// The statements on notifications.shown. Its rows go with their notification, by a foreign key.

extension Pipeline {
    func shown(_ places: Set<ShownPlace>) -> Pending? {
        guard !places.isEmpty else { return nil }
        let places = places.sorted()
        return query(
            """
            SELECT s.account, s.notification, s.device, s.shown_at, s.recorded_at
              FROM unnest(\(places.map(\.account)), \(places.map(\.notification)), \(places.map(\.device)))
                   AS w(account, notification, device)
              JOIN notifications.shown AS s
                ON s.account = w.account AND s.notification = w.notification AND s.device = w.device
            """)
    }

    func save(_ changes: WorkingSet<ShownPlace, ShownRow>.Changes) {
        // One that changed went with a notification that came back under the same name in one batch.
        let rows = changes.inserted + changes.updated.map { ($0.key, $0.row) }
        guard !rows.isEmpty else { return }
        query(
            """
            INSERT INTO notifications.shown (account, notification, device, shown_at, recorded_at)
            SELECT * FROM unnest(\(rows.map(\.key.account)), \(rows.map(\.key.notification)), \(rows.map(\.key.device)),
                                 \(rows.map(\.row.at)), \(rows.map(\.row.heard)))
            """)
    }
}
