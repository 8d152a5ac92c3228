import Bus
import ContactsContract
import Grammar
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

    // MARK: Requests

    private struct SignUpRequest: MessageBody {
        let handle: String
        let password: String
        let name: String?
        let deviceName: String?
    }

    private struct SignInRequest: MessageBody {
        let handle: String
        let password: String
        let deviceName: String?
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
    }

    // MARK: POST /v1/sign-up

    func signUp(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let body = try SignUpRequest.decodedStrictly(from: try await request.json())
        let key = try IdempotencyKey(of: request)
        let handle = try Handle(body.handle)
        let id: CommandID = key.derive("sign-up", Array(handle.description.utf8))
        let account: AccountID = .derived(at: id.time ?? .now, from: Array("account".utf8), id.bytes)
        let device = try newDevice(body.deviceName, for: id)
        let command = SignUp(
            account: account, handle: handle.description,
            verifier: try await passwords.verifier(of: body.password, for: handle), name: body.name,
            device: device.device)
        try command.validate()
        _ = try await services.ask(
            .session, command, id: id, key: .handle(handle), account: nil, sentAs: key, context)
        await waitUntilOpen(account, context.logger)
        return try await answer(account, device.device.id, device.nonce, status: .created)
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
        let body = try SignInRequest.decodedStrictly(from: try await request.json())
        let key = try IdempotencyKey(of: request)
        // A handle that can't be is as unknown as one that isn't.
        guard let handle = try? Handle(body.handle) else { throw SignInFailed.rejection }
        let id: CommandID = key.derive("sign-in", Array(handle.description.utf8))
        let device = try newDevice(body.deviceName, for: id)
        let command = SignIn(
            handle: handle.description, verifier: try await passwords.verifier(of: body.password, for: handle),
            device: device.device)
        try command.validate()
        let event = try await services.ask(
            .session, command, id: id, key: .handle(handle), account: nil, sentAs: key, context)
        // A wrong password is accepted, because it is counted.
        guard let event, event.type == DeviceSignedIn.type else { throw SignInFailed.rejection }
        let signedIn = try DeviceSignedIn.decoded(from: event.body)
        return try await answer(signedIn.account, signedIn.device.id, device.nonce)
    }

    // MARK: POST /v1/token

    func refresh(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let body = try TokenRequest.decodedStrictly(from: try await request.json())
        let key = try IdempotencyKey(of: request)
        let refresh = try tokens.refresh(from: body.refreshToken)
        let id: CommandID = key.derive("token", refresh.account.bytes)
        let next = Self.nonce(for: id)
        let command = RefreshDevice(
            device: refresh.device, token: try tokens.secret(of: refresh.device, refresh.nonce),
            next: try tokens.secret(of: refresh.device, next))
        let event = try await services.ask(
            .session, command, id: id, key: .account(refresh.account), account: refresh.account, sentAs: key, context)
        guard let event, event.type == DeviceRefreshed.type else {
            throw Problem(
                .unauthorized, "tokenReused",
                "this refresh token was exchanged before, so somebody has a copy of it: the device is signed out. Sign in again",
                field: "refreshToken")
        }
        return try await answer(refresh.account, refresh.device, next)
    }

    // MARK: POST /v1/sign-out

    func signOut(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        let body = try SignOutRequest.decodedStrictly(from: try await request.json())
        guard body.device == nil || body.everywhere != true else {
            throw Rejection(.invalidField, "Give a device or everywhere, not both.", field: "device")
        }
        let key = try IdempotencyKey(of: request)
        let command = SignOut(
            device: body.everywhere == true ? nil : body.device ?? caller.device, by: caller.device)
        _ = try await services.ask(
            .session, command, id: key.derive("sign-out", caller.account.bytes), key: .account(caller.account),
            account: caller.account, sentAs: key, context)
        return Response(status: .noContent)
    }

    // MARK: Devices

    private func newDevice(
        _ name: String?, for command: CommandID
    ) throws(Problem) -> (device: NewDevice, nonce: ID<RefreshSubject>) {
        let id: DeviceID = .derived(at: command.time ?? .now, from: Array("device".utf8), command.bytes)
        let nonce = Self.nonce(for: command)
        return (NewDevice(id: id, name: name ?? "a device", token: try tokens.secret(of: id, nonce)), nonce)
    }

    private static func nonce(for command: CommandID) -> ID<RefreshSubject> {
        .derived(at: command.time ?? .now, from: Array("nonce".utf8), command.bytes)
    }

    private func answer(
        _ account: AccountID, _ device: DeviceID, _ nonce: ID<RefreshSubject>, status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        try .json(
            Session(
                account: account, device: device,
                accessToken: try await tokens.accessToken(account: account, device: device),
                expiresIn: tokens.lifetime.components.seconds,
                refreshToken: tokens.text(of: .init(account: account, device: device, nonce: nonce))),
            status: status)
    }
}
