import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetContactsContract
import QuartetSessionContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What ends a change, and what doesn't.
@Suite(.timeLimit(.minutes(10)))
struct DecisionTests {
    @Test("a check-in that is refused as too soon ends, and a call for help behind it goes out at once (S22, S27, T21)")
    func refusedForNow() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            let tooSoon = APIError(.tooSoon, retryAfter: 300)
            server.state.withLock { $0.replies = [.success(Server.accepted()), .failure(tooSoon)] }
            try await app.user.checkIn()
            await #expect(throws: QuartetError.refused(tooSoon)) { try await app.user.checkIn() }
            #expect(app.connection.outbox.items.value.isEmpty)
            try await app.user.raiseAlert()
            #expect(server.clock.now == .zero)
            #expect(server.commands.map(\.name) == ["CheckIn", "CheckIn", "RaiseAlert"])
        }
    }

    @Test("what the server says never happened is sent again under a new key, while it may be (S22, R14)")
    func neverHappened() async throws {
        for code in [APIError.Code.expired, .failed, .accountNotFound, .hostChanged] {
            let server = Server()
            let app = OutboxApp(server)
            try await app.offline(server) {
                server.state.withLock {
                    $0.replies = [.failure(APIError(.noOutcomeYet)), .failure(APIError(code))]
                }
                let events = app.connection.outbox.events
                _ = try? await app.user.raiseAlert()
                await server.passTime { app.connection.outbox.items.value.isEmpty }
                let event = await events.first { _ in true }
                #expect(event?.error == nil, "\(code)")
                let keys = server.commands.map(\.key)
                #expect(keys.count == 3 && keys[0] == keys[1] && keys[1] != keys.last, "\(code)")
            }
        }
    }

    @Test("a command that the server fails five times is refused, the sixth time isn't sent (S22)")
    func failsFiveTimes() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.offline(server) {
            server.state.withLock { $0.replies = Array(repeating: .failure(APIError(.failed)), count: 9) }
            let events = app.connection.outbox.events
            _ = try? await app.user.raiseAlert()
            await server.passTime { app.connection.outbox.items.value.isEmpty }
            let event = await events.first { _ in true }
            #expect(event?.error == .refused(APIError(.failed)))
            #expect(server.commands.count == 5 && Set(server.commands.map(\.key)).count == 5)
        }
    }

    @Test("what a proxy or a page in between answers decides nothing (S22, R11)")
    func foreignAnswers() async throws {
        for (status, type, body) in [
            (404, "text/html", "<html>"), (403, "text/html", "no"), (429, "text/plain", "slow"),
            (401, "text/html", "sign in to the Wi-Fi"), (407, "text/html", "proxy"), (413, "text/html", "large"),
            (403, "application/problem+json", #"{"type":"about:blank","title":"Forbidden"}"#),
            (403, "application/json", #"{"code":"forbidden"}"#),
        ] {
            let transport = HTTPTransport(
                try #require(URL(string: "http://example.org")), headers: [:],
                over: CannedExchanges(status: status, type: type, body: body))
            await #expect(throws: TransportError.self, "\(status) \(type)") {
                try await transport.send(TransportRequest(.command("RaiseAlert"), key: .new()))
            }
        }
        let problem = #"{"type":"/docs/errors/pingsOff","code":"pingsOff","detail":"x"}"#
        let transport = HTTPTransport(
            try #require(URL(string: "http://example.org")), headers: [:],
            over: CannedExchanges(status: 409, type: "application/problem+json", body: problem))
        let reply = try await transport.send(TransportRequest(.command("SendPing"), key: .new()))
        #expect(reply.result == .failure(APIError(.pingsOff, "x")))
    }

    @Test("an answer that can't be read and an app that is too old end no change: it is made once, later (S22, T25)")
    func unreadable() async throws {
        for reply in [
            Result<[UInt8], APIError>.success(Array("<html>".utf8)), .failure(APIError(.upgradeRequired)),
            .failure(APIError(.invalidToken)),
        ] {
            let server = Server()
            let app = OutboxApp(server)
            try await app.offline(server) {
                server.state.withLock { $0.replies = [reply, reply] }
                let events = app.connection.outbox.events
                _ = try? await app.user.raiseAlert()
                await server.passTime { app.connection.outbox.items.value.isEmpty }
                let event = await events.first { _ in true }
                #expect(event?.error == nil && Set(server.commands.map(\.key)).count == 1, "\(reply)")
                #expect(server.tokens.load()?.isSignedOut == false)
            }
        }
    }

    @Test("one 401 that isn't about the device doesn't sign it out (S42, R11)")
    func stillSignedIn() async throws {
        let server = Server()
        let isWrong = Mutex(true)
        server.transport.answer { [unowned server] request in
            guard request.endpoint == .token, isWrong.withLock({ $0 }) else { return try server.answer(request) }
            return TransportReply(.failure(APIError(.invalidToken)))
        }
        let app = OutboxApp(server)
        try await whileRunning(app.connection) {
            await app.connection.wait { $0 == .reconnecting(attempt: 1) }
            #expect(app.connection.lastError == .tokenRefused && server.tokens.load()?.isSignedOut == false)
            isWrong.withLock { $0 = false }
            // Nobody has to do anything.
            await server.passTime { server.transport.openStreams == 1 }
            let stream = try #require(await server.transport.nextStream())
            try stream.begin()
            try await app.connection.ready()
            let keys = server.transport.requests.filter { $0.endpoint == .token }.map(\.key)
            #expect(Set(keys).count == 1)
        }
    }

    @Test("a refusal that is about one change holds no other one up (S22, T21)")
    func ownRefusal() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.offline(server) {
            server.goOffline()
            for contact in [OutboxApp.one, OutboxApp.two, OutboxApp.three] {
                await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.contacts.block(contact) }
            }
            let before = server.commands.count
            server.state.withLock {
                $0.replies = Array(repeating: .failure(APIError(.codeNotSent, retryAfter: 60)), count: 2)
            }
            server.goOnline()
            app.connection.outbox.retry()
            await app.connection.outbox.items.values.wait { $0.count == 2 }
            #expect(server.clock.now == .zero && server.commands.count == before + 3)
        }
    }

    @Test("a call for help whose time the server doesn't accept goes out with the server's (S22, R14)")
    func wrongTime() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.offline(server) {
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            server.clock.advance(by: .seconds(600))
            server.state.withLock { $0.replies = [.failure(APIError(.idTooOld))] }
            let before = server.commands.count
            server.goOnline()
            app.connection.outbox.retry()
            await server.passTime { app.connection.outbox.items.value.isEmpty }
            let times = server.commands.dropFirst(before).compactMap { $0.key?.time }
            #expect(times.count == 2 && times[1] - times[0] >= .seconds(600))
        }
    }

    @Test("a new code that asks for the same key gets it, since the server may have done what was asked (S22, T25)")
    func unknownUndecided() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.offline(server) {
            var error = APIError(.refused)
            error.unknownCode = .init(status: 503, retry: .sameKey)
            server.state.withLock { [error] in $0.replies = Array(repeating: .failure(error), count: 2) }
            _ = try? await app.contacts.block(OutboxApp.one)
            #expect(app.connection.outbox.items.value.allSatisfy { !$0.canCancel })
            await server.passTime { app.connection.outbox.items.value.isEmpty }
            #expect(server.commands.count == 3 && Set(server.commands.map(\.key)).count == 1)
        }
    }

    @Test("an answer with a new code that asks for another key is tried five times (S22, T25)")
    func unknownCode() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.offline(server) {
            var error = APIError(.refused)
            error.unknownCode = .init(status: 409, retry: .newKey)
            server.state.withLock { [error] in $0.replies = Array(repeating: .failure(error), count: 9) }
            let events = app.connection.outbox.events
            _ = try? await app.contacts.block(OutboxApp.one)
            await server.passTime { app.connection.outbox.items.value.isEmpty }
            let event = await events.first { _ in true }
            #expect(event?.error == .refused(error) && server.commands.count == 5)
        }
    }

    @Test("trouble of the device while it sends drops nothing that was kept (S22, R11)")
    func deviceTrouble() async throws {
        for isUrgent in [true, false] {
            let server = Server()
            let store = FailingStore()
            let app = OutboxApp(server, store)
            try await app.offline(server) {
                server.goOffline()
                await #expect(throws: QuartetError.willBeSentWhenOnline) {
                    if isUrgent { try await app.user.raiseAlert() } else { try await app.contacts.block(OutboxApp.one) }
                }
                store.failures.withLock { $0 = 1 }
                let events = app.connection.outbox.events
                server.goOnline()
                app.connection.outbox.retry()
                await server.passTime { app.connection.outbox.items.value.isEmpty }
                let event = await events.first { _ in true }
                #expect(event?.error == nil && server.commands.last?.name == (isUrgent ? "RaiseAlert" : "BlockContact"))
            }
        }
    }

    @Test("a call for help that the device can't write is sent all the same (S22)")
    func fullDisk() async throws {
        let server = Server()
        let store = FailingStore()
        let app = OutboxApp(server, store)
        try await app.connected(server) { _ in
            store.failures.withLock { $0 = 100 }
            await #expect(throws: QuartetError.self) { try await app.contacts.block(OutboxApp.one) }
            try await app.user.raiseAlert()
            #expect(server.commands.map(\.name) == ["RaiseAlert"])
        }
    }

    @Test("tokens that can't be read for a while sign nobody out and drop nothing (S22, S42)")
    func tokenTrouble() async throws {
        let server = Server()
        let tokens = FailingTokens(server.tokens)
        let app = OutboxApp(server, tokens: tokens)
        try await app.offline(server) {
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            server.clock.advance(by: .seconds(3600))
            tokens.isFailing.withLock { $0 = true }
            server.goOnline()
            let events = app.connection.outbox.events
            app.connection.outbox.retry()
            await server.clock.waitForSleeper(within: .seconds(60))
            #expect(app.connection.outbox.items.value.count == 1)
            tokens.isFailing.withLock { $0 = false }
            await server.passTime { app.connection.outbox.items.value.isEmpty }
            let event = await events.first { _ in true }
            #expect(event?.error == nil)
        }
    }
}

/// An answer of anyone's.
private struct CannedExchanges: HTTPExchanges {
    let status: Int
    let type: String
    let body: String

    func start(_ request: URLRequest) -> AsyncThrowingStream<AnswerPart, any Error> {
        let (parts, output) = AsyncThrowingStream<AnswerPart, any Error>.makeStream()
        output.yield(.head(HTTPHead(status: status) { $0 == "Content-Type" ? type : nil }))
        output.yield(.body(Array(body.utf8)))
        output.finish()
        return parts
    }
}
