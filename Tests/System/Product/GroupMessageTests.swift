import EdgeClient
import Foundation
import RawClient
import Synchronization
import TestKit
import Testing

/// Reliable messages in group sessions: to all or to some, in one order, once.
@Suite("End to end: messages in group sessions", .timeLimit(.minutes(60)))
struct GroupMessageTests {
    @Test(
        """
        every participant gets a message at the same position, by every connection; for those it isn't addressed to it \
        is withheld, and no byte of what they get says whose it was or what (P24, P25, P27, P28)
        """)
    func recipients() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            let (dora, eve) = try await quartet.signUp("dora", "eve")
            let group = try await Group.create(by: anna, of: [bob, carl], inviting: [dora])
            let views = [
                try await LiveView.open(anna, following: [group]), try await LiveView.open(bob, following: [group]),
                try await LiveView.open(bob, following: [group]), try await LiveView.open(carl, following: [group]),
                try await LiveView.open(dora, following: [group]),
            ]
            let beginning = try #require(views[3].lastEventID)
            let port = try await quartet.edgePort()
            let raw = [try RawConnection(port: port), try RawConnection(port: port)]
            for (connection, device) in zip(raw, [carl, dora]) {
                try connection.send(RawConnection.request("GET", "/v1/stream?group=\(group.id)", device))
                _ = try await connection.body(until: "group.snapshot")
            }

            let key = EdgeClient.newKey()
            let hello: JSON = ["type": "text", "data": ["text": "Hello, all of you"]]
            let first = try await group.ask(anna, "SendGroupMessage", hello, key: key)
            #expect(first.status == 200 && first.body["event"] == "GroupMessageSent", "\(first)")
            #expect(try await group.ask(anna, "SendGroupMessage", hello, key: key).body == first.body)
            let secret: JSON = [
                "type": "org.example.secret", "data": ["treasure": "under the oak"], "to": [.string(bob.account)],
            ]
            let second = try await group.act(anna, "SendGroupMessage", secret)
            try await group.act(carl, "SendGroupMessage", ["type": "org.example.bye", "data": "that was all"])

            var ids: [Set<String?>] = [[], [], []]
            for (view, kinds) in zip(
                views,
                [
                    [true, true, true], [true, true, true], [true, true, true], [true, false, true],
                    [false, false, false],
                ])
            {
                try await view.wait(forMessages: 3, in: group)
                let messages = view.messages(in: group)
                #expect(messages.map { $0.data["type"] == "GroupMessageSent" } == kinds, "\(messages)")
                for (number, message) in messages.enumerated() {
                    ids[number].insert(
                        message.id?.split(separator: " ").last { $0.hasPrefix("group/") }.map(String.init))
                    guard message.data["type"] != "GroupMessageSent" else { continue }
                    #expect(message.data["type"] == "MessageWithheld" && message.data["body"] == .object([:]))
                    #expect(message.data["command"] == .null && message.data["correlation"] == .null)
                }
                // One state, one hash, whatever they see.
                #expect(Set(messages.map { $0.data["hash"] }).count == 1 && messages.first?.data["hash"] != .null)
            }
            #expect(ids.allSatisfy { $0.count == 1 && $0 != [nil] }, "\(ids)")
            let seen = views[1].messages(in: group)
            #expect(seen[0].data["body"] == first.body["result"] && seen[0].data["command"] == first.body["command"])
            #expect(seen[1].data["body"] == second && second["number"] == 2)
            #expect(seen.map { $0.data["body"]["account"].string } == [anna.account, anna.account, carl.account])
            #expect(zip(seen, seen.dropFirst()).allSatisfy { ($0.data["at"].int ?? 0) <= ($1.data["at"].int ?? 0) })

