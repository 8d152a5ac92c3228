import Foundation
public import QuartetAPI
public import QuartetSessionContract
public import QuartetVocabulary
import Synchronization

// This file alone holds who is signed in on this device, shows it to readers, and replaces it.

/// Who is signed in on this device. It contains no token.
///
/// Only ``SessionClient`` can make one or replace it: it has no initialiser that others may call, and it can't be decoded.
public struct ReadOnlySessionState: Hashable, Sendable {
    public let account: AccountID?
    public let device: DeviceID?

    fileprivate init(_ credentials: Credentials?) {
        (account, device) = (credentials?.account, credentials?.device)
    }

    public var isSignedIn: Bool { account != nil }
}

/// Signs in and out, and does what concerns several clients at once.
public struct SessionClient: Sendable {
    public typealias PlainAction = @Sendable () async throws(QuartetError) -> Void

    /// What every feature reads.
    public var session: SharedState<ReadOnlySessionState>
    /// Finds out who is signed in, and shows what the device kept: call it when the app starts. It needs no network.
    public var restore: PlainAction
    /// - Returns: The code that was sent to the phone, if there is one.
    public var signUp: @Sendable (SignUpRequest) async throws(QuartetError) -> PhoneCodeSent?
    public var signIn: @Sendable (SignInRequest) async throws(QuartetError) -> Void
    /// Has a code sent to a phone, to sign in with.
    public var sendSignInCode: @Sendable (SignInCodeRequest) async throws(QuartetError) -> PhoneCodeSent
    /// Signs this device out. Nothing of the account stays on it, not even changes that weren't sent: of urgent ones
    /// ``Outbox/unsent`` says so, of the others ``Outbox/dropped``. If it throws ``QuartetError/notStored(_:)``, call it again. It
    /// throws ``QuartetError/signOutUntold`` if the device is signed out and the server can't be told.
    public var signOut: PlainAction
    /// The same for a phone that is handed on without a network: nothing of the account stays, and the server hears of it when there
    /// is a network, or at the next sign-in if it answers then. Until then it keeps pushing to the device. Throws
    /// ``QuartetError/signOutUntold`` if it can't hear of it, since what the device was signed in with is damaged.
    public var signOutLocally: PlainAction
    /// Signs out another device, or all of them.
    public var signOutDevices: @Sendable (SignOutRequest) async throws(QuartetError) -> Void
    /// Shows who is using the device. For a few minutes it may then do what needs that.
    public var confirm: @Sendable (ConfirmRequest) async throws(QuartetError) -> Void
    public var changePassword: @Sendable (ChangePasswordRequest) async throws(QuartetError) -> Void
    /// Ten new codes, which no other answer ever contains.
    public var makeRecoveryCodes: @Sendable () async throws(QuartetError) -> [String]
    /// Answers all pings that the app knows of, and leaves one summary in the history. A ping that was sent later isn't answered, by the
    /// times that pings have; those of different senders may differ after a failure of the server's. Without a ``ContactsClient``, or while
    /// it isn't connected, it answers whatever waits when it arrives, as a server of 0.1.0 always does.
    /// - Parameter checkIn: Whether to check in as well.
    public var clearAllReceivedPings:
        @Sendable (_ checkIn: Bool) async throws(QuartetError) -> ClearAllReceivedPingsRequest.Result
    /// The same without a summary.
    public var respondToAllPings: @Sendable () async throws(QuartetError) -> RespondToAllPingsRequest.Result
    /// Closes the account for good, and signs out.
    public var closeAccount: PlainAction
}

