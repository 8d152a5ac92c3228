import LedgerContract
package import LedgerRules
package import QuartetVocabulary
package import Storage

/// The tables of the schema `ledger`, each described once.
package enum Tables {
    package static let balance = Table<AccountID, BalanceRow>(
        "ledger.balance", as: "b", key: TableKey("account"), blank: BalanceRow(amount: 0),
        columns: [Column("amount", \.amount)])

    package static let entry = Table<CommandID, EntryRow>(
        "ledger.entry", as: "e", key: TableKey("command_id"),
        blank: EntryRow(PostEntry(client: "", n: 0, amount: 0), account: .blank),
        columns: [
            Column("client", \.client),
            Column("account", \.account),
            Column("n", \.n),
            Column("amount", \.amount),
        ])
}
