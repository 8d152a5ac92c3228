import EdgeClient
import Foundation
import QuartetClient
import TestKit
import Testing

import struct EdgeClient.Device

/// What an app has by `QuartetClient`, against the real services.
@Suite
struct AppPackageTests {
    /// An app on one device.
    private struct App: Sendable {
        let connection: QuartetClient.Connection
        let clients: QuartetClient.Quartet

        init(_ transport: any Transport, policy: ReconnectionPolicy = .forever) {
            connection = QuartetClient.Connection(transport: transport, policy: policy)
            clients = .live(connection)
        }

        /// Runs `body` while it is connected, as somebody who has just signed up.
        static func with<Result: Sendable>(
            _ handle: String, _ transport: any Transport, _ body: @Sendable (App) async throws -> Result
        ) async throws -> Result {
            let app = App(transport)
            _ = try await app.clients.session.signUp(
                SignUpRequest(handle: handle, password: "correct horse battery", name: handle.capitalized))
            return try await withThrowingTaskGroup(of: Result?.self) { group in
                group.addTask {
                    await app.connection.run()
                    return nil
                }
                defer { group.cancelAll() }
                try await withDeadline(.patience, "a connection") { try await app.connection.ready() }
                return try await body(app)
            }
        }
    }

    /// Goes wherever the edge is now.
    private struct MovingTransport: Transport {
        let url: @Sendable () throws -> String

        private func transport() throws -> HTTPTransport {
            guard let address = try? url(), let url = URL(string: address) else {
                throw TransportError.unreachable("the edge isn't running")
            }
            return HTTPTransport(url)
        }

        func send(_ request: TransportRequest) async throws -> TransportReply { try await transport().send(request) }

        func open(_ request: StreamRequest) async throws -> OpenedStream {
            let transport = try transport()
            var opened = try await transport.open(request)
            let items = ItemReader(opened.items)
            // It lives as long as its stream.
            opened.items = AsyncThrowingStream(unfolding: { [transport] in
                defer { _ = transport }
                return try await items.next()
            })
            return opened
        }
    }

    private actor ItemReader {
        private let items: AsyncThrowingStream<StreamItem, any Error>.Iterator

        init(_ items: AsyncThrowingStream<StreamItem, any Error>) {
            self.items = items.makeAsyncIterator()
        }

        func next() async throws -> StreamItem? {
            var items = items
            return try await items.next(isolation: self)
        }
    }

    private static func transport(_ quartet: Quartet) -> MovingTransport { MovingTransport { try quartet.url } }

    private static func wait<Element: Sendable>(
        _ what: String, _ values: SharedValues<Element>, until isMeant: @Sendable @escaping (Element) -> Bool
    ) async throws {
        try await withDeadline(.patience, what) { for await value in values where isMeant(value) { return } }
    }

