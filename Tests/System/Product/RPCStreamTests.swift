import EdgeClient
import Foundation
import RPCClient
import RawClient
import TestKit
import Testing

/// Streams over gRPC: the same as server-sent events.
@Suite("End to end: streams over gRPC", .timeLimit(.minutes(60)))
struct RPCStreamTests {
    @Test(
        """
        a stream over gRPC says what server-sent events say, and goes on over either where the other stopped, also at \
        another replica (T13, T18)
        """)
    func resumption() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await quartet.rpc { rpc in
                let views = [
                    try await LiveView.open(anna), try await LiveView.open(rpc.watch(token: anna.token)),
                ]
                let code = try await bob.read("/v1/contacts")["code"]
                try await anna.act("AddContact", ["code": code, "iAmResponder": true])
                try await anna.act("SendPing", ["contact": .string(bob.account)])
                for view in views {
                    try await view.wait("PingSent", in: "contacts")
                    try await view.wait(notification: "pingSent")
                    try await view.wait("Bob's card") {
                        $0.name == "person" && $0.data["account"].string == bob.account
                    }
                }
                // The same sequences, although those of different owners may be mixed differently.
                for family in ["account", "contacts", "notifications", "operations"] {
                    let seen = views.map { view in
                        view.all.filter { $0.name.hasPrefix("\(family).") }.map(\.description)
                    }
                    #expect(seen[0] == seen[1])
                }
                let positions = try views.map { try #require($0.lastEventID) }
                for view in views { await view.close() }
                try await bob.act("RespondToPing", ["contact": .string(anna.account)])

                let replica = try await quartet.startAnother(.sessionClient)
                let edge = try await quartet.edge(of: replica)
                let onward = [
                    try await LiveView.open(rpc.watch(token: anna.token, after: positions[0])),
                    try await LiveView.open(try await edge.stream(token: anna.token, after: positions[1])),
                ]
                for view in onward {
                    try await view.wait("PingAnswered", in: "contacts")
                    #expect(view.all.allSatisfy { !$0.name.hasSuffix(".snapshot") })
                    #expect(!view.all.contains { $0.data["type"] == "PingSent" })
                    await view.close()
                }
                await replica.end()
            }
        }
    }

    @Test("a stream over gRPC that can't begin is refused with what is wrong with it (T13)")
    func refusals() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            try await quartet.rpc { rpc in
                for (stream, status, code) in [
                    (rpc.watch(token: anna.token, after: "nonsense"), "invalidArgument", "malformedEventID"),
                    (rpc.watch(token: anna.token, following: ["nonsense"]), "invalidArgument", "invalidParameter"),
                    (rpc.watch(token: "nonsense"), "unauthenticated", "invalidToken"),
                ] {
                    let refused = try await #require(throws: RPCClient.Refused.self) { for try await _ in stream {} }
                    #expect(refused.status == status && refused.code == code, "\(refused)")
                }
                var streams: [LiveView] = []
                for _ in 0..<16 { streams.append(try await LiveView.open(rpc.watch(token: anna.token))) }
                let refused = try await #require(throws: RPCClient.Refused.self) {
                    for try await _ in rpc.watch(token: anna.token) {}
                }
                #expect(refused.status == "resourceExhausted" && refused.code == "tooManyStreams", "\(refused)")
                #expect(refused.retryAfter == 5)
                for stream in streams { await stream.close() }
                // The places of streams that were cancelled are free again.
                var isOpen = false
                for _ in 0..<2400 where !isOpen {
                    do {
                        let view = try await LiveView.open(rpc.watch(token: anna.token))
                        isOpen = true
                        await view.close()
                    } catch { try await Task.sleep(for: .milliseconds(50)) }
                }
                #expect(isOpen)
            }
        }
    }

    @Test("signing out ends a stream over gRPC and says why (T19)")
    func revocation() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            try await quartet.rpc { rpc in
                let view = try await LiveView.open(rpc.watch(token: anna.token))
                _ = try await quartet.edge.insist("/v1/sign-out", [:], token: anna.token)
                let end = try await view.wait("the end") { $0.name == "end" }
                #expect(end.data["reason"] == "signedOut")
                try await view.waitForEnd()
            }
        }
    }

    @Test(
        "a process that is told to stop says so to health checks, streams and new streams over gRPC, and then stops (T20)"
    )
    func draining() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["DRAIN_TIME": "20s"])
            let anna = try await quartet.signUp("anna")
            try await quartet.rpc { rpc in
                #expect(try await rpc.health() == "serving")
                #expect(try await rpc.health(of: "quartet.v1.Quartet") == "serving")
                let refused = try await #require(throws: RPCClient.Refused.self) {
                    try await rpc.health(of: "nonsense")
                }
                #expect(refused.status == "notFound")
                let view = try await LiveView.open(rpc.watch(token: anna.token))
                let position = view.lastEventID
                let process = try quartet.process(of: .sessionClient)
                process.send(.terminate)
                let end = try await view.wait("the end") { $0.name == "end" }
                #expect(end.data["reason"] == "serverStopping")
                try await view.waitForEnd()
                #expect(try await rpc.health() == "notServing")
                let late = try await #require(throws: RPCClient.Refused.self) {
                    for try await _ in rpc.watch(token: anna.token) {}
                }
                #expect(late.status == "unavailable" && late.code == "serverStopping", "\(late)")
                try await process.waitForExit(.exited(0))
                try await quartet.start(.sessionClient)
                try await quartet.rpc { rpc in
                    let view = try await LiveView.open(rpc.watch(token: anna.token, after: position))
                    #expect(view.all.allSatisfy { !$0.name.hasSuffix(".snapshot") })
                    await view.close()
                }
            }
        }
    }

    @Test("gRPC uses the certificate that HTTP uses, also after it was replaced, and no plaintext beside it (T19)")
    func encryption() async throws {
        let (first, second) = (
            try await Certificate.make(), try await Certificate.make()
        )
        defer {
            first.remove()
            second.remove()
        }
        let trusted = (first: try first.copy(), second: second.certificate)
        defer { try? FileManager.default.removeItem(atPath: trusted.first) }
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: first.environment)
            _ = try await quartet.rpc(trusting: trusted.first) { try await $0.health() }
            try first.replace(with: second)
            var isNew = false
            for _ in 0..<2400 where !isNew {
                isNew = (try? await quartet.rpc(trusting: trusted.second) { try await $0.health() }) != nil
                if !isNew { try await Task.sleep(for: .milliseconds(50)) }
            }
            #expect(isNew)
            let connection = try RawConnection(port: try await quartet.rpcPort())
            try connection.send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0])
            // Nothing of HTTP/2 comes: TLS refuses it.
            let answer = try await connection.rest()
            #expect(answer.utf8.count < 20)
        }
    }
}

extension Certificate {
    /// Copies the certificate, which is going to be replaced.
    fileprivate func copy() throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "quartet-\(UUID()).pem").path
        try FileManager.default.copyItem(atPath: certificate, toPath: path)
        return path
    }
}
