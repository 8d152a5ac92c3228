import EdgeClient
import RawClient
import TestKit
import Testing

/// Group sessions live: what each reader sees, from when on, and until when.
@Suite("End to end: streams of group sessions", .timeLimit(.minutes(60)))
struct GroupStreamTests {
    @Test(
        """
        whoever joins in mid-game has the state and the hash that everybody has, and whoever comes back gets what was \
        missed, once (P9, P22, P23, P29, T13, T15)
        """)
    func midGame() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            for other in [bob, carl] { try await anna.add(other) }
            let group = try await Group.create(by: anna)
            try await group.invite(bob, carl, by: anna)
            try await group.act(bob, "JoinGroupSession")
            var views = [
                try await LiveView.open(anna, following: [group]), try await LiveView.open(bob, following: [group]),
            ]
            try await group.act(anna, "ClaimSeat", ["seat": 0])
            try await group.act(bob, "ClaimSeat", ["seat": 1])
            try await group.act(anna, "StartGame", ["state": ["rows": [], "at": .double(0.25)], "lead": 0])
            let key = EdgeClient.newKey()
            let move = try await group.ask(
                bob, "UpdateGame", ["expectedVersion": 1, "patch": ["rows": [1, 2], "ä": nil]], key: key)
            let seen = try await views[0].wait("GameUpdated", of: bob, in: group)
            // By the command, an app recognises its own.
            #expect(seen.data["command"] == move.body["command"] && seen.data["body"] == move.body["result"])

            // Bob has seen it, and is away; Carl comes.
            _ = try await views[1].wait("GameUpdated", of: bob, in: group)
            let place = try #require(views[1].lastEventID)
            await views[1].close()
            try await group.act(carl, "JoinGroupSession")
            try await group.act(carl, "ClaimSeat", ["seat": 2])
            views.append(try await LiveView.open(carl, following: [group]))
            let snapshot = try await views[2].wait("the snapshot") { $0.name == "group.snapshot" }
            let last = try await views[0].wait("SeatClaimed", of: carl, in: group)
            #expect(last.data["hash"] != .null && snapshot.data["hash"] == last.data["hash"])
            let state = try await group.state(by: anna)
            #expect(snapshot.data["state"] == state && snapshot.data["refetched"] == false)

