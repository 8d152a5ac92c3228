import EdgeClient
import TestKit
import Testing

/// Who is here: connections that come, drop and come back, and edge processes that end.
@Suite("End to end: presence in group sessions", .timeLimit(.minutes(60)))
struct PresenceTests {
    @Test(
        """
        a participant whose connections are all lost is away for the others, keeps seat and role while away, comes back \
        by signing in anywhere, and is out after the grace, once; a dropped host has one successor (P15, P19, P20)
        """)
    func drops() async throws {
        try await Self.with { quartet, anna, bob, carl in
            let group = try await Self.gather(anna, bob, carl)
            let carlSees = try await LiveView.open(carl, following: [group])
            let annaSees = try await LiveView.open(anna, following: [group])
            let bobSees = try await (LiveView.open(bob, following: [group]), LiveView.open(bob, following: [group]))
            try await quartet.wait(connections: 4)
            try await quartet.limit(notice: "200 milliseconds")
            // One of two connections is no loss.
            await bobSees.0.close()
            try await quartet.wait(connections: 3)
            await bobSees.1.close()
            try await carlSees.wait("ParticipantDisconnected", of: bob, in: group)
            let state = try await group.state(by: carl)
            let away = try #require(state["participants"].array.first { $0["id"].string == bob.account })
            #expect(away["awaySince"] != .null && away["seat"] == 1, "\(away)")

            // Back through another replica, with the same seat.
            let other = try await quartet.startAnother(.sessionClient, environment: Self.environment)
            let there = Device(bob, at: try await quartet.edge(of: other))
            let back = try await LiveView.open(there, following: [group])
            try await carlSees.wait("ParticipantConnected", of: bob, in: group)
            let again = try await back.wait("the snapshot") { $0.name == "group.snapshot" }.data["state"]
            #expect(again["participants"].array.first { $0["id"].string == bob.account }?["seat"] == 1)

            // The host doesn't come back.
            try await quartet.wait(connections: 3)
            try await quartet.limit(notice: "200 milliseconds", grace: "5 seconds")
            await annaSees.close()
            let left = try await carlSees.wait("ParticipantLeft", of: anna, in: group)
            #expect(left.data["body"]["reason"] == "dropped" && left.data["body"]["host"].string == bob.account)
            let end = try await LiveView.open(anna, following: [group])
            #expect(end.end(of: group) == "dropped")
            let types = carlSees.events(of: group)
            #expect(
                types == [
                    "ParticipantDisconnected", "ParticipantConnected", "ParticipantDisconnected", "ParticipantLeft",
                ])
            let after = try await group.state(by: carl)
            #expect(after["host"].string == bob.account)
            #expect(after["participants"].array.map { $0["seat"] }.contains(0) == false)
            for view in [carlSees, back, end] { await view.close() }
            await other.end()
        }
    }

    @Test(
        """
        a participant who joins while the stream is open is here; a drop shorter than the notice, and an edge process \
        that is restarted in good order, change nothing for the others (P15)
        """)
    func shortDrops() async throws {
        try await Self.with { quartet, anna, bob, carl in
            let group = try await Group.create(by: anna)
            try await group.invite(bob, carl, by: anna)
            let other = try await quartet.startAnother(.sessionClient, environment: Self.environment)
            let there = Device(carl, at: try await quartet.edge(of: other))
            let bobSees = try await LiveView.open(bob, following: [group])
            let carlSees = try await LiveView.open(there, following: [group])
            try await group.act(carl, "JoinGroupSession")
            try await quartet.wait(connections: 1)
            try await group.act(bob, "JoinGroupSession")
            try await quartet.wait(connections: 2)
            // In good order, it says itself that its connections are gone.
            other.send(.terminate)
            try await carlSees.waitForEnd()
            #expect(carlSees.all.last?.data == ["reason": "serverStopping"])
            try await other.waitForExit(.exited(0))
            try await quartet.wait(connections: 1)
            let again = try await LiveView.open(carl, following: [group], after: carlSees.lastEventID)
            try await quartet.wait(connections: 2)
            await bobSees.close()
            let back = try await LiveView.open(bob, following: [group], after: bobSees.lastEventID)
            try await quartet.wait(connections: 2)
            try await group.act(anna, "EndGroupSession")
            for view in [again, back] { try await view.wait(end: "ended", of: group) }
            #expect(
                carlSees.events(of: group) + again.events(of: group) == [
                    "ParticipantJoined", "ParticipantJoined", "GroupSessionEnded",
                ])
            #expect(
                bobSees.events(of: group) + back.events(of: group) == [
                    "ParticipantJoined", "ParticipantJoined", "GroupSessionEnded",
                ])
            try await quartet.wait(connections: 0)
            for view in [again, back] { await view.close() }
            await other.end()
        }
    }

    @Test(
        """
        people whose edge process is killed are away for the others and can come back through another one; a process \
        that was paused for longer than its lease says again who is there (P15)
        """)
    func edgeDeath() async throws {
        try await Self.with { quartet, anna, bob, carl in
            let group = try await Self.gather(anna, bob, carl)
            let other = try await quartet.startAnother(.sessionClient, environment: Self.environment)
            let edge = try await quartet.edge(of: other)
            let annaSees = try await LiveView.open(anna, following: [group])
            let bobSees = try await LiveView.open(Device(bob, at: edge), following: [group])
            try await quartet.wait(connections: 2)
            try await quartet.limit(notice: "200 milliseconds", lease: "10 seconds")
            // The next renewal shortens the lease.
            let edges =
                "SELECT count(*) FROM session.edge WHERE lease_until < clock_timestamp() + interval '10 seconds'"
            try await quartet.wait(for: "short leases", edges) { $0 == "2" }
            other.send(.stop)
            try await annaSees.wait("ParticipantDisconnected", of: bob, in: group)
            other.send(.resume)
            try await annaSees.wait("ParticipantConnected", of: bob, in: group)
            try await bobSees.wait("ParticipantConnected", of: bob, in: group)

            other.send(.kill)
            try await quartet.wait(connections: 1)
            try await annaSees.wait(for: 2, "ParticipantDisconnected", of: bob, in: group)
            let back = try await LiveView.open(bob, following: [group], after: bobSees.lastEventID)
            try await annaSees.wait(for: 2, "ParticipantConnected", of: bob, in: group)
            let state = try await group.state(by: bob)
            #expect(state["participants"].array.first { $0["id"].string == bob.account }?["seat"] == 1)
            #expect(state["host"].string == anna.account)
            for view in [annaSees, bobSees, back] { await view.close() }
            await other.end()
        }
    }

    @Test("a connection that is lost while session takes no more commands is missed as soon as it does (P15)")
    func lostInOverload() async throws {
        let environment = Self.environment.merging(["COMMANDS_UNANSWERED": "8"]) { $1 }
        try await Self.with(environment) { quartet, anna, bob, carl in
            let group = try await Self.gather(anna, bob, carl)
            let (annaSees, bobSees) = try await (
                LiveView.open(anna, following: [group]), LiveView.open(bob, following: [group])
            )
            try await quartet.wait(connections: 2)
            try await quartet.limit(notice: "200 milliseconds", lease: "2 minutes")
            try await quartet.wait(
                for: "a long lease",
                "SELECT count(*) FROM session.edge WHERE lease_until > clock_timestamp() + interval '1 minute'"
            ) { $0 == "1" }
            let subscribers = try await quartet.subscribers()
            try await quartet.kill(.session)
            let refused = Observed(0)
            let waiting = (0..<12).map { _ in
                Task {
                    let reply = try await quartet.edge.send(
                        "POST", "/v1/commands/CheckIn", body: [:], token: anna.token, key: EdgeClient.newKey())
                    if reply.status == 503 { refused.update { $0 += 1 } }
                }
            }
            try await refused.wait("a refused command") { $0 > 0 ? true : nil }
            await bobSees.close()
            for _ in 0..<6000 where try await quartet.subscribers() == subscribers {
                try await Task.sleep(for: .milliseconds(20))
            }
            try await quartet.start(.session)
            try await annaSees.wait("ParticipantDisconnected", of: bob, in: group)
            for task in waiting { try await task.value }
            await annaSees.close()
        }
    }

    @Test("who comes back in time stays, even if session only hears of it after the grace (P15)")
    func heardLate() async throws {
        try await Self.with { quartet, anna, bob, carl in
            let group = try await Group.create(by: anna)
            try await group.invite(bob, carl, by: anna)
            try await group.act(bob, "JoinGroupSession")
            let (annaSees, bobSees) = try await (
                LiveView.open(anna, following: [group]), LiveView.open(bob, following: [group])
            )
            try await quartet.wait(connections: 2)
            try await quartet.limit(notice: "1 minute", lease: "5 minutes")
            await bobSees.close()
            try await quartet.wait(connections: 1)
            // A command that can't be handled yet is in the way of what follows.
            let release = try await quartet.hold(
                "SELECT FROM session.account WHERE account = '\(carl.account)' FOR UPDATE")
            async let join = group.ask(carl, "JoinGroupSession")
            try await quartet.wait(for: "Carl's join", Self.commands("JoinGroupSession")) { $0 == "2" }
            let back = try await LiveView.open(bob, following: [group])
            try await quartet.wait(for: "Bob's connection", Self.commands("ConnectParticipant")) { $0 == "3" }
            try await quartet.endGrace(of: bob)
            try await quartet.wait(
                for: "session to be asked to put him out",
                """
                SELECT count(*) > 0 FROM session.due AS d JOIN session.outcome AS o USING (command_id)
                 WHERE d.type = 'DropParticipant'
                """
            ) { $0 == "t" }
            await release()
            try await quartet.wait(connections: 2)
            _ = try await join
            try await quartet.waitUntilQuiet()
            #expect(try await group.state(by: bob)["participants"].array.count == 3)
            #expect(!annaSees.events(of: group).contains("ParticipantLeft"))
            for view in [annaSees, back] { await view.close() }
        }
    }

    @Test("who is away is put out although a command of the session waits that has expired (P15)")
    func expiredCommand() async throws {
        try await Self.with { quartet, anna, bob, carl in
            let group = try await Group.create(by: anna)
            try await group.invite(bob, by: anna)
            try await group.act(bob, "JoinGroupSession")
            let (annaSees, bobSees) = try await (
                LiveView.open(anna, following: [group]), LiveView.open(bob, following: [group])
            )
            try await quartet.wait(connections: 2)
            try await quartet.limit(notice: "1 minute", lease: "5 minutes")
            await bobSees.close()
            try await quartet.wait(connections: 1)
            _ = try await quartet.psql(
                """
                INSERT INTO session.parked (source, partition, position, kind, type, version, key, body, message_id,
                                            command_id, expires_at, recorded_at, cause, attempts, failing_since, retry_at, error)
                SELECT 'session_client.session_commands', session_client.session_commands_partition_of(k.key), 1, 'command',
                       'JoinGroupSession', 1, k.key, '{}', gen_random_uuid(), gen_random_uuid(),
                       clock_timestamp() + interval '25 seconds', clock_timestamp() - interval '1 minute', 'trouble', 1,
                       clock_timestamp(), clock_timestamp() + interval '1 day', 'a test'
                  FROM (VALUES ('group/\(group.id)')) AS k (key)
                """)
            try await quartet.endGrace(of: bob)
            try await annaSees.wait("ParticipantLeft", of: bob, in: group)
            let wasReconsidered = try await quartet.psql(
                "SELECT count(*) > 1 AND count(*) < 20 FROM session.due WHERE type = 'DropParticipant'")
            #expect(wasReconsidered == "t")
            _ = try await quartet.psql("DELETE FROM session.parked")
            await annaSees.close()
        }
    }

    /// How many; asked for again, because its answer took long, one may stand there twice.
    private static func commands(_ type: String) -> String {
        "SELECT count(DISTINCT command_id) FROM session_client.session_commands WHERE type = '\(type)'"
    }

    // MARK: Scenes

    /// Processes that say every 200 ms that they are alive.
    private static let environment = ["PRESENCE_RENEWAL": "200ms"]

    /// Anna, whose contacts Bob and Carl are. At first nobody is missed.
    private static func with(
        _ environment: [String: String] = environment, _ body: (Quartet, Device, Device, Device) async throws -> Void
    ) async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: environment)
            try await quartet.limit(notice: "1 minute")
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            for other in [bob, carl] { try await anna.add(other) }
            try await body(quartet, anna, bob, carl)
        }
    }

    /// All of them in one session: Anna is the host in seat 0, Bob has seat 1.
    private static func gather(_ anna: Device, _ bob: Device, _ carl: Device) async throws -> Group {
        let group = try await Group.create(by: anna)
        try await group.invite(bob, carl, by: anna)
        for other in [bob, carl] { try await group.act(other, "JoinGroupSession") }
        for (seat, device) in [anna, bob].enumerated() {
            try await group.act(device, "ClaimSeat", ["seat": .int(Int64(seat))])
        }
        return group
    }
}

