import EdgeClient
import Foundation
import RawClient
import TestKit
import Testing

import struct Postgres.Configuration
import class Postgres.Connection
import class Postgres.Listener

/// Unreliable messages in group sessions: never stored, the newest counts, and never in the way of anything.
@Suite("End to end: signals in group sessions", .timeLimit(.minutes(60)))
struct GroupSignalTests {
    @Test(
        """
        a signal reaches every connection of the participants it is for, at every replica, without an id, and nobody \
        else; nothing of it is stored (P26, P27)
        """)
    func delivery() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let other = try await quartet.startAnother(.sessionClient)
            let elsewhere = try await quartet.edge(of: other)
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            let dora = try await quartet.signUp("dora")
            let group = try await Group.create(by: anna, of: [bob, carl], inviting: [dora])
            let views = [
                try await LiveView.open(anna, following: [group]), try await LiveView.open(bob, following: [group]),
                try await LiveView.open(Device(bob, at: elsewhere), following: [group]),
                try await LiveView.open(Device(carl, at: elsewhere), following: [group]),
            ]
            let invited = try await LiveView.open(dora, following: [group])
            let unfollowing = try await LiveView.open(bob)

            let all: JSON = ["topic": "cursor", "data": ["x": .double(0.25), "y": 1, "pen": "#0a0"]]
            #expect(try await group.signal(anna, all).status == 202)
            for view in views {
                let seen = try await view.wait("a signal") { $0.name == "signal" }
                #expect(seen.data["group"].string == group.id)
                #expect(seen.data["account"].string == anna.account && seen.data["topic"] == "cursor")
                #expect(seen.data["data"] == all["data"] && seen.data["at"].int ?? 0 > 0 && seen.data["to"] == .null)
            }
            let some: JSON = ["topic": "org.example.whisper", "to": [.string(bob.account)], "data": "psst"]
            #expect(try await group.signal(Device(anna, at: elsewhere), some).status == 202)
            for view in views.prefix(3) { try await view.wait("a whisper") { $0.data["data"] == "psst" } }
            // What comes after it has come, so it didn't come to the others.
            #expect(try await group.signal(anna, ["topic": "org.example.last"]).status == 202)
            for view in views { try await view.wait("the last one") { $0.data["topic"] == "org.example.last" } }
            #expect(!views[3].all.contains { $0.data["data"] == "psst" })
            try await group.act(anna, "SendGroupMessage", ["type": "org.example.end"])
            try await invited.wait("MessageWithheld", in: group)
            for view in [invited, unfollowing] { #expect(!view.all.contains { $0.name == "signal" }) }
            for table in ["session.log", "session.group_message", "session_client.session_commands"] {
                let kept = try await quartet.psql("SELECT count(*) FROM \(table) AS t WHERE t::text LIKE '%psst%'")
                #expect(kept == "0", "\(table)")
            }
            for view in views + [invited, unfollowing] { await view.close() }
            await other.end()
        }
    }

    @Test(
        """
        signals of strangers, the invited and those who left are refused, as are ones that are too large, unreadable, \
        for someone who isn't there, or too many (P26)
        """)
    func refusals() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            let (dora, eve) = try await quartet.signUp("dora", "eve")
            let group = try await Group.create(by: anna, of: [bob, carl], inviting: [dora])
            func expect(_ reply: EdgeClient.Reply, _ status: Int, _ code: String, _ field: String?) {
                #expect(reply.status == status && reply.body["code"].string == code, "\(reply)")
                #expect(reply.body["field"].string == field, "\(reply)")
            }
            let fine: JSON = ["topic": "x"]
            expect(try await group.signal(eve, fine), 404, "groupNotFound", "group")
            expect(try await Group(id: EdgeClient.newKey()).signal(anna, fine), 404, "groupNotFound", "group")
            expect(try await Group(id: "1").signal(anna, fine), 400, "invalidID", "group")
            expect(try await group.signal(dora, fine), 403, "notParticipant", "group")
            let text = { JSON.string(String(repeating: "x", count: $0)) }
            for (body, status, code, field) in [
                ([:], 400, "malformed", "topic"), (["topic": 1], 400, "malformed", "topic"),
                (["topic": "a b"], 422, "invalidField", "topic"), (["topic": text(65)], 422, "invalidField", "topic"),
                (["topic": "x", "data": text(4095)], 413, "messageTooLarge", "data"),
                (["topic": "cursor", "data": ["x": 2, "y": 0]], 422, "invalidField", "data.x"),
                (["topic": "typing"], 422, "invalidField", "data.isTyping"),
                (["topic": "x", "to": []], 422, "invalidField", "to"),
                (["topic": "x", "to": [.string(eve.account)]], 404, "participantNotFound", "to"),
                (["topic": "x", "from": "me"], 400, "malformed", "from"),
            ] as [(JSON, Int, String, String)] {
                expect(try await group.signal(anna, body), status, code, field)
            }
            let sees = try await LiveView.open(carl, following: [group])
            let largest: JSON = ["topic": .string(String(repeating: "t", count: 64)), "data": text(4094)]
            #expect(try await group.signal(carl, largest).status == 202)
            try await sees.wait("the largest signal") { $0.data["topic"] == largest["topic"] }

            // Who left sends nothing any more, and gets nothing, as soon as others can see that they left.
            #expect(try await group.signal(bob, fine).status == 202)
            let bobSees = try await LiveView.open(bob, following: [group])
            try await group.act(bob, "LeaveGroupSession")
            try await sees.wait("ParticipantLeft", of: bob, in: group)
            try await bobSees.wait("the end") { $0.name == "group.ended" }
            expect(try await group.signal(bob, fine), 403, "notParticipant", "group")
            expect(
                try await group.signal(carl, ["topic": "x", "to": [.string(bob.account)]]), 404,
                "participantNotFound", "to")
            #expect(try await group.signal(carl, ["topic": "after"]).status == 202)
            try await sees.wait("the signal") { $0.data["topic"] == "after" }
            #expect(!bobSees.all.contains { $0.data["topic"] == "after" })

            var refused: EdgeClient.Reply?
            // At once: one after the other they may be slower than the limit.
            for _ in 0..<20 where refused == nil {
                let replies = try await withThrowingTaskGroup(of: EdgeClient.Reply.self) { tasks in
                    for _ in 0..<200 { tasks.addTask { try await group.signal(carl, fine) } }
                    return try await tasks.reduce(into: [EdgeClient.Reply]()) { $0.append($1) }
                }
                refused = replies.first { $0.status != 202 }
            }
            let flood = try #require(refused)
            expect(flood, 429, "tooManySignals", nil)
            #expect(flood.body["retryAfter"] == 1 && flood.headers["retry-after"] == "1")
            // Only the one who sent too many.
            #expect(try await group.signal(anna, fine).status == 202)
            try await group.act(carl, "SendGroupMessage", ["type": "org.example.end"])
            try await sees.wait("GroupMessageSent", of: carl, in: group)
            try await group.act(anna, "EndGroupSession")
            try await sees.wait("the end") { $0.name == "group.ended" }
            expect(try await group.signal(anna, fine), 410, "groupEnded", "group")
            for view in [sees, bobSees] { await view.close() }
        }
    }

    @Test(
        """
        whoever notifies on the channel of signals, with anything or with what was sent before, changes nothing; a lost \
        connection costs signals and nothing else (P26, T17)
        """)
    func forged() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            let group = try await Group.create(by: anna, of: [bob])
            let sees = try await LiveView.open(bob, following: [group])
            let strangers = Configuration(try quartet.databaseURL(as: "notifications"))
            let channel = "session_client.signals"
            let (heard, listens) = (Observed<[String]>([]), Observed(false))
            let listener = Listener(configuration: strangers, channels: [channel]) { event in
                switch event {
                case .notification(_, let payload): heard.update { $0.append(payload) }
                case .connected: listens.update { $0 = true }
                case .lost: break
                }
            }
            let listening = Task { try await listener.run() }
            try await listens.wait("to listen") { $0 ? true : nil }
            #expect(
                try await group.signal(anna, ["topic": "cursor", "data": ["x": .double(0.5), "y": 1]]).status == 202)
            try await sees.wait("the signal") { $0.name == "signal" }
            let payload = try await heard.wait("the payload") { $0.first }
            listening.cancel()
            _ = await listening.result
            let bytes = try #require(Data(base64Encoded: payload))
            let text = String(decoding: bytes, as: UTF8.self)
            for trace in [group.id, anna.account, "cursor", "0.5"] {
                #expect(!payload.contains(trace) && !text.contains(trace))
            }
            var changed = bytes
            changed[60] ^= 1
            let forgeries = [
                payload, payload, changed.base64EncodedString(), bytes.prefix(50).base64EncodedString(), "",
                "{\"topic\":\"cursor\"}", String(repeating: "A", count: 7999),
            ]
            let stranger = try await Connection.connect(strangers)
            try await stranger.run { database in
                for forgery in forgeries { try database.execute("SELECT pg_notify(\(channel), \(forgery))") }
            }
            await stranger.close()
            try await quartet.wait(forRefusedPayloads: forgeries.count)
            #expect(try await group.signal(anna, ["topic": "next"]).status == 202)
            try await sees.wait("the next signal") { $0.data["topic"] == "next" }
            #expect(sees.all.count { $0.name == "signal" } == 2)

            // Both connections are cut: messages don't notice, and signals come back.
            _ = try await quartet.psql(
                """
                SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                 WHERE application_name LIKE '%signals%' AND datname = current_database()
                """)
            try await group.act(anna, "SendGroupMessage", ["type": "org.example.x"])
            try await sees.wait("GroupMessageSent", of: anna, in: group)
            var number = 0
            while !sees.all.contains(where: { $0.data["topic"].string?.hasPrefix("again") == true }) {
                number += 1
                #expect(try await group.signal(anna, ["topic": .string("again\(number)")]).status == 202)
                try await Task.sleep(for: .milliseconds(50))
                guard number < 2400 else { throw TimedOut("no signal came after the connections were cut") }
            }
            await sees.close()
        }
    }

    @Test("a connection that doesn't read gets the newest signals and every message, in order (P25, P26)")
    func slow() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            // The machine may be busy.
            try await quartet.start(.sessionClient, environment: ["STREAM_WRITE_DEADLINE": "1h"])
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            let group = try await Group.create(by: anna, of: [bob])
            let sees = try await LiveView.open(anna, following: [group])
            let slow = try RawConnection(port: try await quartet.edgePort(), receiveBuffer: 4096)
            try slow.send(RawConnection.request("GET", "/v1/stream?group=\(group.id)", bob))
            _ = try await slow.body(until: "group.snapshot")
            let filler = String(repeating: "x", count: 3800)
            var sent = 0
            for number in 0..<12 {
                for _ in 0..<100 {
                    let data: JSON = ["n": .int(Int64(sent)), "filler": .string(filler)]
                    if try await group.signal(anna, ["topic": "org.example.flood", "data": data]).status == 202 {
                        sent += 1
                    }
                }
                try await group.act(
                    anna, "SendGroupMessage", ["type": "org.example.n", "data": .string("message \(number);")])
            }
            try await sees.wait(forMessages: 12, in: group)
            while try await group.signal(anna, ["topic": "org.example.last"]).status != 202 {}
            let capture = String(decoding: try await slow.body(until: "org.example.last"), as: UTF8.self)
            let messages = capture.split(separator: "\n").compactMap { line in
                line.firstRange(of: "\"message ").map { String(line[$0.upperBound...].prefix { $0 != ";" }) }
            }
            #expect(messages == (0..<12).map { "\($0)" })
            let numbers = capture.split(separator: "\n").compactMap { line in
                line.firstRange(of: "\"n\":").map { Int(line[$0.upperBound...].prefix { $0.isNumber }) ?? -1 }
            }
            #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
            await sees.close()
        }
    }
}

