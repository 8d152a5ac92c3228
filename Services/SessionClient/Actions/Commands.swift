import Bus
import QuartetAPI
import QuartetContactsContract
import QuartetContractSupport
import QuartetNotificationsContract
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary

/// Commands: asks a service on behalf of the caller and replies with the outcome.
struct Commands: Sendable {
    let services: ServiceConnections
    let contactCodes: ContactCodes
    let people: PeopleSearch
    let devices: Devices
    let groups: GroupSessions
    let uploads: Uploads
    let reads: Reads
    let drills: DrillReads

    /// - Parameter request: One of `appCommands`.
    func send(_ request: any MessageBody, by caller: Caller, _ call: Call) async throws -> CommandReply {
        let type = type(of: request).type
        guard let domain = Domain.ofAppCommands[type] else { throw APIError(.unknownCommand, field: "type") }
        let id = call.key.commandID(in: domain, of: caller.account)
        if let request = request as? JoinGroupSessionRequest {
            return CommandReply(id, try await groups.join(request, id, by: caller, call))
        }
        let (command, names) = try await command(for: request, id, by: caller, call)
        do {
            let event = try await uploads.claim(by: command, caller, call) {
                try await services.ask(
                    domain, command, id: id, key: command.key(of: caller.account), account: caller.account, call,
                    naming: names)
            }
            return CommandReply(id, event)
        } catch let rejection as Rejection where rejection.code == .staleVersion {
            // An app that has to repeat a change needs what it was changed to, and gets it with the refusal.
            var error = APIError(rejection)
            error.current = try? await reads.current(for: command, caller)
            throw error
        }
    }

    /// The command that a request asks for, and what its fields are called in the request where that is something else.
    private func command(
        for request: any MessageBody, _ id: CommandID, by caller: Caller, _ call: Call
    ) async throws -> (any CommandBody, [String: String]) {
        let pushDevice = PushDeviceID(caller.device)
        switch request {
        case let request as any PublicCommandBody: return (request, [:])
        case let request as UpdateSecurityRequest:
            let command = UpdateSecurity(
                isSingleDevice: request.isSingleDevice, isConfirmationRequired: request.isConfirmationRequired,
                by: caller.device)
            return (command, [:])
        case is RemovePhoneRequest: return (RemovePhone(by: caller.device), [:])
        case let request as PauseCheckInsRequest:
            return (PauseCheckIns(until: request.until, by: caller.device), [:])
        case is RunDrillRequest:
            try await drills.requireResponder(of: caller)
            return (RunDrill(by: caller.device), [:])
        case is ResetContactCodeRequest:
            return (ResetContactCode(code: contactCodes.code(for: id, at: id.time ?? .now)), [:])
        case let request as AddContactRequest: return try await add(request, id, by: caller, call)
        case let request as ShowNotificationsRequest:
            return (ShowNotifications(ids: request.ids, device: pushDevice, shown: request.shown), [:])
        case let request as RegisterPushRequest:
            // The device may have signed out a moment ago, before this process heard of it. Its registration would stay.
            guard try await devices.isActiveNow(caller) else { throw APIError(.signedOut) }
            return (RegisterPush(device: pushDevice, token: request.token, platform: request.platform), [:])
        case is UnregisterPushRequest: return (UnregisterPush(device: pushDevice), [:])
        case let request as CreateGroupSessionRequest: return (groups.create(request, id), [:])
        case let request as ActivateGroupSessionRequest:
            return (try await groups.activate(request, id, by: caller), [:])
        default: throw APIError(.unknownCommand, field: "type")
        }
    }

    private func add(
        _ request: AddContactRequest, _ id: CommandID, by caller: Caller, _ call: Call
    ) async throws -> (any CommandBody, [String: String]) {
        guard [request.code != nil, request.handle != nil, request.phone != nil].count(where: { $0 }) == 1 else {
            throw Rejection(
                .invalidField, "Give the other person's code, handle or phone, and only one of these.", field: "code")
        }
        func command(contact: AccountID?) -> AddContact {
            AddContact(
                code: request.code, contact: request.code == nil ? contact : nil,
                isMyResponder: request.isMyResponder ?? false, iAmResponder: request.iAmResponder ?? false,
                nickname: request.nickname)
        }
        // An invalid command needs no search.
        try command(contact: caller.account).validate()
        let target: PeopleSearch.Target? =
            if let handle = request.handle {
                .handle(try Handle(handle))
            } else if let phone = request.phone {
                .phone(try PhoneNumber(phone))
            } else {
                nil
            }
        var contact: AccountID?
        if let target { contact = try await people.account(of: target, by: caller, for: id, call) }
        return (command(contact: contact), ["contact": request.handle == nil ? "phone" : "handle"])
    }
}
