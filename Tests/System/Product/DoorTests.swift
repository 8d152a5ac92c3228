import EdgeClient
import Postgres
import TestKit
import Testing

/// Strangers and nuisances can't hold the edge up.
@Suite("End to end: the door", .timeLimit(.minutes(30)))
struct DoorTests {
    @Test("an account that sends too many commands has to wait; others go on (T21)")
    func tooManyCommands() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["COMMANDS_PER_MINUTE": "60"])
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            var refused: EdgeClient.Reply?
            for _ in 0..<20 where refused == nil {
                let reply = try await quartet.edge.send("POST", "/v1/commands/MarkAllRead", token: anna.token)
                if reply.status == 429 { refused = reply }
            }
            #expect(refused?.body["code"] == "tooManyCommands" && refused?.body["retryAfter"] == 1, "\(refused as Any)")
            let other = try await quartet.edge.send("POST", "/v1/commands/MarkAllRead", token: bob.token)
            #expect(other.status == 200)
            let read = try await quartet.edge.send("GET", "/v1/account", token: anna.token)
            #expect(read.status == 200, "reading isn't counted")
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
        one address can't take all connections, a stalled upload gives its place back, serving other machines is \
        logged, and a process says that it ends before anything of it does
        """)
    func edges() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["HTTP_CONNECTIONS_PER_ADDRESS": "40"])
            let anna = try await quartet.signUp("anna")
            let port = try await quartet.edgePort()
            // As many as an account may have at a time, and none of them goes on.
            let stalled = try (0..<4).map { _ in
                let upload = try RawConnection(port: port)
                let headers = ["content-type: image/png", "content-length: 1000"]
                try upload.send(RawConnection.request("PUT", "/v1/account/avatar", anna, headers) + [0x89])
                return upload
            }
            try await Self.expectRoomForOthers(at: port)
            var reply = try await AvatarTests.put(try AvatarTests.png(), anna)
            // It may hear of the last one a moment later.
            for _ in 0..<2 where reply.status != 429 {
                try await Task.sleep(for: .milliseconds(200))
                reply = try await AvatarTests.put(try AvatarTests.png(), anna)
            }
            #expect(reply.status == 429 && reply.body["code"] == "tooManyUploads", "\(reply)")
            for upload in stalled { _ = try await upload.rest() }
            reply = try await AvatarTests.put(try AvatarTests.png(), anna)
            // The client may see the end of its connection a moment before the place is free.
            for _ in 0..<2 where reply.status == 429 {
                try await Task.sleep(for: .milliseconds(200))
                reply = try await AvatarTests.put(try AvatarTests.png(), anna)
            }
            #expect(reply.status == 200, "\(reply)")
            let open = try await quartet.startAnother(.sessionClient, environment: ["LISTEN_ADDRESS": "0.0.0.0"])
            try await open.waitForLine(containing: "accepts unencrypted connections from other machines")
            await open.end()
            #expect(!quartet.lines(of: .sessionClient).contains { $0.contains("unencrypted") })
            try await Self.drain(quartet, anna)
        }
    }

    private static func expectRoomForOthers(at port: UInt16) async throws {
        func isServed(_ connection: RawConnection) async throws -> Bool {
            do {
                try connection.send(Array("GET /.well-known/jwks.json HTTP/1.1\r\nhost: localhost\r\n\r\n".utf8))
                return try await connection.reply().status == 200
            } catch is RawConnection.Broken {
                return false
            }
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
        for _ in 0..<300 where !isRoom {
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
            "SELECT count(*) FROM session_client.session_commands WHERE type = 'CheckIn'"
        ) { $0 == "1" }
        quartet.send(.terminate, to: .sessionClient)
        let end = try await sees.wait("the end") { $0.name == "end" }
        #expect(end.data["reason"] == "serverStopping")
        let readiness = try await quartet.readiness(of: .sessionClient)
        #expect(readiness.status == 503 && "\(readiness.body)".contains("send requests elsewhere"), "\(readiness)")
        await holder.close()
        let reply = try await asked
        #expect(reply.status == 200, "\(reply)")
        try await quartet.process(of: .sessionClient).waitForExit(.exited(0))
    }
}
