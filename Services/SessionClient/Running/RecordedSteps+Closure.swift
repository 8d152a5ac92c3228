import Postgres
import QuartetVocabulary

extension RecordedSteps {
    func reportClosure() async throws {
        let (id, account, startedAt) = (id, account, startedAt)
        _ = try await pool.withConnection { database in
            try database.transaction { database in
                let isFirst = try database.execute(
                    """
                    INSERT INTO session_client.closure (account, operation, requested_at)
                    VALUES (\(account), \(id), \(startedAt))
                    ON CONFLICT ON CONSTRAINT account_is_closed_once DO NOTHING
                    """)
                guard isFirst == 1 else { return }
                _ = try database.query("SELECT session_client.redact(\(account))")
                // What earlier operations learnt is the person's, too.
                try database.execute(
                    """
                    UPDATE session_client.saga_step AS t SET result = NULL
                      FROM session_client.saga AS s
                     WHERE s.id = t.saga AND s.account = \(account) AND s.id <> \(id)
                    """)
                try database.execute(
                    """
                    UPDATE session_client.saga SET result = NULL
                     WHERE account = \(account) AND id <> \(id) AND state <> 'running'
                    """)
            }
        }
    }
}
