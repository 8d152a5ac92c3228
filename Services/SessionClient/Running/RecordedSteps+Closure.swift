import Postgres
import QuartetVocabulary

extension RecordedSteps {
    func reportClosure() async throws {
        // First and committed: a step that begins later is refused, and one that began before is emptied below.
        try await sagas.endOthers(of: saga)
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
                // What earlier operations learnt is the person's, too. A step that waits has ended, so nothing is written into it.
                try database.execute(
                    """
                    UPDATE session_client.saga_step AS t
                       SET outcome = coalesce(t.outcome, 'failed'), result = NULL,
                           ended_at = coalesce(t.ended_at, clock_timestamp())
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
