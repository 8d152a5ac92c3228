import Logging
import Postgres
import ServiceLifecycle

/// Ends transactions of people at psql that are older than 40 seconds, or have done nothing for ten. Their role has time-outs,
/// which a session can switch off for itself, and an old snapshot keeps PostgreSQL from cleaning rows that change all the time.
/// A listener in a transaction keeps notifications, which all services need, from being forgotten.
struct LongReads: Service {
    let pool: Pool
    let logger: Logger
    private static let interval: Duration = .seconds(5)

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                try await Task.sleep(for: Self.interval)
                do {
                    let ended = try await pool.withConnection { database in
                        try database.query("SELECT quartet.end_long_reads()").only?.decode(0, as: Int64.self) ?? 0
                    }
                    guard ended > 0 else { continue }
                    logger.notice(
                        "ended psql sessions with transactions that were open for too long",
                        metadata: ["sessions": "\(ended)"])
                } catch {
                    logger.debug("can't look for long transactions", metadata: ["error": "\(error)"])
                }
            }
        }
    }
}
