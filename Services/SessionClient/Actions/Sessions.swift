import Bus
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary

/// A device's session from its first tokens to its sign-out. Ids, nonces and with them the tokens follow from the request's
/// Idempotency-Key: a request sent again answers the same.
struct Sessions: Sendable {
    let services: ServiceConnections
    let tokens: Tokens
    let devices: Devices
    let sagas: SagaRunner

    // MARK: New tokens

    func refresh(_ request: TokenRequest, _ call: Call) async throws -> SignedIn {
        let refresh = try tokens.refresh(from: request.refreshToken)
        let id: CommandID = call.key.derive("token", refresh.account.bytes)
        var successors = tokens.refreshes(refresh.account, refresh.device, Self.nonce(for: id))[...]
        while let next = successors.popFirst() {
            do {
                return try await exchange(refresh, for: next, id, call)
            } catch let rejection as Rejection where rejection.code == .idReused && !successors.isEmpty {
                // It was sent before, when another key was the current one: it has the token of then.
                continue
            }
        }
        throw Tokens.invalidRefreshToken
    }

    private func exchange(
        _ refresh: Tokens.Refresh, for next: Tokens.Refresh, _ id: CommandID, _ call: Call
    ) async throws -> SignedIn {
        let command = RefreshDevice(
            device: refresh.device, token: try tokens.secret(of: refresh), next: try tokens.secret(of: next))
        let event = try await services.ask(
            .session, command, id: id, key: .account(refresh.account), account: refresh.account, call,
            naming: ["device": "refreshToken", "token": "refreshToken", "next": "refreshToken"])
        guard let event, event.type == DeviceRefreshed.type else {
            throw APIError(
                .tokenReused,
                "This refresh token was exchanged before, so someone may have a copy of it. The device is signed out; sign in again.",
                field: "refreshToken")
        }
        return try await reply(next)
    }

    // MARK: Signing out

    /// - Returns: The operation that still ends pushes, if it isn't done.
    func signOut(
        _ request: SignOutRequest, by caller: Caller, _ call: Call
    ) async throws -> ID<OperationSubject>? {
        guard request.device == nil || request.everywhere != true else {
            throw Rejection(.invalidField, "Give either device or everywhere.", field: "device")
        }
        let device = request.everywhere == true ? nil : request.device ?? caller.device
        // First and directly, whatever else is stuck: from here on no token of it is good, and its streams end.
        _ = try await services.ask(
            .session, SignOut(device: device, by: caller.device), as: "sign-out", by: caller.account, call)
        let id: ID<OperationSubject> = call.key.derive("sign-out", caller.account.bytes)
        let record = try await sagas.run(SignOutSaga(device: device), id: id, for: caller.account, call)
        return record?.state == .done ? nil : id
    }

    // MARK: Devices

    func newDevice(
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
    func reply(
        _ account: AccountID, _ device: DeviceID, _ nonce: ID<RefreshSubject>, phoneCode: PhoneCodeSent? = nil
    ) async throws -> SignedIn {
        try await reply(
            Tokens.Refresh(
                account: account, device: device, nonce: nonce, key: tokens.serverKeys.current.version),
            phoneCode: phoneCode)
    }

    private func reply(_ refresh: Tokens.Refresh, phoneCode: PhoneCodeSent? = nil) async throws -> SignedIn {
        let (account, device) = (refresh.account, refresh.device)
        // A request that is sent again after its device was signed out gets the same answer no more.
        guard try await devices.isActive(Caller(account: account, device: device, expiresAt: .now)) else {
            throw APIError(.signedOut, "This device was signed out; sign in again.")
        }
        return SignedIn(
            account: account, device: device,
            accessToken: try await tokens.accessToken(account: account, device: device),
            expiresIn: tokens.lifetime.components.seconds, refreshToken: try tokens.text(of: refresh),
            phoneCode: phoneCode)
    }
}
