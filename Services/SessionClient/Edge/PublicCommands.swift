import ContactsContract
import Grammar
import NotificationsContract
import Postgres
import SessionContract
import Vocabulary

/// The commands that apps may send, each with its service and how a request becomes one. A command that isn't here is for
/// the edge itself, policies, sagas and timers.
struct PublicCommands: Sendable {
    /// A request's body, and under which id its command will be sent.
    struct Input: Sendable {
        let body: [UInt8]
        let command: CommandID
    }

    struct Entry: Sendable {
        let domain: Domain
        let make: @Sendable (Input) async throws -> any CommandBody
    }

    private var entries: [String: Entry] = [:]

    subscript(type: String) -> Entry? { entries[type] }

    /// - Parameters:
    ///   - codes: makes contact codes.
    ///   - handles: finds whose handle it is.
    init(codes: ContactCodes, handles: Handles) {
        add(UpdateProfile.self, to: .session)
        add(CheckIn.self, to: .session)
        add(SetCheckInInterval.self, to: .session)
        add(SetCheckInReminders.self, to: .session)
        add(RaiseAlert.self, to: .session)
        add(ClearAlert.self, to: .session)

        add(SetContactApproval.self, to: .contacts)
        add(ApproveContactRequest.self, to: .contacts)
        add(DeclineContactRequest.self, to: .contacts)
        add(WithdrawContactRequest.self, to: .contacts)
        add(UpdateContact.self, to: .contacts)
        add(RemoveContact.self, to: .contacts)
        add(BlockContact.self, to: .contacts)
        add(UnblockContact.self, to: .contacts)
        add(SendPing.self, to: .contacts)
        add(CancelPing.self, to: .contacts)
        add(RespondToPing.self, to: .contacts)
        add(RespondToAllPings.self, to: .contacts)
        // Codes are made here: one that an app chose could be guessed.
        entries[ResetContactCode.type] = Entry(domain: .contacts) { input in
            _ = try Nothing.decodedStrictly(from: input.body)
            return ResetContactCode(code: codes.code(for: input.command, at: input.command.time ?? .now))
        }
        // By code or by handle, not by an account's id, which who was a contact once keeps.
        entries[AddContact.type] = Entry(domain: .contacts) { input in
            try await AddContactRequest.decodedStrictly(from: input.body).command(handles)
        }

        add(MarkRead.self, to: .notifications)
        add(MarkAllRead.self, to: .notifications)
        add(ClearNotifications.self, to: .notifications)
    }

    private mutating func add<Body: CommandBody>(_ type: Body.Type, to domain: Domain) {
        entries[Body.type] = Entry(domain: domain) { try Body.decodedStrictly(from: $0.body) }
    }
}

/// A body without fields.
struct Nothing: MessageBody {}

/// `AddContact` as apps send it.
private struct AddContactRequest: MessageBody {
    static let type = AddContact.type

    let code: ContactCode?
    let handle: String?
    let responder: Bool?
    let dependent: Bool?
    let nickname: String?

    func command(_ handles: Handles) async throws -> AddContact {
        guard (code == nil) != (handle == nil) else {
            throw Rejection(.invalidField, "Give either the other person's code or their handle.", field: "code")
        }
        var contact: AccountID?
        if let handle {
            contact = try await handles.account(of: Handle(handle))
            guard contact != nil else { throw Rejection(.notFound, "Nobody has this handle.", field: "handle") }
        }
        return AddContact(
            code: code, contact: contact, responder: responder ?? false, dependent: dependent ?? false,
            nickname: nickname)
    }
}

/// Whose handle it is, by what session publishes.
struct Handles: Sendable {
    let pool: Pool

    func account(of handle: Handle) async throws -> AccountID? {
        try await pool.withConnection { database in
            try database.query(
                "SELECT h.account FROM session.handle AS h WHERE h.handle = \(handle.description)"
            ).only?.decode(0, as: AccountID.self)
        }
    }
}
