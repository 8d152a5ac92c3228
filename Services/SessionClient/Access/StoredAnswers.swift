import Postgres
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetVocabulary

/// The answers to commands and operations that callers may ask for again.
struct StoredAnswers: Sendable {
    let pool: Pool

    /// Whether a request was answered, or begun, under this key. If that can't be looked up, no.
    func has(_ key: IdempotencyKey, of caller: Caller, as kind: RequestLimits.Kind) async -> Bool {
        let account = caller.account
        let query: Query
        switch kind {
        case .commands, .urgent:
            let ids = Domain.allCases.map { key.commandID(in: $0, of: account) }
            query = """
                SELECT EXISTS (SELECT FROM session.outcome AS o WHERE o.command_id = ANY (\(ids)))
                    OR EXISTS (SELECT FROM contacts.outcome AS o WHERE o.command_id = ANY (\(ids)))
                    OR EXISTS (SELECT FROM notifications.outcome AS o WHERE o.command_id = ANY (\(ids)))
                """
        case .operations:
            query = """
                SELECT EXISTS (SELECT FROM session_client.saga AS s
                                WHERE s.id = \(key.operationID(of: account)) AND s.account = \(account))
                """
        case .reads, .streams: return false
        }
        let found = try? await pool.withConnection { database in
            try database.query(query).only?.decode(0, as: Bool.self)
        }
        return found == true
    }
}

extension IdempotencyKey {
    func commandID(in domain: Domain, of account: AccountID) -> CommandID {
        derive("command/\(domain)", account.bytes)
    }

    func operationID(of account: AccountID) -> ID<OperationSubject> { derive("operation", account.bytes) }
}