extension Quartet {
    /// How long people can be away, from now on.
    fileprivate func limit(notice: String, grace: String = "5 minutes", lease: String = "15 seconds") async throws {
        _ = try await psql(
            "UPDATE session.limits SET drop_notice = '\(notice)', drop_grace = '\(grace)', edge_lease = '\(lease)'")
    }

    /// Has the grace of someone who is away be over now, however long the test took to come here: after all that was sent so
    /// far.
    fileprivate func endGrace(of person: Device) async throws {
        _ = try await psql(
            """
            UPDATE session.limits AS l SET drop_grace = greatest(clock_timestamp() - p.dropped_at, interval '5 seconds')
              FROM session.participant AS p WHERE p.account = '\(person.account)';
            UPDATE session.timer AS t SET due_at = p.dropped_at + l.drop_grace
              FROM session.participant AS p, session.limits AS l
             WHERE p.account = '\(person.account)' AND t.name = 'DropParticipant/\(person.account)'
            """)
    }

    /// How many streams the edge follows.
    fileprivate func subscribers() async throws -> Int {
        try await metrics(of: .sessionClient).filter { $0.hasPrefix("quartet_subscribers{") }
            .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
            .reduce(0) { $0 + Int($1) }
    }

    /// Waits until session knows of so many connections to group sessions.
    fileprivate func wait(connections count: Int) async throws {
        try await wait(for: "\(count) connections", "SELECT count(*) FROM session.group_connection") {
            $0 == "\(count)"
        }
    }
}
