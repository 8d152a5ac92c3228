import Bus
package import LedgerContract
package import LedgerRules
package import Postgres
package import QuartetVocabulary
import Storage

/// Keeps balances and entries in the schema `ledger`.
///
/// A balance needs no row lock: commands of one account have one key, so only the owner of its partition changes it.
package struct LedgerStore: Store {
    package typealias Rules = LedgerReducer

    package init() {}

    /// Loads the balances of the asking accounts, in one round trip.
    package func load(_ requests: [Request<LedgerCommand>], in pipeline: Pipeline) throws -> LedgerRows {
        let accounts = Set(requests.compactMap(\.account)).sorted()
        let balances = pipeline.query(
            """
            SELECT \(unescaped: Tables.balance.selection)
              FROM ledger.balance AS b
             WHERE b.account = ANY (\(accounts))
            """)
        try pipeline.flush()

        var rows = LedgerRows()
        for (account, row) in try Tables.balance.rows(of: balances) { rows.balances.load(row, at: account) }
        return rows
    }

    /// Writes what changed.
    package func save(_ rows: LedgerRows, in pipeline: Pipeline) throws {
        try pipeline.save(rows.balances.changes, in: Tables.balance)
        try pipeline.save(rows.entries.changes, in: Tables.entry)
    }
}
