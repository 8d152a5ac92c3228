import Crypto
import Foundation
import Postgres
import QuartetAPI
import QuartetVocabulary

/// How a stream outlives the access token that opened it. Its beginning names it, and an app that has a new token presents
/// that for it, to any replica. When the token that a stream knows ends, the stream goes on if a newer one was presented.
///
/// Only the reader of a stream learns its name. So a stream that was opened with a stolen token ends with that token: the
/// device's owner never presents another for it.
struct StreamExtensions: Sendable {
    let pool: Pool
    let keys: ServerKeys

    /// A stream's name: its id and a proof that this server gave it to this device.
    struct Name: Hashable, Sendable {
        let id: ID<StreamSubject>
        let text: String
    }

    func name(for caller: Caller) -> Name {
        let id = ID<StreamSubject>.new()
        return Name(id: id, text: "\(id).\(Data(keys.current.mac(Self.body(id, caller))).base64EncodedString())")
    }

    private static func body(_ id: ID<StreamSubject>, _ caller: Caller) -> String {
        "stream/1/\(caller.account).\(caller.device).\(id)"
    }

    /// Lets a stream go on until the caller's token ends. Returns when that is, in seconds.
    /// - Throws: `streamNotFound` for a name that this server didn't give to this device.
    func present(_ name: String, by caller: Caller) async throws -> Int64 {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let id = ID<StreamSubject>(String(parts[0])),
            let mac = Data(base64Encoded: String(parts[1])),
            keys.all.contains(where: {
                // Constant time.
                HMAC<SHA256>.isValidAuthenticationCode(
                    mac, authenticating: Data(Self.body(id, caller).utf8), using: $0.key)
            })
        else { throw APIError(.streamNotFound, field: "stream") }
        let left = Interval(caller.expiresAt - .now)
        try await pool.withConnection { database in
            _ = try database.query(
                """
                INSERT INTO session_client.stream_token AS t (stream, account, device, expires_at)
                VALUES (\(id), \(caller.account), \(caller.device), clock_timestamp() + \(left)::interval)
                ON CONFLICT ON CONSTRAINT stream_has_one_token
                DO UPDATE SET expires_at = greatest(t.expires_at, excluded.expires_at)
                """)
        }
        return max(0, left.microseconds / 1_000_000)
    }

    /// How much longer a stream may go on; nil if no newer token was presented for it.
    func left(of name: Name, _ caller: Caller) async throws -> Duration? {
        let left = try await pool.withConnection { database in
            try database.query(
                """
                SELECT t.expires_at - clock_timestamp() FROM session_client.stream_token AS t
                 WHERE t.stream = \(name.id) AND t.account = \(caller.account) AND t.device = \(caller.device)
                """
            ).only?.decode(0, as: Interval.self)
        }
        return left.flatMap { $0.microseconds > 0 ? $0.duration : nil }
    }
}
