import API
import ContactsContract
import Foundation
import QuartetClientTesting
import SessionContract
import Synchronization
import TestKit
import Testing
import Vocabulary

@testable import QuartetClient

@Suite(.timeLimit(.minutes(2)))
struct ConnectionLifeTests {
    @Test(
        "however often clients are made of a connection, they show one state, a refusal is taken back in all of them, and the stream is opened once (S1, S24)"
    )
    func clientsOnce() async throws {
        let server = Server()
        let connection = server.connection()
        let first = Quartet.live(connection)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin(contacts: [Contact(OutboxApp.one)])
            try await connection.ready()
            let second = Quartet.live(connection)
            #expect(connection.state.isConnected && server.transport.openStreams == 1)
            server.state.withLock { $0.replies = [.failure(APIError(.pingsOff))] }
            await #expect(throws: QuartetError.refused(APIError(.pingsOff))) {
                try await first.contacts.sendPing(OutboxApp.one)
            }
            for quartet in [first, second] {
                #expect(quartet.contacts.contacts.count == 1 && quartet.contacts.contacts.outgoingPings.isEmpty)
            }
            #expect(connection.core.withLock { $0.consumers.count } == 4)
            // Two group sessions of one name are one, too, while somebody holds it.
            let group = GroupID.new()
            let (one, other) = (try first.groups.open(group), try second.groups.open(group))
            #expect(one.state === other.state)
        }
    }

    @Test("when the clients that a change was made with are gone, those that are made next send it (S22)")
    func clientsAgain() async throws {
        let server = Server()
        let connection = server.connection()
        try await whileRunning(connection) {
            var contacts: ContactsClient? = .live(service: connection)
            let shared = try #require(contacts?.contacts)
            let stream = try #require(await server.transport.nextStream())
            try stream.begin(contacts: [Contact(OutboxApp.one)])
            try await connection.ready()
            server.goOffline()
            connection.disconnect()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await contacts?.sendPing(OutboxApp.one) }
            contacts = nil
            server.goOnline()
            connection.outbox.retry()
            let next = ContactsClient.live(service: connection)
            #expect(next.contacts === shared && next.contacts.outgoingPings.count == 1)
            await connection.outbox.items.values.wait { $0.isEmpty }
            #expect(server.commands.last?.name == "SendPing")
        }
    }

    @Test(
        "cancelled and run again at once, a connection is made; of two that run it, one goes on when the other ends (T1)"
    )
    func runAgain() async throws {
        let server = Server()
        let connection = server.connection()
        // What the first one still writes when the second one comes.
        let first = Task { await connection.run() }
        let stream = try #require(await server.transport.nextStream())
        try stream.begin()
        try await connection.ready()
        first.cancel()
        let second = Task { await connection.run() }
        let next = try #require(await server.transport.nextStream())
        next.resume()
        try await connection.ready()
        let third = Task { await connection.run() }
        second.cancel()
        let last = try #require(await server.transport.nextStream())
        last.resume()
        try await connection.ready()
        third.cancel()
        for task in [first, second, third] { await task.value }
        #expect(connection.state == .disconnected && server.transport.openStreams == 0)
    }
}
