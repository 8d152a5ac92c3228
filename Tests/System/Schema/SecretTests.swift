import Foundation
import Postgres
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary
import TestKit
import Testing

/// What people at psql can't see, by the published examples of all messages: whatever of them is a secret by its type.
@Suite
struct SecretTests {
    private struct Example {
        let service: String
        let isCommand: Bool
        let type: String
        let version: Int16
        let body: String
        /// What it says that nobody may read, as its JSON has it.
        let secrets: Set<String>

        /// The members of the body that contain any of it.
        var secretMembers: Set<String> {
            let members = (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]) ?? [:]
            return Set(
                members.filter { _, value in secrets.contains { SecretTests.text(of: value).contains($0) } }.keys)
        }
    }

    private static func text(of value: Any) -> String {
        let options: JSONSerialization.WritingOptions = [.fragmentsAllowed, .sortedKeys, .withoutEscapingSlashes]
        return (try? JSONSerialization.data(withJSONObject: value, options: options))
            .map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    /// Secrets are told by their types. A push token is a text, so its messages are named; and so is what somebody wrote for themselves alone.
    private static func secrets(in value: Any) -> Set<String> {
        switch value {
        case let secret as Secret: [Data(secret.bytes).base64EncodedString()]
        case let code as ContactCode: ["\(code)"]
        case let push as RegisterPush: [push.token]
        case let push as ForgetPush: [push.token]
        case let command as ScheduleReminder: [command.text]
        case let details as NotificationDetails: details.reminder.map { $0.isEmpty ? [] : [$0] } ?? []
        default: Set(Mirror(reflecting: value).children.flatMap { secrets(in: $0.value) })
        }
    }

    private static func examples<Commands: MessageSet, Events: MessageSet>(
        of service: String, _: Commands.Type, _: Events.Type
    ) throws -> [Example] {
        let file = Products.package.appending(path: "Tests/Unit/ContractTests/Published/\(service).jsonl")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map { line in
            let stored = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let type = try #require(stored["type"] as? String)
            let version = try #require(stored["version"] as? Int)
            let body = text(of: try #require(stored["body"]))
            let isCommand = stored["set"] as? String == "command"
            let message: Any
            if isCommand {
                message = try Commands(type: type, version: Int16(version), body: Array(body.utf8)).body
            } else {
                message = try Events(type: type, version: Int16(version), body: Array(body.utf8)).body
            }
            return Example(
                service: service, isCommand: isCommand, type: type, version: Int16(version), body: body,
                secrets: secrets(in: message))
        }
    }

    private static func examples() throws -> [Example] {
        try examples(of: "session", SessionCommand.self, SessionEvent.self)
            + examples(of: "contacts", ContactsCommand.self, ContactsEvent.self)
            + examples(of: "notifications", NotificationsCommand.self, NotificationsEvent.self)
    }

    /// Puts each example wherever its service and session-client may have it.
    private static func insert(_ examples: [Example], into database: TestDatabase) async throws {
        // Without triggers: what the examples say isn't so.
        var script = "SET session_replication_role = replica;\n"
        for (number, example) in examples.enumerated() {
            let (service, kind) = (example.service, example.isCommand ? "command" : "event")
            let message = "'\(example.type)', \(example.version)"
            let body = "'\(example.body.replacing("'", with: "''"))'"
            for log in example.isCommand
                ? ["session_client.\(service)_commands", "\(service).due"] : ["\(service).log"]
            {
                script += """
                    INSERT INTO \(log) (partition, position, kind, type, version, key, body, message_id, command_id)
                    VALUES (0, \(number + 1), '\(kind)', \(message), 'k', \(body), gen_random_uuid(), gen_random_uuid());

                    """
            }
            let handler = example.isCommand ? service : "session_client"
            script += """
                INSERT INTO \(handler).parked
                       (source, partition, position, kind, type, version, key, body, message_id, recorded_at, attempts)
                VALUES ('s', 0, \(number + 1), '\(kind)', \(message), 'k', \(body), gen_random_uuid(), now(), 0);
                INSERT INTO \(handler).dead_letter
                       (message_id, source, partition, position, kind, type, version, key, body, code, error, attempts)
                VALUES (gen_random_uuid(), 's', 0, \(number + 1), '\(kind)', \(message), 'k', \(body), 'error', '', 1);

                """
            script +=
                example.isCommand
                ? """
                INSERT INTO \(service).timer (key, name, due_at, type, version, body)
                VALUES ('k', '\(number)', now(), \(message), \(body));

                """
                : """
                INSERT INTO \(service).outcome (command_id, command_hash, outcome, partition, position, type, body)
                VALUES (gen_random_uuid(), gen_random_uuid(), 'accepted', 0, \(number + 1), '\(example.type)', \(body));

                """
        }
        // What somebody wrote for themselves stands in tables, too, beside what people at psql may read.
        for (number, reminder) in examples.filter({ $0.type == "NotificationScheduled" }).flatMap(\.secrets)
            .enumerated()
        {
            let id = "'00000000-0000-7000-8000-\(String(repeating: "0", count: 11))\(number)'"
            let details = "json_build_object('reminder', '\(reminder.replacing("'", with: "''"))')"
            script += """
                INSERT INTO notifications.account (account, unread, total) VALUES (\(id), 0, 0);
                INSERT INTO notifications.scheduled (account, id, kind, details, due_at)
                VALUES (\(id), \(id), 'system', \(details), now());
                INSERT INTO notifications.notification (account, id, kind, category, details, created_at)
                VALUES (\(id), \(id), 'system', 'system', \(details), now());

                """
        }
        try await database.psql(script)
    }

    @Test("what is secret in messages can be read by nobody at psql, wherever the message is, and the rest can (R21)")
    func messages() async throws {
        let examples = try Self.examples()
        let secrets = examples.reduce(into: Set()) { $0.formUnion($1.secrets) }
        #expect(secrets.count >= 5)
        try await TestDatabase.with(.services) { database in
            try await Self.insert(examples, into: database)
            let reader = try await Connection.connect(Configuration(try database.url(as: "quartet_reader")))
            let relations = try await reader.run { database in
                try database.query(
                    """
                    SELECT a.attrelid::regclass::text, string_agg(quote_ident(a.attname), ', ')
                      FROM pg_attribute AS a
                      JOIN pg_class AS c ON c.oid = a.attrelid AND c.relkind IN ('r', 'v')
                      JOIN pg_namespace AS n ON n.oid = c.relnamespace
                     WHERE n.nspname IN ('session', 'contacts', 'notifications', 'session_client') AND a.attnum > 0
                       AND NOT a.attisdropped AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')
                     GROUP BY a.attrelid
                    """
                ).map { (try $0.decode(0, as: String.self), try $0.decode(1, as: String.self)) }
            }
            #expect(relations.count > 100)
            for (relation, columns) in relations {
                let text = try await reader.run { database in
                    let all = try database.query(
                        "SELECT string_agg(concat_ws(' ', \(unescaped: columns)), ' ') FROM \(unescaped: relation)")
                    return try all.only?.decode(0, as: String?.self) ?? ""
                }
                let read = secrets.filter { text.contains($0) }
                #expect(read.isEmpty, "\(relation) shows \(read)")
            }
            let shown = try await reader.run { database in
                try database.query(
                    "SELECT m.position, m.body::text FROM session_client.messages AS m WHERE m.log NOT LIKE '%.due'"
                ).map { (try $0.decode(0, as: Int64.self), try $0.decode(1, as: String.self)) }
            }
            #expect(shown.count == examples.count)
            // Members are hidden by the message's type, also where one has no secret in it.
            let secretMembers = examples.reduce(into: [String: Set<String>]()) {
                $0[$1.type, default: []].formUnion($1.secretMembers)
            }
            for (position, body) in shown {
                let example = examples[Int(position) - 1]
                guard let secret = secretMembers[example.type], !secret.isEmpty else {
                    // What the view looked into is written anew.
                    #expect(try Self.sorted(body) == Self.sorted(example.body))
                    continue
                }
                let members = try #require(try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any])
                let hidden = members.filter { $0.value as? String == "(secret)" }
                #expect(Set(hidden.keys) == secret.intersection(members.keys), "\(example.type): \(body)")
            }
            let reminders = try await reader.run { database in
                try database.query(
                    "SELECT n.details ->> 'reminder' FROM notifications.shown_notification AS n WHERE n.kind = 'system'"
                ).map { try $0.decode(0, as: String.self) }
            }
            #expect(!reminders.isEmpty && Set(reminders) == ["(secret)"])
            await reader.close()
        }
    }

    @Test("people at psql read of notifications what isn't their person's own text (R21)")
    func details() async throws {
        try await TestDatabase.with(.services) { database in
            try await database.psql(
                """
                INSERT INTO notifications.notification (account, id, kind, category, details, created_at)
                VALUES (gen_random_uuid(), gen_random_uuid(), 'alertRaised', 'alerts',
                        json_build_object('alarm', gen_random_uuid(), 'count', 3), now())
                """)
            let read = try await database.psql(
                """
                SET SESSION AUTHORIZATION quartet_reader;
                SELECT (SELECT n.details ->> 'count' FROM notifications.shown_notification AS n),
                       (SELECT r.repetition FROM session_client.alarm_receipts AS r)
                """)
            #expect(read == "3|3")
            // The view has whatever the table has.
            let columns =
                "SELECT string_agg(attname, ' ' ORDER BY attname) FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped"
            let missing = try await database.psql(
                """
                SELECT (\(columns) AND attrelid = 'notifications.notification'::regclass)
                       = (\(columns) AND attrelid = 'notifications.shown_notification'::regclass)
                """)
            #expect(missing == "t")
        }
    }

    /// The same members, in one order and without spaces.
    private static func sorted(_ body: String) throws -> Data {
        try JSONSerialization.data(
            withJSONObject: JSONSerialization.jsonObject(with: Data(body.utf8)), options: .sortedKeys)
    }

    @Test("a command with secrets has expired before it is emptied where it failed or waits (R21)")
    func validities() async throws {
        let validities = (SessionCommand.types + ContactsCommand.types + NotificationsCommand.types)
            .compactMap { $0 as? any CommandBody.Type }
            .map { "('\($0.type)', \($0.validity.microseconds) * interval '1 microsecond')" }
        try await TestDatabase.with(.services) { database in
            for schema in ["session", "contacts", "notifications"] {
                let tooLong = try await database.psql(
                    """
                    SELECT t.type FROM (VALUES \(validities.joined(separator: ", "))) AS t(type, validity)
                     WHERE session_client.carries_secrets(t.type)
                       AND t.validity > (SELECT r.keep FROM \(schema).retention AS r WHERE r.subject = 'secrets')
                    """)
                #expect(tooLong.isEmpty, "\(schema): \(tooLong)")
            }
        }
    }

    @Test("every table of messages hides their bodies from people at psql (R21)")
    func bodies() async throws {
        try await TestDatabase.with(.services) { database in
            let readable = try await database.psql(
                """
                SELECT b.attrelid::regclass
                  FROM pg_attribute AS b
                  JOIN pg_attribute AS t ON t.attrelid = b.attrelid AND t.attname = 'type'
                  JOIN pg_class AS c ON c.oid = b.attrelid AND c.relkind = 'r'
                  JOIN pg_namespace AS n ON n.oid = c.relnamespace
                 WHERE n.nspname IN ('session', 'contacts', 'notifications', 'session_client') AND b.attname = 'body'
                   AND (has_column_privilege('quartet_reader', b.attrelid, b.attnum, 'SELECT')
                        OR to_regclass(format('%I.%I', n.nspname, 'shown_' || c.relname)) IS NULL
                        OR NOT has_table_privilege('quartet_reader', format('%I.%I', n.nspname, 'shown_' || c.relname), 'SELECT'))
                """)
            #expect(readable.isEmpty, "\(readable)")
        }
    }

    @Test("contact codes can be read by nobody at psql, wherever they are (R21)")
    func contactCodes() async throws {
        try await TestDatabase.with(.services) { database in
            let readable = try await database.psql(
                """
                SELECT a.attrelid::regclass, a.attname
                  FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid AND c.relkind IN ('r', 'v')
                 WHERE c.relnamespace = 'contacts'::regnamespace AND a.attname IN ('code', 'state')
                   AND c.relname NOT LIKE '%dead_letter'
                   AND has_column_privilege('quartet_reader', a.attrelid, a.attnum, 'SELECT')
                """)
            #expect(readable.isEmpty, "\(readable)")
        }
    }
}
