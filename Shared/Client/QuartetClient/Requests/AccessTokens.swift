import Foundation
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

/// Access tokens, and the one exchange that gets the next one, however many callers wait for it.
actor AccessTokens {
    private let transport: any Transport
    private let store: any TokenStore
    private let clock: KnownServerTime
    private let time: Timekeeper
    private var access: (token: String, account: AccountID, end: Duration)?
    /// Why the server signed the device out, as far as it said so.
    private(set) var signOutReason: SignOutReason?
    /// The exchange that is under way.
    private let exchange = Mutex<TokenExchange?>(nil)
    /// A token isn't sent in the last part of its life, since it may end on the way.
    static let margin: Duration = .seconds(30)

    init(transport: any Transport, store: any TokenStore, clock: KnownServerTime, time: Timekeeper) {
        self.transport = transport
        self.store = store
        self.clock = clock
        self.time = time
    }

    /// Who is signed in.
    var credentials: Credentials? {
        get throws { try load().flatMap { $0.isSignedOut ? nil : $0 } }
    }

    /// Why nobody is signed in.
    var signOutError: ConnectionError { .signedOut(signOutReason) }

    private func load() throws(QuartetError) -> Credentials? {
        do { return try store.load() } catch { throw .tokensUnavailable("\(error)") }
    }

    private func save(_ credentials: Credentials?) throws(QuartetError) {
        do { try store.save(credentials) } catch { throw .tokensUnavailable("\(error)") }
    }

    /// Who was signed in last.
    var lastAccount: AccountID? {
        get throws { try load()?.account }
    }

    /// Who was signed in last: also somebody whom the server signed out, or who signed out and of whom the server doesn't know that.
    var last: Credentials? {
        get throws { try load() }
    }

    /// Whether the last one signed out, and that isn't over.
    var isLeaving: Bool {
        get throws { try load()?.isLeaving ?? false }
    }

    /// What to show at the next sign-in.
    var lastRefreshToken: String? {
        get throws { try load()?.refreshToken }
    }

    /// A token that is good for a while.
    /// - Parameters:
    ///   - refused: A token that the server refused: another one is wanted.
    ///   - account: Whose; nil for whoever is signed in. In another process of the app somebody else may have signed in.
    /// - Throws: ``QuartetError``.
    func token(insteadOf refused: String? = nil, for account: AccountID? = nil) async throws -> String {
        while true {
            if let access, access.token != refused, time.now() < access.end, access.account == account ?? access.account
            {
                return access.token
            }
            do {
                let token = try await currentExchange().token()
                guard let account, access?.account != account else { return token }
                throw QuartetError.needsAuthentication
            } catch is TokenExchange.Ended {
                // The device has another network. The next one is sent under the same key.
            }
        }
    }

    private func currentExchange() throws -> TokenExchange {
        if let exchange = exchange.withLock({ $0 }) { return exchange }
        guard let credentials = try credentials else { throw QuartetError.needsAuthentication }
        let begun = TokenExchange()
        exchange.withLock { $0 = begun }
        begun.run(on: time.workplace) {
            defer { self.exchange.withLock { if $0 === begun { $0 = nil } } }
            return try await self.refresh(for: credentials.account)
        }
        return begun
    }

    /// Ends an exchange whose answer the former network may have swallowed. Those who wait for it begin another one.
    nonisolated func networkChanged() {
        let former = exchange.withLock { exchange in
            defer { exchange = nil }
            return exchange
        }
        former?.end()
    }

    /// Somebody signed in, or signed up.
    func signedIn(_ reply: SignedIn, asked: Duration) throws {
        try save(
            Credentials(account: reply.account, device: reply.device, refreshToken: reply.refreshToken))
        signOutReason = nil
        keep(reply, asked: asked)
    }

    /// The server signed the device out.
    func signedOut() throws {
        access = nil
        guard var credentials = try load() else { return }
        credentials.isSignedOut = true
        credentials.exchange = nil
        try save(credentials)
    }

    /// The person signs out. From now on the device counts as signed out, also after a crash, and the token is good for telling the
    /// server so.
    func leave() throws {
        access = nil
        let last: Credentials?
        // What can't be read can't be shown to the server, either.
        do { last = try load() } catch { return try save(nil) }
        guard var credentials = last else { return }
        (credentials.isSignedOut, credentials.isLeaving) = (true, true)
        try save(credentials)
    }

    /// Tells the server of somebody who has left, if it doesn't know, and forgets the token.
    /// - Parameter erase: Erases what is left of them. Without the token nobody would know that something may be.
    /// - Throws: If that has to be tried again.
    func finishLeaving(_ erase: @Sendable (AccountID) async throws -> Void) async throws {
        guard try isLeaving else { return }
        let now = try await serverTime()
        guard let leaving = try load(), leaving.isLeaving else { return }
        var answer = try await renew(leaving, at: now)
        if case .success(let body) = answer.result {
            let signedIn = try JSONDecoder().decode(SignedIn.self, from: Data(body))
            guard var next = try stillLeaving(leaving) else { return }
            // What the server answers to the old one may have ended by the next try.
            (next.refreshToken, next.exchange) = (signedIn.refreshToken, nil)
            try save(next)
            var key = RequestKey()
            answer = try await transport.send(
                TransportRequest(
                    .signOut, body: try SignOutRequest().encoded(), key: key.minted(at: now),
                    token: signedIn.accessToken))
        }
        if case .failure(let error) = answer.result, !error.meansSignedOut, error.verdict != .ends { throw error }
        guard try stillLeaving(leaving) != nil else { return }
        try await erase(leaving.account)
        if try stillLeaving(leaving) != nil { try save(nil) }
    }

    /// Nil if somebody signed in since.
    private func stillLeaving(_ credentials: Credentials) throws(QuartetError) -> Credentials? {
        try load().flatMap { $0.isLeaving && $0.device == credentials.device ? $0 : nil }
    }

    /// Another process has signed out: what is kept here of the token doesn't count any more.
    func dropAccess() {
        access = nil
        signOutReason = .signedOut
    }

    /// The person signed out, and the server knows.
    func forget() throws {
        access = nil
        try save(nil)
    }

    private func keep(_ reply: SignedIn, asked: Duration) {
        let life = Duration.seconds(reply.expiresIn)
        // Counted from before it was asked for, so the server's end isn't earlier.
        access = (reply.accessToken, reply.account, asked + life - min(Self.margin, life / 2))
    }

    /// Exchanges what the store has; again if another process exchanged that meanwhile. Only what the server says of the newest token
    /// counts.
    private func refresh(for account: AccountID) async throws -> String {
        for _ in 0..<5 {
            if let token = try await refreshOnce(for: account) { return token }
        }
        throw TransportError.interrupted("other processes exchange the token all the time")
    }

    /// - Returns: Nil if the store has a newer token of the same device by now.
    private func refreshOnce(for account: AccountID) async throws -> String? {
        let now = try await serverTime()
        // Read only now, and saved before the next wait: meanwhile another process, such as an extension, may have got
        // a newer token, and an older one that is sent after it would look like a thief's. Somebody may also have
        // signed out.
        guard let credentials = try credentials, credentials.account == account else {
            throw QuartetError.needsAuthentication
        }
        let asked = time.now()
        let reply = try await renew(credentials, at: now)
        switch reply.result {
        case .success(let body):
            let signedIn: SignedIn
            do { signedIn = try JSONDecoder().decode(SignedIn.self, from: Data(body)) } catch {
                throw TransportError.malformed("\(error)")
            }
            // Somebody may have signed out, or somebody else in, meanwhile. Another process may have made the same
            // exchange under the same key, and then has the same answer.
            let stored = try self.credentials?.refreshToken
            guard stored == credentials.refreshToken || stored == signedIn.refreshToken else {
                if try hasNewer(than: credentials) { return nil }
                throw QuartetError.needsAuthentication
            }
            try self.signedIn(signedIn, asked: asked)
            return signedIn.accessToken
        case .failure(let error):
            // It is about the token that was sent. Somebody may have signed in meanwhile.
            let isCurrent = try self.credentials?.refreshToken == credentials.refreshToken
            if error.meansSignedOut || error.code == .invalidToken, try hasNewer(than: credentials) { return nil }
            if error.meansSignedOut {
                if isCurrent {
                    signOutReason = error.reason.flatMap { SignOutReason(rawValue: $0) }
                    try signedOut()
                }
                throw QuartetError.needsAuthentication
            }
            // A server under a wrong key for a minute says of every token that it is invalid.
            throw QuartetError.refused(error)
        }
    }

    /// Whether another process has got a newer token of the same device.
    private func hasNewer(than sent: Credentials) throws -> Bool {
        guard let stored = try credentials else { return false }
        return stored.account == sent.account && stored.device == sent.device
            && stored.refreshToken != sent.refreshToken
    }

    /// Exchanges a token, always under the key of its first exchange.
    private func renew(_ stored: Credentials, at now: Instant) async throws -> TransportReply {
        var credentials = stored
        // An answer is remembered for 30 days.
        if let begun = credentials.exchange?.time, begun < now - .days(29) { credentials.exchange = nil }
        var key = credentials.exchange.map { RequestKey($0) } ?? RequestKey()
        credentials.exchange = key.minted(at: now)
        try save(credentials)
        let reply = try await transport.send(
            TransportRequest(
                .token, body: try TokenRequest(refreshToken: credentials.refreshToken).encoded(),
                key: credentials.exchange))
        clock.heard(reply.serverTime)
        return reply
    }

    /// The server's time; asks for it where it isn't known yet.
    func serverTime() async throws -> Instant {
        if let now = clock.now { return now }
        let reply = try await transport.send(TransportRequest(.serverTime))
        clock.heard(reply.serverTime)
        guard let now = clock.now else { throw TransportError.malformed("the server doesn't say its time") }
        return now
    }
}
