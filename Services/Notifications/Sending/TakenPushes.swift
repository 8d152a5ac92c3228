package import Bus
package import Logging
import NotificationsContract
package import Postgres
package import ServiceLifecycle
import Vocabulary

/// Publishes, once a day for each account, that a push service took a push: someone whose phone takes pushes can hear of an alarm,
/// even if they never open the app.
///
/// It is a service apart from ``PushDelivery``, so no push waits for the log `due`. It appends to each partition of that log by
/// itself, so a partition that somebody locks holds up only its own accounts.
package final class TakenPushes: Service, Sendable {
    private let due: Log
    private let configuration: Configuration
    private let logger: Logger
    private static var lookLimit: Int { 500 }
    private static var pause: Duration { .seconds(1) }

    /// - Parameter due: The log by which the service asks itself.
    package init(due: Log, configuration: Configuration, logger: Logger) {
        (self.due, self.configuration, self.logger) = (due, configuration, logger)
    }

    /// Runs until cancelled or shut down gracefully. Every replica may.
    package func run() async throws {
        let pool = Pool("taken pushes", configuration: configuration, size: 1, logger: logger)
        try? await cancelWhenGracefulShutdown {
            while true {
                let isMore = await self.record(pool)
                try await Task.sleep(for: isMore ? .zero : Self.pause)
            }
        }
        await pool.close()
    }

    /// Returns whether more may wait.
    private func record(_ pool: Pool) async -> Bool {
        let (due, limit) = (due, Self.lookLimit)
        do {
            let waiting = try await pool.withConnection { try $0.unrecordedTakenPushes(limit: limit) }
            var isMore = waiting.count == limit
            for accounts in Dictionary(grouping: waiting, by: { due.partition(of: .account($0)) }).values {
                do {
                    try await pool.withConnection { try $0.recordTakenPushes(of: accounts, by: due) }
                } catch {
                    isMore = false
                    report(error)
                }
            }
            return isMore
        } catch {
            report(error)
            return false
        }
    }

    private func report(_ error: any Error) {
        guard !Task.isCancelled else { return }
        logger.notice("can't record that pushes were taken; trying again", metadata: ["error": "\(error)"])
    }
}

extension Database {
    /// Accounts whose taken push isn't recorded yet, the longest waiting first.
    fileprivate func unrecordedTakenPushes(limit: Int) throws -> [AccountID] {
        try query(
            """
            SELECT t.account FROM notifications.push_taken AS t
             WHERE NOT t.is_recorded
             ORDER BY t.taken_at
             LIMIT \(Int64(limit))
            """
        ).map { try $0.decode(0, as: AccountID.self) }
    }

    /// Asks the service to publish these accounts' taken pushes, except those that another replica is working on.
    fileprivate func recordTakenPushes(of accounts: [AccountID], by due: Log) throws {
        let messages = try transaction { database in
            let messages = try database.query(
                """
                WITH unrecorded AS MATERIALIZED (
                    SELECT t.account FROM notifications.push_taken AS t
                     WHERE t.account = ANY (\(accounts)) AND NOT t.is_recorded
                       FOR UPDATE SKIP LOCKED
                )
                UPDATE notifications.push_taken AS t SET is_recorded = true
                  FROM unrecorded AS u
                 WHERE t.account = u.account
                RETURNING t.account
                """
            ).map { row in
                let account = try row.decode(0, as: AccountID.self)
                return Message(
                    kind: .command, type: RecordPushTaken.type, version: RecordPushTaken.version,
                    key: .account(account), body: try RecordPushTaken(account: account).encoded(), commandID: .new(),
                    correlationID: .new())
            }
            if !messages.isEmpty { _ = try database.query(due.append(messages)) }
            return messages
        }
        // After the commit. If no one hears it, that costs a second: see Log.ring(for:).
        if !messages.isEmpty { _ = try? query(due.ring(for: messages)) }
    }
}
