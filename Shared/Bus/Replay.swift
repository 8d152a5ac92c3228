public import Postgres
public import Vocabulary

extension Log {
    /// Reads everything that is kept of the log, partition by partition and in order, to make a table anew that follows
    /// from it: a service's own log, on a connection with its role.
    ///
    /// The greater part is read while others append. For what came meanwhile their appends wait, so that when `finish` has
    /// run, the new table has all there is; commands that are handled wait no longer than that takes.
    /// - Parameters:
    ///   - apply: writes what follows from these rows. Each call is a transaction of its own but the last ones, which
    ///     are one with `finish`. A replay that failed begins anew, so begin by emptying what it fills.
    ///   - finish: puts the new table in the old one's place.
    public func replay(
        in database: Database, apply: ([RecordedMessage], Database) throws -> Void,
        finish: (Database) throws -> Void
    ) throws {
        var positions = [Position](repeating: .start, count: Int(partitionCount))
        for partition in partitions {
            while true {
                let rows = try replayRead(partition, after: positions[Int(partition.number)], database)
                guard let last = rows.last else { break }
                try database.transaction { database in try apply(rows.filter(\.isReadable), database) }
                positions[Int(partition.number)] = last.position
            }
        }
        try database.transaction { database in
            try database.execute(
                """
                SELECT FROM \(unescaped: "\(name)_partition") ORDER BY partition FOR NO KEY UPDATE
                """)
            for partition in partitions {
                while true {
                    let rows = try replayRead(partition, after: positions[Int(partition.number)], database)
                    guard let last = rows.last else { break }
                    try apply(rows.filter(\.isReadable), database)
                    positions[Int(partition.number)] = last.position
                }
            }
            try finish(database)
        }
    }

    private func replayRead(
        _ partition: Partition, after position: Position, _ database: Database
    ) throws -> [RecordedMessage] {
        try database.query(read(partition, after: position, limit: 1000)).map { try RecordedMessage($0, of: name) }
    }
}

extension RecordedMessage {
    /// False for one that was emptied when its account closed: its place in the log is all that is left.
    public var isReadable: Bool { message.type != "Redacted" }
}