extension SessionClient {
    /// Talks to a server.
    public static func live(service: Connection) -> Self {
        let live = service.part { LiveSession(service) }
        return Self(
            session: service.session,
            restore: { () async throws(QuartetError) in try await live.show() },
            signUp: { request async throws(QuartetError) in
                try await live.enter(.signUp, request.handle) { _ in request }.phoneCode
            },
            signIn: { request async throws(QuartetError) in
                _ = try await live.enter(.signIn, request.handle) { last in request.showing(last) }
            },
            sendSignInCode: { request async throws(QuartetError) in
                let last = await live.lastRefreshToken
                let shown = SignInCodeRequest(phone: request.phone, refreshToken: request.refreshToken ?? last)
                let body = try await service.requests.open(.signInCode, shown)
                return try Requests.decoded(PhoneCodeSent.self, from: body)
            },
            signOut: { () async throws(QuartetError) in
                let requests = service.requests
                var (isKnown, isUntold) = (true, false)
                do throws(QuartetError) {
                    _ = try await requests.signedIn(.signOut, SignOutRequest())
                } catch .needsAuthentication {
                    // The server signed it out before, unless its person signed out without telling it.
                    isKnown = await !service.isLeaving
                    // What can't be read can't be shown to it.
                    isUntold = await service.tokens?.signOutError == .tokensUnreadable
                } catch  where error.code == .invalidToken {
                    // A server under a wrong key says so of every token.
                    isKnown = false
                }
                try await live.forget(isKnown: isKnown, if: requests.isCurrent)
                if isUntold { throw .signOutUntold }
            },
            signOutLocally: { () async throws(QuartetError) in
                let requests = service.requests
                let isUntold = await service.tokens?.signOutError == .tokensUnreadable
                try await live.forget(isKnown: false, if: requests.isCurrent)
                if isUntold { throw .signOutUntold }
            },
            signOutDevices: { request async throws(QuartetError) in
                _ = try await service.requests.signedIn(.signOut, request)
            },
            confirm: { request async throws(QuartetError) in
                _ = try await service.requests.signedIn(.confirm, request)
            },
            changePassword: { request async throws(QuartetError) in
                _ = try await service.requests.signedIn(.changePassword, request)
            },
            makeRecoveryCodes: { () async throws(QuartetError) in
                let body = try await service.requests.signedIn(.recoveryCodes, RecoveryCodesRequest())
                return try Requests.decoded(RecoveryCodesReply.self, from: body).recoveryCodes
            },
            clearAllReceivedPings: { checkIn async throws(QuartetError) in
                try await service.requests.operation(
                    ClearAllReceivedPingsRequest(checkIn: checkIn ? true : nil, upTo: service.newestSeenPing))
            },
            respondToAllPings: { () async throws(QuartetError) in
                try await service.requests.operation(RespondToAllPingsRequest(upTo: service.newestSeenPing))
            },
            closeAccount: { () async throws(QuartetError) in
                let requests = service.requests
                _ = try await requests.operation(CloseAccountRequest())
                try await live.forget(isKnown: true, if: requests.isCurrent)
            })
    }

    /// Somebody who is signed in, in memory. Signing out and in changes who it is, and nothing else happens.
    public static func preview(_ credentials: Credentials?) -> Self {
        let shared = SharedState(ReadOnlySessionState(credentials), .ready)
        let show: @Sendable (Credentials?) -> Void = { shared.replace(ReadOnlySessionState($0), .ready)() }
        var preview = failing { .notConfigured($0) }
        preview.session = shared
        preview.restore = { () async throws(QuartetError) in }
        preview.signUp = { _ async throws(QuartetError) in
            show(credentials)
            return nil
        }
        preview.signIn = { _ async throws(QuartetError) in show(credentials) }
        preview.signOut = { () async throws(QuartetError) in show(nil) }
        preview.signOutLocally = { () async throws(QuartetError) in show(nil) }
        preview.closeAccount = { () async throws(QuartetError) in show(nil) }
        return preview
    }

