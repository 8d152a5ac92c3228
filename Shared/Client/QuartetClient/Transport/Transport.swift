public import QuartetAPI
public import QuartetSessionContract
public import QuartetVocabulary

/// Carries requests and the stream to one server.
///
/// An implementation keeps no state about the account: tokens, ids and the place in the stream are given with each call. It
/// doesn't retry, because only the caller knows under which id a request may be repeated.
///
/// It ends soon after its task is cancelled. What hasn't ended a second later is left behind: what comes of it is dropped, but what it
/// holds stays until it ends. While eight openings of the last hour hang in it, no other one begins.
public protocol Transport: Sendable {
    /// Sends a request and returns the server's answer, which may be a refusal. It gives up by itself when none comes; after half a
    /// minute, and a second more for each kilobyte that it carries, its task is cancelled.
    /// - Throws: ``TransportError`` if no answer arrived, `CancellationError`.
    func send(_ request: TransportRequest) async throws -> TransportReply

    /// Opens the stream. Its sequence ends when the server has closed it in good order. Cancelling the task that reads, or
    /// dropping the sequence, closes the connection.
    /// - Throws: `APIError` if the server refuses, ``TransportError``, `CancellationError`; so does the sequence.
    func open(_ request: StreamRequest) async throws -> OpenedStream
}

/// One request.
public struct TransportRequest: Hashable, Sendable {
    /// What is asked for.
    public enum Endpoint: Hashable, Sendable {
        case signUp, signIn, signInCode, token, undo
        case signOut, confirm, changePassword, resetPassword, recoveryCodes, changePhone, verifyPhone
        /// A command, by its name.
        case command(String)
        /// An operation, by its name.
        case operation(String)
        /// A signal to a group session.
        case signal(GroupID)
        /// The kept messages of a group session.
        case messages(GroupID, MessagesQuery)
        /// How far an upload is.
        case upload(ContentHash)
        /// Uploads one to four chunks, the first of which has this number. The body is bytes.
        case chunks(ContentHash, first: Int)
        /// Some of an attachment's bytes, which are the answer.
        case attachment(GroupID, ContentHash, bytes: Range<Int>)
        /// Lets the stream go on with a newer token.
        case streamToken
        /// The server's time, in microseconds.
        case time
        /// Who got the account's newest drill.
        case drill
        /// How an operation stands.
        case operationState(ID<OperationSubject>)
        /// Anything that needs no token and whose answer says the server's time.
        case serverTime
    }

    /// After so many seconds without an answer a transport gives up. The server answers within ten.
    package static let patience: Double = 15

    public var endpoint: Endpoint
    /// JSON, unless the endpoint says otherwise; empty where there is nothing to say.
    public var body: [UInt8]
    /// The Idempotency-Key.
    public var key: ID<RequestSubject>?
    /// The access token.
    public var token: String?

    public init(_ endpoint: Endpoint, body: [UInt8] = [], key: ID<RequestSubject>? = nil, token: String? = nil) {
        self.endpoint = endpoint
        self.body = body
        self.key = key
        self.token = token
    }
}

extension TransportRequest.Endpoint {
    /// Whether it carries so many bytes that it may take long.
    var isBulky: Bool {
        switch self {
        case .chunks, .attachment: true
        default: false
        }
    }
}

/// What the server answered.
public struct TransportReply: Hashable, Sendable {
    /// JSON, empty where there is nothing to say; or why it was refused.
    public var result: Result<[UInt8], APIError>
    /// The server's time when it answered, if it said so.
    public var serverTime: Instant?

    public init(_ result: Result<[UInt8], APIError>, serverTime: Instant? = nil) {
        self.result = result
        self.serverTime = serverTime
    }
}

public struct StreamRequest: Hashable, Sendable {
    /// The access token.
    public var token: String
    /// Where the app was, as the server said it; nil to begin with snapshots.
    public var place: String?
    /// The group sessions to follow, besides what is the account's.
    public var groups: [GroupID]

    public init(token: String, place: String? = nil, groups: [GroupID] = []) {
        self.token = token
        self.place = place
        self.groups = groups
    }
}

/// An open stream.
public struct OpenedStream: Sendable {
    public var items: AsyncThrowingStream<StreamItem, any Error>
    /// The server's time when it answered, if it said so.
    public var serverTime: Instant?

    public init(items: AsyncThrowingStream<StreamItem, any Error>, serverTime: Instant? = nil) {
        self.items = items
        self.serverTime = serverTime
    }
}

/// What arrives on the stream.
public enum StreamItem: Hashable, Sendable {
    /// The connection lives.
    /// - Parameter place: How far the server has looked in all sequences; nil if it didn't say.
    case heartbeat(place: String? = nil)
    /// - Parameter place: Where the app is after it, in all sequences; nil where the event moves none.
    case event(StreamEvent, place: String?)
    /// The server is about to close the stream.
    case end(StreamEnd)
}

/// Why no answer arrived.
public enum TransportError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The server wasn't reached: the request had no effect.
    case unreachable(String)
    /// The connection was lost or silent: the request may have had its effect.
    case interrupted(String)
    /// What arrived isn't what the API describes.
    case malformed(String)

    public var description: String {
        switch self {
        case .unreachable(let reason): "The server can't be reached: \(reason)"
        case .interrupted(let reason): "The connection was lost: \(reason)"
        case .malformed(let reason): "The server's answer can't be read: \(reason)"
        }
    }
}
