import EdgeClient
import Foundation
import TestKit
import Testing

/// What lives depend on never waits behind what fails for the same person.
@Suite("End to end: urgent before others", .timeLimit(.minutes(60)))
struct OrderTests {
    @Test("alerts, check-ins and answers to pings don't wait behind other commands of the same person that fail")
    func commands() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            try await anna.ping(bob)
            try await quartet.waitUntilQuiet()
            try await quartet.fail(
                "UPDATE ON session.account",
                when: "NEW.account = '\(bob.account)' AND NEW.name IS DISTINCT FROM OLD.name")
            try await quartet.append(
                "UpdateProfile", #"{"expectedVersion":1,"name":"Robert"}"#, to: "session_commands", for: bob)
            try await quartet.append("FromTheFuture", "{}", to: "session_commands", for: bob)
            try await quartet.append("FromTheFuture", "{}", to: "contacts_commands", for: bob)
            try await quartet.waitForParked("session", 2)
            try await quartet.waitForParked("contacts", 1)

            try await bob.act("RaiseAlert")
            try await anna.wait(toHear: "dependentAlertRaised")
            try await bob.act("ClearAlert")
            try await anna.wait(toHear: "dependentAlertCleared")
            try await bob.act("CheckIn")
            try await bob.act("RespondToPing", ["contact": .string(anna.account)])
            try await anna.wait(toHear: "pingAnswered")
            // Nothing of what failed is through.
            let parked = try await quartet.psql(
                "SELECT (SELECT count(*) FROM session.parked) || ' ' || (SELECT count(*) FROM contacts.parked)")
            #expect(parked == "2 1")
        }
    }

    @Test("a missed check-in is told although another timer of the same person keeps failing (S29)")
    func timers() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            try await bob.act("CheckIn")
            try await quartet.waitUntilQuiet()
            // A reminder whose deadline is over changes nothing, which is recorded as accepted.
            try await quartet.fail(
                "INSERT ON session.log", when: "NEW.key = 'account/\(bob.account)' AND NEW.type = 'Accepted'")
            _ = try await quartet.psql(
                """
                INSERT INTO session.timer (key, name, due_at, type, version, body)
                VALUES ('account/\(bob.account)', 'RemindCheckIn/late', now(), 'RemindCheckIn', 1,
                        '{"account":"\(bob.account)","deadline":1,"lead":"thirtyMinutes"}'),
                       ('account/\(bob.account)', 'FromTheFuture', now(), 'FromTheFuture', 1, '{}')
                """)
            try await quartet.waitForParked("session", 2)
            try await quartet.moveDeadline(of: bob)
            try await anna.wait(toHear: "dependentCheckInMissed")
            #expect(try await quartet.psql("SELECT count(*) FROM session.parked WHERE source = 'session.due'") == "2")
        }
    }

    @Test("an event that the edge doesn't know holds back no alarm of the same person")
    func unknownEvents() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            try await bob.act("CheckIn")
            try await quartet.waitUntilQuiet()
            for (log, device) in [("session.log", bob), ("contacts.log", anna)] {
                try await quartet.append("FutureEvent", "{}", kind: "event", to: log, for: device)
            }
            try await quartet.waitForParked("session_client", 2)
            try await quartet.moveDeadline(of: bob)
            try await anna.wait(toHear: "dependentCheckInMissed")
            // A newer edge will handle them.
            #expect(try await quartet.psql("SELECT count(*) FROM session_client.parked") == "2")
        }
    }

    @Test("an alarm that contacts couldn't relay for a while is relayed without an operator (S29)")
    func relaying() async throws {
        let others = Quartet.Service.allCases.filter { $0 != .contacts }
        try await Quartet.with(services: others) { quartet in
            // Much less than what an app's command is tried for, so that it would be given up.
            try await quartet.start(.contacts, environment: ["CONSUMER_GIVE_UP_AFTER": "1s"])
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            try await quartet.waitUntilQuiet()
            try await quartet.fail("INSERT ON contacts.alarm")
            try await bob.act("RaiseAlert")
            try await quartet.wait(
                for: "the relay to be tried by itself",
                "SELECT count(*) FROM contacts.parked WHERE type = 'RelayAlert' AND family LIKE 'alone %'"
            ) { $0 == "1" }
            #expect(
                try await quartet.metrics(of: .contacts).contains {
                    $0.hasPrefix("quartet_messages_set_aside_total") && $0.contains(#"urgent="true""#)
                })
            _ = try await quartet.psql("DROP TRIGGER fail ON contacts.alarm")
            try await anna.wait(toHear: "dependentAlertRaised")
            #expect(try await quartet.psql("SELECT count(*) FROM contacts.dead_letter") == "0")
        }
    }
}

extension Quartet {
    /// Lets changes fail by their own fault.
    /// - Parameter change: Of which table, as in `CREATE TRIGGER`.
    func fail(_ change: String, when condition: String = "true") async throws {
        _ = try await psql(
            """
            CREATE OR REPLACE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN RAISE EXCEPTION 'a test' USING ERRCODE = '23514'; END $$;
            CREATE TRIGGER fail BEFORE \(change) FOR EACH ROW WHEN (\(condition)) EXECUTE FUNCTION public.fail();
            """)
    }

    /// Appends a message for a person, as a sender of another release would.
    /// - Parameter log: A table of session-client, or one with its schema.
    func append(
        _ type: String, _ body: String, kind: String = "command", to log: String, for device: Device
    ) async throws {
        let log = log.contains(".") ? log : "session_client.\(log)"
        let key = "account/\(device.account)"
        let command = kind == "command" ? "session_client.new_id()" : "NULL::uuid"
        _ = try await psql(
            """
            SELECT \(log)_append(
                ARRAY[\(log)_partition_of('\(key)')], ARRAY[1], ARRAY[1], ARRAY['\(kind)'], ARRAY['\(type)'],
                ARRAY[1::smallint], ARRAY['\(key)'], ARRAY['\(device.account)'::uuid], ARRAY['\(body)'::json],
                ARRAY[session_client.new_id()], ARRAY[\(command)], ARRAY[NULL::text], ARRAY[NULL::uuid],
                ARRAY[session_client.new_id()], ARRAY[NULL::uuid], ARRAY[NULL::text], ARRAY[NULL::bigint])
            """)
    }

    /// Waits until a service has parked this many messages.
    fileprivate func waitForParked(_ schema: String, _ count: Int) async throws {
        try await wait(for: "\(count) messages to be parked by \(schema)", "SELECT count(*) FROM \(schema).parked") {
            $0 == "\(count)"
        }
    }
}
