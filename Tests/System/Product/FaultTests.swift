import EdgeClient
import Foundation
import TestKit
import Testing

/// The story while its processes are killed: everything is done once, whatever ends when.
@Suite("End to end: faults", .serialized, .timeLimit(.minutes(60)))
struct EndToEndFaultTests {
    @Test(
        "every step of the story is done once, with a service killed at each of them (S15, S27)",
        arguments: Quartet.Service.allCases)
    func killedAtEachStep(victim: Quartet.Service) async throws {
        try await withRandom("killedAtEachStep \(victim)") { random in
            try await Quartet.with { quartet in
                /// Does something while the victim is killed and started again.
                func step<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
                    let pause = Int.random(in: 0...40, using: &random)
                    async let value = body()
                    try await Task.sleep(for: .milliseconds(pause))
                    try await quartet.restart(victim)
                    return try await value
                }
                let edge = quartet.edge
                let anna = try await step { try await Device.signUp("anna", name: "Anna", at: edge) }
                let bob = try await step { try await Device.signUp("bob", name: "Bob", at: edge) }
                let code = try await bob.code()
                try await step { _ = try await anna.act("AddContact", ["code": .string(code), "iAmResponder": true]) }
                try await step { _ = try await anna.act("SendPing", ["contact": .string(bob.account)]) }
                let operation = try await step { try await bob.operate("ClearAllReceivedPings", ["checkIn": true]) }
                #expect(operation["state"] == "done")
                #expect(operation["result"]["contacts"] == [.string(anna.account)])
                #expect(operation["result"]["isCheckedIn"] == true)

                try await quartet.waitUntilQuiet()
                let kinds = try await (anna.kinds().sorted(), bob.kinds().sorted())
                #expect(kinds.0 == ["contactAdded", "dependentCheckedIn", "pingAnswered", "pingSent"])
                #expect(kinds.1 == ["contactAdded", "pingReceived", "pingsCleared"])
                let unread = try await (anna.unread(), bob.unread())
                #expect(unread.0 == 4 && unread.1 == 2)
                let cards = try await (anna.card(of: bob), bob.card(of: anna))
                #expect(cards.0["contact"]["outgoingPing"] == .null && cards.1["contact"]["incomingPing"] == .null)
                #expect(cards.0["person"]["checkIn"]["last"].int != nil)
                let events = try await quartet.psql(
                    """
                    SELECT string_agg(type || ' ' || count, ', ' ORDER BY type)
                      FROM (SELECT type, count(*) FROM contacts.log
                             WHERE kind = 'event' AND type <> 'ResponderReachSettled' GROUP BY type) AS t
                    """)
                #expect(
                    events
                        == "AlertRelayed 1, ContactAdded 2, ContactsOpened 2, PingAnswered 1, PingReceived 1, PingSent 1, "
                        + "ReceivedPingsCleared 1, ResponderAlerted 1, ResponderReachChanged 1")
            }
        }
    }

    /// Where the saga is held and its process killed: before a step is written down, and before its outcome is.
    static let places = ["clear", "acknowledge", "clearNotifications", "summary", "checkIn"].flatMap { step in
        ["INSERT", "UPDATE"].map { (step, $0) }
    }

    @Test(
        "a saga killed at a step, while the state it reads changes, takes effect once (S15)",
        arguments: places)
    func sagaKilled(step: String, moment: String) async throws {
        try await Quartet.with { quartet in
            let bob = try await quartet.signUp("bob")
            let code = try await bob.code()
            var friends: [Device] = []
            for name in ["anna", "carl", "dora"] {
                let friend = try await Device.signUp(name, at: quartet.edge)
                try await friend.act("AddContact", ["code": .string(code), "iAmResponder": true])
                friends.append(friend)
            }
            let (anna, carl, dora) = (friends[0], friends[1], friends[2])
            for friend in [anna, carl] { try await friend.act("SendPing", ["contact": .string(bob.account)]) }
            try await quartet.waitUntilQuiet()

            let release = try await quartet.hold(step, before: moment)
            let key = EdgeClient.newKey()
            async let first = bob.operate("ClearAllReceivedPings", ["checkIn": true], key: key)
            try await quartet.waitUntilHeld()

            // Now the world changes: one more ping, one contact less, another name.
            try await dora.act("SendPing", ["contact": .string(bob.account)])
            try await carl.act("RemoveContact", ["contact": .string(bob.account)])
            try await anna.act("UpdateProfile", ["expectedVersion": 1, "name": "Anna"])
            try await quartet.kill(.sessionClient)
            await release()
            try await quartet.start(.sessionClient)

            let operation = try await first
            #expect(operation["state"] == "done")
            #expect(operation["result"]["isCheckedIn"] == true)
            try await quartet.waitUntilQuiet()
            // Before the first step was written down nothing had been decided, so what came meanwhile counts.
            let isDecided = (step, moment) != ("clear", "INSERT")
            let answered = isDecided ? [anna, carl] : [anna, dora]
            #expect(
                Set(operation["result"]["contacts"].array.compactMap(\.string)) == Set(answered.map(\.account)))
            for friend in friends {
                let told = try await friend.kinds().count { $0 == "pingAnswered" }
                #expect(told == (answered.contains { $0.account == friend.account } ? 1 : 0))
            }
            let pending = try await bob.read("/v1/contacts")["contacts"].array
                .filter { $0["contact"]["incomingPing"] != .null }.compactMap { $0["contact"]["account"].string }
            #expect(pending == (isDecided ? [dora.account] : []))
            let kinds = try await bob.kinds()
            #expect(kinds.count { $0 == "pingsCleared" } == 1)
            let unread = try await bob.kinds(unread: true).count { $0 == "pingReceived" }
            #expect(unread == (isDecided ? 1 : 0), "a ping that came after the clearing is still told")
            let checkIns = try await quartet.psql("SELECT count(*) FROM session.log WHERE type = 'CheckedIn'")
            #expect(checkIns == "1")
            let again = try await bob.operate("ClearAllReceivedPings", ["checkIn": true], key: key)
            #expect(again == operation)
        }
    }

    @Test("a saga whose step was done by another version's command takes it for done, and asks nothing twice (S15)")
    func sagaChanged() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            try await anna.act("SendPing", ["contact": .string(bob.account)])
            try await quartet.waitUntilQuiet()
            let release = try await quartet.hold("summary", before: "UPDATE")
            let key = EdgeClient.newKey()
            async let operation = bob.operate("ClearAllReceivedPings", key: key)
            try await quartet.waitUntilHeld()
            try await quartet.kill(.sessionClient)
            await release()
            // As a version of the saga would leave it whose summary says something else, and that learnt its outcome.
            let recorded = try await quartet.psql(
                """
                UPDATE session_client.saga_step SET body_hash = gen_random_uuid(), outcome = 'accepted', result = '{}'
                 WHERE name = 'summary' RETURNING name
                """)
            #expect(recorded == "summary")
            try await quartet.start(.sessionClient)
            let ended = try await operation
            #expect(ended["state"] == "done", "\(ended)")
            try await quartet.waitUntilQuiet()
            let kinds = try await bob.kinds()
            #expect(kinds.count { $0 == "pingsCleared" } == 1)
        }
    }

    @Test("a step that can't be written down holds up only its own saga, not those that are written with it (S15)")
    func refusedStep() async throws {
        try await Quartet.with { quartet in
            let (anna, bob, carla) = try await quartet.signUp("anna", "bob", "carla")
            _ = try await quartet.psql(
                """
                CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
                DECLARE
                    account uuid := (SELECT s.account FROM session_client.saga AS s WHERE s.id = NEW.saga);
                BEGIN
                    IF account = '\(anna.account)' THEN PERFORM pg_advisory_xact_lock_shared(4711); END IF;
                    IF account = '\(carla.account)' THEN RAISE EXCEPTION 'not this step'; END IF;
                    RETURN NEW;
                END $$;
                CREATE TRIGGER refuse BEFORE INSERT ON session_client.saga_step
                   FOR EACH ROW EXECUTE FUNCTION public.refuse();
                """)
            // What comes while Anna's step is being written is written together.
            let release = try await quartet.holdAdvisoryLock(4711)
            async let first = anna.operate("RespondToAllPings")
            try await quartet.waitUntilHeld()
            async let second = bob.operate("RespondToAllPings")
            async let third = carla.operate("RespondToAllPings")
            try await quartet.wait(
                for: "three operations", "SELECT count(*) FROM session_client.saga WHERE state = 'running'"
            ) { $0 == "3" }
            await release()
            let (annas, bobs) = try await (first, second)
            #expect(annas["state"] == "done" && bobs["state"] == "done")
            try await quartet.wait(
                for: "the refusal", "SELECT last_error FROM session_client.saga WHERE account = '\(carla.account)'"
            ) { $0.contains("not this step") }
            let attempts = try await quartet.psql(
                "SELECT max(attempts) FROM session_client.saga WHERE account <> '\(carla.account)'")
            #expect(attempts == "1", "another saga was tried again")
            _ = try await quartet.psql("DROP TRIGGER refuse ON session_client.saga_step")
            let carlas = try await third
            #expect(carlas["state"] == "done")
        }
    }

    @Test(
        "an operation that is written down after its request was given up begins then, not when its lease has ended (S15)"
    )
    func adopted() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            let role = "ALTER ROLE session_client IN DATABASE \(try await quartet.psql("SELECT current_database()"))"
            // What is held waits for longer than a request does.
            for setting in ["statement_timeout", "lock_timeout"] {
                _ = try await quartet.psql("\(role) SET \(setting) = '10min'")
            }
            try await quartet.start(.sessionClient, environment: ["CONSUMER_LEASE": "30s"])
            let anna = try await quartet.signUp("anna")
            let release = try await quartet.hold("LOCK TABLE session_client.saga IN SHARE MODE")
            let reply = try await anna.edge.send(
                "POST", "/v1/operations/RespondToAllPings", token: anna.token, key: EdgeClient.newKey())
            #expect(reply.status == 503, "\(reply)")
            await release()
            let next = try await anna.operate("RespondToAllPings")
            #expect(next["state"] == "done", "\(next)")
            try await quartet.wait(
                for: "both operations to end", "SELECT count(*) FROM session_client.saga WHERE state = 'done'"
            ) { $0 == "2" }
            let attempts = try await quartet.psql("SELECT max(attempts) FROM session_client.saga")
            #expect(attempts == "1", "the first one had to be taken up again")
        }
    }

    @Test("two devices that clear all pings at once have one effect (S15)")
    func twoDevices() async throws {
        try await Quartet.with { quartet in
            let (anna, phone) = try await quartet.signUp("anna", "bob")
            let tablet = try await Device.signIn("bob", at: quartet.edge)
            try await anna.add(phone)
            try await anna.act("SendPing", ["contact": .string(phone.account)])
            async let first = phone.operate("ClearAllReceivedPings")
            async let second = tablet.operate("ClearAllReceivedPings")
            let results = try await [first, second]
            #expect(results.allSatisfy { $0["state"] == "done" })
            #expect(results.flatMap { $0["result"]["contacts"].array } == [.string(anna.account)])
            try await quartet.waitUntilQuiet()
            let (cleared, answered) = try await (
                phone.kinds().count { $0 == "pingsCleared" }, anna.kinds().count { $0 == "pingAnswered" }
            )
            #expect(cleared == 1 && answered == 1)
        }
    }

    @Test("a request sent five times at once under one Idempotency-Key is done once; another body is refused")
    func sentAgain() async throws {
        try await Quartet.with { quartet in
            func five(_ path: String, _ body: JSON, token: String?, key: String) async throws -> [EdgeClient.Reply] {
                try await withThrowingTaskGroup(of: EdgeClient.Reply.self) { group in
                    for _ in 0..<5 {
                        group.addTask { try await quartet.edge.insist(path, body, token: token, key: key) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            let signUp = EdgeClient.newKey()
            let body: JSON = ["handle": "anna", "password": "correct horse battery"]
            let accounts = try await five("/v1/sign-up", body, token: nil, key: signUp)
            #expect(accounts.allSatisfy { $0.status == 201 })
            #expect(Set(accounts.map { $0.body["account"] }).count == 1)
            #expect(Set(accounts.map { $0.body["refreshToken"] }).count == 1)
            let stranger = try await quartet.edge.insist(
                "/v1/sign-up", ["handle": "anna", "password": "some other password"], token: nil, key: signUp)
            #expect(stranger.status == 422 && stranger.body["code"] == "idReused")
            let taken = try await quartet.edge.insist("/v1/sign-up", body, token: nil)
            #expect(taken.status == 409 && taken.body["code"] == "handleTaken")

            let anna = try Device(accounts[0], edge: quartet.edge)
            let bob = try await quartet.signUp("bob")
            try await anna.add(bob)
            let key = EdgeClient.newKey()
            let pings = try await five(
                "/v1/commands/SendPing", ["contact": .string(bob.account)], token: anna.token, key: key)
            #expect(Set(pings.map(\.body)).count == 1 && pings[0].body["event"] == "PingSent")
            let other = try await anna.ask("SendPing", ["contact": .string(anna.account)], key: key)
            #expect(other.status == 422 && other.body["code"] == "idReused")
            // Another account's key with the same value is another key.
            let bobs = try await bob.ask("SetContactApproval", ["isRequired": true], key: key)
            #expect(bobs.status == 200 && bobs.body["event"] == "ContactApprovalSet")

            let clear = EdgeClient.newKey()
            let operations = try await five(
                "/v1/operations/ClearAllReceivedPings", [:], token: bob.token, key: clear)
            #expect(Set(operations.map(\.body)).count == 1 && operations[0].body["state"] == "done")
            let differing = try await bob.edge.insist(
                "/v1/operations/ClearAllReceivedPings", ["checkIn": true], token: bob.token, key: clear)
            #expect(differing.status == 422 && differing.body["code"] == "idReused")
            try await quartet.waitUntilQuiet()
            let sent = try await quartet.psql("SELECT count(*) FROM contacts.log WHERE type = 'PingSent'")
            let sagas = try await quartet.psql("SELECT count(*) FROM session_client.saga")
            #expect(sent == "1" && sagas == "1")
        }
    }

    @Test("streams left at random and resumed from their last id miss nothing while the edge is killed (S10, S11)")
    func resumed() async throws {
        try await withRandom { random in
            try await Quartet.with { quartet in
                let (anna, bob) = try await quartet.signUp("anna", "bob")
                try await anna.add(bob)
                let isDone = Observed(false)
                let (seen, refetched) = try await withThrowingTaskGroup(of: ([String], Int)?.self) { group in
                    let seed = random.fork()
                    let hasBegun = Observed(false)
                    group.addTask { try await Self.follow(bob, hasBegun: hasBegun, until: isDone, random: seed) }
                    try await hasBegun.wait("the first snapshot") { $0 ? true : nil }
                    for number in 1...60 {
                        try await bob.act(
                            "UpdateContact",
                            [
                                "contact": .string(anna.account), "expectedVersion": .int(Int64(number)),
                                "nickname": .string("Anna \(number)"),
                            ])
                        if Int.random(in: 0..<12, using: &random) == 0 { try await quartet.restart(.sessionClient) }
                    }
                    isDone.update { $0 = true }
                    // Something that comes last, for who waits.
                    try await bob.act("SetContactApproval", ["isRequired": true])
                    return try await group.next().flatMap { $0 } ?? ([], 0)
                }
                #expect(refetched == 0)
                let published = try await quartet.psql(
                    """
                    SELECT string_agg(body -> 'contact' ->> 'nickname', '|' ORDER BY position)
                      FROM contacts.log WHERE type = 'ContactUpdated' AND key = 'account/\(bob.account)'
                    """)
                #expect(seen.joined(separator: "|") == published)
                #expect(seen.count == 60)
            }
        }
    }

    /// Follows the contacts, leaving and coming back at random, until the last change; returns the nicknames in the order
    /// in which they came, and how often a stream started again with a snapshot.
    private static func follow(
        _ device: Device, hasBegun: Observed<Bool>, until isDone: Observed<Bool>, random: SeededRandom
    ) async throws -> ([String], Int) {
        var random = random
        var (nicknames, refetched) = ([String](), 0)
        var lastEventID: String?
        while true {
            do {
                var patience = Int.random(in: 1...10, using: &random)
                let isResuming = lastEventID?.contains("contacts=") ?? false
                for try await event in try await device.edge.stream(token: device.token, after: lastEventID) {
                    lastEventID = event.id ?? lastEventID
                    if event.name == "contacts.snapshot" {
                        hasBegun.update { $0 = true }
                        refetched += isResuming ? 1 : 0
                        // The last change is in it already.
                        if event.data["state"]["isApprovalRequired"].isTrue { return (nicknames, refetched) }
                    }
                    guard event.name == "contacts.event" else { continue }
                    switch event.data["type"].string {
                    case "ContactUpdated":
                        nicknames.append(event.data["body"]["contact"]["nickname"].string ?? "")
                    case "ContactApprovalSet": return (nicknames, refetched)
                    default: break
                    }
                    patience -= 1
                    if patience == 0, !isDone.value { break }
                }
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }
}

extension Quartet {
    /// Has every saga wait at a step, before it writes the step down or its outcome; returns how to let them go.
    fileprivate func hold(_ step: String, before moment: String) async throws -> @Sendable () async -> Void {
        _ = try await psql(
            """
            CREATE FUNCTION public.hold() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
            BEGIN
                IF NEW.name = '\(step)' OR NEW.name LIKE '\(step)/%' THEN
                    PERFORM pg_advisory_xact_lock_shared(4711);
                END IF;
                RETURN NEW;
            END $$;
            CREATE TRIGGER hold BEFORE \(moment) ON session_client.saga_step
               FOR EACH ROW EXECUTE FUNCTION public.hold();
            """)
        return try await holdAdvisoryLock(4711)
    }

    fileprivate func waitUntilHeld() async throws {
        try await wait(
            for: "the saga to be held",
            """
            SELECT count(*) FROM pg_locks AS l JOIN pg_database AS d ON d.oid = l.database
             WHERE l.locktype = 'advisory' AND NOT l.granted AND d.datname = current_database()
            """
        ) { $0 != "0" }
    }
}
