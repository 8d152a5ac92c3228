import Foundation
import QuartetAPI
import QuartetClient
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

extension WorldEdge {
    /// How many seconds an access token is good.
    private static let life: Int64 = 900

    /// The real edge derives it from the password by scrypt.
    private static func secret(_ text: String) -> Secret {
        let halves = ["a", "b"].map {
            ID<RequestSubject>.derived(at: Instant(microseconds: 0), from: Array("\($0)\(text)".utf8))
        }
        return Secret(halves.flatMap(\.bytes)) ?? .blank
    }

    private func newDevice(_ name: String?, for key: ID<RequestSubject>) -> NewDevice {
        NewDevice(id: device(key), name: name ?? "Phone", token: Self.secret(refreshToken(key)))
    }

    private static func proof(_ password: String) -> Proof { Proof(key: .blank, secret: secret(password)) }

    func signUp(_ request: SignUpRequest, _ key: ID<RequestSubject>) throws -> [UInt8] {
        let account: AccountID = id("account", for: key)
        let device = newDevice(request.deviceName, for: key)
        _ = try ask(
            .session,
            SignUp(
                account: account, handle: request.handle, verifier: Self.proof(request.password), name: request.name,
                device: device), key, nil)
        return try signedIn(Caller(account: account, device: device.id), key)
    }

    func signIn(_ request: SignInRequest, _ key: ID<RequestSubject>) throws -> [UInt8] {
        let device = newDevice(request.deviceName, for: key)
        let command = SignIn(
            handle: request.handle ?? "", verifier: [Self.proof(request.password ?? "")], device: device,
            source: .derived(at: start, from: Array("world".utf8)))
        let (_, event) = try ask(.session, command, key, nil)
        guard let event, event.type == DeviceSignedIn.type else { throw APIError(.invalidCredentials) }
        return try signedIn(
            Caller(account: try DeviceSignedIn.decoded(from: event.body).account, device: device.id), key)
    }

    private func device(_ key: ID<RequestSubject>) -> DeviceID {
        id("device", for: key)
    }

    private func refreshToken(_ key: ID<RequestSubject>) -> String {
        let id: ID<RequestSubject> = id("refresh", for: key)
        return "refresh-\(id)"
    }

    /// - Parameter key: Of the request that gets the refresh token: sent again, it gets the same.
    private func signedIn(_ caller: Caller, _ key: ID<RequestSubject>) throws -> [UInt8] {
        let refresh = refreshToken(key)
        let reply = try state.withLock { state in
            // A request that is sent again after its device was signed out gets the same answer no more.
            guard state.isSignedIn(caller) else { throw APIError(.signedOut) }
            state.next += 1
            let access = "access-\(state.next)"
            var timed = caller
            timed.end = state.services.time + .seconds(Self.life)
            state.access[access] = timed
            state.refresh[refresh] = caller
            return SignedIn(
                account: caller.account, device: caller.device, accessToken: access, expiresIn: Self.life,
                refreshToken: refresh)
        }
        return try Encoded(reply).json
    }

    func exchange(_ request: TokenRequest, _ key: ID<RequestSubject>) throws -> [UInt8] {
        guard let caller = state.withLock({ $0.refresh[request.refreshToken] }) else {
            throw APIError(.invalidToken)
        }
        let command = RefreshDevice(
            device: caller.device, token: Self.secret(request.refreshToken), next: Self.secret(refreshToken(key)))
        let (_, event) = try ask(.session, command, key, caller.account)
        guard event?.type == DeviceRefreshed.type else { throw APIError(.tokenReused) }
        return try signedIn(caller, key)
    }

    /// Somebody else exchanges a device's token.
    func steal(_ credentials: Credentials?) throws {
        guard let credentials else { return }
        let key: ID<RequestSubject> = state.withLock { $0.services.id() }
        _ = try exchange(TokenRequest(refreshToken: credentials.refreshToken), key)
        state.withLock { $0.access = $0.access.filter { $0.value.device != credentials.device } }
    }

    func signOut(_ request: SignOutRequest, _ http: TransportRequest) throws -> [UInt8] {
        let caller = try caller(http)
        let device = request.everywhere == true ? nil : request.device ?? caller.device
        _ = try ask(.session, SignOut(device: device, by: caller.device), try key(of: http), caller.account)
        return Array("{}".utf8)
    }
}
