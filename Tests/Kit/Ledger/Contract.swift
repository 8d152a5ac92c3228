import Foundation
public import Vocabulary

/// Adds an amount to the balance of the account that asks.
public struct PostEntry: CommandBody {
    /// Who sent it.
    public let client: String
    /// The client's own count per account, from 1.
    public let n: Int64
    /// By how much; not zero.
    public let amount: Int64
    /// Anything: makes a body as large as a benchmark wants it.
    public let note: String?

    /// All its parts, as the properties describe them.
    public init(client: String, n: Int64, amount: Int64, note: String? = nil) {
        self.client = client
        self.n = n
        self.amount = amount
        self.note = note
    }

    /// A name, a count and an amount.
    public func validate() throws(Rejection) {
        guard (1...50).contains(client.count) else {
            throw Rejection(.invalidField, "the client's name must have 1 to 50 characters", field: "client")
        }
        guard n > 0 else { throw Rejection(.invalidField, "n counts from 1", field: "n") }
        guard amount != 0 else { throw Rejection(.invalidField, "an entry must change something", field: "amount") }
    }
}

/// Adds an amount that was taken by mistake. A later release's: the one before it knows nothing of refunds.
public struct PostRefund: CommandBody {
    /// The entry that it makes.
    public let entry: PostEntry

    /// All its parts, as the properties describe them.
    public init(_ entry: PostEntry) {
        self.entry = entry
    }

    /// As for any entry.
    public func validate() throws(Rejection) { try entry.validate() }
}

/// Ends the process of whoever handles it: stands for a defect in the rules.
public struct EndProcess: CommandBody {
    /// Nothing to say.
    public init() {}
}

/// An entry is in the books, and what the balance is after it.
public struct EntryPosted: EventBody {
    /// Whose balance it is.
    public let account: AccountID
    /// Who sent it.
    public let client: String
    /// The client's own count.
    public let n: Int64
    /// By how much; not zero.
    public let amount: Int64
    /// After the entry.
    public let balance: Int64
    /// As it was given.
    public let note: String?
}

/// The ledger's commands.
public enum LedgerCommand: MessageSet {
    case postEntry(PostEntry)
    case postRefund(PostRefund)
    case endProcess(EndProcess)

    /// Whether this process stands for the release before refunds.
    private static let isOld = ProcessInfo.processInfo.environment["LEDGER_RELEASE"] == "old"

    public static let cases: Cases<Self> =
        isOld
        ? [Case(Self.postEntry), Case(Self.endProcess)]
        : [Case(Self.postEntry), Case(Self.endProcess), Case(Self.postRefund)]

    public var body: any CommandBody {
        switch self {
        case .postEntry(let body): body
        case .postRefund(let body): body
        case .endProcess(let body): body
        }
    }
}

/// The ledger's events.
public enum LedgerEvent: MessageSet {
    case entryPosted(EntryPosted)

    public static let cases: Cases<Self> = [Case(Self.entryPosted)]

    public var body: any EventBody {
        switch self {
        case .entryPosted(let body): body
        }
    }
}
