import Foundation
import Logging
import Postgres
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import ServiceKit

/// What operators may ask and do over HTTP. It all runs as `quartet_operator`, over two connections of that role: the role
/// session_client has none of these rights, and operators can't take connections from apps.
struct Operators: Sendable {
    let pool: Pool
    let queries: NamedQueryFile
    /// Wrong keys by address.
    let guesses: Guesses
    /// Of this process.
    let metrics: PrometheusMetrics

    /// - Parameter configuration: Reaches the database as `quartet_operator`.
    init(
        _ configuration: Postgres.Configuration, queries: NamedQueryFile, guesses: Guesses, metrics: PrometheusMetrics,
        logger: Logger
    ) {
        var configuration = configuration
        configuration.settings.merge(Self.session) { $1 }
        pool = Pool("operators", configuration: configuration, size: 2, waiters: 32, logger: logger)
        self.queries = queries
        self.guesses = guesses
        self.metrics = metrics
    }

    /// An operator's query may neither be slow nor plan badly: every one of them has its index.
    private static let session = [
        "statement_timeout": "1s", "lock_timeout": "1s", "enable_seqscan": "off", "jit": "off",
        "max_parallel_workers_per_gather": "0", "timezone": "UTC",
    ]

    /// Who a key belongs to. Asks the database each time, so a revoked key opens nothing any more.
    /// - Throws: `invalidToken`.
    func owner(of text: String, from address: String) async throws -> Operator {
        try await guesses.watch(address) {
            guard let key = OperatorKey(text) else { throw APIError(.invalidToken, Self.wrongKey) }
            let row = try await ask { database in
                try database.query("SELECT k.name, k.role, k.hash FROM session_client.operator_key_of(\(key.id)) AS k")
                    .only
                    .map { try $0.decode(String.self, String.self, Bytes.self) }
            }
            guard let (name, role, hash) = row, key.matches(hash: hash.bytes), let role = OperatorRole(rawValue: role)
            else {
                throw APIError(.invalidToken, Self.wrongKey)
            }
            return Operator(key: key.id, name: name, role: role)
        }
    }

    private static let wrongKey = "The API key is wrong, or it was revoked."

    // MARK: Reading

    /// The rows of a named query, as a JSON array of objects.
    /// - Throws: `notFound`; `invalidParameter` where a parameter is missing or can't be read.
    func rows(of name: String, _ values: [String: String]) async throws -> Encoded<[JSONValue]> {
        guard let query = queries[name] else {
            throw APIError(.notFound, "There is no named query \(name.prefix(50)).")
        }
        for parameter in query.parameters where !["alarm", "handle"].contains(parameter) && values[parameter] == nil {
            throw APIError(.invalidParameter, "\(parameter) is missing.", field: parameter)
        }
        let statement = NamedQueryFile.statement(query, values, limit: EdgeLimits.operatorRows.value)
        return try await document(statement) ?? Encoded(json: Array("[]".utf8))
    }

    /// Was she told? One alarm, from the logs.
    /// - Throws: `notFound`.
    func told(_ alarm: AlarmID) async throws -> Encoded<JSONValue> {
        guard let told: Encoded<JSONValue> = try await document("SELECT session_client.told(\(alarm))") else {
            throw APIError(.notFound, "Neither the logs nor the notifications know this alarm.")
        }
        return told
    }

    /// The messages that were recorded after a time, without their bodies, oldest first.
    func tail(since: Instant?) async throws -> Encoded<[JSONValue]> {
        try await document(
            """
            SELECT coalesce(json_agg(json_build_object(
                       'at', m.recorded_at, 'log', m.log, 'partition', m.partition, 'position', m.position, 'kind', m.kind,
                       'type', m.type, 'key', m.key, 'account', m.account, 'outcome', m.outcome, 'message', m.message_id,
                       'command', m.command_id, 'request', m.correlation_id)), '[]')
              FROM session_client.messages_since(coalesce(\(since), statement_timestamp() - interval '1 minute'), 200) AS m
            """) ?? Encoded(json: Array("[]".utf8))
    }

    /// A group session's state at a position of its stream, and the positions that there are; the newest if none is given.
    /// - Throws: `groupNotFound`; `truncated`; `invalidParameter`.
    func group(_ group: GroupID, at position: Int64?) async throws -> GroupHistory {
        let positions = try await ask { database in
            try database.query(
                """
                SELECT p.position
                  FROM (SELECT s.positions FROM session.group_stretch AS s WHERE s.group_id = \(group)
                         ORDER BY s.since DESC LIMIT 16) AS s
                 CROSS JOIN LATERAL unnest(s.positions) AS p (position)
                 ORDER BY p.position
                """
            ).map { try $0.decode(0, as: Int64.self) }
        }
        guard let newest = positions.last else { throw APIError(.groupNotFound) }
        let moment = try await Self.mapped {
            try await GroupReads(pool: pool).moment(of: group, at: position ?? newest)
        }
        return GroupHistory(positions: positions, moment: moment)
    }

