import Foundation
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

/// Access tokens, and the one exchange that gets the next one, however many callers wait for it.
///
/// Other processes of the app may have the same store: somebody may have signed in there since. So what is said of a token is said of
/// the device that it was issued to, and of nobody else.
actor AccessTokens {
    /// An access token, and whose it is.
    struct Access: Hashable, Sendable {
        let token: String
        let account: AccountID
        let device: DeviceID
        fileprivate let end: Duration
    }

    private let transport: any Transport
    private let store: any TokenStore
    private let clock: KnownServerTime
    private let time: Timekeeper
    private var access: Access?
    /// Why the device was signed out, as far as this process knows.
    private(set) var signOutReason: SignOutReason?
    /// Counts what people and the server did about who is signed in.
    private(set) var changes = 0
    /// The refresh token of whom the server signed out, or who did so themselves, where the store couldn't be told.
    private var shut: String?
    /// The exchange that is under way.
    private let exchange = Mutex<TokenExchange?>(nil)
    /// Has the store write one thing after the other: one that is this connection's alone does nothing against two at the same time.
    private let writing = Lane()
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

    /// Whether somebody is signed in who hasn't been signed out since, as far as this process knows.
    var isSignedInAnew: Bool {
        guard let stored = try? credentials else { return false }
        return stored.refreshToken != shut
    }

    /// Why nobody is signed in.
    var signOutError: ConnectionError {
        let stored: Credentials?
        do { stored = try store.load() } catch {
            // What can't be read now is somebody's.
            return error is TokensUnreadable ? .tokensUnreadable : .signedOut(signOutReason)
        }
        return stored == nil && signOutReason == nil ? .notSignedIn : .signedOut(signOutReason)
    }

    private func load() throws(QuartetError) -> Credentials? {
        do { return try store.load() } catch { throw Self.trouble(error) }
    }

    private static func trouble(_ error: any Error) -> QuartetError {
        error is TokensUnreadable ? .needsAuthentication : .tokensUnavailable("\(error)")
    }

    /// How long the store is asked for while another process has it: until it goes on without one that is frozen.
    private static let patience: Duration = .seconds(12)

    private func save(_ credentials: Credentials?) async throws(QuartetError) {
        try await write { try $0.save(credentials) }
    }

    private func update<Value: Sendable>(
        isShielded: Bool = true, _ change: @escaping @Sendable (inout Credentials?) -> Value
    ) async throws(QuartetError) -> Value {
        try await write(isShielded: isShielded) { try $0.update(change) }
    }

    /// Has the store write, and the actor do other things meanwhile: what is known here may have changed then.
    /// - Parameter isShielded: Whether it goes on for a caller that is cancelled, so that nobody is half signed in or out.
    private func write<Value: Sendable>(
        isShielded: Bool = true, _ body: @escaping @Sendable (any TokenStore) throws -> Value
    ) async throws(QuartetError) -> Value {
        let end = time.now() + Self.patience
        while true {
            let written = try await writing.run(isShielded: true) { () async throws(QuartetError) in
                await self.written(body)
            }
            do { return try written.get() } catch is TokenStoreBusy where time.now() < end {
                // Whoever comes meanwhile may write first.
                let next = time.now() + .milliseconds(5)
                if isShielded {
                    await Task(executorPreference: time.workplace) { [time] in try? await time.sleep(next) }.value
                } else {
                    do { try await time.sleep(next) } catch { throw .cancelled }
                }
            } catch {
                throw Self.trouble(error)
            }
        }
    }

    @concurrent
    private nonisolated func written<Value: Sendable>(
        _ body: @Sendable (any TokenStore) throws -> Value
    ) async -> Result<Value, any Error> {
        Result { try body(store) }
    }

    /// Who was signed in last.
    var lastAccount: AccountID? {
        get throws { try load()?.account }
    }

    /// Who was signed in last: also somebody whom the server signed out, or who signed out and of whom the server doesn't know that.
    var last: Credentials? {
        get throws { try load() }
    }

    /// Whether somebody was signed in last and hasn't signed out since, unless that can't be read.
    func isLast(_ account: AccountID) -> Bool {
        do { return try load().map { $0.account == account && !$0.isLeaving } ?? false } catch { return true }
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
    func access(insteadOf refused: String? = nil, for account: AccountID? = nil) async throws -> Access {
        while true {
            if let access, access.token != refused, time.now() < access.end, access.account == account ?? access.account
            {
                return access
            }
            do {
                let next = try await currentExchange(for: account).access()
                guard next.account == account ?? next.account else { throw QuartetError.needsAuthentication }
                return next
            } catch is TokenExchange.Ended {
                // The device has another network. The next one is sent under the same key.
            }
        }
    }

    private func currentExchange(for account: AccountID?) throws -> TokenExchange {
        if let exchange = exchange.withLock({ $0 }) { return exchange }
        guard let credentials = try credentials, credentials.account == account ?? credentials.account else {
            throw QuartetError.needsAuthentication
        }
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
    func signedIn(_ reply: SignedIn, asked: Duration) async throws {
        try await save(
            Credentials(account: reply.account, device: reply.device, refreshToken: reply.refreshToken))
        changes += 1
        signOutReason = nil
        _ = keep(reply, asked: asked)
    }

    /// The server signed a token's device out.
    /// - Returns: False if somebody signed in since, be it the same person: that stands.
    func signedOut(_ refused: Access) async throws -> Bool {
        if access?.token == refused.token { access = nil }
        changes += 1
        return try await signedOut { $0.account == refused.account && $0.device == refused.device } ?? true
    }

    /// - Returns: Nil if nobody is signed in.
    private func signedOut(where isMeant: @escaping @Sendable (Credentials) -> Bool) async throws -> Bool? {
        do {
            return try await update { stored in
                guard var credentials = stored else { return nil }
                guard isMeant(credentials) else { return false }
                credentials.isSignedOut = true
                credentials.exchange = nil
                stored = credentials
                return true
            }
        } catch {
            shut = try load().flatMap { isMeant($0) ? $0.refreshToken : shut }
            throw error
        }
    }

    /// The person signs out. From now on the device counts as signed out, also after a crash, and the token is good for telling the
    /// server so.
    /// - Parameter account: Whose; nil for whoever signed in last.
    /// - Returns: Which device; nil if somebody else signed in since, which stands, or if nobody knows.
    func leave(_ account: AccountID?) async throws -> DeviceID? {
        dropAccess(of: account)
        // A token may have come before the store was told.
        defer { dropAccess(of: account) }
        // What can't be read can't be shown to the server, either.
        do { _ = try load() } catch {
            try await save(nil)
            return nil
        }
        do {
            return try await update { stored in
                guard var credentials = stored, credentials.account == account ?? credentials.account else {
                    return nil
                }
                (credentials.isSignedOut, credentials.isLeaving) = (true, true)
                stored = credentials
                return credentials.device
            }
        } catch {
            shut = try load().flatMap { $0.account == account ?? $0.account ? $0.refreshToken : shut }
            throw error
        }
    }

    /// Tells the server of somebody who has left, if it doesn't know, and forgets the token.
    /// - Parameter erase: Erases what is left of them, if they still are the last. Without the token nobody would know that something may
    ///   be.
    /// - Throws: If that has to be tried again.
    func finishLeaving(
        _ erase: @Sendable (AccountID, _ isLast: @Sendable () async throws -> Bool) async throws -> Void
    ) async throws {
        guard try isLeaving else { return }
        let now = try await serverTime()
        guard let leaving = try await begin(at: now, where: \.isLeaving) else { return }
        var answer = try await send(leaving)
        if case .success(let body) = answer.result {
            let signedIn = try JSONDecoder().decode(SignedIn.self, from: Data(body))
            let isLast = try await update(isShielded: false) { stored in
                guard var next = stored, next.isLeaving, next.device == leaving.device else { return false }
                // What the server answers to the old one may have ended by the next try.
                (next.refreshToken, next.exchange) = (signedIn.refreshToken, nil)
                stored = next
                return true
            }
            guard isLast else { return }
            var key = RequestKey()
            answer = try await transport.send(
                TransportRequest(
                    .signOut, body: try SignOutRequest().encoded(), key: key.minted(at: now),
                    token: signedIn.accessToken))
        }
        if case .failure(let error) = answer.result, !error.meansSignedOut, error.verdict != .ends { throw error }
        guard try isLast(leaving) else { return }
        try await erase(leaving.account) { try await self.isLast(leaving) }
        try await update(isShielded: false) { stored in
            if let last = stored, last.isLeaving, last.device == leaving.device { stored = nil }
        }
    }

    /// False if somebody signed in since.
    private func isLast(_ leaving: Credentials) throws -> Bool {
        try load().map { $0.isLeaving && $0.device == leaving.device } ?? false
    }

    /// Somebody has signed out, here or in another process: what is kept here of the token doesn't count any more, unless it is somebody
    /// else's.
    /// - Parameter account: Who; nil for whoever's it is.
    func dropAccess(of account: AccountID?) {
        changes += 1
        guard access == nil || access?.account == account ?? access?.account else { return }
        (access, signOutReason) = (nil, .signedOut)
        // Nobody else waits for what is exchanged for them.
        exchange.withLock { $0 = nil }
    }

    /// The person signed out, and the server knows.
    /// - Parameters:
    ///   - account: Whose; nil for whoever signed in last.
    ///   - device: Which one of theirs; nil if it isn't known.
    func forget(_ account: AccountID?, _ device: DeviceID?) async throws {
        dropAccess(of: account)
        defer { dropAccess(of: account) }
        try await update { stored in
            guard let last = stored, last.account == account ?? last.account, last.device == device ?? last.device
            else { return }
            stored = nil
        }
    }

    private func keep(_ reply: SignedIn, asked: Duration) -> Access {
        let life = Duration.seconds(reply.expiresIn)
        // Counted from before it was asked for, so the server's end isn't earlier.
        let next = Access(
            token: reply.accessToken, account: reply.account, device: reply.device,
            end: asked + life - min(Self.margin, life / 2))
        access = next
        return next
    }

    /// Exchanges what the store has; again if another process exchanged that meanwhile. Only what the server says of the newest token
    /// counts.
    private func refresh(for account: AccountID) async throws -> Access {
        for _ in 0..<5 {
            if let access = try await refreshOnce(for: account) { return access }
        }
        throw TransportError.interrupted("other processes exchange the token all the time")
    }

    /// - Returns: Nil if the store has a newer token of the same person by now.
    private func refreshOnce(for account: AccountID) async throws -> Access? {
        let now = try await serverTime()
        // Read only now: meanwhile another process, such as an extension, may have got a newer token, and an older one
        // that is sent after it would look like a thief's. Somebody may also have signed out.
        guard let credentials = try await begin(at: now, where: { !$0.isSignedOut && $0.account == account }) else {
            throw QuartetError.needsAuthentication
        }
        let asked = time.now()
        let reply = try await send(credentials)
        switch reply.result {
        case .success(let body):
            let signedIn: SignedIn
            do { signedIn = try JSONDecoder().decode(SignedIn.self, from: Data(body)) } catch {
                throw TransportError.malformed("\(error)")
            }
            // Somebody may have signed out, or somebody else in, meanwhile. Another process may have made the same
            // exchange under the same key, and then has the same answer.
            let before = changes
            let isCurrent = try await update { stored in
                guard let known = stored, !known.isSignedOut else { return false }
                // What comes after it may be on its way already.
                if known.refreshToken == signedIn.refreshToken { return true }
                guard known.refreshToken == credentials.refreshToken else { return false }
                stored = Credentials(
                    account: signedIn.account, device: signedIn.device, refreshToken: signedIn.refreshToken)
                return true
            }
            guard isCurrent else {
                if try hasNewer(than: credentials) { return nil }
                throw QuartetError.needsAuthentication
            }
            // Somebody signed in or out while this was written.
            guard before == changes else { return nil }
            signOutReason = nil
            return keep(signedIn, asked: asked)
        case .failure(let error):
            if error.meansSignedOut || error.code == .invalidToken, try hasNewer(than: credentials) { return nil }
            if error.meansSignedOut {
                // It is about the token that was sent. Somebody may have signed in meanwhile.
                let before = changes
                let isOut = try await signedOut { $0.refreshToken == credentials.refreshToken }
                if isOut == true, before == changes {
                    access = nil
                    signOutReason = error.reason.flatMap { SignOutReason(rawValue: $0) }
                }
                throw QuartetError.needsAuthentication
            }
            // A server under a wrong key for a minute says of every token that it is invalid.
            throw QuartetError.refused(error)
        }
    }

    /// Whether another process has got a newer token of the same person, who may have signed in there.
    private func hasNewer(than sent: Credentials) throws -> Bool {
        guard let stored = try credentials else { return false }
        return stored.account == sent.account && stored.refreshToken != sent.refreshToken
    }

    /// Says under which key the token that there is is exchanged: always that of its first exchange, whichever process began it.
    /// - Returns: Nil if there is another one than is meant.
    private func begin(
        at now: Instant, where isMeant: @escaping @Sendable (Credentials) -> Bool
    ) async throws(QuartetError) -> Credentials? {
        try await update(isShielded: false) { stored in
            guard var credentials = stored, isMeant(credentials) else { return nil }
            // An answer is remembered for 30 days.
            if let begun = credentials.exchange?.time, begun < now - .days(29) { credentials.exchange = nil }
            var key = credentials.exchange.map { RequestKey($0) } ?? RequestKey()
            credentials.exchange = key.minted(at: now)
            stored = credentials
            return credentials
        }
    }

    private func send(_ credentials: Credentials) async throws -> TransportReply {
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
