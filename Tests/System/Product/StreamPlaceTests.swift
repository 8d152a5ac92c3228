import Crypto
import EdgeClient
import Foundation
import TestKit
import Testing

/// Where apps are in their streams, and what filters leave out of these.
@Suite("End to end: places in streams", .timeLimit(.minutes(60)))
struct StreamPlaceTests {
    /// Heartbeats come fast enough to wait for.
    private static func with(_ body: (Quartet) async throws -> Void) async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["STREAM_HEARTBEAT": "200ms"])
            try await body(quartet)
        }
    }

    /// The number in a sequence's part of an event's id.
    private static func position(in sequence: String, of id: String?) -> Int64 {
        let part = id?.split(separator: " ").first { $0.hasPrefix("\(sequence)=") }
        return part.flatMap { Int64($0.split(separator: "/").last ?? "") } ?? -1
    }

    /// Waits for a heartbeat from which the newest row of an account's partition needn't be read again.
    private static func waitForPlace(
        in sequence: String, of device: Device, _ view: LiveView, _ quartet: Quartet
    ) async throws -> String {
        let newest = try await quartet.psql(
            """
            SELECT max(position) FROM \(sequence).log
             WHERE partition = \(sequence).log_partition_of('account/\(device.account)')
            """)
        let position = try #require(Int64(newest))
        let heartbeat = try await view.wait("a heartbeat at \(position) of \(sequence)") {
            $0.name == "heartbeat" && Self.position(in: sequence, of: $0.id) >= position
        }
        return try #require(heartbeat.id)
    }

    @Test(
        """
        heartbeats carry how far the server has looked: a stream in which nothing happens can be resumed however much \
        happens beside it, and a place from too long ago is refetched (T13)
        """)
    func quiet() async throws {
        try await Self.with { quartet in
            let anna = try await quartet.signUp("anna")
            let view = try await LiveView.open(anna)
            let old = try #require(view.lastEventID)
            // Nothing has ever happened in operations.
            for sequence in ["account", "contacts", "notifications", "operations"] {
                #expect(Self.position(in: sequence, of: old) >= 0, "\(old)")
            }
            let stranger = try await quartet.psql(
                """
                SELECT account FROM (SELECT gen_random_uuid() AS account FROM generate_series(1, 10000)) AS a
                 WHERE notifications.log_partition_of('account/' || account)
                       = notifications.log_partition_of('account/\(anna.account)') LIMIT 1
                """)
            for _ in 0..<5 { try await quartet.publish(events: 300, bytes: 1, to: stranger) }
            let place = try await Self.waitForPlace(in: "notifications", of: anna, view, quartet)
            #expect(!view.all.contains { $0.name == "notifications.event" })
            await view.close()

            let refetched = try await LiveView.open(anna, after: old)
            let snapshot = try await refetched.wait("the snapshot") { $0.name == "notifications.snapshot" }
            #expect(snapshot.data["refetched"] == true)
            await refetched.close()
            let resumed = try await LiveView.open(anna, after: place)
            #expect(!resumed.all.contains { $0.name.hasSuffix(".snapshot") })
            try await quartet.publish(events: 1, bytes: 17, to: anna.account)
            try await resumed.wait("NotificationRead", in: "notifications")
            await resumed.close()
        }
    }

    @Test(
        """
        an event that only a newer release knows interrupts no stream: the state is read again, and what comes later \
        arrives over the same connection (T13)
        """)
    func unknownEvents() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await anna.add(bob)
            let group = try await Group.create(by: anna)
            let sees = try await LiveView.open(anna, following: [group])
            try await quartet.publish(events: 3, of: "account/\(anna.account)", in: "contacts", as: "FutureEvent")
            try await quartet.publish(
                events: 3, of: "group/\(group.id)", in: "session", as: "ParticipantUpdated", version: 99)
            try await sees.wait("FutureEvent", in: "contacts")
            try await sees.wait("ParticipantUpdated", in: group)
            // A session that ends before its state is read again isn't resumed.
            for name in ["contacts.resumed", "group.resumed"] { try await sees.wait(name) { $0.name == name } }

            try await anna.act("ResetContactCode")
            try await sees.waitForEnd(or: "a later event") { $0.contains { $0.data["type"] == "ContactCodeReset" } }
            try await group.act(anna, "EndGroupSession")
            try await sees.waitForEnd(or: "the end of the session") { $0.contains { $0.name == "group.ended" } }
            let names = sees.all.map(\.name)
            #expect(!names.contains("end"), "\(names)")
            #expect(names.contains("contacts.resumed") && names.contains("group.resumed"), "\(names)")
            #expect(names.count { $0 == "contacts.event" } == 4, "nothing twice: \(names)")
            await sees.close()
        }
    }

    @Test(
        """
        a filtered stream carries what its filter lets through, by sequence, type and contact; its place moves on with \
        the rest, and with it any other filter goes on, nothing missing and nothing twice (T16)
        """)
    func filters() async throws {
        try await Self.with { quartet in
            let (anna, bob, carol) = try await quartet.signUp("anna", "bob", "carol")
            for other in [bob, carol] { try await anna.add(other) }
            let filter = ["type=PingSent", "contact=\(bob.account)"]
            let sees = try await LiveView.open(anna, only: ["contacts"], filter: filter)
            let first = try #require(sees.lastEventID)
            try await sees.wait(person: bob)
            try await anna.act("CheckIn")
            for other in [carol, bob] { try await anna.ping(other) }
            try await sees.wait("PingSent", in: "contacts")
            try await anna.act(
                "UpdateContact", ["contact": .string(bob.account), "expectedVersion": 1, "nickname": "Bobby"])
            let last = try await Self.waitForPlace(in: "contacts", of: anna, sees, quartet)
            await sees.close()
            Self.expectOnlyPing(of: bob, in: sees.all)

            let again = try await LiveView.open(anna, only: ["contacts"], filter: filter, after: first)
            try await again.wait("PingSent", in: "contacts")
            _ = try await Self.waitForPlace(in: "contacts", of: anna, again, quartet)
            Self.expectOnlyPing(of: bob, in: again.all)
            await again.close()

            let all = try await LiveView.open(anna, after: last)
            try await anna.act(
                "UpdateContact", ["contact": .string(carol.account), "expectedVersion": 1, "nickname": "Caro"])
            try await all.wait("ContactUpdated", in: "contacts")
            #expect(all.all.contains { $0.name == "contacts.resumed" })
            #expect(all.all.count { $0.name == "contacts.event" } == 1, "what the filter left out isn't repeated")
            // It wasn't followed, so it has no place yet.
            let account = try await all.wait("the account") { $0.name == "account.snapshot" }
            #expect(account.data["refetched"] == false)
            await all.close()
        }
    }

    private static func expectOnlyPing(of bob: Device, in events: [ServerSentEvent]) {
        let names = Set(events.map(\.name)).subtracting(["contacts.snapshot", "contacts.resumed"])
        #expect(names == ["begun", "contacts.event", "person", "heartbeat"], "\(names)")
        let pings = events.filter { $0.name == "contacts.event" }
        #expect(pings.map { $0.data["type"] } == ["PingSent"])
        #expect(pings.first?.data["body"]["contact"].string == bob.account)
        let people = events.filter { $0.name == "person" }
        #expect(people.allSatisfy { $0.data["account"].string == bob.account }, "\(people)")
    }

    @Test("a filter that can't be understood is refused, and says why (T16, T23)")
    func invalid() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            for (filter, field) in [
                (["stream=nothing"], "stream"), (["stream=contacts", "stream="], "stream"), (["type=Nothing"], "type"),
                (["contact=anna"], "contact"), ([String](repeating: "type=PingSent", count: 51), "type"),
                ((0..<51).map { _ in "contact=\(anna.account)" }, "contact"),
            ] {
                let refused = await #expect(throws: EdgeClient.Refused.self) {
                    _ = try await quartet.edge.stream(token: anna.token, filter: filter)
                }
                #expect(refused?.status == 400 && refused?.body["code"] == "invalidParameter")
                #expect(refused?.body["field"].string == field, "\(filter.first ?? "")")
            }
        }
    }

    @Test(
        """
        whoever leaves contacts out sees none of them, and the list of open sessions and the end of what a relation let \
        them follow nevertheless (T16, T22)
        """)
    func withoutContacts() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await anna.add(bob)
            let lists = try await LiveView.open(bob, only: [], filter: ["stream=groups"])
            try await lists.wait("an empty list") { $0.name == "groups" && $0.data["groups"] == [] }
            let open = try await Group.create(by: anna, activity: "org.example.other", isOpenToContacts: true)
            try await lists.wait("the session") {
                $0.name == "groups" && $0.data["groups"].array.map { $0["group"].string } == [open.id]
            }
            let follows = try await LiveView.open(bob, following: [open], only: ["operations"])
            try await anna.act("BlockContact", ["contact": .string(bob.account)])
            try await follows.wait("the end") { $0.name == "group.ended" }
            try await lists.waitForAll("an empty list again") {
                $0.last { $0.name == "groups" }?.data["groups"] == []
            }
            for view in [lists, follows] {
                #expect(!view.all.contains { $0.name.hasPrefix("contacts.") || $0.name.hasPrefix("person") })
                await view.close()
            }
        }
    }

    @Test(
        "the hash of each state at a position is that of the snapshot there, and a copy that missed an event differs (T15)"
    )
    func hashes() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await anna.add(bob)
            try await quartet.waitUntilQuiet()
            let before = try await Self.copies(of: anna)
            let hashes = try await anna.read("/v1/stream/hashes")["hashes"].array
            #expect(hashes.map { $0["stream"].string } == ["account", "contacts", "notifications", "operations"])
            for entry in hashes {
                let (name, place) = (entry["stream"].string ?? "", entry["id"].string)
                let copy = try #require(before[name])
                #expect(Self.position(in: name, of: copy.id) == Self.position(in: name, of: place), "\(entry)")
                #expect(try Self.hash(of: copy.data["state"]) == entry["hash"].string, "\(name)")
            }
            try await anna.ping(bob)
            try await quartet.waitUntilQuiet()
            let later = try await anna.read("/v1/stream/hashes")["hashes"].array
            #expect(
                later.first { $0["stream"] == "contacts" }?["hash"]
                    != hashes.first { $0["stream"] == "contacts" }?["hash"])
            #expect(later.first { $0["stream"] == "operations" }?["hash"] == hashes.last?["hash"])
            let stranger = try await quartet.edge.send("GET", "/v1/stream/hashes")
            #expect(stranger.status == 401)
        }
    }

    /// The account's snapshots.
    private static func copies(of device: Device) async throws -> [String: ServerSentEvent] {
        let view = try await LiveView.open(device)
        await view.close()
        let snapshots = view.all.filter { $0.name.hasSuffix(".snapshot") }
        return Dictionary(snapshots.map { (String($0.name.dropLast(".snapshot".count)), $0) }) { first, _ in first }
    }

    /// As deploy/API.md says it.
    private static func hash(of state: JSON) throws -> String {
        func stripped(_ value: Any) -> Any {
            switch value {
            case let members as [String: Any]: members.filter { !($0.value is NSNull) }.mapValues(stripped)
            case let elements as [Any]: elements.map(stripped)
            default: value
            }
        }
        let value = try JSONSerialization.jsonObject(with: Data("\(state)".utf8))
        // For names in ASCII and whole numbers, sorted keys are RFC 8785.
        let canonical = try JSONSerialization.data(
            withJSONObject: stripped(value), options: [.sortedKeys, .withoutEscapingSlashes])
        return SHA256.hash(data: canonical).prefix(8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
            .joined()
    }
}
