import Bus
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary

/// Signing in: by handle and password, by handle and recovery code, or by phone and code.
struct SigningIn: Sendable {
    let services: ServiceConnections
    let passwords: Passwords
    let sessions: Sessions
    let phoneCodes: PhoneCodes
    let guesses: Guesses
    let sources: SignInSources
    let handles: Handles

    func signIn(_ request: SignInRequest, _ call: Call) async throws -> SignedIn {
        try call.key.requireRecent(at: call.arrival)
        let event: CausedEvent
        let nonce: ID<RefreshSubject>
        switch (
            request.handle, request.password, request.recoveryCode, request.phone, request.phoneCode, request.code
        ) {
        case (let handle?, let password?, nil, nil, nil, nil):
            // A handle that can't be is as unknown as one that isn't.
            let handle = try? Handle(handle)
            let source = try await source(of: call, showing: request.refreshToken, for: handle)
            (event, nonce) = try await guesses.watch(source) {
                guard let handle else { throw SignInFailed.rejection }
                return try await signIn(handle: handle, password, request.deviceName, from: source, call)
            }
        case (let handle?, nil, let recoveryCode?, nil, nil, nil):
            let source = try await source(of: call, showing: request.refreshToken, for: try? Handle(handle))
            (event, nonce) = try await guesses.watch(source) {
                try await signIn(handle: handle, recoveryCode: recoveryCode, request.deviceName, call)
            }
        case (nil, nil, nil, let phone?, let phoneCode?, let code?):
            let phone = try PhoneNumber(phone)
            let source = try await sources.source(of: call, showing: request.refreshToken) {
                try await handles.account(of: phone, phoneCodes)
            }
            (event, nonce) = try await guesses.watch(source) {
                try await signIn(phone: phone, phoneCode, code, request.deviceName, from: source, call)
            }
        default:
            throw APIError(
                .malformed,
                "Give handle and password, or handle and recoveryCode, or phone, phoneCode and code, and nothing else.",
                field: request.wrongField)
        }
        let signedIn = try DeviceSignedIn.decoded(from: event.body)
        return try await sessions.reply(signedIn.account, signedIn.device.id, nonce)
    }

    private func source(
        of call: Call, showing refreshToken: String?, for handle: Handle?
    ) async throws -> SignInSource {
        try await sources.source(of: call, showing: refreshToken) {
            if let handle { try await handles.account(of: handle) } else { nil }
        }
    }

    private func signIn(
        handle: Handle, _ password: String, _ deviceName: String?, from source: SignInSource, _ call: Call
    ) async throws -> (CausedEvent, ID<RefreshSubject>) {
        // Sent again from another address it is another request: session couldn't count it as the same.
        let id: CommandID = call.key.derive("sign-in", Array(handle.description.utf8) + source.id.bytes)
        let device = try sessions.newDevice(deviceName, for: id)
        let command = SignIn(
            handle: handle.description,
            // Whether or not the handle is known: so both take the same time.
            verifier: try await passwords.verifiers(
                of: password, for: handle, from: source.address, isSignedIn: source.known != nil),
            device: device.device, source: source.id, known: source.known)
        let event = try await services.ask(.session, command, id: id, key: .handle(handle), account: nil, call)
        // A wrong password and an unknown handle are accepted, because they are counted.
        guard let event, event.type == DeviceSignedIn.type else { throw SignInFailed.rejection }
        return (event, device.nonce)
    }

    private func signIn(
        handle: String, recoveryCode: String, _ deviceName: String?, _ call: Call
    ) async throws -> (CausedEvent, ID<RefreshSubject>) {
        let proof = try RecoveryCodes.proof(recoveryCode)
        // A handle that can't be is as unknown as one that isn't.
        guard let handle = try? Handle(handle) else { throw SignInByRecoveryCode.rejection }
        let id: CommandID = call.key.derive("sign-in-recovery", Array(handle.description.utf8))
        let device = try sessions.newDevice(deviceName, for: id)
        let command = SignInByRecoveryCode(handle: handle.description, proof: proof, device: device.device)
        let event = try await services.ask(.session, command, id: id, key: .handle(handle), account: nil, call)
        guard let event else { throw SignInByRecoveryCode.rejection }
        return (event, device.nonce)
    }

    private func signIn(
        phone number: PhoneNumber, _ phoneCode: PhoneCodeID, _ code: String, _ deviceName: String?,
        from source: SignInSource, _ call: Call
    ) async throws -> (CausedEvent, ID<RefreshSubject>) {
        let phone = phoneCodes.id(of: number)
        let id: CommandID = call.key.derive("sign-in-phone", phone.bytes + source.id.bytes)
        let device = try sessions.newDevice(deviceName, for: id)
        let command = SignInByPhone(
            phone: phone, earlier: phoneCodes.earlierIDs(of: number), code: phoneCode,
            proof: try phoneCodes.proofs(code, of: phoneCode), device: device.device,
            source: source.id, known: source.known)
        let event = try await services.ask(.session, command, id: id, key: .phone(phone), account: nil, call)
        // Wrong digits are accepted, because they are counted.
        guard let event, event.type == DeviceSignedIn.type else { throw Self.wrongCode }
        return (event, device.nonce)
    }

    private static let wrongCode = APIError(
        .invalidCredentials, PhoneCodeFailed.rejection.message, field: "code")
}
