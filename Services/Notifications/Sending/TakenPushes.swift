package import Bus
package import Logging
package import Postgres
import QuartetNotificationsContract
import QuartetVocabulary
import ServiceLifecycle

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
            // Behind those of the last look: they may not have been recorded.
            var last: TakenPush?
            while true {
                let look = await self.record(pool, after: last)
                last = look.last
                try await Task.sleep(for: look.isMore ? .zero : Self.pause)
            }
        }
        await pool.close()
    }

    /// - Returns: The last one that was looked at, nil at the end; and whether more may wait, which isn't so where nothing could be
    ///   recorded.
    private func record(_ pool: Pool, after last: TakenPush?) async -> (last: TakenPush?, isMore: Bool) {
        let (due, limit) = (due, Self.lookLimit)
        do {
            let waiting = try await pool.withConnection { try $0.unrecordedTakenPushes(after: last, limit: limit) }
            var recorded = 0
            for pushes in Dictionary(grouping: waiting, by: { due.partition(of: .account($0.account)) }).values {
                do {
                    recorded += try await pool.withConnection {
                        try $0.recordTakenPushes(of: pushes.map(\.account), by: due)
                    }
                } catch {
                    report(error)
                }
            }
            let isWhole = waiting.count < limit
            return (isWhole ? nil : waiting.last, !isWhole && recorded > 0)
        } catch {
            report(error)
            return (nil, false)
        }
    }

    private func report(_ error: any Error) {
        guard !Task.isCancelled else { return }
        logger.notice("can't record that pushes were taken; trying again", metadata: ["error": "\(error)"])
    }
}

/// A push that was taken: the first of its account's day.
private struct TakenPush: Sendable {
    let account: AccountID
    let time: Instant
}

extension Database {
    /// Those that aren't recorded yet, the longest waiting first.
    fileprivate func unrecordedTakenPushes(after last: TakenPush?, limit: Int) throws -> [TakenPush] {
        try query(
            """
            SELECT t.account, t.taken_at FROM notifications.push_taken AS t
             WHERE NOT t.is_recorded
               AND (t.taken_at, t.account) > (coalesce(\(last?.time)::timestamptz, '-infinity'),
                                              coalesce(\(last?.account)::uuid, '00000000-0000-0000-0000-000000000000'))
             ORDER BY t.taken_at, t.account
             LIMIT \(Int64(limit))
            """
        ).map { TakenPush(account: try $0.decode(0, as: AccountID.self), time: try $0.decode(1, as: Instant.self)) }
    }

    /// Asks the service to publish these accounts' taken pushes, except those that another replica is working on.
    /// - Returns: How many.
    fileprivate func recordTakenPushes(of accounts: [AccountID], by due: Log) throws -> Int {
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
        return messages.count
    }
}
