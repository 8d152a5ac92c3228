package import LedgerContract
package import QuartetVocabulary

/// What a batch of commands loaded, and what it changed.
package struct LedgerRows: Sendable {
    /// Balances by account.
    package var balances = WorkingSet<AccountID, BalanceRow>()
    /// New entries by the command that asked for them. Old ones are never loaded: no rule looks at them.
    package var entries = WorkingSet<CommandID, EntryRow>()

    package init() {}
}

/// A row of `ledger.balance`.
package struct BalanceRow: Equatable, Sendable {
    /// Never negative.
    package var amount: Int64

    package init(amount: Int64) {
        self.amount = amount
    }
}

/// A row of `ledger.entry`.
package struct EntryRow: Equatable, Sendable {
    package var client: String
    package var account: AccountID
    package var n: Int64
    package var amount: Int64

    package init(_ entry: PostEntry, account: AccountID) {
        (client, n, amount, self.account) = (entry.client, entry.n, entry.amount, account)
    }
}
