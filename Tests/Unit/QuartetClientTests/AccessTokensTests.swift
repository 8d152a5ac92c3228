import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

@Suite(.timeLimit(.minutes(10)))
struct AccessTokensTests {
    private static func tokens(_ server: Server) -> AccessTokens {
        let time = server.clock.timekeeper
        return AccessTokens(
            transport: server.transport, store: server.tokens, clock: KnownServerTime(time), time: time)
    }

    @Test("fifty callers at once cost one exchange (S42, R11)")
    func singleFlight() async throws {
        let server = Server()
        let tokens = Self.tokens(server)
        let got = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await tokens.token() } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(got == ["access-1"])
        #expect(server.transport.requests.count { $0.endpoint == .token } == 1)
        // The same for fifty whose token was refused.
        let again = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await tokens.token(insteadOf: "access-1") } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(again == ["access-2"])
    }

    @Test("a token is replaced 30 seconds before it ends, however wrong the device's clock is (S42)")
    func margin() async throws {
        let server = Server()
        let tokens = Self.tokens(server)
        #expect(try await tokens.token() == "access-1")
        server.clock.advance(by: .seconds(869))
        #expect(try await tokens.token() == "access-1")
        server.clock.advance(by: .seconds(1))
        #expect(try await tokens.token() == "access-2")
    }

    @Test("an exchange whose answer was lost is repeated under the same key, also after a restart (S42)")
    func repetition() async throws {
        let server = Server()
        server.state.withLock { $0.lost = [.interrupted("the answer"), .interrupted("the answer")] }
        for _ in 0..<2 {
            await #expect(throws: TransportError.self) { try await Self.tokens(server).token() }
        }
        #expect(try await Self.tokens(server).token() == "access-1")
        let keys = server.transport.requests.filter { $0.endpoint == .token }.map(\.key)
        #expect(keys.count == 3 && Set(keys).count == 1 && keys.first != .some(nil))
        #expect(server.tokens.load()?.exchange == nil && server.tokens.load()?.refreshToken == "refresh-1")
    }

    @Test("what another process saves meanwhile counts: a newer token is the one exchanged, and a sign-out holds (S42)")
    func otherProcesses() async throws {
        let newer = Credentials(account: Server.account, device: Server.device, refreshToken: "refresh-other")
        for saved in [newer, nil] {
            let server = Server()
            server.transport.answer { [unowned server] request in
                if request.endpoint == .serverTime { server.tokens.save(saved) }
                return try server.answer(request)
            }
            let tokens = Self.tokens(server)
            if saved == nil {
                await #expect(throws: QuartetError.needsAuthentication) { try await tokens.token() }
                #expect(server.tokens.load() == nil && !server.transport.requests.contains { $0.endpoint == .token })
            } else {
                #expect(try await tokens.token() == "access-1")
                let sent = try #require(server.transport.requests.last { $0.endpoint == .token })
                #expect(String(decoding: sent.body, as: UTF8.self).contains("refresh-other"))
                #expect(server.tokens.load()?.refreshToken == "refresh-1")
            }
        }
    }

    /// Tokens that another process is just changing.
    private final class BusyTokens: TokenStore {
        private let store: InMemoryTokenStore
        let isBusy = Mutex(true)

        init(_ store: InMemoryTokenStore) {
            self.store = store
        }

        func load() -> Credentials? { store.load() }
        func save(_ credentials: Credentials?) throws { try update { $0 = credentials } }

        func update<Value: Sendable>(_ change: (inout Credentials?) throws -> Value) throws -> Value {
            if isBusy.withLock({ $0 }) { throw TokenStoreBusy() }
            return try store.update(change)
        }
    }

    @Test("while another process changes the tokens none is exchanged, and whoever wants one tries again (F9, S42)")
    func busy() async throws {
        let server = Server()
        let store = BusyTokens(server.tokens)
        let time = server.clock.timekeeper
        let tokens = AccessTokens(
            transport: server.transport, store: store, clock: KnownServerTime(time), time: time)
        let call = Task { try await tokens.token() }
        await server.clock.waitForSleeper(within: .milliseconds(5))
        // Nobody else waits for that.
        #expect(try await tokens.lastAccount == Server.account)
        await #expect(throws: QuartetError.tokensUnavailable("\(TokenStoreBusy())")) {
            try await server.passingTime { try await call.value }
        }
        #expect(!server.transport.requests.contains { $0.endpoint == .token })
        let second = Task { try await tokens.token() }
        await server.clock.waitForSleeper(within: .milliseconds(5))
        // As long as it takes until a store goes on without a process that is frozen.
        let end = server.clock.now + .seconds(10)
        await server.passTime { server.clock.now > end }
        store.isBusy.withLock { $0 = false }
        #expect(try await server.passingTime { try await second.value } == "access-1")
    }

    @Test(
        "a token that comes while a sign-out waits for another process isn't used after it (F9, S17)",
        arguments: [false, true])
    func droppedLate(isKnown: Bool) async throws {
        let server = Server()
        let store = BusyTokens(server.tokens)
        let time = server.clock.timekeeper
        let tokens = AccessTokens(
            transport: server.transport, store: store, clock: KnownServerTime(time), time: time)
        let signingOut = Task {
            if isKnown {
                try await tokens.forget(Server.account, nil)
            } else {
                _ = try await tokens.leave(Server.account)
            }
        }
        await server.clock.waitForSleeper(within: .milliseconds(5))
        store.isBusy.withLock { $0 = false }
        #expect(try await tokens.token() == "access-1")
        try await server.passingTime { try await signingOut.value }
        await #expect(throws: QuartetError.needsAuthentication) { try await tokens.token() }
    }

    @Test(
        "whoever signs in or out while another process changes the tokens does so also if the caller gives up (F9, S17)",
        arguments: [false, true])
    func cancelled(isSigningIn: Bool) async throws {
        let server = Server()
        let store = BusyTokens(server.tokens)
        let time = server.clock.timekeeper
        let tokens = AccessTokens(
            transport: server.transport, store: store, clock: KnownServerTime(time), time: time)
        let reply = SignedIn(
            account: OutboxApp.one, device: Server.device, accessToken: "next", expiresIn: 900, refreshToken: "next-0")
        let call = Task {
            if isSigningIn {
                try await tokens.signedIn(reply, asked: .zero)
            } else {
                _ = try await tokens.leave(Server.account)
            }
        }
        await server.clock.waitForSleeper(within: .milliseconds(5))
        call.cancel()
        store.isBusy.withLock { $0 = false }
        try await server.passingTime { try await call.value }
        let kept = try #require(server.tokens.load())
        #expect(isSigningIn ? kept.account == OutboxApp.one : kept.isLeaving)
    }

    @Test("to tell the server of a sign-out is given up at once, though another process changes the tokens (F9, S17)")
    func givenUp() async throws {
        let server = Server()
        server.tokens.save(
            Credentials(
                account: Server.account, device: Server.device, refreshToken: "refresh-0", isSignedOut: true,
                isLeaving: true))
        let store = BusyTokens(server.tokens)
        let time = server.clock.timekeeper
        let tokens = AccessTokens(
            transport: server.transport, store: store, clock: KnownServerTime(time), time: time)
        let leaving = Task { try await tokens.finishLeaving { _, _ in } }
        await server.clock.waitForSleeper(within: .milliseconds(5))
        leaving.cancel()
        // The clock stands still.
        await #expect(throws: QuartetError.cancelled) { try await leaving.value }
    }

    /// Tokens of one connection alone, which saves what an exchange brought once somebody who is leaving has left, or after a moment.
    private final class PlainTokens: TokenStore {
        private let store: InMemoryTokenStore
        let begins = DispatchSemaphore(value: 0)
        private let hasLeft = DispatchSemaphore(value: 0)
        let isSaving = Observed(false)

        init(_ store: InMemoryTokenStore) {
            self.store = store
        }

        func load() -> Credentials? { store.load() }

        func save(_ credentials: Credentials?) {
            let isLeaving = credentials?.isLeaving ?? false
            if credentials?.refreshToken == "refresh-1", !isLeaving {
                isSaving.update { $0 = true }
                _ = begins.wait(timeout: .now() + .seconds(60))
                _ = hasLeft.wait(timeout: .now() + .milliseconds(300))
            }
            store.save(credentials)
            if isLeaving { hasLeft.signal() }
        }
    }

    @Test("who signs out while the answer of an exchange is being saved stays signed out (S17, S42)")
    func savedMeanwhile() async throws {
        let server = Server()
        let store = PlainTokens(server.tokens)
        let time = server.clock.timekeeper
        let tokens = AccessTokens(
            transport: server.transport, store: store, clock: KnownServerTime(time), time: time)
        let call = Task { try await tokens.token() }
        try await store.isSaving.wait("the answer is being saved") { $0 ? true : nil }
        let changes = await tokens.changes
        let leaving = Task { try await tokens.leave(Server.account) }
        while await tokens.changes == changes { await Task.yield() }
        store.begins.signal()
        #expect(try await leaving.value == Server.device)
        await #expect(throws: QuartetError.needsAuthentication) { try await call.value }
        let kept = try #require(server.tokens.load())
        #expect(kept.isLeaving && kept.refreshToken == "refresh-1")
    }

    @Test("whoever couldn't be signed out on the device doesn't count as signed in again by that (F9, S17)")
    func notAnew() async throws {
        let server = Server()
        let store = BusyTokens(server.tokens)
        let time = server.clock.timekeeper
        let tokens = AccessTokens(
            transport: server.transport, store: store, clock: KnownServerTime(time), time: time)
        #expect(await tokens.isSignedInAnew)
        await #expect(throws: QuartetError.self) {
            try await server.passingTime { _ = try await tokens.leave(Server.account) }
        }
        #expect(await tokens.isSignedInAnew == false)
        server.tokens.save(Credentials(account: Server.account, device: .new(), refreshToken: "anew"))
        #expect(await tokens.isSignedInAnew)
    }

    @Test("two processes that exchange one token at the same time do so under one key (F9, S42)")
    func oneKey() async throws {
        let server = Server()
        let shared = SharedTokens(server.tokens)
        let key = ID<RequestSubject>(high: 0x01A1_0000_0000_7000, low: 0x8000_0000_0000_0077)
        let isOthers = Mutex(false)
        server.transport.answer { [unowned server] request in
            // From here on, whoever reads and then writes is too late.
            if request.endpoint == .serverTime {
                shared.after(reads: 1) { store in
                    store.update { stored in
                        isOthers.withLock { $0 = stored?.exchange == nil }
                        if stored?.exchange == nil { stored?.exchange = key }
                    }
                }
            }
            return try server.answer(request)
        }
        let time = server.clock.timekeeper
        let tokens = AccessTokens(
            transport: server.transport, store: shared, clock: KnownServerTime(time), time: time)
        _ = try await tokens.token()
        let sent = server.transport.requests.filter { $0.endpoint == .token }.map(\.key)
        #expect(sent.count == 1 && sent.first != .some(nil))
        #expect(!isOthers.withLock { $0 } || sent.first == key)
    }

    @Test("the answer that two processes get leaves the exchange that one of them has begun since (F9, S42)")
    func nextExchange() async throws {
        let server = Server()
        let key = ID<RequestSubject>(high: 0x01A1_0000_0000_7000, low: 0x8000_0000_0000_0077)
        let next = Credentials(
            account: Server.account, device: Server.device, refreshToken: "refresh-1", exchange: key)
        server.transport.answer { [unowned server] request in
            if request.endpoint == .token { server.tokens.save(next) }
            return try server.answer(request)
        }
        #expect(try await Self.tokens(server).token() == "access-1")
        #expect(server.tokens.load() == next)
    }

    @Test("what the server says of a token leaves whoever signed in since as they are (F9, S17)")
    func refusedLater() async throws {
        for (account, device) in [(OutboxApp.one, Server.device), (Server.account, DeviceID.new())] {
            let server = Server()
            let tokens = Self.tokens(server)
            let access = try await tokens.access()
            let next = Credentials(account: account, device: device, refreshToken: "next")
            server.tokens.save(next)
            #expect(try await tokens.signedOut(access) == false)
            #expect(server.tokens.load() == next)
            if account != Server.account {
                #expect(try await tokens.leave(Server.account) == nil)
                try await tokens.forget(Server.account, Server.device)
                // Nobody's token is exchanged for somebody else.
                await #expect(throws: QuartetError.needsAuthentication) {
                    try await tokens.token(for: Server.account)
                }
            } else {
                try await tokens.forget(Server.account, Server.device)
            }
            #expect(server.tokens.load() == next)
        }
    }

    @Test("whoever signs in again while what is left of them is erased stays signed in (F9, S17)")
    func leaving() async throws {
        let server = Server()
        server.tokens.save(
            Credentials(
                account: Server.account, device: Server.device, refreshToken: "refresh-0", isSignedOut: true,
                isLeaving: true))
        let next = Credentials(account: Server.account, device: .new(), refreshToken: "next")
        let answers = Mutex<[Bool]>([])
        try await Self.tokens(server).finishLeaving { _, isLast in
            for saved in [nil, next] {
                if let saved { server.tokens.save(saved) }
                let answer = try await isLast()
                answers.withLock { $0.append(answer) }
            }
        }
        #expect(answers.withLock { $0 } == [true, false] && server.tokens.load() == next)
    }

    @Test("who signs out or in while a token is exchanged isn't undone by its answer (S42)")
    func changedMeanwhile() async throws {
        let other = Credentials(account: OutboxApp.one, device: .new(), refreshToken: "refresh-other")
        for saved in [other, nil] {
            let server = Server()
            server.transport.answer { [unowned server] request in
                if request.endpoint == .token { server.tokens.save(saved) }
                return try server.answer(request)
            }
            await #expect(throws: QuartetError.needsAuthentication) { try await Self.tokens(server).token() }
            #expect(server.tokens.load()?.refreshToken == saved?.refreshToken)
        }
    }

    @Test(
        "who signs in while an older token is exchanged or refused stays signed in, and gets a token of the new one (F9, S42)",
        arguments: [false, true])
    func refusedMeanwhile(isRefused: Bool) async throws {
        for account in [Server.account, OutboxApp.one] {
            let server = Server()
            server.transport.answer { [unowned server] request in
                guard request.endpoint == .token, String(decoding: request.body, as: UTF8.self).contains("refresh-0")
                else { return try server.answer(request) }
                server.tokens.save(Credentials(account: account, device: .new(), refreshToken: "newer"))
                return isRefused ? TransportReply(.failure(APIError(.deviceSignedOut))) : try server.answer(request)
            }
            if account == Server.account {
                let token = try await Self.tokens(server).token()
                let count = server.state.withLock { $0.exchanges }
                #expect(token == "access-\(count)" && server.tokens.load()?.refreshToken == "refresh-\(count)")
                let sent = try #require(server.transport.requests.last { $0.endpoint == .token })
                #expect(String(decoding: sent.body, as: UTF8.self).contains("newer"))
            } else {
                await #expect(throws: QuartetError.needsAuthentication) { try await Self.tokens(server).token() }
                #expect(server.tokens.load()?.refreshToken == "newer")
            }
            #expect(server.tokens.load()?.isSignedOut == false)
        }
    }

    @Test(
        "a token that another process has exchanged twice signs nobody out: the newest one is taken, and only its refusal counts (S42)",
        arguments: [nil, .tokenReused, .deviceSignedOut, .invalidToken] as [APIError.Code?])
    func exchangedTwice(refusal: APIError.Code?) async throws {
        let newer = Credentials(account: Server.account, device: Server.device, refreshToken: "refresh-other")
        for isNewerRefused in [false, true] {
            let server = Server()
            server.transport.answer { [unowned server] request in
                guard request.endpoint == .token else { return try server.answer(request) }
                let isOld = String(decoding: request.body, as: UTF8.self).contains("refresh-0")
                if isOld { server.tokens.save(newer) }
                if isOld, let refusal { return TransportReply(.failure(APIError(refusal))) }
                if !isOld, isNewerRefused { return TransportReply(.failure(APIError(.tokenReused))) }
                return try server.answer(request)
            }
            let tokens = Self.tokens(server)
            if isNewerRefused {
                await #expect(throws: QuartetError.needsAuthentication) { try await tokens.token() }
            } else {
                let token = try await tokens.token()
                #expect(token == "access-\(server.state.withLock { $0.exchanges })")
                #expect(server.tokens.load()?.refreshToken == "refresh-\(server.state.withLock { $0.exchanges })")
            }
            #expect(server.tokens.load()?.isSignedOut == isNewerRefused)
            #expect(server.transport.requests.count { $0.endpoint == .token } == 2)
        }
    }

    @Test(
        "ids carry the server's time, whatever the device's clock says (R14)",
        arguments: [1_000_000_000, 1_800_000_000, 2_400_000_000] as [Int64])
    func serverTime(seconds: Int64) async throws {
        let server = Server(time: Instant(microseconds: seconds * 1_000_000))
        let connection = server.connection()
        server.clock.advance(by: .seconds(3600))
        let user = UserClient.live(service: connection)
        try await user.raiseAlert()
        let key = try #require(server.transport.requests.last { $0.endpoint == .command("RaiseAlert") }?.key)
        #expect(key.version == 7 && key.time == Instant(microseconds: (seconds + 3600) * 1_000_000))
    }

    @Test("a command is repeated under its key until it is answered (R14, P35)")
    func commandsAreRepeated() async throws {
        let server = Server()
        let connection = server.connection()
        _ = try await connection.requests.command(CheckIn())
        server.state.withLock {
            $0.lost = [.unreachable("no network"), .interrupted("the answer")]
            $0.replies = [.failure(APIError(.overloaded))]
        }
        _ = try await server.passingTime { try await connection.requests.command(CheckIn()) }
        let keys = server.transport.requests.filter { $0.endpoint == .command("CheckIn") }.map(\.key)
        #expect(keys.count == 5 && Set(keys.dropFirst()).count == 1 && Set(keys).count == 2)
    }

    @Test(
        "what a caller hears: offline if nothing was sent, unknown if it may have happened, else the refusal (R13, R15)"
    )
    func errors() async throws {
        let server = Server()
        let connection = server.connection()
        _ = try await connection.requests.command(CheckIn())
        func failure(_ lost: [TransportError]) async -> QuartetError? {
            server.state.withLock { $0.lost = lost }
            do {
                _ = try await server.passingTime { try await connection.requests.command(CheckIn()) }
                return nil
            } catch {
                return error as? QuartetError
            }
        }
        #expect(await failure(Array(repeating: .unreachable("no network"), count: 5)) == .offline)
        #expect(
            await failure([.interrupted("the answer")] + Array(repeating: .unreachable("no network"), count: 4))
                == .unknown)
        server.state.withLock { $0.replies = [.failure(APIError(.tooSoon, retryAfter: 300))] }
        await #expect(throws: QuartetError.refused(APIError(.tooSoon, retryAfter: 300))) {
            try await connection.requests.command(CheckIn())
        }
    }
}