    // MARK: Acting

    /// Does what only operators may, and records it: one function of the owner does both.
    /// - Throws: `notFound`, `alreadyDecided`, `limitReached`, `invalidField`.
    func act(_ act: some OperatorAct, by who: Operator) async throws -> OperatorActReply {
        try await ask { database in
            let row = try database.query(try Self.call(act, by: who)).only
            return switch act {
            case is RetryDeadLetter: OperatorActReply(command: try row?.decode(0, as: CommandID.self))
            case is RetryParked, is DiscardParked:
                OperatorActReply(messages: try Self.some(try row?.decode(0, as: Int64.self)))
            case is SendTestPush: OperatorActReply(push: try row?.decode(0, as: TestPushID.self))
            case is AcceptTruncation: OperatorActReply(messages: try row?.decode(0, as: Int64.self))
            default: OperatorActReply()
            }
        }
    }

    private static func some(_ messages: Int64?) throws(APIError) -> Int64? {
        guard messages != 0 else { throw APIError(.notFound, "Nothing of this source and key is parked.") }
        return messages
    }

    private static func call(_ act: some OperatorAct, by who: Operator) throws -> Query {
        let (why, key) = (act.reason, who.key)
        switch act {
        case let act as RetryDeadLetter:
            return "SELECT session_client.retry_dead_letter(\(act.message), \(why), \(key))"
        case let act as DiscardDeadLetter:
            return "SELECT session_client.discard_dead_letter(\(act.message), \(why), \(key))"
        case let act as RetryParked:
            return "SELECT \(identifier: act.service.rawValue).retry_parked(\(act.source), \(act.key), \(why), \(key))"
        case let act as DiscardParked:
            return
                "SELECT \(identifier: act.service.rawValue).discard_parked(\(act.source), \(act.key), \(why), \(key))"
        case let act as SetRetention:
            return """
                SELECT \(identifier: act.service.rawValue).set_retention(
                    \(act.subject), \(act.keep), \(act.truncateAfter), \(why), \(key))
                """
        case let act as AcceptTruncation:
            return "SELECT \(identifier: act.service.rawValue).accept_truncation(\(act.source), \(why), \(key))"
        case let act as RedactAccount:
            return "SELECT \(identifier: act.service.rawValue).redact(\(act.account), \(why), \(key))"
        case let act as ResumeOperation:
            return "SELECT session_client.resume_saga(\(act.operation), \(why), \(key))"
        case let act as SendTestPush:
            return "SELECT notifications.send_test_push(\(act.account), \(act.device), \(why), \(key))"
        default: throw APIError(.unknownCommand)
        }
    }

    // MARK: Asking

    /// A statement whose only value is a JSON document.
    private func document<Document>(_ query: Query) async throws -> Encoded<Document>? {
        try await ask { database in
            try database.query(query).only?.decode(0, as: JSON?.self).map { Encoded(json: $0.bytes) }
        }
    }

    private func ask<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await Self.mapped { try await pool.withConnection(body) }
    }

    /// Says what the database refused in the API's words.
    private static func mapped<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as PostgresError {
            guard case .server(let refusal) = error.root else { throw error }
            switch (refusal.sqlState, refusal.constraint) {
            case ("P0002", _): throw APIError(.notFound, refusal.message)
            case ("23505", "dead_letter_is_decided_once"): throw APIError(.alreadyDecided)
            case ("23514", "operator_act_has_a_reason"), ("23514", "decision_reason_is_short"):
                throw APIError(.invalidField, "Give a reason of 1 to 1,000 characters.", field: "reason")
            case ("23514", let constraint?) where constraint.hasPrefix("retention_"):
                let isKeep = constraint.hasPrefix("retention_keeps")
                throw APIError(
                    .invalidField,
                    isKeep
                        ? "Keep rows for at least a minute and at most 3,650 days."
                        : "Truncate a log no earlier than its rows may go, and within 3,650 days, or never.",
                    field: isKeep ? "keep" : "truncateAfter")
            case ("54000", "test_pushes_are_few"): throw APIError(.limitReached, refusal.message)
            // Text that is no UUID, or has a NUL, in a parameter of a named query.
            case ("22P02", _), ("22021", _): throw APIError(.invalidParameter, refusal.message)
            case ("57014", _), ("55P03", _): throw APIError(.queryTooSlow)
            default: throw error
            }
        }
    }
}
