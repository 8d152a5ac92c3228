public import Vocabulary

extension Rejection.Code {
    static let overdrawn: Self = "overdrawn"
}

/// The rule: a balance never goes below zero.
public enum LedgerReducer: Reducer {
    /// The balances that a batch touches.
    public struct State: Sendable {
        /// A row of `ledger.entry`.
        public struct Entry: Sendable {
            let command: CommandID
            let client: String
            let account: AccountID
            let n: Int64
            let amount: Int64
        }

        var balances: [AccountID: Int64]
        var changed: Set<AccountID> = []
        var entries: [Entry] = []

        /// - Parameter balances: what those who ask have.
        public init(balances: [AccountID: Int64]) {
            self.balances = balances
        }
    }

    /// Posts the entry unless it would overdraw.
    public static func reduce(
        _ state: inout State, _ command: LedgerCommand, _ context: CommandContext
    ) throws(Rejection) -> [Emission<LedgerEvent>] {
        guard let account = context.account else {
            throw Rejection(.invalidField, "somebody must ask", field: "account")
        }
        let entry: PostEntry
        switch command {
        case .endProcess: fatalError("the test asked for it")
        case .postEntry(let posted): entry = posted
        case .postRefund(let refund): entry = refund.entry
        }
        let balance = state.balances[account] ?? 0
        let (after, overflow) = balance.addingReportingOverflow(entry.amount)
        guard after >= 0, !overflow else {
            throw Rejection(
                .overdrawn, "the balance is \(balance); it can't change by \(entry.amount)", field: "amount")
        }
        state.balances[account] = after
        state.changed.insert(account)
        state.entries.append(
            .init(command: context.commandID, client: entry.client, account: account, n: entry.n, amount: entry.amount))
        return [
            Emission(
                .entryPosted(
                    EntryPosted(
                        account: account, client: entry.client, n: entry.n, amount: entry.amount, balance: after,
                        note: entry.note)),
                key: context.key)
        ]
    }
}
