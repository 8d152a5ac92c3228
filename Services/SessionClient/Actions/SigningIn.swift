import Bus
import ContactsContract
import ContractSupport
import HTTPTypes
import Hummingbird
import Logging
import NotificationsContract
import Postgres
import SessionContract
import Vocabulary

/// Signing up, in and out, and new access tokens.
///
/// Ids, nonces and with them the tokens follow from the request's Idempotency-Key: a request sent again answers the same.
struct Accounts: Sendable {
    let services: ServiceConnections
    let passwords: Passwords
    let tokens: Tokens
    let phones: Phones
    let guesses: Guesses
    let sources: SignInSources
    let handles: Handles
    /// How many accounts one address may open.
    let signUps: RateLimit<String>
    let devices: Devices
    let sagas: SagaRunner

    // MARK: Requests

    private struct SignUpRequest: MessageBody {
        let handle: String
        let password: String
        let name: String?
        let phone: String?
        let region: String?
        let deviceName: String?
    }

    /// By handle and password, by handle and recovery code, or by phone and code. A refresh token shows that the device was
    /// signed in before.
    private struct SignInRequest: MessageBody {
        let handle: String?
        let password: String?
        let recoveryCode: String?
        let phone: String?
        let phoneCode: PhoneCodeID?
        let code: String?
        let deviceName: String?
        let refreshToken: String?

        /// The first one that is missing, or else one that is too much.
        var wrongField: String {
            let isByRecovery = recoveryCode != nil && password == nil
            let byHandle =
                [("handle", handle == nil)]
                + (isByRecovery ? [("recoveryCode", false)] : [("password", password == nil)])
            let byPhone = [("phone", phone == nil), ("phoneCode", phoneCode == nil), ("code", code == nil)]
            let isByPhone = handle == nil && password == nil && byPhone.contains { !$0.1 }
            let (wanted, other) =
                isByPhone
                ? (byPhone, byHandle)
                : (byHandle, byPhone + (isByRecovery ? [] : [("recoveryCode", recoveryCode == nil)]))
            return wanted.first { $0.1 }?.0 ?? other.first { !$0.1 }?.0 ?? "handle"
        }
    }

    private struct TokenRequest: MessageBody {
        let refreshToken: String
    }

    private struct SignOutRequest: MessageBody {
        let device: DeviceID?
        let everywhere: Bool?
    }

    /// What a device needs to call from now on.
    private struct Session: Encodable {
        let account: AccountID
        let device: DeviceID
        let accessToken: String
        /// Seconds.
        let expiresIn: Int64
        let refreshToken: String
        /// Where a phone was given: the code that was sent to it.
        var phoneCode: Phones.Sent?
    }

    // MARK: POST /v1/sign-up

    func signUp(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let body = try SignUpRequest.decodedStrictly(from: try await request.json(context))
        let key = try IdempotencyKey(of: request)
        let handle = try Handle(body.handle)
        let phone = try body.phone.map { text throws(Rejection) in try PhoneNumber(text) }
        if let phone { try Phone(number: phone.description, region: body.region).check() }
        try key.requireRecent()
        let address = guesses.addresses.address(of: request, context)
        guard signUps.admit(address) else {
            throw Problem(
                .tooManyRequests, "tooManySignUps", "too many accounts were opened from your address; wait a moment",
                retryAfter: signUps.pause)
        }
        try Passwords.check(new: body.password, for: handle)
        let id: CommandID = key.derive("sign-up", Array(handle.description.utf8))
        let account: AccountID = .derived(at: id.time ?? .now, from: Array("account".utf8), id.bytes)
        let device = try newDevice(body.deviceName, for: id)
        let command = SignUp(
            account: account, handle: handle.description,
            verifier: try await passwords.verifier(of: body.password, for: handle, from: address), name: body.name,
            device: device.device)
        try command.validate()
        // Said to be the account's, so that it is found when everything of the account is emptied.
        _ = try await services.ask(
            .session, command, id: id, key: .handle(handle), account: account, sentAs: key, context)
        await waitUntilOpen(account, context.logger)
        // The account is there, whether or not a code can be sent: it may be asked for again.
        var sent: Phones.Sent?
        if let phone {
            sent = try? await phones.sendCode(
                to: phone, region: body.region, of: account, by: device.device.id, sentAs: key, request, context)
        }
        return try await answer(account, device.device.id, device.nonce, phoneCode: sent, status: .created)
    }

