import Foundation
import GRDB

/// What of a damaged file can still be read, but for copies: those the server has.
struct StoreRemains {
    private struct Table {
        let name: String
        let key: [String]
        let columns: [String]
        /// These may be missing.
        var optional: Set<String> = []

        /// A row as this version writes it; nil if it isn't one.
        func values(of row: Row) -> [DatabaseValue]? {
            let values = columns.map { column in row.first { $0.0 == column }?.1 ?? .null }
            let areRight = zip(columns, values).allSatisfy { column, value in
                switch (column, value.storage) {
                case ("id", .int64), ("at", .int64), ("decision", .blob): true
                // A page that can't be read may come as zeros. A later version's is JSON, too.
                case ("item", .blob(let data)):
                    (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
                case ("id", _), ("at", _), ("item", _), ("decision", _): false
                case (_, .string): true
                case (_, .null): optional.contains(column)
                default: false
                }
            }
            return areRight ? values : nil
        }
    }

    private static let opened = Table(name: "opened", key: ["account"], columns: ["account", "mark"])
    private static let tables = [
        opened,
        Table(
            name: "item", key: ["account", "id"], columns: ["account", "id", "item", "sender", "lane"],
            optional: ["sender", "lane"]),
        Table(name: "decision", key: ["account", "id"], columns: ["account", "id", "decision", "at"]),
    ]

    private var rows: [(table: Table, rows: [[DatabaseValue]])] = []
    /// Whether it says of everybody who had opened their account.
    private var hasMarks = false
    /// Marks of those who have signed out.
    private var gone: [String] = []
    /// Whether those end whose mark can't be read.
    private var endsOthers = false

    /// Of a file of which nothing can be read.
    init() {}

    /// - Throws: What isn't damage.
    init(of database: Database) throws {
        for table in Self.tables {
            let read = try StoreOpening.unlessDamaged { try Self.rows(of: table, in: database) }
            let (rows, isWhole) = read ?? ([], false)
            self.rows.append((table, rows))
            if table.name == Self.opened.name { hasMarks = isWhole }
        }
    }

    private static func rows(
        of table: Table, in database: Database
    ) throws -> (rows: [[DatabaseValue]], isWhole: Bool) {
        // Of a damaged list of tables, it says nothing that one isn't there.
        guard try database.tableExists(table.name) else { return ([], false) }
        var keys: Set<[DatabaseValue]> = []
        var isWhole = false
        // What is behind a page that can't be read is reached from the other end.
        for order in ["ASC", "DESC"] where !isWhole {
            let read: Void? = try StoreOpening.unlessDamaged {
                let cursor = try Row.fetchCursor(
                    database,
                    sql: """
                        SELECT \(table.key.joined(separator: ", ")) FROM \(table.name)
                        ORDER BY \(table.key.map { "\($0) \(order)" }.joined(separator: ", "))
                        """)
                while let row = try cursor.next() { keys.insert(row.map { $0.1 }) }
            }
            isWhole = read != nil
        }
        let condition = table.key.map { "\($0) = ?" }.joined(separator: " AND ")
        var rows: [[DatabaseValue]] = []
        for key in keys {
            let row = try StoreOpening.unlessDamaged {
                try Row.fetchOne(
                    database, sql: "SELECT * FROM \(table.name) WHERE \(condition)",
                    arguments: StatementArguments(key))
            }
            if let row, let values = row.flatMap({ table.values(of: $0) }) {
                rows.append(values)
            } else {
                isWhole = false
            }
        }
        return (rows, isWhole)
    }

    func write(into database: Database) throws {
        for (table, rows) in rows {
            let places = table.columns.map { _ in "?" }.joined(separator: ", ")
            for row in rows {
                try database.execute(
                    sql: """
                        INSERT OR IGNORE INTO \(table.name) (\(table.columns.joined(separator: ", ")))
                        VALUES (\(places))
                        """,
                    arguments: StatementArguments(row))
            }
        }
        for mark in gone { try StoreMarks.noteGone(mark, in: database) }
        guard !hasMarks else { return }
        if endsOthers {
            try StoreMarks.noteAllGone(in: database)
        } else {
            try StoreMarks.noteLost(in: database)
        }
    }

    // MARK: Leaving somebody out

    /// Whether anybody's changes are in it.
    var hasChanges: Bool { rows.contains { $0.table.name != Self.opened.name && !$0.rows.isEmpty } }

    /// Whose account has been opened as something else than this.
    func accounts(notOpenedAs marks: Set<String>) -> Set<String> {
        let opened = rows.filter { $0.table.name == Self.opened.name }.flatMap(\.rows)
        return Set(
            opened.compactMap { row in
                guard let account = String.fromDatabaseValue(row[0]), let mark = String.fromDatabaseValue(row[1]),
                    StoreMarks.isAccount(account), !StoreMarks.isLost(mark), !marks.contains(mark)
                else { return nil }
                return account
            })
    }

    /// Leaves out what some have, who have signed out. Processes whose mark can't be read end.
    /// - Parameter known: The mark of one of them; it may be missing here.
    mutating func forget(knownAs known: String?, where isMeant: (String) -> Bool) {
        var gone = self.gone + (known.map { [$0] } ?? [])
        rows = rows.map { table, rows in
            let kept = rows.filter { row in
                guard let account = String.fromDatabaseValue(row[0]), StoreMarks.isAccount(account), isMeant(account)
                else { return true }
                if table.name == Self.opened.name, let mark = String.fromDatabaseValue(row[1]) { gone.append(mark) }
                return false
            }
            return (table, kept)
        }
        (self.gone, endsOthers) = (gone, true)
    }
}
