import EdgeClient
import TestKit
import Testing

/// Group sessions over HTTP: who may do what, and what everybody is told.
@Suite("End to end: group sessions", .timeLimit(.minutes(60)))
struct GroupTests {
    @Test(
        """
        people create, offer, join, host, leave and end a group session, and each refusal says what a program needs \
        (P1, P3, P4, P6, P7, P8, P20, R15)
        """)
    func coming() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            let eve = try await quartet.signUp("eve")
            for other in [bob, carl] { try await anna.add(other) }
            let key = EdgeClient.newKey()
            let body: JSON = [
                "activity": ["identifier": "org.example.four", "type": "generic", "title": "Four"], "capacity": 2,
            ]
            let created = try await anna.ask("CreateGroupSession", body, key: key)
            #expect(created.status == 200 && created.body["event"] == "GroupSessionCreated", "\(created)")
            let group = Group(id: try #require(created.body["result"]["group"].string))
            // The same request is the same session; another one of the activity isn't started beside it.
            let same = try await anna.ask("CreateGroupSession", body, key: key)
            #expect(same.body == created.body, "\(same)")
            let second = try await anna.ask("CreateGroupSession", body)
            #expect(second.status == 409 && second.body["code"] == "alreadyInSession", "\(second)")
            #expect(second.body["details"]["group"].string == group.id, "\(second)")

            // Only contacts are invited, and it is said who isn't one.
            let strange = try await group.ask(
                anna, "ActivateGroupSession", ["contacts": [.string(bob.account), .string(eve.account)]])
            #expect(strange.status == 404 && strange.body["code"] == "notContact", "\(strange)")
            #expect(strange.body["field"] == "contacts", "\(strange)")
            #expect(strange.body["details"]["accounts"] == [.string(eve.account)], "\(strange)")
            let early = try await group.get(bob)
            #expect(early.status == 404 && early.body["code"] == "groupNotFound", "\(early)")
            try await group.invite(bob, carl, by: anna)
            let offered = try await bob.offers(open: true)
            #expect(offered[group.id]?["standing"] == "invited" && offered[group.id]?["participants"] == 1)
            #expect(offered[group.id]?["activity"]["title"] == "Four")
            let state = try await group.state(by: bob)
            #expect(state["host"].string == anna.account && state["activity"]["identifier"] == "org.example.four")

            try await group.act(bob, "JoinGroupSession")
            let full = try await group.ask(carl, "JoinGroupSession")
            #expect(full.status == 409 && full.body["code"] == "groupFull", "\(full)")
            #expect(full.body["details"]["capacity"] == 2, "\(full)")
            let counted = try await carl.offers(open: true)
            #expect(counted[group.id]?["participants"] == 2)
            #expect(try await bob.offers(open: true).isEmpty)
            #expect(try await bob.offers()[group.id]?["standing"] == "joined")
            let coup = try await group.ask(bob, "EndGroupSession")
            #expect(coup.status == 403 && coup.body["code"] == "notHost", "\(coup)")
            #expect(coup.body["details"]["host"].string == anna.account, "\(coup)")
            try await group.act(anna, "TransferHost", ["to": .string(bob.account)])
            try await group.act(bob, "RemoveParticipant", ["participant": .string(anna.account)])
            let out = try await (group.get(anna), group.ask(anna, "JoinGroupSession"))
            #expect(out.0.status == 403 && out.0.body["code"] == "removedFromGroup", "\(out.0)")
            #expect(out.1.status == 403 && out.1.body["code"] == "removedFromGroup", "\(out.1)")

            try await group.act(carl, "JoinGroupSession")
            try await group.act(carl, "LeaveGroupSession")
            let left = try await group.get(carl)
            #expect(left.status == 403 && left.body["code"] == "notParticipant", "\(left)")
            // By Anna's invitation he comes back, until they aren't contacts any more.
            try await group.act(carl, "JoinGroupSession")
            try await group.act(carl, "LeaveGroupSession")
            try await anna.act("RemoveContact", ["contact": .string(carl.account)])
            try await quartet.waitUntilQuiet()
            let estranged = try await group.ask(carl, "JoinGroupSession")
            #expect(estranged.status == 404 && estranged.body["code"] == "groupNotFound", "\(estranged)")
            try await group.act(bob, "EndGroupSession")
            for device in [anna, bob, carl] {
                let over = try await group.get(device)
                #expect(over.status == 410 && over.body["code"] == "groupEnded", "\(over)")
                let late = try await group.ask(device, "JoinGroupSession")
                #expect(late.status == 410 && late.body["code"] == "groupEnded", "\(late)")
                #expect(try await device.offers().isEmpty)
            }
            try await Self.expectLimits(of: Group.create(by: anna, isOpenToContacts: true), anna, bob, quartet)
        }
    }

    /// Fills a session with invitations, first with those that may be open at a time, then with all that it may ever have.
    private static func expectLimits(
        of group: Group, _ anna: Device, _ bob: Device, _ quartet: Quartet
    ) async throws {
        func add(_ count: Int, _ status: String, _ reason: String, by inviter: String) async throws {
            _ = try await quartet.psql(
                """
                INSERT INTO session.participant (group_id, account, activity, status, since, reason, invited_by, ordinal,
                                                 is_drop_announced, version, is_ready)
                SELECT g.group_id, gen_random_uuid(), g.activity, '\(status)', now(), \(reason), \(inviter), 0, false, 0, false
                  FROM session.group_session AS g, generate_series(1, \(count))
                 WHERE g.group_id = '\(group.id)'
                """)
        }
        try await add(200, "waiting", "NULL", by: "'\(anna.account)'")
        try await quartet.overEach { carrier in
            let refusal = try await carrier.expect(
                "limitReached", of: "ActivateGroupSession",
                ["group": .string(group.id), "contacts": [.string(bob.account)]], token: anna.token)
            #expect(refusal.field == "contacts")
        }
        try await add(800, "invalidated", "'left'", by: "NULL")
        try await quartet.overEach { carrier in
            try await carrier.expect(
                "limitReached", of: "JoinGroupSession", ["group": .string(group.id)], token: bob.token)
        }
    }

    @Test(
        """
        contacts of the host join where it is open to them, also when the host changes in that moment; a join that is \
        sent again has the same answer (P5, P6)
        """)
    func open() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            for (one, other) in [(anna, bob), (anna, carl), (bob, carl)] { try await one.add(other) }
            let group = try await Group.create(by: anna, isOpenToContacts: true)
            let offer = try await bob.offers(open: true)[group.id]
            #expect(
                offer?["standing"] == "open" && offer?["activity"]["payload"] == .null, "\(String(describing: offer))")
            let key = EdgeClient.newKey()
            let joined = try await group.ask(bob, "JoinGroupSession", key: key)
            #expect(joined.status == 200 && joined.body["event"] == "ParticipantJoined", "\(joined)")

            // Both wait for the session's row; the host changes first.
            let release = try await quartet.hold(
                "SELECT FROM session.group_session WHERE group_id = '\(group.id)' FOR UPDATE")
            async let transfer = group.ask(anna, "TransferHost", ["to": .string(bob.account)])
            try await quartet.wait(for: "the transfer", Self.commands("TransferHost")) { $0 == "1" }
            async let join = group.ask(carl, "JoinGroupSession")
            try await quartet.wait(for: "the join", Self.commands("JoinGroupSession")) { $0 == "2" }
            await release()
            let (handed, came) = try await (transfer, join)
            #expect(handed.status == 200, "\(handed)")
            #expect(came.status == 200 && came.body["event"] == "ParticipantJoined", "\(came)")
            let hosts = try await quartet.psql(
                """
                SELECT string_agg(c.host, ' ' ORDER BY c.position)
                  FROM (SELECT body ->> 'contactOf' AS host, min(position) AS position
                          FROM session_client.session_commands WHERE type = 'JoinGroupSession' GROUP BY command_id, host) AS c
                """)
            #expect(
                hosts == "\(anna.account) \(anna.account) \(bob.account)", "the join is repeated with the next host")

            // Bob is the host by now, and his own contact he isn't.
            let again = try await group.ask(bob, "JoinGroupSession", key: key)
            #expect(again.status == 200 && again.body == joined.body, "\(again)")
            // Whoever isn't a contact any more sees nothing.
            try await group.act(carl, "LeaveGroupSession")
            #expect(try await carl.offers(open: true).count == 1)
            try await bob.act("BlockContact", ["contact": .string(carl.account)])
            #expect(try await carl.offers().isEmpty)
            let seen = try await group.get(carl)
            #expect(seen.status == 403 && seen.body["code"] == "notParticipant", "\(seen)")
        }
    }

    /// How many; asked for again, because its answer took long, one may stand there twice.
    private static func commands(_ type: String) -> String {
        "SELECT count(DISTINCT command_id) FROM session_client.session_commands WHERE type = '\(type)'"
    }

    @Test("an invitation is a notification, once, for as long as it stands (P4)")
    func invitations() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            let (dora, fred) = try await quartet.signUp("dora", "fred")
            let guests = [bob, carl, dora, fred]
            for guest in guests { try await anna.add(guest) }
            let sees = try await LiveView.open(bob)
            let (group, other) = try await (
                Group.create(by: anna), Group.create(by: anna, activity: "org.example.other")
            )
            for group in [group, other] { try await group.invite(bob, carl, dora, fred, by: anna) }
            // Those who are invited already aren't told again.
            try await group.invite(bob, carl, by: anna)
            let told = try await sees.wait("the invitation") {
                $0.name == "notifications.event"
                    && $0.data["body"]["notification"]["details"]["group"].string == group.id
            }.data["body"]["notification"]
            #expect(told["kind"] == "groupInvitation" && told["subject"].string == anna.account, "\(told)")
            try await quartet.waitUntilQuiet()
            for guest in guests { #expect(try await guest.invitations() == [group.id: 1, other.id: 1]) }

            try await group.act(bob, "JoinGroupSession")
            try await group.act(carl, "LeaveGroupSession")
            let beforeRemoval = try await quartet.psql("SELECT date_trunc('milliseconds', clock_timestamp())")
            try await group.act(anna, "RemoveParticipant", ["participant": .string(dora.account)])
            try await fred.act("RemoveContact", ["contact": .string(anna.account)])
            try await quartet.waitUntilQuiet()
            for guest in [bob, carl, dora] { #expect(try await guest.invitations() == [other.id: 1]) }
            #expect(try await fred.invitations().isEmpty)
            let late = try await group.ask(fred, "JoinGroupSession")
            #expect(late.status == 403 && late.body["code"] == "removedFromGroup", "\(late)")

            // Anna took Dora's back, but Carl declined by himself. The rest counts from then, and may be over on a busy machine.
            let isSinceRemoval = try await quartet.psql(
                """
                SELECT since >= '\(beforeRemoval)' FROM session.participant
                 WHERE group_id = '\(group.id)' AND account = '\(dora.account)'
                """)
            #expect(isSinceRemoval == "t")
            _ = try await quartet.psql(
                """
                UPDATE session.participant SET since = clock_timestamp()
                 WHERE group_id = '\(group.id)' AND account = '\(dora.account)'
                """)
            let early = try await group.ask(
                anna, "ActivateGroupSession", ["contacts": [.string(dora.account)]])
            #expect(early.status == 429 && early.body["code"] == "tooSoon", "\(early)")
            try await group.invite(carl, by: anna)
            try await quartet.waitUntilQuiet()
            #expect(try await carl.invitations() == [group.id: 1, other.id: 1])
            for group in [group, other] { try await group.act(anna, "EndGroupSession") }
            try await quartet.waitUntilQuiet()
            for guest in guests { #expect(try await guest.invitations().isEmpty) }
            await sees.close()
        }
    }

    @Test(
        """
        that a session started, and that it ended, is told once to those whom it concerns, and to nobody of their own doing \
        (P4, P8, S36)
        """)
    func news() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            let (dora, fred) = try await quartet.signUp("dora", "fred")
            for guest in [bob, carl, dora, fred] { try await anna.add(guest) }
            let group = try await Group.create(by: anna)
            try await group.invite(bob, carl, dora, fred, by: anna)
            try await group.act(bob, "JoinGroupSession")
            // Nothing starts a second time.
            try await group.act(bob, "LeaveGroupSession")
            for guest in [bob, carl] { try await group.act(guest, "JoinGroupSession") }
            try await group.act(bob, "LeaveGroupSession")
            try await group.act(fred, "LeaveGroupSession")
            try await quartet.waitUntilQuiet()
            #expect(try await anna.news(of: group) == ["groupStarted \(bob.account)"])
            for guest in [carl, dora, fred] {
                #expect(try await guest.news(of: group) == ["groupStarted \(anna.account)"])
            }
            // It stands for those who can still come, and for the host.
            for (device, isStanding) in [(anna, true), (carl, false), (dora, true), (fred, false)] {
                let all = try await device.notifications()
                let told = try #require(all.first { $0["kind"] == "groupStarted" })
                #expect((told["cleared"] == .null) == isStanding, "\(told)")
            }

            let sees = try await LiveView.open(dora)
            try await group.act(anna, "EndGroupSession")
            let told = try await sees.wait("the end") {
                $0.name == "notifications.event" && $0.data["body"]["notification"]["kind"] == "groupEnded"
            }.data["body"]["notification"]
            #expect(told["details"]["group"].string == group.id && told["subject"].string == anna.account, "\(told)")
            await sees.close()
            try await quartet.waitUntilQuiet()
            let (start, end) = ("groupStarted \(anna.account)", "groupEnded \(anna.account)")
            for guest in [carl, dora] { #expect(try await guest.news(of: group) == [end, start]) }
            // Bob and Fred had left before, and Anna ended it herself.
            #expect(try await anna.news(of: group) == ["groupStarted \(bob.account)"])
            #expect(try await bob.news(of: group).isEmpty)
            #expect(try await fred.news(of: group) == [start])
            for device in [anna, bob, carl, dora, fred] {
                let standing = try await device.notifications().filter {
                    $0["kind"] != "groupEnded" && $0["details"]["group"].string == group.id && $0["cleared"] == .null
                }
                #expect(standing.isEmpty, "\(standing)")
            }

            // Who has left isn't there when it ends.
            let other = try await Group.create(by: anna)
            try await other.invite(bob, by: anna)
            try await other.act(bob, "JoinGroupSession")
            try await other.act(anna, "LeaveGroupSession")
            try await quartet.waitUntilQuiet()
            let left = try await anna.notifications().filter { $0["details"]["group"].string == other.id }
            #expect(left.count == 1 && left.allSatisfy { $0["cleared"] != .null }, "\(left)")
        }
    }

    @Test(
        """
        one move of a version wins, and the loser gets the game as it is; only whoever has a seat and the turn moves \
        (P17, P21, P22)
        """)
    func playing() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            for other in [bob, carl] { try await anna.add(other) }
            let group = try await Group.create(by: anna)
            try await group.invite(bob, carl, by: anna)
            for other in [bob, carl] { try await group.act(other, "JoinGroupSession") }
            let nobody = try await group.ask(anna, "StartGame")
            #expect(nobody.status == 409 && nobody.body["code"] == "noSeatTaken", "\(nobody)")
            try await group.act(anna, "ClaimSeat", ["seat": 0])
            let taken = try await group.ask(bob, "ClaimSeat", ["seat": 0])
            #expect(taken.status == 409 && taken.body["code"] == "seatTaken", "\(taken)")
            #expect(taken.body["details"] == ["by": .string(anna.account), "seat": 0], "\(taken)")
            try await group.act(bob, "ClaimSeat", ["seat": 1])
            let foreign = try await group.ask(bob, "ReleaseSeat", ["participant": .string(anna.account)])
            #expect(foreign.status == 403 && foreign.body["code"] == "notHost", "\(foreign)")
            try await group.act(bob, "MoveSeat", ["seat": 4])
            let none = try await group.get(bob, "/game")
            #expect(none.status == 409 && none.body["code"] == "gameNotRunning", "\(none)")

            let started = try await group.act(
                anna, "StartGame",
                ["state": ["turn": .string(anna.account), "row": [0]], "turnField": "turn", "lead": 0])
            #expect(started["version"] == 1)
            let turn = try await group.ask(bob, "UpdateGame", ["expectedVersion": 1, "patch": ["row": [1]]])
            #expect(turn.status == 409 && turn.body["code"] == "notYourTurn", "\(turn)")
            #expect(turn.body["details"]["turn"].string == anna.account, "\(turn)")
            try await group.act(
                anna, "UpdateGame",
                ["expectedVersion": 1, "patch": ["turn": .string(bob.account), "row": [0, 3]]])
            let stale = try await group.ask(bob, "UpdateGame", ["expectedVersion": 1, "patch": ["row": [1]]])
            #expect(stale.status == 409 && stale.body["code"] == "staleVersion", "\(stale)")
            #expect(stale.body["current"]["version"] == 2 && stale.body["current"]["author"].string == anna.account)
            #expect(stale.body["current"]["state"] == ["turn": .string(bob.account), "row": [0, 3]], "\(stale)")
            #expect(stale.body["details"]["version"] == 2, "\(stale)")

            let game = try await group.get(carl, "/game")
            #expect(game.status == 200 && game.body == stale.body["current"], "\(game)")
            let tag = try #require(game.headers["etag"])
            #expect(tag == "\"2\"")
            let known = try await group.get(carl, "/game", headers: ["if-none-match": tag])
            #expect(known.status == 304 && known.body == .null, "\(known)")
            let spectator = try await group.ask(carl, "UpdateGame", ["expectedVersion": 2, "patch": [:]])
            #expect(spectator.status == 409 && spectator.body["code"] == "notSeated", "\(spectator)")
            try await group.act(bob, "FinishGame", ["expectedVersion": 2])
            let over = try await group.get(carl, "/game", headers: ["if-none-match": tag])
            #expect(over.status == 200 && over.body["finished"] != .null, "\(over)")
        }
    }

    @Test("a stranger can do nothing with a group session's id, and can't tell it from one that doesn't exist (T22)")
    func strangers() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob, eve) = try await quartet.signUp("anna", "bob", "eve")
            try await anna.add(bob)
            let group = try await Group.create(by: anna, isOpenToContacts: true)
            try await group.act(anna, "ClaimSeat", ["seat": 0])
            try await group.act(anna, "StartGame", ["lead": 0])
            let nowhere = Group(id: EdgeClient.newKey())
            let requests: [(command: String, body: JSON)] = [
                ("JoinGroupSession", [:]), ("LeaveGroupSession", [:]), ("EndGroupSession", [:]),
                ("RemoveParticipant", ["participant": .string(anna.account)]),
                ("TransferHost", ["to": .string(eve.account)]), ("ClaimSeat", ["seat": 1]),
                ("MoveSeat", ["seat": 1]), ("ReleaseSeat", ["participant": .string(anna.account)]),
                ("StartGame", [:]), ("UpdateGame", ["expectedVersion": 1, "patch": [:]]),
                ("FinishGame", ["expectedVersion": 1]),
            ]
            let before = try await group.state(by: anna)
            for (command, body) in requests {
                let (one, other) = try await (group.ask(eve, command, body), nowhere.ask(eve, command, body))
                #expect(one.status == 404 && one.body["code"] == "groupNotFound", "\(command): \(one)")
                #expect(one.body == other.body, "\(command): \(other)")
            }
            try await eve.add(bob)
            let invitation: JSON = ["contacts": [.string(bob.account)]]
            let invites = try await (
                group.ask(eve, "ActivateGroupSession", invitation), nowhere.ask(eve, "ActivateGroupSession", invitation)
            )
            #expect(invites.0.status == 404 && invites.0.body == invites.1.body, "\(invites.0)")
            for path in ["", "/game"] {
                let (one, other) = try await (group.get(eve, path), nowhere.get(eve, path))
                #expect(one.status == 404 && one.body["code"] == "groupNotFound", "\(path): \(one)")
                #expect(one.body == other.body, "\(path): \(other)")
            }
            #expect(try await eve.offers().isEmpty)
            let after = try await group.state(by: anna)
            #expect(after == before)
        }
    }
}
