import API
import Foundation
import QuartetClient
import SessionClientOrchestration
import SessionContract
import Synchronization
import Vocabulary

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

    private static func proof(_ password: String) -> Proof { Proof(key: .blank, secret: secret(password)) }

    func signUp(_ request: SignUpRequest, _ key: ID<RequestSubject>) throws -> [UInt8] {
        let account: AccountID = id("account", for: key)
        let device = NewDevice(id: device(key), name: request.deviceName ?? "Phone", token: Self.secret("\(key)"))
        _ = try ask(
            .session,
            SignUp(
                account: account, handle: request.handle, verifier: Self.proof(request.password), name: request.name,
                device: device), key, nil)
        return try signedIn(Caller(account: account, device: device.id))
    }

    func signIn(_ request: SignInRequest, _ key: ID<RequestSubject>) throws -> [UInt8] {
        let device = NewDevice(id: device(key), name: request.deviceName ?? "Phone", token: Self.secret("\(key)"))
        let command = SignIn(
            handle: request.handle ?? "", verifier: [Self.proof(request.password ?? "")], device: device,
            source: .derived(at: start, from: Array("world".utf8)))
        let (_, event) = try ask(.session, command, key, nil)
        guard let event, event.type == DeviceSignedIn.type else { throw APIError(.invalidCredentials) }
        return try signedIn(Caller(account: try DeviceSignedIn.decoded(from: event.body).account, device: device.id))
    }

    private func device(_ key: ID<RequestSubject>) -> DeviceID {
        id("device", for: key)
    }

    private func signedIn(_ caller: Caller) throws -> [UInt8] {
        let reply = state.withLock { state in
            state.next += 1
            let (access, refresh) = ("access-\(state.next)", "refresh-\(state.next)")
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

    func exchange(_ request: TokenRequest) throws -> [UInt8] {
        guard let caller = state.withLock({ $0.refresh[request.refreshToken] }) else {
            throw APIError(.deviceSignedOut)
        }
        return try signedIn(caller)
    }

    func signOut(_ request: SignOutRequest, _ http: TransportRequest) throws -> [UInt8] {
        let caller = try caller(http)
        let device = request.everywhere == true ? nil : request.device ?? caller.device
        _ = try ask(.session, SignOut(device: device, by: caller.device), try key(of: http), caller.account)
        state.withLock { state in
            func isMeant(_ other: Caller) -> Bool {
                other.account == caller.account && (device.map { $0 == other.device } ?? true)
            }
            state.access = state.access.filter { !isMeant($0.value) }
            state.refresh = state.refresh.filter { !isMeant($0.value) }
        }
        return Array("{}".utf8)
    }
}