extension GroupSignalTests {
    @Test(
        "who is removed gets no signal that is sent after, even if their connection has long stopped reading (P8, P26)")
    func removedWhileSlow() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            // The machine may be busy.
            try await quartet.start(.sessionClient, environment: ["STREAM_WRITE_DEADLINE": "1h"])
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            let group = try await Group.create(by: anna, of: [bob])
            let sees = try await LiveView.open(anna, following: [group])
            let slow = try RawConnection(port: try await quartet.edgePort(), receiveBuffer: 4096)
            try slow.send(RawConnection.request("GET", "/v1/stream?group=\(group.id)", bob))
            _ = try await slow.body(until: "group.snapshot")
            try await quartet.fillUnread(bob)
            try await group.act(anna, "RemoveParticipant", ["participant": .string(bob.account)])
            try await sees.wait("ParticipantLeft", of: bob, in: group)
            #expect(try await group.signal(anna, ["topic": "after"]).status == 202)
            try await sees.wait("the other signal") { $0.data["topic"] == "after" }
            let seen = String(decoding: try await slow.body(until: "group.ended"), as: UTF8.self)
            #expect(seen.contains("\"reason\":\"removed\"") && !seen.contains("\"topic\":\"after\""))
            await sees.close()
        }
    }
}

extension Group {
    /// Sends a signal, and returns the answer, whatever it is.
    func signal(_ device: Device, _ body: JSON) async throws -> EdgeClient.Reply {
        try await device.edge.send("POST", "/v1/groups/\(id)/signals", body: body, token: device.token)
    }
}

extension Quartet {
    /// Waits until session-client has refused so many payloads on the channel of signals.
    fileprivate func wait(forRefusedPayloads count: Int) async throws {
        for _ in 0..<6000 {
            let line = try await metrics(of: .sessionClient).last {
                $0.hasPrefix("quartet_signal_payloads_refused_total")
            }
            if let refused = line?.split(separator: " ").last.flatMap({ Int($0) }), refused >= count { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw TimedOut("the forged payloads weren't refused")
    }
}
