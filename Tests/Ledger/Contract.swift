public import Vocabulary

/// Adds an amount to the balance of the account that asks.
public struct PostEntry: CommandBody {
    public let client: String
    /// The client's own count per account, from 1.
    public let n: Int64
    public let amount: Int64

    public init(client: String, n: Int64, amount: Int64) {
        self.client = client
        self.n = n
        self.amount = amount
    }

    public func validate() throws(Rejection) {
        guard (1...50).contains(client.count) else {
            throw Rejection(.invalidField, "the client's name must have 1 to 50 characters", field: "client")
        }
        guard n > 0 else { throw Rejection(.invalidField, "n counts from 1", field: "n") }
        guard amount != 0 else { throw Rejection(.invalidField, "an entry must change something", field: "amount") }
    }
}

/// An entry is in the books, and what the balance is after it.
public struct EntryPosted: EventBody {
    public let client: String
    public let n: Int64
    public let amount: Int64
    public let balance: Int64
}

public enum LedgerCommand: MessageSet {
    case postEntry(PostEntry)

    public init(type: String, version: Int16, body: [UInt8]) throws(MessageError) {
        switch (type, version) {
        case (PostEntry.type, 1): self = .postEntry(try .decoded(from: body))
        default: throw .unknownType(type, version: version)
        }
    }

    public var body: any MessageBody {
        switch self {
        case .postEntry(let body): body
        }
    }
}

public enum LedgerEvent: MessageSet {
    case entryPosted(EntryPosted)

    public init(type: String, version: Int16, body: [UInt8]) throws(MessageError) {
        switch (type, version) {
        case (EntryPosted.type, 1): self = .entryPosted(try .decoded(from: body))
        default: throw .unknownType(type, version: version)
        }
    }

    public var body: any MessageBody {
        switch self {
        case .entryPosted(let body): body
        }
    }
}
