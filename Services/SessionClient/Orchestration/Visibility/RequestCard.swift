import ContactsContract
import Vocabulary

/// What one needs to see of somebody before becoming contacts, and no more.
struct ProfileSummary: Encodable, Sendable {
    let handle: String
    let name: String?
}

/// A request as lists show it: the request and, for one that was received, who asks.
struct RequestCard: Encodable, Sendable {
    let contact: AccountID
    let direction: Direction
    let responder: Bool
    let dependent: Bool
    let requested: Instant
    let handle: String?
    let name: String?

    init(_ request: ContactRequest, from asker: ProfileSummary?) {
        contact = request.contact
        direction = request.direction
        responder = request.responder
        dependent = request.dependent
        requested = request.requested
        handle = asker?.handle
        name = asker?.name
    }
}
