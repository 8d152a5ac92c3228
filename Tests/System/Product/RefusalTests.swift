import EdgeClient
import Foundation
import RPCClient
import TestKit
import Testing

/// What an operation is refused with whatever it is about: each operation of the description, over HTTP and gRPC.
@Suite("End to end: what every operation is refused with", .timeLimit(.minutes(60)))
struct RefusalTests {
    // MARK: Before anything is done

    @Test(
        """
        every operation refuses a client that is too old or says nonsense, strangers, wrong keys, parameters and bodies, over \
        HTTP and gRPC, as its description says (T18, T22, T23, T25, R15)
        """)
    func requests() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            let environment = try quartet.forOperators.merging(["MINIMUM_CLIENTS": "old/2"]) { $1 }
            try await quartet.start(.sessionClient, environment: environment)
            let stage = try await RefusalStage(quartet)
            for operation in stage.description.operations {
                for refusal in Self.overHTTP where operation.refusals[refusal.code] != nil {
                    try await stage.expect(refusal.code, of: operation) { try await refusal.send(operation, stage) }
                }
            }
            try await stage.sendHalfBodies()
            try await stage.sendSlowBodies()
            try await quartet.rpc { rpc in
                for name in RPCClient.calls {
                    let operation = try #require(stage.description[name])
                    for refusal in Self.overGRPC where operation.refusals[refusal.code] != nil {
                        await stage.expect(refusal.code, of: name) { try await refusal.call(rpc, name, stage) }
                    }
                }
            }
        }
    }

    private typealias Refusal = (
        code: String, send: @Sendable (Description.Operation, RefusalStage) async throws -> EdgeClient.Reply?
    )
    private typealias RPCRefusal = (
        code: String, call: @Sendable (RPCClient, String, RefusalStage) async throws -> Void
    )

    private static let overHTTP: [Refusal] = [
        ("badRequest", { try await $1.send($0, headers: ["quartet-client": "nonsense"]) }),
        ("upgradeRequired", { try await $1.send($0, headers: ["quartet-client": "old/1.9"]) }),
        ("urlTooLong", { try await $1.send($0, query: "x=" + String(repeating: "x", count: 4096)) }),
        ("missingToken", { try await $1.send($0, token: .some(nil)) }),
        ("invalidToken", { $0.isOpen ? nil : try await $1.send($0, token: "nonsense") }),
        ("signedOut", { $0.isOpen ? nil : try await $1.send($0, token: $1.signedOut) }),
        ("invalidIdempotencyKey", { try await $1.send($0, key: "nonsense") }),
        (
            "invalidID",
            { operation, stage in
                let names = operation.parameters.filter { $0.isInPath }.map { $0.name }
                guard !names.isEmpty else { return nil }
                return try await stage.send(
                    operation, parameters: Dictionary(names.map { ($0, "x") }) { first, _ in first })
            }
        ),
        (
            "invalidParameter",
            { operation, stage in
                if operation.id == "UploadChunks" { return try await stage.send(operation, parameters: ["chunk": "x"]) }
                let texts = ["before", "type"]
                guard let name = operation.parameters.first(where: { !$0.isInPath && !texts.contains($0.name) })?.name
                else { return nil }
                return try await stage.send(operation, query: "\(name)=nonsense")
            }
        ),
        ("malformed", { try await $1.send($0, body: #"{"nonsense":1}"#) }),
        ("malformedBody", { try await $1.send($0, body: "{\0}") }),
        ("invalidField", { try await $1.send($0, body: #"{"nonsense":"\u0000"}"#) }),
        ("bodyTooLarge", { try await $1.send($0, body: String(repeating: " ", count: 300 << 10)) }),
        ("notJSON", { try await $1.send($0, body: "{}", headers: ["content-type": "text/plain"]) }),
    ]

    private static let overGRPC: [RPCRefusal] = [
        ("badRequest", { _ = try await $0.call($1, token: $2.anna.token, metadata: ["quartet-client": "nonsense"]) }),
        ("upgradeRequired", { _ = try await $0.call($1, token: $2.anna.token, metadata: ["quartet-client": "old/1"]) }),
        ("invalidIdempotencyKey", { _ = try await $0.call($1, token: $2.anna.token, key: "nonsense") }),
        ("malformedBody", { try await $0.call($1, bytes: [0xFF], token: $2.anna.token) }),
    ]

    // MARK: Limits

    @Test(
        """
        every operation counts for its limit, of the account and of the address, and is refused when there is nothing left, \
        over HTTP and gRPC (T21, R15)
        """)
    func limits() async throws {
        try await Quartet.with { quartet in
            let stage = try await RefusalStage(quartet)
            // One request of each kind in a minute, from each address and for each account.
            let limits = ["READS", "COMMANDS", "URGENT", "OPERATIONS", "STREAMS"].map { ("\($0)_PER_MINUTE", "1") }
            let narrow = try await quartet.startAnother(
                .sessionClient,
                environment: try quartet.forOperators.merging(limits) { $1 }.merging([
                    "ADDRESS_FACTOR": "1", "HTTP_PROXIES": "1",
                ]) { $1 })
            let narrowStage = stage.at(try await quartet.edge(of: narrow))
            for operation in stage.description.operations where operation.refusals["tooManyRequests"] != nil {
                // The first request of each kind is let in, and sends nothing that could be done. A stream has no end.
                let query = operation.id == "OpenStream" ? "group=x" : nil
                try await stage.expect("tooManyRequests", of: operation) {
                    try await narrowStage.send(
                        operation, body: "{", query: query, token: Self.strange(operation.id),
                        headers: ["x-forwarded-for": "192.0.2.1"])
                }
                guard let code = Self.ofAccounts.first(where: { operation.refusals[$0] != nil }), !operation.isOpen
                else { continue }
                try await stage.expect(code, of: operation) {
                    try await narrowStage.send(
                        operation, body: "{", query: query,
                        headers: ["x-forwarded-for": narrowStage.anotherAddress()])
                }
            }
            try await RPCClient.with(port: try await quartet.rpcPort(of: narrow)) { rpc in
                for name in RPCClient.calls {
                    let operation = try #require(stage.description[name])
                    guard operation.refusals["tooManyRequests"] != nil else { continue }
                    func call(from address: String, _ token: String? = stage.anna.token) async throws {
                        try await rpc.call(name, bytes: [0xFF], token: token, metadata: ["x-forwarded-for": address])
                    }
                    await stage.expect("tooManyRequests", of: name) {
                        try await call(from: "192.0.2.2", Self.strange(name) ?? stage.anna.token)
                    }
                    guard let code = Self.ofAccounts.first(where: { operation.refusals[$0] != nil }), !operation.isOpen
                    else { continue }
                    await stage.expect(code, of: name) { try await call(from: narrowStage.anotherAddress()) }
                }
            }
            await narrow.end()
        }
    }

    /// A token that nobody knows for an urgent command, which counts for its address only then; nil for others.
    private static func strange(_ operation: String) -> String?? {
        ["CheckIn", "RaiseAlert", "ClearAlert", "RespondToPing"].contains(operation) ? "nobody's" : nil
    }

    private static let ofAccounts = ["tooManyReads", "tooManyCommands", "tooManyOperations", "tooManyStreams"]

    // MARK: The database

    @Test(
        """
        while the database doesn't answer, every operation says so in time, and that the server is overloaded when too many \
        wait, over HTTP and gRPC (T20, R15)
        """)
    func database() async throws {
        try await Quartet.with { quartet in
            let stage = try await RefusalStage(quartet)
            let settings = ["PHONE_CODES": "log"]
            // One connection to the database, for which few may wait.
            let small = try await quartet.startAnother(
                .sessionClient,
                environment: settings.merging([
                    "DATABASE_POOL": "1", "HTTP_CONNECTIONS": "16", "COMMANDS_UNANSWERED": "1",
                ]) { $1 })
            // Many may wait here.
            let other = try await quartet.startAnother(.sessionClient, environment: settings)
            let (smallStage, otherStage) = (
                stage.at(try await quartet.edge(of: small)), stage.at(try await quartet.edge(of: other))
            )
            let (smallPort, otherPort) = (
                try await quartet.rpcPort(of: small), try await quartet.rpcPort(of: other)
            )
            // Neither replica knows anything of a device or an account, so each has to look.
            let letGo = try await quartet.hold(
                "LOCK TABLE session.device, session.handle, session.phone IN ACCESS EXCLUSIVE MODE")
            func end() async {
                await letGo()
                for replica in [small, other] { await replica.end() }
            }
            do {
                async let late: Void = Self.expectLate(otherStage, port: otherPort)
                try await Self.expectOverloaded(smallStage, port: smallPort)
                try await late
            } catch {
                await end()
                throw error
            }
            await end()
        }
    }

    /// Every operation finds that more are waiting for the database than may.
    private static func expectOverloaded(_ stage: RefusalStage, port: UInt16) async throws {
        try await RPCClient.with(port: port) { rpc in
            // As many as may wait, and one that has the connection; and one command that session doesn't answer.
            let crowd = (0..<20).map { number in
                Task {
                    while !Task.isCancelled {
                        if number == 0 {
                            _ = try? await rpc.call("SignUp", stage.message("SignUp"))
                        } else {
                            _ = try? await rpc.call("GetAccount", token: stage.anna.token)
                        }
                        try await Task.sleep(for: .milliseconds(20))
                    }
                }
            }
            defer { for task in crowd { task.cancel() } }
            for operation in stage.description.appOperations where operation.refusals["overloaded"] != nil {
                try await stage.expect("overloaded", of: operation, tries: 500) { try await stage.send(operation) }
            }
            for name in RPCClient.calls {
                await stage.expect("overloaded", of: name, tries: 500) {
                    _ = try await rpc.call(name, stage.message(name), token: stage.anna.token)
                }
            }
        }
    }

    /// Every operation waits as long as a request may.
    private static func expectLate(_ stage: RefusalStage, port: UInt16) async throws {
        let operations = stage.description.appOperations.filter { $0.refusals["databaseUnavailable"] != nil }
        try await RPCClient.with(port: port) { rpc in
            // Those that look up what was decided need a connection to get as far as the rest does.
            for isOpen in [true, false] {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for operation in operations where operation.isOpen == isOpen {
                        group.addTask {
                            try await stage.expect("databaseUnavailable", of: operation) {
                                try await stage.send(operation, key: stage.doneKey)
                            }
                        }
                        guard RPCClient.calls.contains(operation.id) else { continue }
                        group.addTask {
                            await stage.expect("databaseUnavailable", of: operation.id) {
                                _ = try await rpc.call(
                                    operation.id, stage.message(operation.id), token: stage.anna.token,
                                    key: stage.doneKey)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
}