    /// Every endpoint throws what `error` makes of its name.
    public static func failing(_ error: @escaping @Sendable (_ endpoint: String) -> QuartetError) -> Self {
        func fail<Input, Output>(_ endpoint: String) -> @Sendable (Input) async throws(QuartetError) -> Output {
            { _ async throws(QuartetError) in throw error("SessionClient.\(endpoint)") }
        }
        func failPlainly<Output>(_ endpoint: String) -> @Sendable () async throws(QuartetError) -> Output {
            { () async throws(QuartetError) in throw error("SessionClient.\(endpoint)") }
        }
        return Self(
            session: SharedState(ReadOnlySessionState(nil)), restore: failPlainly("restore"), signUp: fail("signUp"),
            signIn: fail("signIn"), sendSignInCode: fail("sendSignInCode"), signOut: failPlainly("signOut"),
            signOutLocally: failPlainly("signOutLocally"), signOutDevices: fail("signOutDevices"),
            confirm: fail("confirm"), changePassword: fail("changePassword"),
            makeRecoveryCodes: failPlainly("makeRecoveryCodes"),
            clearAllReceivedPings: fail("clearAllReceivedPings"),
            respondToAllPings: failPlainly("respondToAllPings"), closeAccount: failPlainly("closeAccount"))
    }
}

extension SharedState where Value == ReadOnlySessionState {
    /// Before it is known who is signed in.
    convenience init() { self.init(ReadOnlySessionState(nil)) }
}

extension Connection {
    /// Shows who is signed in; nil for nobody.
    func show(_ credentials: Credentials?) { session.replace(ReadOnlySessionState(credentials), .ready)() }
}

/// Signing in and out at a server.
private final class LiveSession: Sendable {
    let service: Connection

    init(_ service: Connection) {
        self.service = service
    }

    /// Nil if there is none, or if it can't be read: then signing in replaces it.
    var lastRefreshToken: String? {
        get async { try? await service.lastRefreshToken }
    }

    /// Signs somebody up or in.
    /// - Parameter handle: As they gave it, if they did.
    func enter<Request: MessageBody>(
        _ endpoint: TransportRequest.Endpoint, _ handle: String?, _ request: (_ lastRefreshToken: String?) -> Request
    ) async throws(QuartetError) -> SignedIn {
        let home = service.home.withLock { $0 }
        return try await service.time.call { () async throws(QuartetError) in
            try home?.admit(handle)
            let choices = home?.choices ?? 0
            let last = if let home { await home.lastRefreshToken(of: handle) } else { await lastRefreshToken }
            let asked = service.time.now()
            let body = try await service.requests.open(endpoint, request(last))
            let signedIn = try Requests.decoded(SignedIn.self, from: body)
            if let home {
                try await home.enter(signedIn, handle, asked: asked, after: choices)
            } else {
                try await service.signedIn(signedIn, asked: asked)
                try await show()
            }
            return signedIn
        }
    }

    func forget(isKnown: Bool, if isMeant: () -> Bool) async throws(QuartetError) {
        try await service.time.call { () async throws(QuartetError) in
            let forgotten: Result<Void, QuartetError>
            do throws(QuartetError) {
                forgotten = .success(try await service.forgetAccount(isKnown: isKnown, if: isMeant))
            } catch {
                forgotten = .failure(error)
            }
            // Whoever has the device next sees nothing of the account.
            await service.finishTelling(until: service.time.now() + Outbox.patience)
            let shown: Result<Void, QuartetError>
            do throws(QuartetError) { shown = .success(try await show()) } catch { shown = .failure(error) }
            await service.home.withLock { $0 }?.noteSignOut()
            try forgotten.get()
            try shown.get()
        }
    }

    func show() async throws(QuartetError) {
        // Also for a caller that is cancelled: who is signed in has changed.
        try await service.restore(isShielded: true)
        let credentials = try await Requests.reading { try await service.credentials }
        service.show(credentials)
    }
}

extension SignInRequest {
    /// The same, with what shows that the device was signed in before.
    fileprivate func showing(_ last: String?) -> Self {
        Self(
            handle: handle, password: password, recoveryCode: recoveryCode, phone: phone, phoneCode: phoneCode,
            code: code, deviceName: deviceName, refreshToken: refreshToken ?? last)
    }
}
