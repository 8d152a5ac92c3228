import Postgres
package import QuartetSessionContract
package import QuartetSessionRules
package import QuartetVocabulary
package import Storage

// The tables of shared playback. Suspensions are kept with the participants.

extension Tables {
    package static let playback = Table<GroupID, Playback>(
        "session.playback", as: "b", key: TableKey("group_id"),
        blank: Playback(version: 0, author: .blank, anchor: .blank),
        columns: [
            Column("version", \.version),
            Column("author", \.author),
            Column(json: "item", \.item),
            Column("is_playing", \.isPlaying),
            Column("is_waiting", \.isWaiting),
            Column("rate", \.rate),
            Column("position", \.position),
            Column("anchor", \.anchor),
        ])

    package static let queueItem = Table<QueueKey, QueueRow>(
        "session.queue_item", as: "q",
        key: TableKey(KeyColumn("group_id", \.group), KeyColumn("item_id", \.item), make: QueueKey.init),
        blank: QueueRow(rank: 0, item: PlaybackItem(id: .blank, title: "")),
        columns: [
            Column("rank", \.rank),
            Column(json: "item", \.item),
        ])
}

extension Pipeline {
    /// What sessions play.
    func playbacks(of groups: Set<GroupID>) -> Pending? {
        guard !groups.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.playback.selection)
              FROM session.playback AS b
             WHERE b.group_id = ANY (\(groups.sorted()))
            """)
    }

    /// The queues of sessions.
    func queues(of groups: Set<GroupID>) -> Pending? {
        guard !groups.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.queueItem.selection)
              FROM session.queue_item AS q
             WHERE q.group_id = ANY (\(groups.sorted()))
            """)
    }
}
