package import LedgerContract
public import Vocabulary

/// What a batch of commands loaded, and what it changed.
public struct LedgerRows: Sendable {
    /// Balances by account.
    public var balances = WorkingSet<AccountID, BalanceRow>()
    /// New entries by the command that asked for them. Old ones are never loaded: no rule looks at them.
    public var entries = WorkingSet<CommandID, EntryRow>()

    public init() {}
}

/// A row of `ledger.balance`.
public struct BalanceRow: Equatable, Sendable {
    /// Never negative.
    public var amount: Int64

    public init(amount: Int64) {
        self.amount = amount
    }
}

/// A row of `ledger.entry`.
public struct EntryRow: Equatable, Sendable {
    package var client: String
    package var account: AccountID
    package var n: Int64
    package var amount: Int64

    package init(_ entry: PostEntry, account: AccountID) {
        (client, n, amount, self.account) = (entry.client, entry.n, entry.amount, account)
    }
}
