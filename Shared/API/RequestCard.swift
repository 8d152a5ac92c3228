public import QuartetContactsContract
public import QuartetVocabulary

/// A request as lists show it: the request and, for one that was received, who asks.
public struct RequestCard: Codable, Hashable, Sendable {
    public let account: AccountID
    public let direction: Direction
    public let isMyResponder: Bool
    public let iAmResponder: Bool
    public let requested: Instant
    public let handle: String?
    public let name: String?

    package init(_ request: ContactRequest, from asker: ProfileSummary?) {
        account = request.account
        direction = request.direction
        isMyResponder = request.isMyResponder
        iAmResponder = request.iAmResponder
        requested = request.requested
        handle = asker?.handle
        name = asker?.name
    }
}
