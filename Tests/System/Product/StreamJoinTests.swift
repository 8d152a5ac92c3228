import EdgeClient
import RawClient
import TestKit
import Testing

/// How streams begin, what that costs, and how unread ones end.
@Suite
struct StreamJoinTests {
    @Test(
        """
        a resumed stream drops the person of a relation that ended meanwhile, and what a lost role had shown (S9, \
        S33)
        """,
        arguments: [false, true])
    func endedWhileAway(isRefetched: Bool) async throws {
        try await Quartet.with { quartet in
            let (anna, bob, carol) = try await quartet.signUp("anna", "bob", "carol")
            for other in [bob, carol] { try await anna.add(other, isMyResponder: true, iAmResponder: true) }
            let sees = try await LiveView.open(anna)
            for other in [bob, carol] {
                let card = try await sees.wait(person: other)
                #expect(card["checkIn"] != .null)
            }
            let place = try #require(sees.lastEventID)
            await sees.close()
            try await bob.act("RemoveContact", ["contact": .string(anna.account)])
            try await anna.act(
                "UpdateContact", ["contact": .string(carol.account), "expectedVersion": 1, "iAmResponder": false])
            if isRefetched {
                try await quartet.waitUntilQuiet()
                _ = try await quartet.psql("UPDATE contacts.log SET recorded_at = recorded_at - interval '40 days'")
                _ = try await quartet.psql(
                    "SELECT sum(contacts.log_delete_old(p.partition, 1000)) FROM contacts.log_partition AS p")
            }

            let again = try await LiveView.open(anna, after: place)
            let less = try await again.wait(person: carol)
            #expect(less["checkIn"] == .null && less["emergencyNote"] == .null)
            if isRefetched {
                // A snapshot replaces the people, too.
                let contacts = try await again.snapshot(of: "contacts")["contacts"].array
                #expect(contacts.map { $0["account"].string } == [carol.account])
            } else {
                try await again.wait("ContactRemoved", in: "contacts")
                let names = again.all.filter {
                    $0.data["account"].string == bob.account && $0.name == "person.ended"
                        || $0.data["type"] == "ContactRemoved"
                }.map(\.name)
                // In this order: an app that loses the connection in between gets both again.
                #expect(names == ["person.ended", "contacts.event"])
            }
            #expect(!again.all.contains { $0.name == "person" && $0.data["account"].string == bob.account })
            await again.close()
        }
    }

    @Test("starting a stream costs one statement for each of its four streams, and one for all people together")
    func statements() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            var people: [Device] = []
            for number in 0..<12 {
                let other = try await Device.signUp("other-\(number)", at: quartet.edge)
                try await anna.add(other)
                people.append(other)
            }
            // The first stream begins with snapshots, the second one resumes.
            var place: String?
            for isFirst in [true, false] {
                let before = try await Self.joins(quartet)
                let view = try await LiveView.open(anna, after: place)
                for person in people { try await view.wait(person: person) }
                let joins = try await Self.joins(quartet) - before
                #expect(joins == 5)
                // A second connection finds these people known.
                if isFirst {
                    let second = try await LiveView.open(anna)
                    for person in people { try await second.wait(person: person) }
                    #expect(try await Self.joins(quartet) - before == 9)
                    await second.close()
                }
                place = view.lastEventID
                await view.close()
                try await quartet.waitUntilNobodyListens()
            }
        }
    }

    @Test("a stream whose reader stalls is closed and gives its place back, while the account's other stream goes on")
    func stuckReaders() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["STREAM_WRITE_DEADLINE": "20s"])
            let anna = try await quartet.signUp("anna")
            var views = [try await LiveView.open(anna)]
            // As many more as an account may have; they take the beginning and then nothing more.
            var stuck: [RawConnection] = []
            for _ in 0..<15 {
                let connection = try RawConnection(port: try await quartet.edgePort(), receiveBuffer: 4096)
                try connection.send(RawConnection.request("GET", "/v1/stream", anna))
                #expect(try await connection.status() == 200)
                stuck.append(connection)
            }
            await #expect(throws: EdgeClient.Refused.self) { try await quartet.edge.stream(token: anna.token) }
            // More than the system buffers for a reader that stalls.
            for _ in 0..<4 { try await quartet.publish(events: 16, bytes: 60_000, to: anna.account) }
            for _ in stuck { views.append(try await LiveView.openWhenThereIsRoom(anna)) }
            try await quartet.publish(events: 1, bytes: 17, to: anna.account)
            for view in views {
                try await view.wait("the last event") { $0.data["body"]["padding"].string?.utf8.count == 17 }
            }
            #expect(views[0].all.count { $0.data["body"]["padding"] != .null } == 65)
            for view in views { await view.close() }
        }
    }

    @Test("signing out closes a stream and frees its place at once, even if its reader has stalled")
    func endOfUnread() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["STREAM_WRITE_DEADLINE": "1h"])
            let phone = try await quartet.signUp("anna")
            let tablet = try await Device.signIn("anna", at: quartet.edge)
            let read = try await LiveView.open(phone)
            var stuck: [RawConnection] = []
            for _ in 0..<15 {
                let connection = try RawConnection(port: try await quartet.edgePort(), receiveBuffer: 4096)
                try connection.send(RawConnection.request("GET", "/v1/stream", phone))
                #expect(try await connection.status() == 200)
                stuck.append(connection)
            }
            for _ in 0..<4 { try await quartet.publish(events: 16, bytes: 60_000, to: phone.account) }
            try await read.wait("the last event") { view in
                view.data["body"]["padding"] != .null && view.name == "notifications.event"
            }
            let out = try await quartet.edge.insist("/v1/sign-out", ["device": .string(phone.id)], token: tablet.token)
            #expect(out.status == 204)
            let end = try await read.wait("the end") { $0.name == "end" }
            #expect(end.data == ["reason": "signedOut", "why": "revoked"])
            try await read.waitForEnd()
            let first = try await LiveView.open(tablet)
            var views = [first]
            for _ in stuck { views.append(try await LiveView.openWhenThereIsRoom(tablet)) }
            for view in views { await view.close() }
        }
    }

    @Test("rows without subscribers are counted and not decoded")
    func nobodysRows() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            let sees = try await LiveView.open(anna)
            try await quartet.waitUntilQuiet()
            func read(_ what: String) async throws -> Int {
                try await quartet.sum("quartet_tail_\(what)_total{log=\"notifications.log\"")
            }
            let (rows, bodies) = (try await read("rows"), try await read("bodies"))
            // More than are read whole at a time.
            try await quartet.publish(events: 2000, bytes: 1000, to: bob.account)
            try await quartet.publish(events: 1, bytes: 17, to: anna.account)
            try await sees.wait("the last event") { $0.data["body"]["padding"].string?.utf8.count == 17 }
            await sees.close()
            let follower = try await LiveView.open(bob)
            try await quartet.publish(events: 1, bytes: 17, to: bob.account)
            try await follower.wait("the last event") { $0.data["body"]["padding"].string?.utf8.count == 17 }
            await follower.close()
            #expect(try await read("rows") == rows + 2002)
            // Each read that begins among them takes up to 256 of the last ones whole. On a busy machine there are a few.
            #expect(try await read("bodies") <= bodies + 2 + 4 * 256)
        }
    }

    /// How many statements began streams so far.
    private static func joins(_ quartet: Quartet) async throws -> Int {
        try await quartet.sum("quartet_join_statements_total{")
    }
}

