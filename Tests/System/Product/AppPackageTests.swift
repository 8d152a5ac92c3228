import EdgeClient
import Foundation
import QuartetClient
import TestKit
import Testing

import struct EdgeClient.Device

/// What an app has by `QuartetClient`, against the real services.
@Suite
struct AppPackageTests {
    @Test(
        """
        two apps meet, ping, answer, check in and sign out: each sees the other's acts in shared state, and nothing of an account \
        stays after signing out; over HTTP, over gRPC, and over HTTP where gRPC doesn't get through (S4, S6, S7, S10, S13, S14, S17, S27, \
        S29, T18)
        """, arguments: PackageApp.Way.allCases)
    func story(_ way: PackageApp.Way) async throws {
        try await Quartet.with { quartet in
            try await PackageApp.with("anna", try await way.transport(to: quartet)) { anna in
                try await PackageApp.with("bob", try await way.transport(to: quartet)) { bob in
                    let (annas, bobs) = (anna.clients.contacts.contacts, bob.clients.contacts.contacts)
                    #expect(anna.clients.user.user.name == "Anna" && anna.connection.state == .connected)
                    let code = try #require(bobs.code)
                    try await anna.clients.contacts.add(
                        AddContactRequest(code: code, isMyResponder: true, iAmResponder: true))
                    try await PackageApp.wait("the new contact", bobs.values(of: \.count)) { $0 == 1 }
                    try await PackageApp.wait("the person", annas.values) {
                        $0.ids.first.flatMap($0.person(by:))?.name == "Bob"
                    }
                    let bobsID = try #require(annas.ids.first)

                    try await anna.clients.contacts.sendPing(bobsID)
                    #expect(annas.outgoingPings.map(\.account) == [bobsID])
                    try await PackageApp.wait("the ping", bobs.values(of: \.incomingPings)) { !$0.isEmpty }
                    let heard = bob.clients.notifications.notifications
                    try await PackageApp.wait("the notification", heard.values(of: \.unreadNotifications)) {
                        $0.contains { $0.kind == .pingReceived }
                    }
                    let answered = try await bob.clients.session.clearAllReceivedPings(true)
                    #expect(answered.contacts == [anna.clients.session.session.account] && answered.isCheckedIn == true)
                    try await PackageApp.wait("the answer", annas.values(of: \.outgoingPings)) { $0.isEmpty }
                    try await PackageApp.wait("the check-in", bob.clients.user.user.values(of: \.checkIn)) {
                        $0?.last != nil
                    }

                    let before = ContactFields(try #require(annas.contact(by: bobsID)))
                    var after = before
                    after.nickname = "Bobby"
                    try await anna.clients.contacts.update(bobsID, Edit(base: before, edit: after))
                    after.notes = "next door"
                    try await anna.clients.contacts.update(bobsID, Edit(base: before, edit: after))
                    try await PackageApp.wait("both edits", annas.values(of: \.contacts)) { $0[bobsID]?.version == 3 }
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
            try await PackageApp.with("anna", MovingTransport { try quartet.url }) { anna in
                let contacts = anna.clients.contacts.contacts
                let bob = try await quartet.signUp("bob")
                let phone = try await Device.signIn("anna", password: "correct horse battery", at: quartet.edge)
                try await quartet.kill(.sessionClient)
                try await quartet.start(.sessionClient)
                try await phone.add(bob, isMyResponder: true, iAmResponder: true)
                try await phone.ping(bob)
                try await PackageApp.wait("what happened meanwhile", contacts.values(of: \.outgoingPings)) {
                    $0.count == 1
                }
                try await withDeadline(.patience, "the connection") { try await anna.connection.ready() }
                #expect(anna.connection.reconnectionCount >= 1 && contacts.phase == .ready)
            }
        }
    }

    @Test("a stream outlives its token, and a device that is signed out elsewhere is told why (S42, S43, T1)")
    func tokens() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["ACCESS_TOKEN_LIFETIME": "6s"])
            let extensions = Observed(0)
            let transport = MovingTransport(url: { try quartet.url }) { request in
                if request.endpoint == .streamToken { extensions.update { $0 += 1 } }
            }
            try await PackageApp.with("anna", transport) { anna in
                // Three of them last longer than the stream's first. A busy machine may be late with one, and then opens another
                // stream.
                var isOne = false
                for _ in 0..<5 where !isOne {
                    let (before, seen) = (anna.connection.reconnectionCount, extensions.value)
                    try await extensions.wait("three newer tokens for a stream") { $0 >= seen + 3 ? true : nil }
                    isOne = anna.connection.reconnectionCount == before
                }
                #expect(isOne)
                // With longer tokens, the stream alone says why it ends.
                let count = anna.connection.reconnectionCount
                try await quartet.restart(.sessionClient)
                let tablet = try await Device.signIn("anna", password: "correct horse battery", at: quartet.edge)
                try await withDeadline(.patience, "the connection") {
                    for await state in anna.connection.states
                    where state.isConnected && anna.connection.reconnectionCount > count { return }
                }
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
        try await Quartet.with { quartet in
            let url = try #require(URL(string: try quartet.url))
            let app = PackageApp(HTTPTransport(url))
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
            let before = try openSockets()
            for _ in 0..<100 { try await cycle() }
            // Other tests open and close sockets of this process meanwhile; a leak would be a hundred.
            var after = try openSockets()
            for _ in 0..<1200 where after >= before + 60 {
                try await Task.sleep(for: .milliseconds(100))
                after = try openSockets()
            }
            #expect(after < before + 60)
        }
    }
}
