import Foundation
import Observation
import QuartetAPI
import QuartetClientTesting
import QuartetContactsContract
import QuartetContractSupport
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

@Suite("What an app knows of its account and its network", .timeLimit(.minutes(10)))
struct StateDumpTests {
    @Test("a dump of all state has what people see and no token; nor has what the device keeps of it (S14, R21)")
    func dumped() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let connection = Connection(
            transport: server.transport, tokens: server.tokens, store: store, policy: .forever,
            time: server.clock.timekeeper)
        let quartet = Quartet.live(connection)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            #expect(stream.request.token == "access-1")
            try stream.begin(contacts: [Contact(Server.person(1), nickname: "Bobby")])
            try await connection.ready()
            try await quartet.user.raiseAlert()
            let text = quartet.stateDump(connection)
            for seen in ["anna", "Bobby", "\(Server.account)", "connected", "ready"] {
                #expect(text.contains(seen), "\(seen) isn't in \(text)")
            }
            #expect(!text.contains("access-") && !text.contains("refresh-"))
        }
        let kept = store.load(Server.account)
        #expect(!kept.copies.isEmpty)
        for copy in kept.copies {
            let text = String(decoding: copy.state, as: UTF8.self)
            #expect(!text.contains("access-") && !text.contains("refresh-"), "\(copy.sequence)")
        }
    }

    @Test("a dump has neither the contact code, by which anybody becomes a contact, nor the phone number (S14)")
    func bearerSecrets() async throws {
        let server = Server()
        let connection = server.connection()
        let quartet = Quartet.live(connection)
        let code = ContactCode.new()
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin(
                .account,
                AccountState(account: Server.account, handle: "anna", phone: Phone(number: "+4915112345678")))
            try stream.begin(
                .contacts,
                ContactsState(
                    account: Server.account, code: code, contacts: [Contact(Server.person(1), nickname: "Bobby")]))
            try stream.begin(.notifications, NotificationsState(account: Server.account))
            try stream.begin(.operations, OperationsPage?.none)
            try await connection.ready()
            #expect(quartet.contacts.contacts.code == code && quartet.user.user.phone?.number == "+4915112345678")
            let text = quartet.stateDump(connection)
            #expect(text.contains("Bobby") && text.contains("anna"))
            for secret in ["\(code)", "\(code.high)", "\(code.low)", "15112345678"] {
                #expect(!text.contains(secret), "\(secret)")
            }
        }
    }

    @Test("credentials are printed and dumped without their token (S14, R21)")
    func credentials() throws {
        let credentials = try #require(Server().tokens.load())
        var text = "\(credentials)"
        dump(credentials, to: &text)
        #expect(credentials.refreshToken == "refresh-0" && !text.contains("refresh-0"))
        #expect(text.contains("\(Server.device)"))
    }

    @Test("whether the network reaches the server, and when that was last known, is told by streams (S14)")
    func network() async throws {
        let server = Server()
        let connection = server.connection()
        #expect(connection.isNetworkConnected == nil && connection.lastNetworkCheck == nil)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            let hasChanged = Observed(0)
            withObservationTracking {
                _ = connection.isNetworkConnected
            } onChange: {
                hasChanged.update { $0 += 1 }
            }
            try stream.begin()
            try await connection.ready()
            try await hasChanged.wait("the network") { $0 > 0 ? true : nil }
            #expect(connection.isNetworkConnected == true && connection.lastNetworkCheck != nil)

            let events = connection.events
            server.transport.refuseStream(APIError(.overloaded))
            stream.end(throwing: TransportError.interrupted("cut"))
            for await event in events { if case .didDisconnect = event { break } }
            #expect(connection.isNetworkConnected == false)
            await server.clock.waitForSleeper(within: .seconds(1))
            server.clock.advance(by: .seconds(1))
            for await event in events { if case .didFail = event { break } }
            #expect(connection.isNetworkConnected == true)
        }
    }

    @Test("what the server says shows that the network works, what doesn't arrive that it doesn't (S14)")
    func errors() {
        let known: [(ConnectionError, Bool?)] = [
            (.transport(.unreachable("x")), false), (.transport(.interrupted("x")), false), (.silent, false),
            (.transport(.malformed("x")), true), (.refused(APIError(.overloaded)), true),
            (.ended(.serverStopping), true), (.signedOut(nil), true), (.tokenRefused, true),
            (.outOfSequence(.contacts), true), (.closed, nil), (.notSignedIn, nil), (.tokensUnavailable("x"), nil),
            (.tokensUnreadable, nil), (.stale, nil),
        ]
        for (error, reachesServer) in known { #expect(error.reachesServer == reachesServer, "\(error)") }
    }
}
