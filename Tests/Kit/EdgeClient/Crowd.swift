import Crypto
import Foundation

/// Many people at once, as the services keep them. Signing each of them up would take long, because passwords are made slow on
/// purpose; these have none.
public struct Crowd: Sendable {
    /// How many.
    public let count: Int

    public init(_ count: Int) {
        self.count = count
    }

    /// What makes them, to run as a superuser in a database without accounts. They stand in a ring: the ones on either side are a
    /// person's contacts, and responders.
    /// - Parameter contacts: How many contacts each person has; an even number smaller than the count.
    public func statements(contacts: Int) -> [String] {
        [
            """
            INSERT INTO session.account
                   (account, handle, skeleton, name, emergency_note, profile_version, is_single_device,
                    is_confirmation_required, check_in_interval, reminds_two_hours, reminds_thirty_minutes,
                    due_at, missed_repetitions, alert_repetitions, opened_at)
            SELECT md5('app' || n)::uuid, 'app' || n, translate('app' || n, '015', 'ols'), 'App', 'A note', 1, false,
                   false, interval '1 day', true, true, now() + interval '1 day', 0, 0, now()
              FROM generate_series(0, \(count - 1)) AS n
            """,
            """
            INSERT INTO session.device (account, device, name, signed_in_at, last_seen_at, token, earlier_tokens)
            SELECT md5('app' || n)::uuid, md5('device' || n)::uuid, 'phone', now(), now(), sha256('none'), ''
              FROM generate_series(0, \(count - 1)) AS n
            """,
            "INSERT INTO contacts.account (account, code) SELECT account, gen_random_uuid() FROM session.account",
            "INSERT INTO notifications.account (account, unread, total) SELECT account, 0, 0 FROM session.account",
            """
            INSERT INTO contacts.relation
                   (low, high, low_is_responder, low_nickname, low_notes, low_send_pings, low_receive_pings,
                    low_notify_on_check_in, low_notify_on_missed_check_in, low_version, low_updated_at, high_is_responder,
                    high_nickname, high_notes, high_send_pings, high_receive_pings, high_notify_on_check_in,
                    high_notify_on_missed_check_in, high_version, high_updated_at, added_at)
            SELECT least(one, other), greatest(one, other), true, '', '', true, true, false, true, 1, now(), true, '', '',
                   true, true, false, true, 1, now(), now()
              FROM (SELECT md5('app' || n)::uuid, md5('app' || (n + step) % \(count))::uuid
                      FROM generate_series(0, \(count - 1)) AS n, generate_series(1, \(contacts / 2)) AS step
                   ) AS pair(one, other)
            """,
            // Not the empty tables: plans for a table that is known to be empty read all of it, and are kept.
            "ANALYZE session.account, session.device, contacts.account, contacts.relation, notifications.account",
        ]
    }

    /// What adds contacts to somebody's, to run as a superuser: `1 or so`, `Number 2` and so on.
    /// - Parameters:
    ///   - account: Whose contacts they become.
    ///   - contact: Another contact of that account, as which they are.
    public static func strangers(_ count: Int, of account: String, like contact: String) -> String {
        """
        WITH stranger AS MATERIALIZED (
            SELECT n, gen_random_uuid() AS account, CASE n % 2 WHEN 0 THEN 'Number ' || n ELSE n || ' or so' END AS name
              FROM generate_series(1, \(count)) AS n
        ), known AS (
            INSERT INTO contacts.account (account, code) SELECT s.account, gen_random_uuid() FROM stranger AS s
        )
        INSERT INTO contacts.relation
        SELECT (jsonb_populate_record(r, jsonb_build_object(
                   'low', least(s.account, a.account), 'high', greatest(s.account, a.account),
                   'low_is_responder', true, 'high_is_responder', true,
                   'low_nickname', s.name, 'high_nickname', s.name))).*
          FROM (SELECT '\(account)'::uuid AS account, '\(contact)'::uuid AS other) AS a
          JOIN contacts.relation AS r ON (r.low, r.high) = (least(a.account, a.other), greatest(a.account, a.other))
         CROSS JOIN stranger AS s
        """
    }

    /// Their devices, with access tokens as the edge signs them (RFC 7519, ES256).
    /// - Parameter pem: The edge's signing key.
    public func devices(signedBy pem: String, at edge: EdgeClient) throws -> [Device] {
        let key = try P256.Signing.PrivateKey(pemRepresentation: pem)
        let name = SHA256.hash(data: Data(key.publicKey.pemRepresentation.utf8)).prefix(8)
            .map { String(format: "%02x", $0) }.joined()
        let now = Int64(Date().timeIntervalSince1970)
        return try (0..<count).map { number in
            let (account, device) = (Self.id("app\(number)"), Self.id("device\(number)"))
            let text =
                Self.part(#"{"alg":"ES256","typ":"JWT","kid":"\#(name)"}"#) + "."
                + Self.part(
                    #"{"iss":"quartet","sub":"\#(account)","dev":"\#(device)","roles":["user"],"iat":\#(now),"exp":\#(now + 900)}"#
                )
            let signature = try key.signature(for: Data(text.utf8))
            return Device(
                edge: edge, account: account, id: device,
                token: text + "." + Self.base64URL(signature.rawRepresentation), refreshToken: "")
        }
    }

    /// The same as `md5(…)::uuid` in SQL.
    private static func id(_ name: String) -> String {
        let digits = Insecure.MD5.hash(data: Data(name.utf8)).map { String(format: "%02x", $0) }.joined()
        var rest = digits[...]
        return [8, 4, 4, 4, 12].map { length in
            defer { rest = rest.dropFirst(length) }
            return String(rest.prefix(length))
        }.joined(separator: "-")
    }

    private static func part(_ text: String) -> String { base64URL(Data(text.utf8)) }

    private static func base64URL(_ data: Data) -> String {
        data.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
