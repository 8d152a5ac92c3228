package import LedgerContract
package import QuartetVocabulary

/// The ledger's rule: a balance never goes below zero.
package enum LedgerReducer: Reducer {
    package static func reduce(
        _ rows: inout LedgerRows, _ command: LedgerCommand, _ context: CommandContext
    ) throws(Rejection) -> [Emission<LedgerEvent>] {
        guard let account = context.account else {
            throw Rejection(.invalidField, "An entry belongs to the account that asks for it.", field: "account")
        }
        let posted =
            switch command {
            case .postEntry(let entry): try post(entry, to: account, context, &rows)
            case .postRefund(let refund): try post(refund.entry, to: account, context, &rows)
            }
        return [Emission(.entryPosted(posted))]
    }

    private static func post(
        _ entry: PostEntry, to account: AccountID, _ context: CommandContext, _ rows: inout LedgerRows
    ) throws(Rejection) -> EntryPosted {
        let before = rows.balances[account]?.amount ?? 0
        let (after, overflow) = before.addingReportingOverflow(entry.amount)
        guard after >= 0, !overflow else {
            throw Rejection(
                .overdrawn, "The balance is \(before); it can't change by \(entry.amount).", field: "amount")
        }
        rows.balances[account] = BalanceRow(amount: after)
        rows.entries[context.commandID] = EntryRow(entry, account: account)
        return EntryPosted(entry, account: account, balance: after)
    }
}
