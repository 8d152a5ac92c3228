import EdgeClient
import TestKit
import Testing

/// People and what they are to each other, over HTTP.
@Suite("End to end: relations", .timeLimit(.minutes(60)))
struct RelationTests {
    @Test(
        """
        both sides hear once of an added contact, a changed role and a removal, and one correlation id runs through \
        all of it (S16, S46)
        """)
    func told() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            let (annaSees, bobSees) = try await (LiveView.open(anna), LiveView.open(bob))
            try await anna.add(bob)
            let steps: [(command: String, body: JSON, event: String, kind: String)] = [
                ("", .null, "ContactAdded", "contactAdded"),
                (
                    "UpdateContact", ["contact": .string(bob.account), "expectedVersion": 1, "isMyResponder": true],
                    "ContactUpdated", "contactRoleChanged"
                ),
                ("RemoveContact", ["contact": .string(bob.account)], "ContactRemoved", "contactRemoved"),
            ]
            for step in steps {
                if !step.command.isEmpty { try await anna.act(step.command, step.body) }
                var correlations: Set<JSON> = []
                for view in [annaSees, bobSees] {
                    correlations.insert(try await view.wait(step.event, in: "contacts").data["correlation"])
                    let told = try await view.wait("the notification \(step.kind)") {
                        $0.name == "notifications.event" && $0.data["body"]["notification"]["kind"].string == step.kind
                    }
                    correlations.insert(told.data["correlation"])
                }
                #expect(correlations.count == 1, "\(step.event): \(correlations)")
                // The same id finds all of it in the logs.
                let id = try #require(correlations.first?.string)
                let tree = try await quartet.psql("SELECT tree FROM session_client.story('\(id)')")
                for name in [step.event, "DeliverNotification", "NotificationDelivered"] {
                    #expect(tree.matches(of: try Regex(name)).count == 2, "\(name) in \(tree)")
                }
            }
            try await quartet.waitUntilQuiet()
            for device in [anna, bob] {
                let kinds = try await device.kinds()
                #expect(kinds == ["contactRemoved", "contactRoleChanged", "contactAdded"])
            }
        }
    }

    @Test("another interval moves the deadline, and only a responder sees check-ins and alerts, live (S29, S30, S33)")
    func interval() async throws {
        try await Quartet.with { quartet in
            let (bob, responder, dependent) = try await quartet.signUp("bob", "anna", "carl")
            let stranger = try await quartet.signUp("eve")
            try await responder.add(bob)
            try await bob.add(dependent)
            let (sees, seesLess) = try await (LiveView.open(responder), LiveView.open(dependent))
            let last = try #require(try await bob.act("CheckIn")["at"].int)
            // Again at once is too soon, and it is said for how long.
            let soon = try await bob.ask("CheckIn")
            #expect(soon.status == 429 && soon.body["code"] == "tooSoon", "\(soon)")
            #expect((1...300).contains(soon.body["retryAfter"].int ?? 0))
            #expect(soon.headers["retry-after"] == soon.body["retryAfter"].int.map { "\($0)" })
            let day: Int64 = 24 * 3600 * 1_000_000
            for hours in [1, 168, 12] as [Int64] {
                let interval = hours * 3600 * 1_000_000
                let set = try await bob.act("SetCheckInInterval", ["interval": .int(interval)])
                #expect(set["due"].int == last + interval)
                try await sees.wait("the interval on Bob's card") {
                    $0.name == "person" && $0.data["checkIn"]["interval"].int == interval
                }
                let timer = try await quartet.psql(
                    """
                    SELECT session.microseconds(due_at) FROM session.timer
                     WHERE key = 'account/\(bob.account)' AND name = 'MissCheckIn'
                    """)
                #expect(timer == "\(last + interval)")
            }
            let again = try await bob.act("SetCheckInInterval", ["interval": .int(day / 2)])
            #expect(again == .null, "what changes nothing says nothing")
            for wrong in [day / 24 - 1, 7 * day + 1, -1, 0, .max, .min] {
                let refused = try await bob.ask("SetCheckInInterval", ["interval": .int(wrong)])
                #expect(refused.status == 422 && refused.body["field"] == "interval")
            }
            try await bob.act("RaiseAlert")
            try await sees.wait("the alert on Bob's card") {
                $0.name == "person" && $0.data["alertRaised"].int != nil
            }
            // Something that a dependent does see comes after what they mustn't.
            try await bob.act("UpdateProfile", ["expectedVersion": 1, "name": "Robert"])
            try await seesLess.wait("Bob's new name") { $0.name == "person" && $0.data["name"] == "Robert" }
            let shown = seesLess.all.filter { $0.name == "person" }
            #expect(shown.allSatisfy { $0.data["checkIn"] == .null && $0.data["alertRaised"] == .null })
            let (card, less) = try await (responder.card(of: bob), dependent.card(of: bob))
            #expect(card["person"]["checkIn"]["due"].int == last + day / 2 && card["person"]["alertRaised"].int != nil)
            #expect(less["person"]["name"] == "Robert" && less["person"]["checkIn"] == .null)
            let none = try await stranger.edge.send("GET", "/v1/contacts/\(bob.account)", token: stranger.token)
            #expect(none.status == 404)
        }
    }

    @Test("filtered and paged lists contain each contact once, in one order, before and after an update (R8, S47)")
    func lists() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            var friends: [Device] = []
            for number in 0..<7 {
                let friend = try await Device.signUp("friend-\(number)x", name: "Friend", at: quartet.edge)
                try await anna.add(friend, isMyResponder: number < 3, iAmResponder: number >= 2)
                friends.append(friend)
            }
            func page(_ query: String) async throws -> ([String], String?) {
                let reply = try await anna.read("/v1/contacts?\(query)")
                return (
                    reply["contacts"].array.compactMap { $0["contact"]["account"].string }, reply["next"].string
                )
            }
            var (all, next) = try await page("limit=3")
            #expect(all.count == 3)
            while let after = next {
                let (more, following) = try await page("limit=3&after=\(after)")
                (all, next) = (all + more, following)
            }
            #expect(all == friends.map(\.account).sorted())
            let responders = try await page("role=responder").0
            #expect(Set(responders) == Set(friends[0..<3].map(\.account)))
            let dependents = try await page("role=dependent&limit=2").0
            #expect(dependents == Array(friends[2...].map(\.account).sorted().prefix(2)))
            try await anna.act("SendPing", ["contact": .string(friends[4].account)])
            let pinged = try await page("ping=outgoing").0
            #expect(pinged == [friends[4].account])
            for query in ["limit=0", "limit=1001", "limit=x", "after=x", "role=friend", "ping=both"] {
                let reply = try await anna.edge.send("GET", "/v1/contacts?\(query)", token: anna.token)
                #expect(
                    reply.status == 400
                        && reply.body["field"].string == query.split(separator: "=").first.map(String.init))
            }
            let told = try await anna.read("/v1/notifications")["notifications"][0]
            let one = try await anna.read("/v1/notifications/\(told["id"].string ?? "")")
            #expect(one == told)
            let foreign = try await friends[0].edge.send(
                "GET", "/v1/notifications/\(told["id"].string ?? "")", token: friends[0].token)
            #expect(foreign.status == 404)
        }
    }
}
