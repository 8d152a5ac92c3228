import Logging
import Synchronization

/// Ends sessions that hold up a connection while they wait for their own client.
///
/// A process that stops between Execute and Sync keeps its locks in an `active` session: no time-out of the server
/// applies to it, and the kernel keeps answering for the process. So a connection that is held up asks who blocks it
/// (`pg_blocking_pids`) and ends that session if it belongs to the same role and database and has waited too long for
/// its client. A session that computes, commits, or waits for a standby or a disk is left alone, however long that
/// takes.
struct BlockerWatch: Sendable {
    let configuration: Configuration
    /// How long a blocker's client may be silent.
    let patience: Duration
    let logger: Logger?

    init(_ configuration: Configuration, patience: Duration, logger: Logger?) {
        var configuration = configuration.named("blockers")
        configuration.blockerPatience = nil
        self.configuration = configuration
        self.patience = patience
        self.logger = logger
    }

    /// Whether a connection of this process is asking right now. A server in trouble gets one more connection from each
    /// process, not one for each connection that waits.
    private static let isAsking = Mutex(false)

    /// Watches a connection until the task is cancelled or the connection ends. Costs nothing while the server answers.
    func watch(_ thread: ConnectionThread) async {
        let pause = patience / 5
        while !thread.isLost {
            do { try await Task.sleep(for: pause) } catch { return }
            guard let waitingSince = thread.waitingSince, waitingSince <= .now - pause * 2 else { continue }
            let isFree = Self.isAsking.withLock { isAsking in
                defer { isAsking = true }
                return !isAsking
            }
            guard isFree else { continue }
            defer { Self.isAsking.withLock { $0 = false } }
            do { try await ask(for: thread.backendPID) } catch {
                logger?.debug("can't look for sessions that block others", metadata: ["error": "\(error)"])
            }
        }
    }

    private func ask(for pid: Int32) async throws {
        let connection = try await Connection.connect(configuration)
        let query = endSilentBlockers(of: pid)
        let ended = try await connection.run { database in
            try database.query(query).map { try $0.decode(Int32.self, String.self) }
        }
        for (pid, name) in ended {
            logger?.warning(
                "ended a session that blocked others while its client was silent",
                metadata: ["pid": "\(pid)", "application_name": "\(name)"])
        }
    }

    /// Ends the sessions that block a session, directly or by blocking a blocker.
    private func endSilentBlockers(of pid: Int32) -> Query {
        """
        WITH RECURSIVE blocker AS (
            SELECT unnest(pg_blocking_pids(\(pid))) AS pid
             UNION
            SELECT unnest(pg_blocking_pids(b.pid)) FROM blocker AS b)
        SELECT a.pid, a.application_name, pg_terminate_backend(a.pid)
          FROM blocker AS b JOIN pg_stat_activity AS a ON a.pid = b.pid
         WHERE a.usename = current_user AND a.datname = current_database() AND a.wait_event = 'ClientRead'
           AND a.state_change < clock_timestamp() - \(Int64(patience / .microseconds(1))) * interval '1 microsecond'
        """
    }
}
