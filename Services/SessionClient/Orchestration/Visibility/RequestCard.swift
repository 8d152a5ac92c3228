import ContactsContract
import Vocabulary

/// What one needs to see of somebody before becoming contacts, and no more.
struct ProfileSummary: Encodable, Sendable {
    let handle: String
    let name: String?
}

/// A request as lists show it: the request and, for one that was received, who asks.
struct RequestCard: Encodable, Sendable {
    let account: AccountID
    let direction: Direction
    let isMyResponder: Bool
    let iAmResponder: Bool
    let requested: Instant
    let handle: String?
    let name: String?

    init(_ request: ContactRequest, from asker: ProfileSummary?) {
        account = request.account
        direction = request.direction
        isMyResponder = request.isMyResponder
        iAmResponder = request.iAmResponder
        requested = request.requested
        handle = asker?.handle
        name = asker?.name
    }
}