            views[1] = try await LiveView.open(bob, following: [group], after: place)
            try await group.act(anna, "FinishGame", ["expectedVersion": 2])
            var ends: Set<JSON> = []
            for view in views { ends.insert(try await view.wait("GameFinished", in: group).data) }
            #expect(ends.count == 1 && ends.first?["hash"] != .null, "\(ends)")
            #expect(views[1].events(of: group) == ["ParticipantJoined", "SeatClaimed", "GameFinished"])
            #expect(views[1].all.contains { $0.name == "group.resumed" && $0.data == ["group": .string(group.id)] })
            // Of what they all saw, everybody saw the same.
            let hashes = views.map { $0.all.filter { $0.name == "group.event" }.suffix(1).map { $0.data["hash"] } }
            #expect(Set(hashes).count == 1)
            for view in views { await view.close() }
        }
    }

    @Test(
        """
        the sequence ends for a reader who left, was removed, whose invitation or relation ended, and for everybody \
        with the session, and says why; strangers and the blocked see nothing (P6, P7, P8, T22)
        """)
    func ends() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            let (dora, eve, fred) = try await quartet.signUp("dora", "eve", "fred")
            for other in [bob, carl, dora, fred] { try await anna.add(other) }
            let group = try await Group.create(by: anna)
            let open = try await Group.create(by: anna, activity: "org.example.other", isOpenToContacts: true)
            try await group.invite(bob, carl, dora, by: anna)
            for other in [bob, carl] { try await group.act(other, "JoinGroupSession") }

            let stranger = try await LiveView.open(eve, following: [group, open])
            for group in [group, open] {
                #expect(stranger.end(of: group) == "groupNotFound")
            }
            let (bobSees, carlSees) = try await (
                LiveView.open(bob, following: [group]), LiveView.open(carl, following: [group])
            )
            // Invited, and a contact of the host; neither is in it.
            let (doraSees, fredSees) = try await (
                LiveView.open(dora, following: [group]), LiveView.open(fred, following: [open])
            )
            try await group.act(bob, "LeaveGroupSession")
            try await bobSees.wait(end: "left", of: group)
            try await group.act(anna, "RemoveParticipant", ["participant": .string(carl.account)])
            try await carlSees.wait(end: "removed", of: group)
            try await anna.act("RemoveContact", ["contact": .string(dora.account)])
            try await doraSees.wait(end: "withdrawn", of: group)
            try await anna.act("BlockContact", ["contact": .string(fred.account)])
            try await fredSees.wait(end: "groupNotFound", of: open)

            let annaSees = try await LiveView.open(anna, following: [group, open])
            for group in [group, open] { try await group.act(anna, "EndGroupSession") }
            for group in [group, open] { try await annaSees.wait(end: "ended", of: group) }
            for (view, own) in [(bobSees, group), (carlSees, group), (doraSees, group), (fredSees, open)] {
                let names = view.all.filter { $0.data["group"].string == own.id }
                #expect(names.last?.name == "group.ended", "\(names)")
                // Nothing of it stands in the ids any more.
                let id = try #require(view.lastEventID)
                #expect(!id.contains(own.id), "\(id)")
            }
            #expect(stranger.events(of: group).isEmpty && stranger.events(of: open).isEmpty)
            // Whoever comes again hears the same.
            let again = try await LiveView.open(carl, following: [group])
            #expect(again.end(of: group) == "ended")
            for view in [stranger, bobSees, carlSees, doraSees, fredSees, annaSees, again] { await view.close() }
        }
    }

    @Test(
        """
        the sequence of an open session ends with the relation to its host also for an app that was too slow to be sent that \
        the relation ended (P6, T22)
        """)
    func endsUnseen() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            // The machine may be busy.
            try await quartet.start(.sessionClient, environment: ["STREAM_WRITE_DEADLINE": "1h"])
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await anna.add(bob)
            let group = try await Group.create(by: anna, isOpenToContacts: true)
            let slow = try RawConnection(port: try await quartet.edgePort(), receiveBuffer: 4096)
            try slow.send(RawConnection.request("GET", "/v1/stream?group=\(group.id)", bob))
            _ = try await slow.body(until: "group.snapshot")
            try await quartet.whileTailed(720, from: "notifications.log") { try await quartet.fillUnread(bob) }
            // More than waits for a connection: it gets the state instead.
            let body: JSON = ["account": .string(bob.account), "isRequired": true, "at": 1_700_000_000_000_000]
            try await quartet.whileTailed(2001, from: "contacts.log") {
                try await quartet.publish(
                    events: 1500, bytes: 17, to: bob.account, in: "contacts", as: "ContactApprovalSet", body)
                try await anna.act("RemoveContact", ["contact": .string(bob.account)])
                try await quartet.publish(
                    events: 500, bytes: 17, to: bob.account, in: "contacts", as: "ContactApprovalSet", body)
            }
            let seen = String(decoding: try await slow.body(until: "group.ended"), as: UTF8.self)
            #expect(seen.contains("\"reason\":\"groupNotFound\"") && !seen.contains("ContactRemoved"))
        }
    }

    @Test("the list of group sessions follows invitations, relations, people who come and go, and ends, live (P4, P5)")
    func lists() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            for (one, other) in [(anna, bob), (anna, carl)] { try await one.add(other) }
            let sees = try await LiveView.open(bob)
            try await sees.wait("an empty list") { $0.name == "groups" && $0.data["groups"] == [] }
            let group = try await Group.create(by: anna)
            try await group.invite(bob, carl, by: anna)
            try await sees.wait(offer: group, "invited", 1)
            try await group.act(carl, "JoinGroupSession")
            try await sees.wait(offer: group, "invited", 2)
            try await group.act(carl, "LeaveGroupSession")
            let open = try await Group.create(by: anna, activity: "org.example.other", isOpenToContacts: true)
            try await sees.wait(offer: open, "open", 1)
            try await open.act(bob, "JoinGroupSession")
            try await sees.wait(offer: open, "joined", 2)
            try await open.act(anna, "TransferHost", ["to": .string(bob.account)])
            let later = try await LiveView.open(carl)
            try await anna.act("RemoveContact", ["contact": .string(bob.account)])
            try await sees.wait("the invitation to go") { event in
                event.name == "groups" && event.data["groups"].array.map { $0["group"].string } == [open.id]
            }
            try await bob.add(carl)
            try await later.wait(offer: open, "open", 2)
            try await open.act(bob, "EndGroupSession")
            try await later.wait("the end") { event in
                event.name == "groups" && !event.data["groups"].array.contains { $0["group"].string == open.id }
                    && event.data["groups"].array.isEmpty
            }
            for view in [sees, later] { await view.close() }
        }
    }

    @Test(
        "people in a session see each other's name and its changes, and no more than that, contacts or not (P12, P13, P14)"
    )
    func people() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            for other in [bob, carl] { try await anna.add(other) }
            let group = try await Group.create(by: anna)
            try await group.invite(bob, carl, by: anna)
            try await group.act(bob, "JoinGroupSession")
            let sees = try await LiveView.open(bob, following: [group])
            try await group.act(carl, "JoinGroupSession")
            let card = try await sees.wait(person: carl)
            #expect(card["name"] == "Carl" && card["checkIn"] == .null && card["emergencyNote"] == .null)
            #expect(try await Self.avatar(of: carl, by: bob) == "notFound", "he has none")
            try await carl.act("UpdateProfile", ["expectedVersion": 1, "name": "Carlotta"])
            try await sees.wait("the new name") {
                $0.name == "person" && $0.data["account"].string == carl.account && $0.data["name"] == "Carlotta"
            }
            try await sees.wait("ParticipantUpdated", of: carl, in: group)
            try await group.act(carl, "LeaveGroupSession")
            try await sees.wait("that Carl is to be forgotten") {
                $0.name == "person.ended" && $0.data["account"].string == carl.account
            }
            #expect(try await Self.avatar(of: carl, by: bob) == "notContact")
            #expect(!sees.all.contains { $0.name == "person.ended" && $0.data["account"].string == anna.account })
            let state = try await group.state(by: bob)
            #expect(Set(state["participants"].array.map { $0["id"].string }) == [anna.account, bob.account])
            await sees.close()
        }
    }

    /// How a picture is refused.
    private static func avatar(of other: Device, by device: Device) async throws -> String? {
        try await device.edge.send("GET", "/v1/contacts/\(other.account)/avatar", token: device.token).body["code"]
            .string
    }

    @Test("a stream follows eight group sessions at most, each named by its id (T21, T23)")
    func limits() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            for query in [(0..<9).map { _ in EdgeClient.newKey() }, ["1"], [""], ["\(EdgeClient.newKey())x"]] {
                let refused = await #expect(throws: EdgeClient.Refused.self) {
                    try await quartet.edge.stream(token: anna.token, following: query)
                }
                #expect(refused?.status == 400 && refused?.body["code"] == "invalidParameter", "\(query)")
                #expect(refused?.body["field"] == "group")
            }
            let group = try await Group.create(by: anna)
            let view = try await LiveView.open(anna, following: Array(repeating: group, count: 20))
            #expect(view.all.count { $0.name == "group.snapshot" } == 1)
            await view.close()
        }
    }
}

extension LiveView {
    /// Why a group session is over for this reader; nil as long as it isn't.
    func end(of group: Group) -> String? {
        all.first { $0.name == "group.ended" && $0.data["group"].string == group.id }?.data["reason"].string
    }

    /// Waits until a group session is over for this reader.
    func wait(end reason: String, of group: Group) async throws {
        let end = try await wait("the end of \(group.id)") {
            $0.name == "group.ended" && $0.data["group"].string == group.id
        }
        #expect(end.data["reason"].string == reason)
    }

    /// Waits until a group session is listed like this.
    func wait(offer group: Group, _ standing: String, _ participants: Int64) async throws {
        try await wait("\(standing) with \(participants) participants") { event in
            event.name == "groups"
                && event.data["groups"].array.contains {
                    $0["group"].string == group.id && $0["standing"].string == standing
                        && $0["participants"].int == participants
                }
        }
    }
}