    @Test(
        """
        two apps meet, ping, answer, check in and sign out: each sees the other's acts in shared state, and nothing of an account \
        stays after signing out (S4, S6, S7, S10, S13, S14, S17, S27, S29)
        """)
    func story() async throws {
        try await Quartet.with { quartet in
            let url = try #require(URL(string: try quartet.url))
            try await App.with("anna", HTTPTransport(url)) { anna in
                try await App.with("bob", HTTPTransport(url)) { bob in
                    let (annas, bobs) = (anna.clients.contacts.contacts, bob.clients.contacts.contacts)
                    #expect(anna.clients.user.user.name == "Anna" && anna.connection.state == .connected)
                    let code = try #require(bobs.code)
                    try await anna.clients.contacts.add(
                        AddContactRequest(code: code, isMyResponder: true, iAmResponder: true))
                    try await Self.wait("the new contact", bobs.values(of: \.count)) { $0 == 1 }
                    try await Self.wait("the person", annas.values) {
                        $0.ids.first.flatMap($0.person(by:))?.name == "Bob"
                    }
                    let bobsID = try #require(annas.ids.first)

                    try await anna.clients.contacts.sendPing(bobsID)
                    #expect(annas.outgoingPings.map(\.account) == [bobsID])
                    try await Self.wait("the ping", bobs.values(of: \.incomingPings)) { !$0.isEmpty }
                    let heard = bob.clients.notifications.notifications
                    try await Self.wait("the notification", heard.values(of: \.unreadNotifications)) {
                        $0.contains { $0.kind == .pingReceived }
                    }
                    let answered = try await bob.clients.session.clearAllReceivedPings(true)
                    #expect(answered.contacts == [anna.clients.session.session.account] && answered.isCheckedIn == true)
                    try await Self.wait("the answer", annas.values(of: \.outgoingPings)) { $0.isEmpty }
                    try await Self.wait("the check-in", bob.clients.user.user.values(of: \.checkIn)) { $0?.last != nil }

                    let before = ContactFields(try #require(annas.contact(by: bobsID)))
                    var after = before
                    after.nickname = "Bobby"
                    try await anna.clients.contacts.update(bobsID, Edit(base: before, edit: after))
                    after.notes = "next door"
                    try await anna.clients.contacts.update(bobsID, Edit(base: before, edit: after))
                    try await Self.wait("both edits", annas.values(of: \.contacts)) { $0[bobsID]?.version == 3 }
                    #expect(annas.contact(by: bobsID)?.nickname == "Bobby")

                    try await bob.clients.session.signOut()
                    #expect(bob.connection.state == .needsAuthentication && bobs.count == 0)
                }
            }
        }
    }

    @Test(
        "an edge that is killed costs nobody anything: the stream resumes elsewhere, and shared state is what the server has (T2, T13, S11)"
    )
    func failover() async throws {
        try await Quartet.with { quartet in
            try await App.with("anna", Self.transport(quartet)) { anna in
                let contacts = anna.clients.contacts.contacts
                let bob = try await quartet.signUp("bob")
                let phone = try await Device.signIn("anna", password: "correct horse battery", at: quartet.edge)
                try await quartet.kill(.sessionClient)
                try await quartet.start(.sessionClient)
                try await phone.add(bob, isMyResponder: true, iAmResponder: true)
                try await phone.ping(bob)
                try await Self.wait("what happened meanwhile", contacts.values(of: \.outgoingPings)) { $0.count == 1 }
                try await withDeadline(.patience, "the connection") { try await anna.connection.ready() }
                #expect(anna.connection.reconnectionCount >= 1 && contacts.phase == .ready)
            }
        }
    }

    @Test("a stream outlives its token, and a device that is signed out elsewhere is told why (S42, S43, T1)")
    func tokens() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["ACCESS_TOKEN_LIFETIME": "2s"])
            try await App.with("anna", Self.transport(quartet)) { anna in
                let states = anna.connection.states
                try await withDeadline(.patience, "two more connections") {
                    for await _ in states where anna.connection.reconnectionCount >= 2 { return }
                }
                let tablet = try await Device.signIn("anna", password: "correct horse battery", at: quartet.edge)
                let device = try #require(anna.clients.session.session.device)
                _ = try await quartet.edge.insist(
                    "/v1/sign-out", ["device": .string(device.description)], token: tablet.token)
                try await withDeadline(.patience, "the end") {
                    for await state in anna.connection.states where state == .needsAuthentication { return }
                }
                #expect(anna.connection.lastError == .signedOut(.revoked))
            }
        }
    }

    @Test("opening and cancelling a hundred streams leaves no socket (T7)")
    func sockets() async throws {
        func sockets() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"))?
                    .hasPrefix("socket:") ?? false
            }
        }
        try await Quartet.with { quartet in
            let url = try #require(URL(string: try quartet.url))
            let app = App(HTTPTransport(url))
            _ = try await app.clients.session.signUp(
                SignUpRequest(handle: "anna", password: "correct horse battery", name: "Anna"))
            func cycle() async throws {
                try await withThrowingTaskGroup { group in
                    group.addTask { await app.connection.run() }
                    try await withDeadline(.patience, "a connection") { try await app.connection.ready() }
                    group.cancelAll()
                }
            }
            for _ in 0..<5 { try await cycle() }
            let before = try sockets()
            for _ in 0..<100 { try await cycle() }
            // Other tests open and close sockets of this process meanwhile; a leak would be a hundred.
            #expect(try sockets() < before + 60)
        }
    }
}
