package import QuartetVocabulary

/// Adds an amount to the asking account's balance.
///
/// Rejected: `invalidField`, `overdrawn`. Result: ``EntryPosted``.
package struct PostEntry: CommandBody {
    /// The name of the sender.
    package let client: String
    /// The sender's own count of its entries for this account, from 1.
    package let n: Int64
    /// Positive or negative, never zero.
    package let amount: Int64
    /// Free text.
    package let note: String?

    package init(client: String, n: Int64, amount: Int64, note: String? = nil) {
        self.client = client
        self.n = n
        self.amount = amount
        self.note = note
    }

    package func validate() throws(Rejection) {
        guard (1...50).contains(client.count) else {
            throw Rejection(.invalidField, "The client's name must have 1 to 50 characters.", field: "client")
        }
        guard n > 0 else { throw Rejection(.invalidField, "Entries are counted from 1.", field: "n") }
        guard amount != 0 else { throw Rejection(.invalidField, "An entry must change the balance.", field: "amount") }
    }
}

/// Corrects a mistaken entry by another one. Came with the second release: see `Tests/Kit/FaultyLedger`.
///
/// Rejected: as ``PostEntry``. Result: ``EntryPosted``.
package struct PostRefund: CommandBody {
    /// The correction.
    package let entry: PostEntry

    package init(_ entry: PostEntry) {
        self.entry = entry
    }

    package func validate() throws(Rejection) { try entry.validate() }
}

/// An entry is in the books.
package struct EntryPosted: EventBody {
    /// The account whose balance changed.
    package let account: AccountID
    /// As in the command.
    package let client: String
    /// As in the command.
    package let n: Int64
    /// As in the command.
    package let amount: Int64
    /// The balance after this entry.
    package let balance: Int64
    /// As in the command.
    package let note: String?

    package init(_ entry: PostEntry, account: AccountID, balance: Int64) {
        self.account = account
        client = entry.client
        n = entry.n
        amount = entry.amount
        self.balance = balance
        note = entry.note
    }
}

/// Everything that can be asked of the ledger.
package enum LedgerCommand: MessageSet {
    case postEntry(PostEntry)
    case postRefund(PostRefund)

    package static let cases: Cases<Self> = [Case(Self.postEntry), Case(Self.postRefund)]

    package var body: any CommandBody {
        switch self {
        case .postEntry(let body): body
        case .postRefund(let body): body
        }
    }
}

/// Everything that the ledger publishes.
package enum LedgerEvent: MessageSet {
    case entryPosted(EntryPosted)

    package static let cases: Cases<Self> = [Case(Self.entryPosted)]

    package var body: any EventBody {
        switch self {
        case .entryPosted(let body): body
        }
    }
}

extension Rejection.Code {
    /// The balance is too low for the entry, or too high to hold the sum.
    package static let overdrawn: Self = "overdrawn"
}
