public import Bus
public import Postgres
public import Vocabulary

/// Keeps the books in the schema `ledger`.
public struct LedgerStore: Store {
    /// The rule that it keeps state for.
    public typealias Rules = LedgerReducer

    private let keepsEntries: Bool

    /// - Parameter keepsEntries: false keeps the balances alone: a benchmark's command changes one row.
    public init(keepsEntries: Bool = true) {
        self.keepsEntries = keepsEntries
    }

    /// Reads the balances of those who ask.
    public func load(_ requests: [Request<LedgerCommand>], in pipeline: Pipeline) throws -> LedgerReducer.State {
        let accounts = Array(Set(requests.compactMap(\.account)))
        let rows = pipeline.query(
            "SELECT b.account, b.amount FROM ledger.balance AS b WHERE b.account = ANY (\(accounts))")
        pipeline.sync()
        try pipeline.flush()
        var balances: [AccountID: Int64] = [:]
        for row in try rows.rows() {
            let (account, amount) = try row.decode(AccountID.self, Int64.self)
            balances[account] = amount
        }
        return LedgerReducer.State(balances: balances)
    }

    /// Writes the changed balances and the new entries.
    public func save(_ state: LedgerReducer.State, in pipeline: Pipeline) throws {
        guard !state.entries.isEmpty else { return }
        let changed = state.changed.sorted()
        pipeline.query(
            """
            INSERT INTO ledger.balance AS b (account, amount)
            SELECT * FROM unnest(\(changed), \(changed.map { state.balances[$0] ?? 0 }))
            ON CONFLICT (account) DO UPDATE SET amount = excluded.amount
            """)
        guard keepsEntries else { return }
        pipeline.query(
            """
            INSERT INTO ledger.entry (command_id, client, account, n, amount)
            SELECT * FROM unnest(\(state.entries.map(\.command)), \(state.entries.map(\.client)),
                                 \(state.entries.map(\.account)), \(state.entries.map(\.n)),
                                 \(state.entries.map(\.amount)))
            """)
    }
}
