import Postgres
package import QuartetNotificationsContract
package import QuartetNotificationsRules
import QuartetVocabulary
package import Storage

// notifications.scheduled, and the columns that it shares with notifications.held

extension Tables {
    package static let scheduled = Table<NotificationKey, ScheduledNotification>(
        "notifications.scheduled", as: "s",
        key: TableKey(KeyColumn("account", \.account), KeyColumn("id", \.id), make: NotificationKey.init),
        blank: laterBlank, columns: later)

    /// The columns of a notification that is delivered later.
    static let later: [Column<ScheduledNotification>] = [
        Column("id", \.id),
        Column("kind", \.kind),
        Column("subject", \.subject),
        Column(json: "details", \.details),
        Column("due_at", \.due),
    ]

    static let laterBlank = ScheduledNotification(id: .blank, kind: .system, details: .none, due: .blank)
}

extension Pipeline {
    func scheduled(for accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.scheduled.selection)
              FROM notifications.scheduled AS s
             WHERE s.account = ANY (\(accounts.sorted()))
            """)
    }
}
