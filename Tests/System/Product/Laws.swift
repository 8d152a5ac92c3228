import TestKit

/// What must hold in the database whatever was done, killed, paused or cut off. Checked at the end of every end-to-end test.
enum Laws {
    private static let logs = [
        "session.log", "session.due", "contacts.log", "contacts.due", "notifications.log", "notifications.due",
        "session_client.session_commands", "session_client.contacts_commands", "session_client.notifications_commands",
        "session_client.operations",
    ]
    private static let schemas = ["session", "contacts", "notifications", "session_client"]
    private static let domains = [
        ("session", "AccountClosed"), ("contacts", "ContactsClosed"), ("notifications", "NotificationsClosed"),
    ]

    /// Each with what counts its violations.
    private static var all: [(law: String, count: String)] {
        let gaps = logs.map { log in
            (
                "positions of \(log) have no gaps",
                """
                SELECT count(*) FROM (SELECT position - lag(position) OVER (PARTITION BY partition ORDER BY position) AS step
                                        FROM \(log)) AS v WHERE step <> 1
                """
            )
        }
        let batches = schemas.map { schema in
            (
                "batches of \(schema) follow each other, and their given time never runs back",
                """
                SELECT count(*) FROM (
                  SELECT number - lag(number) OVER w AS step, position - lag(position) OVER w AS advance,
                         given_time - lag(given_time) OVER w AS time
                    FROM \(schema).batch WINDOW w AS (PARTITION BY source, partition ORDER BY number)) AS v
                 WHERE step <> 1 OR advance < 0 OR time < interval '0'
                """
            )
        }
        let outcomes = domains.map { domain, _ in
            (
                "each outcome in \(domain).log is recorded once, as it stands there",
                """
                SELECT count(*) FROM \(domain).log AS l
                  LEFT JOIN \(domain).outcome AS o ON o.command_id = l.command_id
                 WHERE l.outcome IS NOT NULL AND (o.partition, o.position) IS DISTINCT FROM (l.partition, l.position)
                   -- Those of older ids, which are refused, may be deleted at once. Ids begin with their milliseconds.
                   AND l.command_id > (lpad(to_hex((extract(epoch FROM now() - (SELECT r.keep FROM \(domain).retention AS r
                                                                                 WHERE r.subject = 'outcome')) * 1000)::bigint),
                                            12, '0') || '00000000000000000000')::uuid
                """
            )
        }
        let ends = domains.map { domain, type in
            (
                "nothing follows \(type) in a stream",
                """
                SELECT count(*) FROM \(domain).log AS c
                  JOIN \(domain).log AS l ON l.partition = c.partition AND l.key = c.key AND l.position > c.position
                 WHERE c.type = '\(type)' AND l.kind = 'event'
                """
            )
        }
        let others = [
            ("unread is the count of unread rows", "SELECT count(*) FROM notifications.wrong_count"),
            (
                "both sides of a relation see the same of it",
                """
                SELECT count(*) FROM contacts.contact AS a
                  LEFT JOIN contacts.contact AS b ON b.account = a.contact AND b.contact = a.account
                 WHERE (a.is_my_responder, a.i_am_responder, a.outgoing_ping_at, a.incoming_ping_at, a.outgoing_role_request_at,
                        a.incoming_role_request_at)
                       IS DISTINCT FROM (b.i_am_responder, b.is_my_responder, b.incoming_ping_at, b.outgoing_ping_at,
                                         b.incoming_role_request_at, b.outgoing_role_request_at)
                    OR NOT (a.is_my_responder OR a.i_am_responder)
                """
            ),
            (
                "only who looks after somebody has a ping to them",
                "SELECT count(*) FROM contacts.contact WHERE outgoing_ping_at IS NOT NULL AND NOT i_am_responder"
            ),
            (
                "a push waits for a registered device alone",
                """
                SELECT count(*) FROM notifications.push AS p
                 WHERE NOT EXISTS (SELECT FROM notifications.push_device AS d
                                    WHERE d.account = p.account AND d.device = p.device)
                """
            ),
        ]
        return gaps + batches + outcomes + ends + others
    }

    /// - Throws: ``Broken``, with every law that is.
    static func check(_ quartet: Quartet) async throws {
        let counts = all.map { "(\($0.count))" }.joined(separator: ",\n")
        // One statement: of one moment, though the services still run.
        let found = try await quartet.psql("SELECT unnest(ARRAY[\n\(counts)\n])").split(separator: "\n")
        let broken = zip(all, found).filter { $0.1 != "0" }.map { "\($0.0.law): broken \($0.1) times" }
        guard broken.isEmpty, found.count == all.count else {
            throw Broken(description: broken.joined(separator: "\n"))
        }
    }

    struct Broken: Error, CustomStringConvertible {
        let description: String
    }
}