            // Coming back, from the beginning and with a new state, gives no more than that.
            let later = [
                try await LiveView.open(carl, following: [group], after: beginning),
                try await LiveView.open(carl, following: [group]),
            ]
            try await later[0].wait(forMessages: 3, in: group)
            let read = try await group.get(carl, "/messages")
            #expect(read.body["messages"].array.map { $0["number"] } == [1, 3], "\(read)")
            let state = try await group.get(carl)
            var seenByCarl = "\(read.body) \(state.body)"
            for view in later + [views[3]] {
                for event in view.all { seenByCarl += " \(event.name) \(event.id ?? "") \(event.data)" }
            }
            // The end of the session comes last, so that the capture is whole.
            try await group.act(anna, "EndGroupSession")
            for (connection, traces) in zip(raw, [["Hello", "that was all"], []]) {
                let bytes = try await connection.body(until: "group.ended")
                let capture = String(decoding: bytes, as: UTF8.self) + (traces.isEmpty ? "" : seenByCarl)
                for trace in traces { #expect(capture.contains(trace), "\(capture)") }
                let command = try #require(first.body["command"].string)
                #expect(capture.contains(command) == !traces.isEmpty)
                for trace in ["treasure", "oak", "org.example.secret", "\"number\":2"] {
                    #expect(!capture.contains(trace), "\(trace) in \(capture)")
                }
                if traces.isEmpty { for trace in ["Hello", "that was all"] { #expect(!capture.contains(trace)) } }
            }
            for view in views + later { await view.close() }
            let stranger = try await group.get(eve, "/messages")
            #expect(stranger.status == 404 && stranger.body["code"] == "groupNotFound", "\(stranger)")
        }
    }

    @Test(
        """
        kept messages are read in pages by those who are in the session, also by those who joined later; who reads after \
        the oldest were deleted is told so; after the end nobody reads any (P25, P29)
        """)
    func kept() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            let eve = try await quartet.signUp("eve")
            let group = try await Group.create(by: anna, of: [bob], inviting: [carl])
            let largest = String(repeating: "x", count: 44_998)
            for number in 0..<5 {
                try await group.act(
                    anna, "SendGroupMessage",
                    ["type": "org.example.n", "data": number == 2 ? .string(largest) : .int(Int64(number))])
            }
            try await group.act(bob, "SendGroupMessage", ["type": "org.example.own", "to": [.string(bob.account)]])
            for (device, status, code) in [(eve, 404, "groupNotFound"), (carl, 403, "notParticipant")] {
                let refused = try await group.get(device, "/messages")
                #expect(refused.status == status && refused.body["code"].string == code, "\(refused)")
                let unsent = try await group.ask(device, "SendGroupMessage", ["type": "x"])
                #expect(unsent.status == status && unsent.body["code"].string == code, "\(unsent)")
            }
            let large = try await group.ask(bob, "SendGroupMessage", ["type": "x", "data": .string(largest + "x")])
            #expect(large.status == 413 && large.body["code"] == "messageTooLarge", "\(large)")
            #expect(large.body["field"] == "data" && large.body["details"]["limit"] == 45_000, "\(large)")

            try await group.act(carl, "JoinGroupSession")
            let all = try await group.get(carl, "/messages").body
            #expect(all["messages"].array.map { $0["number"].int } == [1, 2, 3, 4, 5], "\(all)")
            #expect(all["truncated"] == false && all["next"] == .null)
            #expect(
                all["messages"][2]["data"].string == largest && all["messages"][0]["account"].string == anna.account)
            #expect(try await group.get(bob, "/messages?after=5").body["messages"].array.count == 1)
            var (pages, next): ([JSON], JSON) = ([], 0)
            while next != .null {
                let page = try await group.get(carl, "/messages?limit=2&after=\(next)").body
                pages += page["messages"].array
                next = page["next"]
            }
            #expect(pages == all["messages"].array)

