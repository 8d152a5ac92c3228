public import QuartetVocabulary

/// What an operation's id identifies.
public enum OperationSubject {}

/// What spans several services. Apps know it as an operation; inside it is a saga.
public protocol OperationRequest: MessageBody {
    /// What comes of it.
    associatedtype Result: Codable & Hashable & Sendable
}

/// The operations that apps may start, by name.
package let appOperations: [String: any OperationRequest.Type] = {
    let all: [any OperationRequest.Type] = [
        ClearAllReceivedPingsRequest.self, RespondToAllPingsRequest.self, CloseAccountRequest.self,
    ]
    return Dictionary(uniqueKeysWithValues: all.map { ($0.type, $0) })
}()

/// Answers every ping that waits for me, and writes one summary into my history.
public struct ClearAllReceivedPingsRequest: OperationRequest, GrownBody {
    public static let type = "ClearAllReceivedPings"
    public static let laterFields: Set<String> = ["upTo"]

    /// Whether to check me in as well. A check-in a moment ago is as good.
    public let checkIn: Bool?
    /// Answers no ping that was sent later than the newest that I saw; nil for all.
    public let upTo: Instant?

    public init(checkIn: Bool? = nil, upTo: Instant? = nil) {
        self.checkIn = checkIn
        self.upTo = upTo
    }

    public struct Result: Codable, Hashable, Sendable {
        /// Who had pinged me and has an answer now.
        public let contacts: [AccountID]
        /// Whether a check-in was made; nil where none was asked for.
        public let isCheckedIn: Bool?

        package init(contacts: [AccountID], isCheckedIn: Bool?) {
            self.contacts = contacts
            self.isCheckedIn = isCheckedIn
        }
    }
}

/// Answers every ping that waits for me, without a summary.
public struct RespondToAllPingsRequest: OperationRequest, GrownBody {
    public static let type = "RespondToAllPings"
    public static let laterFields: Set<String> = ["upTo"]

    /// Answers no ping that was sent later than the newest that I saw; nil for all.
    public let upTo: Instant?

    public init(upTo: Instant? = nil) {
        self.upTo = upTo
    }

    public struct Result: Codable, Hashable, Sendable {
        /// Who had pinged me and has an answer now.
        public let contacts: [AccountID]

        package init(contacts: [AccountID]) {
            self.contacts = contacts
        }
    }
}

/// Closes the caller's account for good and deletes what is kept about it.
public struct CloseAccountRequest: OperationRequest {
    public static let type = "CloseAccount"

    public init() {}

    public struct Result: Codable, Hashable, Sendable {
        public let account: AccountID

        package init(account: AccountID) {
            self.account = account
        }
    }
}

/// `GET /v1/operations`: the newest ones first.
public struct OperationsPage: Codable, Hashable, Sendable {
    public static let limits = 1...50

    public let account: AccountID
    public let operations: [OperationReply]
}

/// How an operation stands.
public struct OperationReply: Codable, Hashable, Sendable {
    public enum State: String, Codable, CaseIterable, Sendable {
        case running, done, rejected, failed
    }

    public let id: ID<OperationSubject>
    public let type: String
    public let state: State
    public let started: Instant?
    public let ended: Instant?
    /// What came of it, or why it was refused: JSON, which the reply has beside the other fields.
    public private(set) var result: [UInt8]?

    private enum CodingKeys: String, CodingKey {
        case id, type, state, started, ended
    }

    public init(
        id: ID<OperationSubject>, type: String, state: State, started: Instant? = nil, ended: Instant? = nil,
        result: [UInt8]? = nil
    ) {
        self.id = id
        self.type = type
        self.state = state
        self.started = started
        self.ended = ended
        self.result = result
    }
}