    /// The other services hear of an account by a policy. Whoever just signed up may go on at once, so this waits until
    /// they have; not for ever, since the account is there in any case.
    private func waitUntilOpen(_ account: AccountID, _ logger: Logger) async {
        await withTaskGroup(of: Bool.self) { group in
            for (domain, state) in [
                (Domain.contacts, "contacts.contacts_state"), (.notifications, "notifications.notifications_state"),
            ] {
                group.addTask {
                    do {
                        let subscription = try await services[domain].streams.subscribe(
                            to: .account(account), from: nil,
                            state: "SELECT s.state FROM \(unescaped: state) AS s WHERE s.account = \(account)")
                        if case .snapshot(let state, _) = subscription.beginning, state != Array("null".utf8) {
                            return true
                        }
                        // The first event of an account's stream is that it is open.
                        return await subscription.next() != nil
                    } catch {
                        logger.notice("a new account can't be waited for", metadata: ["error": "\(error)"])
                        return false
                    }
                }
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(5))
                return false
            }
            var open = 0
            while open < 2, let isOpen = await group.next() {
                guard isOpen else { break }
                open += 1
            }
            group.cancelAll()
        }
    }

    // MARK: POST /v1/sign-in

    func signIn(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let body = try SignInRequest.decodedStrictly(from: try await request.json(context))
        let key = try IdempotencyKey(of: request)
        try key.requireRecent()
        let event: CausedEvent
        let nonce: ID<RefreshSubject>
        switch (body.handle, body.password, body.recoveryCode, body.phone, body.phoneCode, body.code) {
        case (let handle?, let password?, nil, nil, nil, nil):
            // A handle that can't be is as unknown as one that isn't.
            let handle = try? Handle(handle)
            let source = try await source(of: request, context, showing: body.refreshToken, for: handle)
            (event, nonce) = try await guesses.watch(source) {
                guard let handle else { throw SignInFailed.rejection }
                return try await signIn(handle: handle, password, body.deviceName, from: source, key, context)
            }
        case (let handle?, nil, let recoveryCode?, nil, nil, nil):
            let source = try await source(
                of: request, context, showing: body.refreshToken, for: try? Handle(handle))
            (event, nonce) = try await guesses.watch(source) {
                try await signIn(handle: handle, recoveryCode: recoveryCode, body.deviceName, key, context)
            }
        case (nil, nil, nil, let phone?, let phoneCode?, let code?):
            let phone = try PhoneNumber(phone)
            let source = try await sources.source(of: request, context, showing: body.refreshToken) {
                try await handles.account(of: phone, phones.codes)
            }
            (event, nonce) = try await guesses.watch(source) {
                try await signIn(phone: phone, phoneCode, code, body.deviceName, from: source, key, context)
            }
        default:
            throw Problem(
                .badRequest, "malformed",
                "give handle and password, handle and recoveryCode, or phone, phoneCode and code, and nothing of another",
                field: body.wrongField)
        }
        let signedIn = try DeviceSignedIn.decoded(from: event.body)
        return try await answer(signedIn.account, signedIn.device.id, nonce)
    }

    private func source(
        of request: Request, _ context: EdgeContext, showing refreshToken: String?, for handle: Handle?
    ) async throws -> SignInSource {
        try await sources.source(of: request, context, showing: refreshToken) {
            if let handle { try await handles.account(of: handle) } else { nil }
        }
    }

    private func signIn(
        handle: Handle, _ password: String, _ deviceName: String?, from source: SignInSource, _ key: IdempotencyKey,
        _ context: EdgeContext
    ) async throws -> (CausedEvent, ID<RefreshSubject>) {
        // Sent again from another address it is another request: session couldn't count it as the same.
        let id: CommandID = key.derive("sign-in", Array(handle.description.utf8) + source.id.bytes)
        let device = try newDevice(deviceName, for: id)
        let command = SignIn(
            handle: handle.description,
            // Whether or not the handle is known: so both take the same time.
            verifier: try await passwords.verifiers(
                of: password, for: handle, from: source.address, isSignedIn: source.known != nil),
            device: device.device, source: source.id, known: source.known)
        try command.validate()
        let event = try await services.ask(
            .session, command, id: id, key: .handle(handle), account: nil, sentAs: key, context)
        // A wrong password and an unknown handle are accepted, because they are counted.
        guard let event, event.type == DeviceSignedIn.type else { throw SignInFailed.rejection }
        return (event, device.nonce)
    }

    private func signIn(
        handle: String, recoveryCode: String, _ deviceName: String?, _ key: IdempotencyKey, _ context: EdgeContext
    ) async throws -> (CausedEvent, ID<RefreshSubject>) {
        let proof = try RecoveryCodes.proof(recoveryCode)
        // A handle that can't be is as unknown as one that isn't.
        guard let handle = try? Handle(handle) else { throw SignInByRecoveryCode.rejection }
        let id: CommandID = key.derive("sign-in-recovery", Array(handle.description.utf8))
        let device = try newDevice(deviceName, for: id)
        let command = SignInByRecoveryCode(handle: handle.description, proof: proof, device: device.device)
        try command.validate()
        let event = try await services.ask(
            .session, command, id: id, key: .handle(handle), account: nil, sentAs: key, context)
        guard let event else { throw SignInByRecoveryCode.rejection }
        return (event, device.nonce)
    }

    private func signIn(
        phone number: PhoneNumber, _ phoneCode: PhoneCodeID, _ code: String, _ deviceName: String?,
        from source: SignInSource,
        _ key: IdempotencyKey, _ context: EdgeContext
    ) async throws -> (CausedEvent, ID<RefreshSubject>) {
        let phone = phones.codes.id(of: number)
        let id: CommandID = key.derive("sign-in-phone", phone.bytes + source.id.bytes)
        let device = try newDevice(deviceName, for: id)
        let command = SignInByPhone(
            phone: phone, earlier: phones.codes.earlierIDs(of: number), code: phoneCode,
            proof: try phones.codes.proofs(code, of: phoneCode), device: device.device,
            source: source.id, known: source.known)
        try command.validate()
        let event = try await services.ask(
            .session, command, id: id, key: .phone(phone), account: nil, sentAs: key, context)
        // Wrong digits are accepted, because they are counted.
        guard let event, event.type == DeviceSignedIn.type else { throw Self.wrongCode }
        return (event, device.nonce)
    }

    private static let wrongCode = Problem(
        .unauthorized, "invalidCode", PhoneCodeFailed.rejection.message, field: "code")

    // MARK: POST /v1/token

    func refresh(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let body = try TokenRequest.decodedStrictly(from: try await request.json(context))
        let key = try IdempotencyKey(of: request)
        let refresh = try tokens.refresh(from: body.refreshToken)
        let id: CommandID = key.derive("token", refresh.account.bytes)
        var successors = tokens.refreshes(refresh.account, refresh.device, Self.nonce(for: id))[...]
        while let next = successors.popFirst() {
            do {
                return try await exchange(refresh, for: next, id, key, context)
            } catch let rejection as Rejection where rejection.code == .idReused && !successors.isEmpty {
                // It was sent before, when another key was the current one: it has the token of then.
                continue
            }
        }
        throw Tokens.invalidRefreshToken
    }

    private func exchange(
        _ refresh: Tokens.Refresh, for next: Tokens.Refresh, _ id: CommandID, _ key: IdempotencyKey,
        _ context: EdgeContext
    ) async throws -> Response {
        let command = RefreshDevice(
            device: refresh.device, token: try tokens.secret(of: refresh), next: try tokens.secret(of: next))
        let event: CausedEvent?
        do {
            event = try await services.ask(
                .session, command, id: id, key: .account(refresh.account), account: refresh.account, sentAs: key,
                context)
        } catch let rejection as Rejection {
            throw rejection.naming(["device": "refreshToken", "token": "refreshToken", "next": "refreshToken"])
        }
        guard let event, event.type == DeviceRefreshed.type else {
            throw Problem(
                .unauthorized, "tokenReused",
                "this refresh token was exchanged before, so somebody has a copy of it: the device is signed out. Sign in again",
                field: "refreshToken")
        }
        return try await answer(next)
    }

    // MARK: POST /v1/sign-out

    func signOut(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        let body = try SignOutRequest.decodedStrictly(from: try await request.json(context))
        guard body.device == nil || body.everywhere != true else {
            throw Rejection(.invalidField, "Give a device or everywhere, not both.", field: "device")
        }
        let device = body.everywhere == true ? nil : body.device ?? caller.device
        let key = try IdempotencyKey(of: request)
        // First and directly, whatever else is stuck: from here on no token of it is good, and its streams end.
        _ = try await services.ask(
            .session, SignOut(device: device, by: caller.device), id: key.derive("sign-out", caller.account.bytes),
            key: .account(caller.account), account: caller.account, sentAs: key, context)
        let id: ID<SagaSubject> = key.derive("sign-out", caller.account.bytes)
        switch try await sagas.run(SignOutOperation(device: device), id: id, for: caller.account, context) {
        case .done: return Response(status: .noContent)
        case .rejected(let rejection): throw rejection
        case .running, .failed: return Response(status: .accepted, headers: [.location: "/v1/operations/\(id)"])
        }
    }

    // MARK: Devices

    private func newDevice(
        _ name: String?, for command: CommandID
    ) throws -> (device: NewDevice, nonce: ID<RefreshSubject>) {
        if let name {
            do throws(Rejection) { try NewDevice.check(name: name) } catch {
                throw error.naming(["device.name": "deviceName"])
            }
        }
        let id: DeviceID = .derived(at: command.time ?? .now, from: Array("device".utf8), command.bytes)
        let nonce = Self.nonce(for: command)
        let token = try tokens.secret(of: id, nonce, tokens.serverKeys.current)
        return (NewDevice(id: id, name: name ?? "a device", token: token), nonce)
    }

    private static func nonce(for command: CommandID) -> ID<RefreshSubject> {
        .derived(at: command.time ?? .now, from: Array("nonce".utf8), command.bytes)
    }

    /// For a device that has just signed in.
    private func answer(
        _ account: AccountID, _ device: DeviceID, _ nonce: ID<RefreshSubject>, phoneCode: Phones.Sent? = nil,
        status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        try await answer(
            Tokens.Refresh(
                account: account, device: device, nonce: nonce, key: tokens.serverKeys.current.version),
            phoneCode: phoneCode, status: status)
    }

    private func answer(
        _ refresh: Tokens.Refresh, phoneCode: Phones.Sent? = nil, status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        let (account, device) = (refresh.account, refresh.device)
        // A request that is sent again after its device was signed out gets the same answer no more.
        guard try await devices.isActive(Caller(account: account, device: device, expiresAt: .now)) else {
            throw Problem(.unauthorized, "signedOut", "this sign-in is over; sign in again")
        }
        return try .json(
            Session(
                account: account, device: device,
                accessToken: try await tokens.accessToken(account: account, device: device),
                expiresIn: tokens.lifetime.components.seconds,
                refreshToken: try tokens.text(of: refresh),
                phoneCode: phoneCode),
            status: status)
    }
}
