import ContactsContract
import ContractSupport
import HTTPTypes
import NotificationsContract
import Postgres
import SessionContract
import Vocabulary

/// The commands that apps may send, each with its service and how a request becomes one: those whose type says that they
/// are public, and those that are made here of something else. All others are for the edge itself, policies, sagas and
/// timers.
struct PublicCommands: Sendable {
    /// A request's body, and under which id its command will be sent.
    struct Input: Sendable {
        let body: [UInt8]
        let command: CommandID
        let caller: Caller
        /// Where the request comes from.
        let address: String
    }

    struct Entry: Sendable {
        let domain: Domain
        let make: @Sendable (Input) async throws -> Made
    }

    /// A command, and what its fields are called in the request where that is something else: a rejection names the latter.
    struct Made: Sendable {
        let command: any CommandBody
        var names: [String: String] = [:]
    }

    private var entries: [String: Entry] = [:]
    /// Where requests come from.
    let addresses: ClientAddress

    subscript(type: String) -> Entry? { entries[type] }

    /// - Parameters:
    ///   - codes: makes contact codes.
    ///   - people: finds whose handle or phone it is.
    ///   - addresses: where requests come from.
    ///   - devices: which are signed in.
    init(
        codes: ContactCodes, people: PeopleSearch, addresses: ClientAddress, devices: Devices
    ) {
        self.addresses = addresses
        for domain in Domain.allCases {
            for case let type as any PublicCommandBody.Type in domain.commandTypes { add(type, to: domain) }
        }
        // Which device asks is what the token says.
        add(UpdateSecurityRequest.self, to: .session) { body, caller in
            UpdateSecurity(
                isSingleDevice: body.isSingleDevice, isConfirmationRequired: body.isConfirmationRequired,
                by: caller.device)
        }
        add(Nothing.self, to: .session, as: RemovePhone.type) { _, caller in RemovePhone(by: caller.device) }

        // Codes are made here: one that an app chose could be guessed.
        entries[ResetContactCode.type] = Entry(domain: .contacts) { input in
            _ = try Nothing.decodedStrictly(from: input.body)
            return Made(
                command: ResetContactCode(code: codes.code(for: input.command, at: input.command.time ?? .now)))
        }
        // By code, handle or phone, not by an account's id, which who was a contact once keeps.
        entries[AddContact.type] = Entry(domain: .contacts) { input in
            try await AddContactRequest.decodedStrictly(from: input.body).command(people, input)
        }

        add(ShowNotificationsRequest.self, to: .notifications) { body, caller in
            ShowNotifications(ids: body.ids, device: PushDeviceID(caller.device), shown: body.shown)
        }
        entries[RegisterPush.type] = Entry(domain: .notifications) { input in
            let (body, caller) = (try RegisterPushRequest.decodedStrictly(from: input.body), input.caller)
            // Nobody would unregister one that signed out a moment ago, of which this process hasn't heard yet.
            guard try await devices.isActiveNow(caller) else {
                throw Problem(.unauthorized, "signedOut", "sign in again; this device isn't signed in")
            }
            return Made(
                command: RegisterPush(
                    device: PushDeviceID(caller.device), token: body.token, platform: body.platform))
        }
        add(Nothing.self, to: .notifications, as: UnregisterPush.type) { _, caller in
            UnregisterPush(device: PushDeviceID(caller.device))
        }
    }

    private mutating func add<Body: MessageBody>(
        _ body: Body.Type, to domain: Domain, as type: String = Body.type,
        _ make: @escaping @Sendable (Body, Caller) throws -> any CommandBody
    ) {
        entries[type] = Entry(domain: domain) {
            Made(command: try make(Body.decodedStrictly(from: $0.body), $0.caller))
        }
    }

    private mutating func add<Body: PublicCommandBody>(_ type: Body.Type, to domain: Domain) {
        entries[Body.type] = Entry(domain: domain) { Made(command: try Body.decodedStrictly(from: $0.body)) }
    }
}

/// A body without fields.
struct Nothing: MessageBody {}

/// `UpdateSecurity` as apps send it.
private struct UpdateSecurityRequest: MessageBody {
    static let type = UpdateSecurity.type

    let isSingleDevice: Bool?
    let isConfirmationRequired: Bool?
}

/// `ShowNotifications` as apps send it.
private struct ShowNotificationsRequest: MessageBody {
    static let type = ShowNotifications.type

    let ids: [NotificationID]
    let shown: Instant?
}

/// `RegisterPush` as apps send it.
private struct RegisterPushRequest: MessageBody {
    static let type = RegisterPush.type

    let token: String
    let platform: PushPlatform
}

/// `AddContact` as apps send it.
private struct AddContactRequest: MessageBody {
    static let type = AddContact.type

    let code: ContactCode?
    let handle: String?
    let phone: String?
    let isMyResponder: Bool?
    let iAmResponder: Bool?
    let nickname: String?

    func command(_ people: PeopleSearch, _ input: PublicCommands.Input) async throws -> PublicCommands.Made {
        guard [code != nil, handle != nil, phone != nil].count(where: { $0 }) == 1 else {
            throw Rejection(
                .invalidField, "Give the other person's code, their handle or their phone: one of them.", field: "code")
        }
        // What is wrong anyway isn't looked for.
        try command(contact: input.caller.account).validate()
        let contact: AccountID? =
            if let handle {
                try await people.account(of: .handle(Handle(handle)), input)
            } else if let phone {
                try await people.account(of: .phone(PhoneNumber(phone)), input)
            } else {
                nil
            }
        return .init(
            command: command(contact: contact), names: ["contact": handle == nil ? "phone" : "handle"])
    }

    private func command(contact: AccountID?) -> AddContact {
        AddContact(
            code: code, contact: code == nil ? contact : nil, isMyResponder: isMyResponder ?? false,
            iAmResponder: iAmResponder ?? false, nickname: nickname)
    }
}

/// Whose handle or phone it is, by what session publishes.
struct Handles: Sendable {
    let pool: Pool

    func account(of handle: Handle) async throws -> AccountID? {
        try await pool.withConnection { database in
            try database.query(
                "SELECT h.account FROM session.handle AS h WHERE h.handle = \(handle.description)"
            ).only?.decode(0, as: AccountID.self)
        }
    }

    /// By whichever name the server's keys make of the number.
    func account(of number: PhoneNumber, _ codes: PhoneCodes) async throws -> AccountID? {
        let names = [codes.id(of: number)] + (codes.earlierIDs(of: number) ?? [])
        return try await pool.withConnection { database in
            try database.query("SELECT p.account FROM session.phone AS p WHERE p.phone_id = ANY (\(names))").only?
                .decode(0, as: AccountID.self)
        }
    }

    /// The handle of an account that is open.
    func handle(of account: AccountID) async throws -> Handle? {
        try await pool.withConnection { database in
            try database.query("SELECT p.handle FROM session.profile AS p WHERE p.account = \(account)").only?.decode(
                0, as: String.self)
        }.map(Handle.init(kept:))
    }
}
