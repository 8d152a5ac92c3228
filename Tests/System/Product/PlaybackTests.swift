import EdgeClient
import TestKit
import Testing

/// Shared playback over HTTP: what plays, what comes next, and who waits for whom.
@Suite("End to end: shared playback", .timeLimit(.minutes(60)))
struct PlaybackTests {
    @Test(
        """
        ten seeks at the same moment end in one position for everybody; of all who go on to the next item at once one \
        does, and the others hear what plays; the queue is everybody's (M3, M4, M8, M10)
        """)
    func together() async throws {
        try await Quartet.with { quartet in
            let (anna, bob, eve) = try await quartet.signUp("anna", "bob", "eve")
            let group = try await Self.gather(anna, bob)
            let views = try await [LiveView.open(anna, following: [group]), LiveView.open(bob, following: [group])]
            let songs = (0..<3).map { Self.song("Song \($0)") }
            let ids = songs.map { $0["id"] }
            try await group.act(anna, "PlayItem", ["item": songs[0], "lead": 0])
            try await group.act(bob, "QueueInsert", ["items": [songs[2]], "after": ids[0]])
            try await group.act(anna, "QueueInsert", ["items": [songs[1]], "before": ids[2]])

            let seeks = try await Self.all(10) { number in
                try await group.ask(
                    number % 2 == 0 ? anna : bob, "SetPlayback",
                    ["expectedItem": ids[0], "position": .int(Int64(number) * 10_000_000)])
            }
            let set = seeks.map { $0.body["result"]["playback"] }.sorted {
                $0["version"].int ?? 0 < $1["version"].int ?? 0
            }
            #expect(set.map { $0["version"] } == (2...11).map { .int($0) }, "\(seeks)")
            let last = try #require(set.last)
            for view in views {
                try await view.wait("the last seek") { $0.data["body"]["playback"] == last }
                #expect(view.playbacks(of: group).map { $0["version"] } == (1...11).map { .int($0) })
            }
            for device in [anna, bob] { #expect(try await group.state(by: device)["playback"] == last) }
            // One that had seen another version is refused.
            let stale = try await group.ask(
                bob, "SetPlayback", ["expectedItem": ids[0], "expectedVersion": 10, "isPlaying": false])
            #expect(stale.status == 409 && stale.body["code"] == "staleVersion", "\(stale)")
            #expect(stale.body["details"]["version"] == 11 && stale.body["current"] == last, "\(stale)")

            let nexts = try await Self.all(6) { number in
                try await group.ask(number % 2 == 0 ? anna : bob, "NextItem", ["expectedItem": ids[0]])
            }
            #expect(nexts.count { $0.status == 200 && $0.body["event"] == "ItemStarted" } == 1, "\(nexts)")
            let refused = nexts.filter { $0.status == 409 && $0.body["code"] == "itemChanged" }
            #expect(refused.count == 5 && Set(refused.map { $0.body["details"] }) == [["item": ids[1], "version": 12]])
            for view in views { try await view.wait("ItemStarted", in: group) }
            for device in [anna, bob] {
                let state = try await group.state(by: device)
                #expect(state["playback"]["item"] == songs[1] && state["queue"] == [songs[2]], "\(state)")
            }
            let hashes = Set(
                views.map { view in view.all.last { $0.isEvent("ItemStarted", in: group) }?.data["hash"] })
            #expect(hashes.count == 1)
            try await Self.refuse(eve, group, songs[1])
            for view in views { await view.close() }
        }
    }

    /// A stranger can't tell the session from one that doesn't exist.
    private static func refuse(_ stranger: Device, _ group: Group, _ song: JSON) async throws {
        let nowhere = Group(id: EdgeClient.newKey())
        let requests: [(command: String, body: JSON)] = [
            ("SetPlayback", ["expectedItem": song["id"], "isPlaying": false]),
            ("PlayItem", ["expectedItem": song["id"], "item": Self.song("Other")]),
            ("NextItem", ["expectedItem": song["id"]]), ("QueueInsert", ["items": [Self.song("Other")]]),
            ("QueueMove", ["item": song["id"]]), ("QueueRemove", ["items": [song["id"]]]), ("DeclareReadiness", [:]),
            ("BeginSuspension", ["reason": "stalled"]), ("EndSuspension", [:]),
        ]
        for (command, body) in requests {
            let (one, other) = try await (group.ask(stranger, command, body), nowhere.ask(stranger, command, body))
            #expect(one.status == 404 && one.body["code"] == "groupNotFound", "\(command): \(one)")
            #expect(one.body == other.body, "\(command): \(other)")
        }
        // Only a timer ends somebody else's suspension.
        let refused = try await group.ask(stranger, "ExpireSuspension")
        #expect(refused.status == 404 && refused.body["code"] == "unknownCommand", "\(refused)")
    }

    @Test(
        """
        the group waits for one who said that they can be ready; it plays on when their client is killed, by their \
        suspension's end or because they are away, and doesn't wait for them again unasked (M9)
        """)
    func waiting() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            let group = try await Self.gather(anna, bob)
            let sees = try await LiveView.open(anna, following: [group])
            let bobSees = try await LiveView.open(bob, following: [group])
            try await group.act(anna, "PlayItem", ["item": Self.song("Song"), "lead": 0])
            let early = try await group.ask(bob, "BeginSuspension", ["reason": "stalled"])
            #expect(early.status == 409 && early.body["code"] == "notReady", "\(early)")

            try await group.act(bob, "DeclareReadiness")
            let began = try await group.act(bob, "BeginSuspension", ["reason": "stalled", "duration": 1_000_000])
            #expect(began["playback"]["isWaiting"] == true && began["suspension"]["reason"] == "stalled")
            // Nothing comes from Bob any more.
            let expired = try await sees.wait("SuspensionEnded", of: bob, in: group).data["body"]
            #expect(expired["reason"] == "expired" && expired["playback"]["isWaiting"] == false, "\(expired)")
            #expect(expired["playback"]["position"] == began["playback"]["position"])
            #expect(expired["playback"]["anchor"].int ?? 0 > expired["at"].int ?? 0)
            let again = try await group.ask(bob, "BeginSuspension", ["reason": "stalled"])
            #expect(again.status == 409 && again.body["code"] == "notReady", "\(again)")

            try await quartet.wait(for: "both", "SELECT count(*) FROM session.group_connection") { $0 == "2" }
            _ = try await quartet.psql("UPDATE session.limits SET drop_notice = '200 milliseconds'")
            try await group.act(bob, "DeclareReadiness")
            try await group.act(bob, "BeginSuspension", ["reason": "actionNeeded", "duration": 30_000_000])
            await bobSees.close()
            try await sees.wait(for: 2, "SuspensionEnded", of: bob, in: group)
            let away = try #require(sees.all.last { $0.isEvent("SuspensionEnded", in: group) }).data["body"]
            #expect(away["reason"] == "away" && away["playback"]["isWaiting"] == false, "\(away)")
            #expect(sees.events(of: group).contains("ParticipantDisconnected"))
            let state = try await group.state(by: anna)
            #expect(state["participants"].array.allSatisfy { $0["suspension"] == .null }, "\(state)")
            await sees.close()
        }
    }

    @Test(
        """
        a session of one is for a person's own devices: what one does the other sees, nobody else is offered it, and it \
        outlasts all connections; only the signed in may ask for the time, and not too often (M3, M8)
        """)
    func ownDevices() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await anna.add(bob)
            let tablet = try await Device.signIn("anna", at: quartet.edge)
            let group = try await Group.create(by: anna, capacity: 1)
            let invited = try await group.ask(anna, "ActivateGroupSession", ["contacts": [.string(bob.account)]])
            #expect(invited.status == 409 && invited.body["code"] == "groupFull", "\(invited)")
            let found = try await tablet.ask(
                "CreateGroupSession",
                ["activity": ["identifier": "org.example.four", "type": "generic", "title": "Four"], "capacity": 1])
            #expect(found.body["details"]["group"].string == group.id, "\(found)")
            try await group.act(tablet, "JoinGroupSession")
            let sees = try await LiveView.open(tablet, following: [group])
            let song = Self.song("Song")
            try await group.act(anna, "PlayItem", ["item": song])
            try await sees.wait("ItemStarted", in: group)
            try await group.act(tablet, "SetPlayback", ["expectedItem": song["id"], "isPlaying": false])
            #expect(try await bob.offers().isEmpty)
            let stranger = try await group.get(bob)
            #expect(stranger.status == 404 && stranger.body["code"] == "groupNotFound", "\(stranger)")
            await sees.close()
            try await quartet.wait(
                for: "nobody to be connected",
                "SELECT count(*) FROM session.participant WHERE dropped_at IS NOT NULL"
            ) { $0 == "1" }
            // Nothing will put them out.
            #expect(
                try await quartet.psql("SELECT count(*) FROM session.timer WHERE name LIKE 'DropParticipant%'") == "0")
            let state = try await group.state(by: anna)
            #expect(state["playback"]["isPlaying"] == false && state["playback"]["item"] == song, "\(state)")

            let unknown = try await quartet.edge.send("GET", "/v1/time")
            #expect(unknown.status == 401 && unknown.body["code"] == "missingToken", "\(unknown)")
            var refusal: EdgeClient.Reply?
            // So many at a time that a busy machine, too, is faster than one a second, which it may go on asking.
            for _ in 0..<10 where refusal == nil {
                let replies = try await Self.all(100) { _ in
                    try await bob.edge.send("GET", "/v1/time", token: bob.token)
                }
                refusal = replies.first { $0.status == 429 }
            }
            #expect(refusal?.status == 429 && refusal?.body["code"] == "tooManyRequests", "\(refusal as Any)")
            #expect(refusal?.headers["retry-after"] == "1")
            _ = try await anna.read("/v1/time")
        }
    }

    // MARK: Scenes

    /// A session of Anna, who is the host, and Bob.
    private static func gather(_ anna: Device, _ bob: Device) async throws -> Group {
        try await anna.add(bob)
        let group = try await Group.create(by: anna)
        try await group.invite(bob, by: anna)
        try await group.act(bob, "JoinGroupSession")
        return group
    }

    private static func song(_ title: String) -> JSON {
        ["id": .string(EdgeClient.newKey()), "title": .string(title), "duration": 180_000_000]
    }

    /// Does something so often at once.
    private static func all<Value: Sendable>(
        _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Value
    ) async throws -> [Value] {
        try await withThrowingTaskGroup(of: Value.self) { tasks in
            for number in 0..<count { tasks.addTask { try await body(number) } }
            return try await tasks.reduce(into: []) { $0.append($1) }
        }
    }
}

extension LiveView {
    /// What a group session played, by its events so far.
    fileprivate func playbacks(of group: Group) -> [JSON] {
        all.filter { $0.name == "group.event" && $0.data["group"].string == group.id }
            .map { $0.data["body"]["playback"] }.filter { $0 != .null }
    }
}
