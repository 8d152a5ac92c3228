import Postgres
package import QuartetSessionContract
package import QuartetVocabulary
package import Storage

// The statements on session.game. Seats are kept with the participants.

extension Tables {
    package static let game = Table<GroupID, Game>(
        "session.game", as: "g", key: TableKey("group_id"),
        blank: Game(number: 0, version: 0, author: .blank, updated: .blank, starts: .blank, state: .null),
        columns: [
            Column("number", \.number),
            Column("version", \.version),
            Column("author", \.author),
            Column("updated_at", \.updated),
            Column("starts_at", \.starts),
            Column("turn_field", \.turnField),
            Column(json: "state", \.state),
            Column("finished_at", \.finished),
        ])
}

extension Pipeline {
    /// The games of sessions.
    func games(of groups: Set<GroupID>) -> Pending? {
        guard !groups.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.game.selection)
              FROM session.game AS g
             WHERE g.group_id = ANY (\(groups.sorted()))
            """)
    }
}
