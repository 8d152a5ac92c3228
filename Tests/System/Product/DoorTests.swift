import EdgeClient
import Postgres
import RPCClient
import RawClient
import ServiceKit
import TestKit
import Testing

/// Strangers and nuisances can't hold the edge up.
@Suite("End to end: the door", .timeLimit(.minutes(60)))
struct DoorTests {
    @Test(
        """
        an account that asks too much has to wait, for each kind of request by itself; answers say what is left, hits are \
        counted, and others go on (T21)
        """)
    func tooMuch() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            // Two at once and one more every three seconds; of streams one, and one more every ten.
            let limits = [
                "READS_PER_MINUTE": "20", "COMMANDS_PER_MINUTE": "20", "OPERATIONS_PER_MINUTE": "20",
                "STREAMS_PER_MINUTE": "6",
            ]
            try await quartet.start(.sessionClient, environment: limits)
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            for (method, path, kind) in [
                ("POST", "/v1/commands/MarkAllRead", "Commands"), ("GET", "/v1/account", "Reads"),
                ("POST", "/v1/operations/RespondToAllPings", "Operations"),
            ] {
                let first = try await quartet.edge.send(method, path, token: anna.token)
                let name = kind.lowercased()
                #expect(first.status < 300 && first.headers["ratelimit-policy"] == "\"\(name)\";q=2;w=6", "\(first)")
                #expect(first.headers["ratelimit"]?.hasPrefix("\"\(name)\";r=1;") == true, "\(first.headers)")
                let last = try await EdgeClient.untilTooMany(atOnce: 8) {
                    try await quartet.edge.send(method, path, token: anna.token)
                }
                #expect(
                    last.status == 429 && ["1", "2", "3"].contains(last.headers["retry-after"]), "\(kind): \(last)")
                #expect(last.body["code"] == .string("tooMany\(kind)"), "\(last)")
                #expect(last.headers["ratelimit"]?.hasPrefix("\"\(name)\";r=0;") == true, "\(last.headers)")
                let other = try await quartet.edge.send(method, path, token: bob.token)
                #expect(other.status < 300, "\(kind): \(other)")
                let metrics = try await quartet.metrics(of: .sessionClient)
                #expect(metrics.contains { $0.hasPrefix("quartet_limits_hit_total{limit=\"tooMany\(kind)\"}") })
            }
            var streams: [ServerSentEvents] = []
            let refused = await #expect(throws: EdgeClient.Refused.self) {
                for _ in 0..<16 { streams.append(try await quartet.edge.stream(token: anna.token)) }
            }
            #expect(streams.count < 16 && refused?.body["code"] == "tooManyStreams")
            #expect((1...10).contains(refused?.body["retryAfter"].int ?? 0))
            _ = try await quartet.edge.stream(token: bob.token)
            let long = try await quartet.edge.send("GET", "/v1/account?x=" + String(repeating: "x", count: 4096))
            #expect(long.status == 414 && long.body["code"] == "urlTooLong")
            let large = try RawConnection(port: try await quartet.edgePort())
            let field = "x-large: " + String(repeating: "x", count: 9000)
            try large.send(Array("GET /v1/account HTTP/1.1\r\nhost: localhost\r\n\(field)\r\n\r\n".utf8))
            #expect(try await large.status() == 400)
            let metrics = try await quartet.metrics(of: .sessionClient)
            #expect(metrics.contains("quartet_limits_hit_total{limit=\"headers\"} 1"))
            #expect(metrics.contains("quartet_limits_hit_total{limit=\"urlTooLong\"} 1"))
        }
    }

    @Test(
        """
        a request that was answered gets its answer again, however much its account has asked since, but not without end \
        (T21)
        """)
    func answeredBefore() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(
                .sessionClient,
                environment: ["URGENT_PER_MINUTE": "1", "OPERATIONS_PER_MINUTE": "1", "ADDRESS_FACTOR": "10000"])
            let anna = try await quartet.signUp("anna")
            for path in ["/v1/commands/RaiseAlert", "/v1/operations/RespondToAllPings"] {
                let key = EdgeClient.newKey()
                @Sendable func ask(_ key: String) async throws -> EdgeClient.Reply {
                    try await quartet.edge.send("POST", path, body: [:], token: anna.token, key: key)
                }
                var first = try await ask(key)
                for _ in 0..<3 where first.status == 202 { first = try await ask(key) }
                #expect(first.status == 200, "\(first)")
                for _ in 0..<3 where try await ask(EdgeClient.newKey()).status != 429 {}
                let again = try await ask(key)
                #expect(again.status == 200 && again.body == first.body, "\(again)")
                #expect(try await ask(EdgeClient.newKey()).status == 429)
                guard path.hasSuffix("RespondToAllPings") else { continue }
                let last = try await EdgeClient.untilTooMany(atOnce: 16) { try await ask(key) }
                #expect(last.body["code"] == "tooManyOperations", "\(last)")
            }
        }
    }

    @Test(
        """
        strangers who break off, talk nonsense or leave in the middle are no errors of the server: none is in its log, and \
        others are served (T21)
        """, arguments: [false, true])
    func strangers(isEncrypted: Bool) async throws {
        let certificate = try await Certificate.make()
        defer { certificate.remove() }
        try await Quartet.with(services: []) { quartet in
            try await quartet.start(.sessionClient, environment: isEncrypted ? certificate.environment : [:])
            let nonsense = (0..<200).map { UInt8(truncatingIfNeeded: $0 * 37) }
            let beginnings: [[UInt8]] = [
                [], nonsense, Array("GET /v1/account HTTP/1.1\r\nhost: x\r\n\r\n".utf8),
                Array("POST /v1/sign-in HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{".utf8),
                Array("POST /v1/sign-in HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz".utf8),
                Array("GET /docs HTTP/9.9\r\n\r\n".utf8), RawHTTP2.preface() + nonsense,
                RawHTTP2.preface() + RawHTTP2.get("/docs", on: 1) + RawHTTP2.reset(1),
                RawHTTP2.preface() + RawHTTP2.head(of: "quartet.v1.Quartet/GetAccount", on: 1, "x"),
                RawHTTP2.preface() + RawHTTP2.head(of: "quartet.v1.Quartet/SignIn", on: 1, "")
                    + RawHTTP2.emptyMessage(on: 1) + RawHTTP2.reset(1),
            ]
            for port in [try await quartet.edgePort(), try await quartet.rpcPort()] {
                for number in 0..<300 {
                    let stranger = try RawConnection(port: port)
                    // It may be closed already.
                    try? stranger.send(beginnings[number % beginnings.count])
                    stranger.breakOff()
                }
                for beginning in beginnings where isEncrypted {
                    let stranger = try await SecureConnection.open(port: port)
                    try? await stranger.send(beginning)
                    await stranger.close()
                }
            }
            try await certificate.trusted { http in
                let edge = EdgeClient(http: http) { [url = try quartet.url] in url }
                let answer = try await edge.send("GET", "/.well-known/jwks.json")
                #expect(answer.status == 200)
            }
            let errors = quartet.lines(of: .sessionClient).filter { $0.contains("Z error ") }
            #expect(errors.isEmpty, "\(errors.count) \(errors.prefix(3))")
        }
    }

    @Test("an address may ask so many times as much as an account, whoever asks (T21)")
    func tooMuchOfAnAddress() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(
                .sessionClient,
                environment: ["READS_PER_MINUTE": "20", "ADDRESS_FACTOR": "2", "HTTP_PROXIES": "1"])
            func ask(from address: String) async throws -> EdgeClient.Reply {
                try await quartet.edge.send("GET", "/v1/account", headers: ["x-forwarded-for": address])
            }
            var last = try await ask(from: "192.0.2.1")
            #expect(last.status == 401 && last.headers["ratelimit-policy"] == "\"reads\";q=4;w=6")
            for _ in 0..<50 where last.status != 429 { last = try await ask(from: "192.0.2.1") }
            #expect(last.body["code"] == "tooManyRequests", "\(last)")
            let other = try await ask(from: "198.51.100.1")
            #expect(other.status == 401)
        }
    }

    @Test(
        """
        a process that may open few files takes as many connections as leave it enough to work with: further ones are \
        answered, and those that it has are served (T21)
        """)
    func fewFiles() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            // It raises the limit that it begins with to the one that it can't raise.
            let process = try await quartet.startAnother(
                .sessionClient, environment: ["HTTP_CONNECTIONS_PER_ADDRESS": "100000"], openFiles: (100, 456))
            let (url, edge) = (try await quartet.url(of: process), try await quartet.edge(of: process))
            let port = try #require(url.split(separator: ":").last.flatMap { UInt16($0) })
            let view = try await LiveView.open(try await edge.stream(token: anna.token))
            // Of 200 connections, it may have 41 only to refuse them.
            var (held, refused) = ([RawConnection](), 0)
            for _ in 0..<190 {
                // One after the other, because connections that come together aren't admitted in the order of coming.
                let connection = try RawConnection(port: port)
                try connection.send(Array("GET /.well-known/jwks.json HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8))
                let status = try await connection.status()
                #expect(status == 200 || status == 503)
                if status == 503 { refused += 1 }
                held.append(connection)
            }
            #expect(refused >= 20)
            try await anna.act("CheckIn")
            try await view.wait("CheckedIn", in: "account")
            for connection in held { connection.breakOff() }
            let read = try await Device(anna, at: edge).read("/v1/account")
            #expect(read["account"].string == anna.account)
            await view.close()
            await process.end()
        }
    }

    @Test(
        """
        connections to gRPC that are too many are refused, or closed where even refusals are too many: nothing is left \
        of them, and others are served (T21)
        """)
    func fewFilesOverRPC() async throws {
        OpenFiles.raiseLimit()
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let process = try await quartet.startAnother(
                .sessionClient, environment: ["HTTP_CONNECTIONS_PER_ADDRESS": "400"], openFiles: (100, 456))
            let port = try await quartet.rpcPort(of: process)
            func ask() async throws {
                try await RPCClient.with(port: port) { _ = try await $0.call("GetAccount", token: anna.token) }
            }
            try await ask()
            let before = try Holdings(of: process)
            // More in all than the address may have, so that places which aren't given back would be missed.
            for _ in 0..<3 {
                // 159 are admitted, 41 are told that they are too many, and the others are closed.
                let crowd = try (0..<390).map { _ in try RawConnection(port: port) }
                _ = try await crowd.last?.rest()
                for connection in crowd { connection.breakOff() }
                var after = try Holdings(of: process)
                for _ in 0..<1200 where after.descriptors > before.descriptors + 32 {
                    // A test can't observe when the server notices that they left.
                    try await Task.sleep(for: .milliseconds(100))
                    after = try Holdings(of: process)
                }
                #expect(after.descriptors <= before.descriptors + 32, "\(before) before, \(after) after")
            }
            try await ask()
            await process.end()
        }
    }

    @Test("malformed chunks and peers that leave midway don't count as server errors")
    func malformedChunks() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let head = """
                POST /v1/commands/CheckIn HTTP/1.1\r
                Host: localhost\r
                Authorization: Bearer \(anna.token)\r
                Content-Type: application/json\r
                Transfer-Encoding: chunked\r
                \r

                """
            let port = try await quartet.edgePort()
            for body in ["ZZ\r\n{}\r\n", "-1\r\n{}\r\n0\r\n\r\n", "FFFFFFFFFFFFFFFFF\r\n{}"] {
                let connection = try RawConnection(port: port)
                try connection.send(Array((head + body).utf8))
                let status = try await connection.status()
                #expect(status == 400, "\(body.debugDescription)")
            }
            let leaving = try RawConnection(port: port)
            try leaving.send(Array((head + "5\r\n{}").utf8))
            leaving.breakOff()
            let good = try await anna.ask("CheckIn")
            #expect(good.status == 200)
            let errors = quartet.lines(of: .sessionClient).filter { $0.contains(" error ") }
            #expect(errors.isEmpty, "\(errors)")
        }
    }

    @Test("a request smuggled inside another is never carried out: one answer, and the connection closes")
    func smuggling() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let port = try await quartet.edgePort()
            let hidden = String(
                decoding: RawConnection.request("POST", "/v1/commands/RaiseAlert", anna, ["content-length: 0"]),
                as: UTF8.self)
            // Each says in two ways where it ends, or in one that only some understand.
            let requests: [(headers: [String], body: String)] = [
                (["content-length: 4", "transfer-encoding: chunked"], "0\r\n\r\n" + hidden),
                (["transfer-encoding: chunked", "content-length: \(hidden.utf8.count + 5)"], "0\r\n\r\n" + hidden),
                (["content-length: 0", "content-length: \(hidden.utf8.count)"], hidden),
                (["content-length: \(hidden.utf8.count)", "content-length: 0"], hidden),
                (["content-length: 0, \(hidden.utf8.count)"], hidden),
                (["content-length : \(hidden.utf8.count)"], hidden),
                (["content-length: +0"], hidden), (["content-length: -1"], hidden), (["content-length: 0x0"], hidden),
                (["transfer-encoding: xchunked"], hidden),
                (["transfer-encoding: chunked, identity"], "0\r\n\r\n" + hidden),
                (["transfer-encoding : chunked"], "0\r\n\r\n" + hidden),
                (["x: y\r\n transfer-encoding: chunked", "content-length: 0"], "0\r\n\r\n" + hidden),
                (["transfer-encoding: chunked"], "0;\r\nx\r\n\r\n" + hidden),
                (["transfer-encoding: chunked"], "00000000000000000\r\n" + hidden),
            ]
            for (headers, body) in requests {
                let connection = try RawConnection(port: port)
                let head = RawConnection.request("POST", "/v1/commands/ClearAlert", anna, headers)
                try connection.send(head + Array(body.utf8))
                let said = try await connection.rest()
                #expect(said.ranges(of: "HTTP/1.1 ").count == 1, "\(headers) \(body.prefix(20)): \(said)")
            }
            let raised = try await anna.read("/v1/account")["alertRaised"]
            #expect(raised == .null)
        }
    }

    @Test(
        """
        one address can't take all connections and is told so, a stalled upload gives its place back, and a process says \
        that it ends before anything of it does
        """)
    func edges() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["HTTP_CONNECTIONS_PER_ADDRESS": "40"])
            let anna = try await quartet.signUp("anna")
            let port = try await quartet.edgePort()
            // As many as an account may have at a time, and none of them goes on.
            func stall(_ count: Int, _ path: String, _ type: String) throws -> [RawConnection] {
                try (0..<count).map { _ in
                    let upload = try RawConnection(port: port)
                    let headers = ["content-type: \(type)", "content-length: 1000"]
                    try upload.send(RawConnection.request("PUT", path, anna, headers) + [0x89])
                    return upload
                }
            }
            let file = File(seed: 1, size: 1)
            // The edge hears of the last one a moment later. On a busy machine it ends them, since they are slow, before it is
            // asked for another: then others stall.
            func untilRefused(_ count: Int, _ path: String, _ type: String, _ ask: () async throws -> EdgeClient.Reply)
                async throws -> [RawConnection]
            {
                for _ in 0..<20 {
                    let stalled = try stall(count, path, type)
                    for _ in 0..<10 {
                        if try await ask().body["code"] == "tooManyUploads" { return stalled }
                        try await Task.sleep(for: .milliseconds(200))
                    }
                    for upload in stalled { _ = try await upload.rest() }
                }
                throw Unexpected("as many uploads to \(path) as an account may have at a time don't keep out another")
            }
            let stalled =
                try await untilRefused(4, "/v1/account/avatar", "image/png") {
                    try await AvatarTests.put(try AvatarTests.png(), anna)
                }
                + untilRefused(8, "/v1/uploads/\(file.id)/chunks/0", "application/octet-stream") {
                    try await anna.upload(file, 0..<1)
                }
            try await Self.expectRoomForOthers(at: port)
            for upload in stalled { _ = try await upload.rest() }
            var reply = try await AvatarTests.put(try AvatarTests.png(), anna)
            // The client may see the end of its connection a moment before the place is free, and only ten a minute are let in.
            for _ in 0..<600 where reply.status == 429 {
                try await Task.sleep(for: .milliseconds(200))
                reply = try await AvatarTests.put(try AvatarTests.png(), anna)
            }
            #expect(reply.status == 200, "\(reply)")
            try await Self.drain(quartet, anna)
        }
    }

    private static func expectRoomForOthers(at port: UInt16) async throws {
        func isServed(_ connection: RawConnection) async throws -> Bool {
            try connection.send(Array("GET /.well-known/jwks.json HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8))
            let reply = try await connection.reply()
            guard reply.status != 200 else { return true }
            let body = try JSON(parsing: String(decoding: reply.body, as: UTF8.self))
            #expect(reply.status == 429 && body["code"] == "tooManyConnections", "\(body)")
            return false
        }
        var open: [RawConnection] = []
        var last = try RawConnection(port: port)
        while open.count < 60, try await isServed(last) {
            open.append(last)
            last = try RawConnection(port: port)
        }
        #expect((20..<40).contains(open.count), "the others are the uploads and this test's own")
        let other = try await isServed(RawConnection(port: port, from: "127.0.0.2"))
        #expect(other)
        open.removeLast().breakOff()
        var isRoom = false
        // A test can't observe when the server notices a drop.
        for _ in 0..<1200 where !isRoom {
            isRoom = try await isServed(RawConnection(port: port))
            if !isRoom { try await Task.sleep(for: .milliseconds(100)) }
        }
        #expect(isRoom)
    }

    /// Has the process end while it has a request in hand.
    private static func drain(_ quartet: Quartet, _ anna: Device) async throws {
        let sees = try await LiveView.open(anna)
        let holder = try await Connection.connect(Configuration(quartet.databaseURL))
        try await holder.run { database in
            try database.execute("BEGIN")
            _ = try database.query("SELECT FROM session.account FOR UPDATE")
        }
        async let asked = quartet.edge.send("POST", "/v1/commands/CheckIn", token: anna.token)
        try await quartet.wait(
            for: "the request to be in hand",
            "SELECT count(DISTINCT command_id) FROM session_client.session_commands WHERE type = 'CheckIn'"
        ) { $0 == "1" }
        let metrics = try await quartet.metrics(of: .sessionClient)
        #expect(metrics.contains("quartet_streams_open 1") && metrics.contains("quartet_http_requests_in_flight 2"))
        quartet.send(.terminate, to: .sessionClient)
        let end = try await sees.wait("the end") { $0.name == "end" }
        #expect(end.data["reason"] == "serverStopping")
        let readiness = try await quartet.readiness(of: .sessionClient)
        #expect(readiness.status == 503 && "\(readiness.body)".contains("send requests elsewhere"), "\(readiness)")
        await holder.close()
        // After nine seconds, what isn't decided is answered as well.
        let reply = try await asked
        #expect([200, 202].contains(reply.status), "\(reply)")
        try await quartet.process(of: .sessionClient).waitForExit(.exited(0))
    }
}
