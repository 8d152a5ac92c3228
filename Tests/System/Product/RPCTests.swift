import EdgeClient
import Foundation
import RPCClient
import RawClient
import TestKit
import Testing

/// Calls over gRPC.
@Suite("End to end: gRPC", .timeLimit(.minutes(60)))
struct RPCTests {
    private static let python = Products.package.appending(path: ".local/python/bin/python").path

    private static func client(_ name: String) -> String {
        Products.package.appending(path: "Tests/System/Product/Clients/\(name)").path
    }

    @Test(
        """
        a client that isn't ours plays the story with the proto alone: compressed, with pings every ten seconds, over a \
        stream that is lost and resumed (T18, R9)
        """)
    func story() async throws {
        try await Quartet.with { quartet in
            let folder = Products.package.appending(path: "Shared/API/Proto").path
            try await ChildProcess.with(
                Self.python, [Self.client("story.py"), folder, "\(try await quartet.rpcPort())"]
            ) { story in
                try await story.waitForExit(.exited(0))
            }
        }
    }

    @Test(
        """
        an app that pings every ten seconds and asks nothing keeps its connection and its stream, for ten minutes in a soak \
        (T13, T18)
        """)
    func quiet() async throws {
        // It takes four pings that come too soon for a server to lose patience.
        let (interval, seconds) = (Soak.count(7, long: 10), Soak.count(32, long: 600))
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let folder = Products.package.appending(path: "Shared/API/Proto").path
            try await ChildProcess.with(
                Self.python,
                [
                    Self.client("quiet.py"), folder, "\(try await quartet.rpcPort())", anna.token, "\(interval)",
                    "\(seconds)",
                ]
            ) { quiet in
                try await quiet.waitForExit(.exited(0), within: .seconds(seconds) + .patience)
            }
        }
    }

    @Test("health checks and reflection answer grpcio's own clients of them, which find every call (T20)")
    func description() async throws {
        try await Quartet.with { quartet in
            try await ChildProcess.with(Self.python, [Self.client("describe.py"), "\(try await quartet.rpcPort())"]) {
                describe in
                try await describe.waitForExit(.exited(0))
                let lines = describe.lines(on: .output)
                for name in RPCClient.calls {
                    #expect(lines.contains { $0.hasPrefix("quartet.v1.Quartet/\(name) quartet.v1.\(name)Request ") })
                }
                #expect(lines.contains("quartet.v1.Quartet/Watch quartet.v1.WatchRequest quartet.v1.StreamMessage"))
                #expect(lines.contains { $0.hasPrefix("grpc.health.v1.Health/Watch ") })
            }
        }
    }

    @Test("a call that is refused or given up before its message is written is answered like others (T18)")
    func refusedEarly() async throws {
        try await Quartet.with { quartet in
            let port = try await quartet.rpcPort()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for connection in 0..<8 {
                    group.addTask {
                        try await RPCClient.with(port: port) { rpc in
                            for number in 0..<200 {
                                await #expect(throws: RPCClient.Refused.self) {
                                    let patience: Duration? =
                                        connection < 4 ? nil : .microseconds(300 + number * 20)
                                    _ = try await rpc.call("CheckIn", token: "none", timeout: patience)
                                }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("a call's metadata carries the idempotency key, bare or quoted, and the client's version (R14, T25)")
    func metadata() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["MINIMUM_CLIENTS": "ios/2.0"])
            let anna = try await quartet.signUp("anna")
            try await quartet.rpc { rpc in
                let key = EdgeClient.newKey()
                let first = try await rpc.call("SetContactApproval", ["isRequired": true], token: anna.token, key: key)
                #expect(first.body["event"] == "ContactApprovalSet")
                #expect(first.metadata["idempotency-replayed"] == nil)
                for form in [key, "\"\(key)\""] {
                    let again = try await rpc.call(
                        "SetContactApproval", ["isRequired": true], token: anna.token, key: form)
                    #expect(again.body == first.body && again.metadata["idempotency-replayed"] == "true")
                }
                // It is the same key over HTTP.
                let reply = try await anna.ask("SetContactApproval", ["isRequired": true], key: key)
                #expect(reply.body["command"] == first.body["command"])
                #expect(reply.headers["idempotency-replayed"] == "true")
                let quoted = try await anna.ask("CheckIn", key: "\"\(EdgeClient.newKey())\"")
                #expect(quoted.isSuccess && quoted.headers["idempotency-replayed"] == nil)
                try await Self.expect("invalidArgument", "idReused", field: "Idempotency-Key") {
                    try await rpc.call("SetContactApproval", ["isRequired": false], token: anna.token, key: key)
                }
                try await Self.expect("invalidArgument", "invalidIdempotencyKey", field: "Idempotency-Key") {
                    try await rpc.call("CheckIn", token: anna.token, key: "nonsense")
                }
                try await Self.expect("failedPrecondition", "upgradeRequired") {
                    try await rpc.call("CheckIn", token: anna.token, metadata: ["quartet-client": "ios/1.9"])
                }
                _ = try await rpc.call("GetAccount", token: anna.token, metadata: ["quartet-client": "ios/2.0"])
            }
        }
    }

    @Test(
        "what a deadline or a cancellation ends is the wait: the command goes on, and its answer can still be had (R14)"
    )
    func deadline() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            try await quartet.rpc { rpc in
                let (late, cancelled) = (EdgeClient.newKey(), EdgeClient.newKey())
                quartet.send(.stop, to: .contacts)
                do {
                    _ = try await rpc.call(
                        "SetContactApproval", ["isRequired": true], token: anna.token, key: late,
                        timeout: .milliseconds(300))
                    Issue.record("nobody can have answered")
                } catch let refused as RPCClient.Refused {
                    #expect(["deadlineExceeded", "cancelled"].contains(refused.status), "\(refused)")
                }
                let call = Task {
                    try await rpc.call("ResetContactCode", token: anna.token, key: cancelled)
                }
                try await quartet.wait(
                    for: "the command",
                    "SELECT count(*) FROM session_client.contacts_commands WHERE type = 'ResetContactCode'"
                ) { $0.hasPrefix("1") }
                call.cancel()
                _ = await call.result
                quartet.send(.resume, to: .contacts)
                for (name, body, key) in [
                    ("SetContactApproval", ["isRequired": true] as JSON, late), ("ResetContactCode", [:], cancelled),
                ] {
                    let reply = try await rpc.call(name, body, token: anna.token, key: key)
                    #expect(reply.body["outcome"] == "accepted")
                }
                let events = try await quartet.psql(
                    """
                    SELECT count(*) FROM contacts.log
                     WHERE type IN ('ContactApprovalSet', 'ContactCodeReset') AND outcome IS NOT NULL
                    """)
                #expect(events.hasPrefix("2"))
            }
        }
    }

    @Test("a command that isn't decided in time is unavailable for now, and its key asks how it ended (R14)")
    func noOutcomeYet() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            try await quartet.rpc { rpc in
                quartet.send(.stop, to: .contacts)
                let refused = try await #require(throws: RPCClient.Refused.self) {
                    try await rpc.call("SetContactApproval", ["isRequired": true], token: anna.token)
                }
                quartet.send(.resume, to: .contacts)
                #expect(refused.status == "unavailable" && refused.code == "noOutcomeYet" && refused.retryAfter == 1)
                let key = try #require(refused.details["idempotencyKey"])
                let reply = try await rpc.call(
                    "SetContactApproval", ["isRequired": true], token: anna.token, key: key)
                #expect(reply.body["event"] == "ContactApprovalSet")
            }
        }
    }

    @Test("a stranger is refused by every call that needs someone to be signed in (T22)")
    func strangers() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            _ = try await quartet.edge.insist("/v1/sign-out", [:], token: anna.token)
            try await quartet.rpc { rpc in
                for name in RPCClient.calls where !RPCClient.openCalls.contains(name) {
                    for (token, code) in [
                        (nil, "missingToken"), ("nonsense", "invalidToken"), (anna.token, "signedOut"),
                    ] as [(String?, String)] {
                        try await Self.expect("unauthenticated", code) { try await rpc.call(name, token: token) }
                    }
                }
                for name in RPCClient.openCalls {
                    let refused = try await #require(throws: RPCClient.Refused.self) { try await rpc.call(name) }
                    #expect(refused.code != "missingToken", "\(name): \(refused)")
                }
            }
        }
    }

    @Test(
        "whatever bytes come as a message, the answer is a refusal that says what is wrong, and others are served (T23)"
    )
    func nonsense() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            var random = SeededRandom(seed: testSeed)
            func bytes(upTo count: Int) -> [UInt8] {
                (0..<Int.random(in: 1...count, using: &random)).map { _ in .random(in: 0...255, using: &random) }
            }
            try await quartet.rpc { rpc in
                for name in RPCClient.calls where !["SignOut", "CloseAccount"].contains(name) {
                    for _ in 0..<4 {
                        let message = bytes(upTo: 200)
                        do {
                            try await rpc.call(name, bytes: message, token: anna.token)
                        } catch let refused as RPCClient.Refused {
                            #expect(
                                refused.code != nil && !["unknown", "internalError"].contains(refused.status),
                                "\(name) \(message), seed \(testSeed): \(refused)")
                        }
                    }
                }
                // Too large for a body of JSON, and for a message.
                try await Self.expect("invalidArgument", "bodyTooLarge") {
                    try await rpc.call(
                        "UpdateProfile",
                        ["expectedVersion": 1, "name": .string(String(repeating: "a", count: 70_000))],
                        token: anna.token)
                }
                await #expect(throws: RPCClient.Refused.self) {
                    try await rpc.call(
                        "UpdateProfile", ["name": .string(String(repeating: "a", count: 2 << 20))], token: anna.token)
                }
                _ = try await rpc.call("GetAccount", token: anna.token)
            }
            // No HTTP/2 at all.
            for _ in 0..<20 {
                let connection = try RawConnection(port: try await quartet.rpcPort())
                try connection.send(bytes(upTo: 2000))
                connection.breakOff()
            }
            try await quartet.rpc { rpc in _ = try await rpc.call("GetAccount", token: anna.token) }
        }
    }

    @Test("every call says what its endpoint says over HTTP (T18)")
    func sameAnswers() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            let code = try await bob.read("/v1/contacts")["code"]
            try await anna.act("AddContact", ["code": code, "iAmResponder": true])
            // What a policy has yet to tell somebody would come between two answers.
            try await quartet.waitUntilQuiet()
            try await quartet.rpc { rpc in
                for (name, body, path) in [
                    ("GetAccount", [:] as JSON, "/v1/account"),
                    ("ListContacts", ["role": "dependent", "limit": 10], "/v1/contacts?role=dependent&limit=10"),
                    ("GetContact", ["account": .string(bob.account)], "/v1/contacts/\(bob.account)"),
                    ("ListNotifications", ["unread": true], "/v1/notifications?unread=true"),
                    ("ListGroupSessions", [:], "/v1/groups"),
                ] {
                    let reply = try await rpc.call(name, body, token: anna.token)
                    #expect(reply.body == (try await anna.read(path)).withoutDefaults, "\(name)")
                }
            }
        }
    }

    @Test(
        """
        quartet-conformance plays everything that apps can ask over each transport, those of the package included, and finds no \
        difference: requests, refusals, streams that are filtered, resumed and joined late, and signals (S4, S6, S10, R8, R15, \
        T13, T15, T16, T18, P26, P29)
        """)
    func conformance() async throws {
        // It takes minutes.
        try await Room.$goesFirst.withValue(true) {
            try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
                try await quartet.waitLongForPeopleWhoAreAway()
                // Over each transport people guess passwords and codes, all from one address.
                try await quartet.start(.sessionClient, environment: ["GUESSES_PER_MINUTE": "10000"])
                let at = [try quartet.url, "\(try await quartet.rpcPort())"]
                try await ChildProcess.with("quartet-conformance", at) { conformance in
                    try await conformance.waitForExit(.exited(0), within: .seconds(1800))
                }
            }
        }
    }

    private static func expect(
        _ status: String, _ code: String, field: String? = nil, _ location: SourceLocation = #_sourceLocation,
        _ body: () async throws -> some Sendable
    ) async throws {
        do {
            _ = try await body()
            Issue.record("it should have been refused as \(code)", sourceLocation: location)
        } catch let refused as RPCClient.Refused {
            #expect(refused.status == status && refused.code == code, "\(refused)", sourceLocation: location)
            #expect(refused.field == field, "\(refused)", sourceLocation: location)
        }
    }
}

extension JSON {
    /// Without empty lists, which messages of Protobuf don't have.
    fileprivate var withoutDefaults: JSON {
        switch self {
        case .object(let members):
            .object(members.mapValues(\.withoutDefaults).filter { $0.value != .array([]) && $0.value != .null })
        case .array(let elements): .array(elements.map(\.withoutDefaults))
        default: self
        }
    }
}