extension LiveView {
    /// Waits until a person is shown.
    @discardableResult
    func wait(person: Device) async throws -> JSON {
        try await wait("the person \(person.account)") {
            $0.name == "person" && $0.data["account"].string == person.account
        }.data
    }
}

extension Quartet {
    /// The sum of what the edge measures under names that begin so.
    fileprivate func sum(_ name: String) async throws -> Int {
        try await metrics(of: .sessionClient).filter { $0.hasPrefix(name) }
            .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
            .reduce(0) { $0 + Int($1) }
    }

    /// Waits until the edge has let go of everybody whose connection ended.
    fileprivate func waitUntilNobodyListens() async throws {
        var last: [String] = []
        for _ in 0..<2400 {
            last = try await metrics(of: .sessionClient).filter { $0.hasPrefix("quartet_subscribers{") }
            if last.allSatisfy({ $0.hasSuffix(" 0") || $0.hasSuffix(" 0.0") }) { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw TimedOut("waited two minutes until nobody listens; last: \(last)")
    }

    /// Waits until the edge has read as many more rows of a log as `body` appends to it.
    func whileTailed(_ rows: Int, from log: String, _ body: () async throws -> Void) async throws {
        func read() async throws -> Int { try await sum("quartet_tail_rows_total{log=\"\(log)\"") }
        let before = try await read()
        try await body()
        for _ in 0..<2400 {
            if try await read() >= before + rows { return }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw TimedOut("waited two minutes until \(rows) rows of \(log) are read")
    }

    /// Puts more into an account's stream of notifications than the system and the edge keep for a connection that isn't read.
    func fillUnread(_ device: Device) async throws {
        try await publish(events: 120, bytes: 60_000, to: device.account)
        try await publish(events: 600, bytes: 17, to: device.account)
    }

    /// Puts events straight into one of an account's streams.
    /// - Parameter body: What their JSON has besides as many bytes.
    func publish(
        events: Int, bytes: Int, to account: String, in schema: String = "notifications",
        as type: String = "NotificationRead", version: Int = 1, _ body: JSON = [:]
    ) async throws {
        try await publish(
            events: events, bytes: bytes, of: "account/\(account)", in: schema, as: type, version: version, body)
    }

    /// The same for any key.
    func publish(
        events: Int = 1, bytes: Int = 1, of key: String, in schema: String, as type: String, version: Int = 1,
        _ body: JSON = [:]
    ) async throws {
        _ = try await psql(
            """
            SELECT \(schema).log_append(
                       ARRAY[\(schema).log_partition_of('\(key)')], array_fill(1, ARRAY[\(events)]),
                       (SELECT array_agg(n) FROM generate_series(1, \(events)) AS n),
                       array_fill('event'::text, ARRAY[\(events)]), array_fill('\(type)'::text, ARRAY[\(events)]),
                       array_fill(\(version)::smallint, ARRAY[\(events)]), array_fill('\(key)'::text, ARRAY[\(events)]), NULL,
                       array_fill(('\(body)'::jsonb || jsonb_build_object('padding', repeat('x', \(bytes))))::json,
                                  ARRAY[\(events)]),
                       (SELECT array_agg(gen_random_uuid()) FROM generate_series(1, \(events))),
                       NULL, NULL, NULL, NULL, NULL, NULL, NULL);
            SELECT pg_notify('\(schema).log', '')
            """)
    }
}