            // As if there had been ten thousand more.
            _ = try await quartet.psql(
                """
                DELETE FROM session.group_message WHERE number <= 3;
                UPDATE session.message_history SET first_kept = 4
                """)
            for (after, truncated) in [(0, true), (2, true), (3, false), (9, false)] {
                let page = try await group.get(carl, "/messages?after=\(after)").body
                #expect(page["truncated"] == .bool(truncated), "\(page)")
            }
            try await group.act(carl, "LeaveGroupSession")
            let left = try await group.get(carl, "/messages")
            #expect(left.status == 403 && left.body["code"] == "notParticipant", "\(left)")
            try await group.act(anna, "EndGroupSession")
            let over = try await (group.get(anna, "/messages"), group.ask(anna, "SendGroupMessage", ["type": "x"]))
            #expect(over.0.status == 410 && over.1.status == 410, "\(over)")
            #expect(try await quartet.psql("SELECT count(*) FROM session.kept_message") == "0")
        }
    }

    @Test(
        """
        whatever is killed, everybody gets every message once, in one order, and so does who reads them afterwards \
        (P25)
        """)
    func kills() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            let group = try await Group.create(by: anna, of: [bob, carl])
            let people = [anna, bob, carl]
            let each = 30
            let beginning = try await LiveView.open(anna, following: [group])
            let place = beginning.lastEventID?.split(separator: " ").last { $0.hasPrefix("group/") }.map { String($0) }
            await beginning.close()
            let received = try await withThrowingTaskGroup(of: [String]?.self) { tasks in
                for person in people {
                    tasks.addTask { try await Self.receive(each * people.count, by: person, in: group, after: place) }
                    tasks.addTask {
                        for number in 0..<each {
                            let body: JSON = ["type": "org.example.n", "data": .int(Int64(number))]
                            try await group.act(person, "SendGroupMessage", body)
                        }
                        return nil
                    }
                }
                for number in 0..<6 {
                    let sent = 10 * (number + 1)
                    try await quartet.wait(for: "\(sent) messages", "SELECT count(*) FROM session.group_message") {
                        Int($0) ?? 0 >= sent
                    }
                    try await quartet.restart(number % 2 == 0 ? .session : .sessionClient)
                }
                var received: [[String]] = []
                for try await sequence in tasks { if let sequence { received.append(sequence) } }
                return received
            }
            let kept = try await group.get(bob, "/messages").body["messages"].array
            let order = kept.map(Self.text)
            #expect(order.count == 90 && Set(order).count == 90)
            #expect(kept.map { $0["number"].int } == (1...90).map { Int64($0) })
            for sequence in received { #expect(sequence == order) }
            // What one person sent is in the order in which they sent it.
            for person in people {
                let own = kept.filter { $0["account"].string == person.account }.map { $0["data"] }
                #expect(own == (0..<each).map { .int(Int64($0)) })
            }
        }
    }

    private static func text(_ message: JSON) -> String {
        "\(message["number"]) \(message["account"]) \(message["data"])"
    }

    /// Follows a session until so many messages came, coming back after each end of the stream.
    private static func receive(
        _ count: Int, by device: Device, in group: Group, after beginning: String?
    ) async throws -> [String] {
        var (received, place): ([String], String?) = ([], beginning)
        while received.count < count {
            guard let view = try? await LiveView.open(device, following: [group], after: place) else {
                try await Task.sleep(for: .milliseconds(50))
                continue
            }
            let missing = count - received.count
            try await view.waitForEnd(or: "\(missing) messages") { $0.messages(in: group).count >= missing }
            let all = view.all
            await view.close()
            received += all.messages(in: group).map { text($0.data["body"]) }
            place = all.last { $0.id != nil }?.id ?? place
        }
        return received
    }

    @Test(
        "the messages of a closed account are gone, for who reads them and for who comes back to the stream (P25, S18)")
    func closedAccount() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            let group = try await Group.create(by: anna, of: [bob])
            let view = try await LiveView.open(anna, following: [group])
            let place = try #require(view.lastEventID)
            try await group.act(bob, "SendGroupMessage", ["type": "text", "data": ["text": "my address"]])
            try await group.act(anna, "SendGroupMessage", ["type": "text", "data": ["text": "thank you"]])
            try await view.wait(forMessages: 2, in: group)
            await view.close()
            try await quartet.kill(.session)
            try await quartet.start(.session, environment: ["RETENTION_INTERVAL": "100ms"])
            try await bob.close()
            try await quartet.wait(
                for: "the messages to be emptied",
                """
                SELECT (SELECT count(*) FROM session.log WHERE body::text LIKE '%my address%')
                       + (SELECT count(*) FROM session.outcome WHERE body::text LIKE '%my address%')
                       + (SELECT count(*) FROM session.group_message WHERE data::text LIKE '%my address%')
                """
            ) { $0 == "0" }
            let kept = try await group.get(anna, "/messages").body
            #expect(kept["messages"].array.map { $0["number"] } == [2] && kept["truncated"] == false, "\(kept)")
            let again = try await LiveView.open(anna, following: [group], after: place)
            try await again.wait("ParticipantLeft", of: bob, in: group)
            let messages = again.messages(in: group)
            #expect(messages.map { $0.data["type"] } == ["GroupMessageSent"], "\(messages)")
            #expect(messages.first?.data["body"]["data"]["text"] == "thank you")
            await again.close()
        }
    }
}

extension Group {
    /// One with people in it and others who are invited. All become contacts of the host.
    static func create(by host: Device, of people: [Device], inviting others: [Device] = []) async throws -> Group {
        for other in people + others { try await host.add(other) }
        let group = try await create(by: host)
        try await group.act(
            host, "ActivateGroupSession", ["contacts": .array((people + others).map { .string($0.account) })])
        for person in people { try await group.act(person, "JoinGroupSession") }
        return group
    }
}

extension [ServerSentEvent] {
    /// The messages of a session, also those that were withheld.
    func messages(in group: Group) -> [ServerSentEvent] {
        filter { event in
            event.isEvent("GroupMessageSent", in: group) || event.isEvent("MessageWithheld", in: group)
        }
    }
}

extension LiveView {
    func messages(in group: Group) -> [ServerSentEvent] { all.messages(in: group) }

    /// Waits until so many messages of a session came.
    func wait(forMessages count: Int, in group: Group) async throws {
        try await waitForAll("\(count) messages") { $0.messages(in: group).count >= count }
    }
}
