import CLibpq

/// Statements that travel together. Their results are available after ``flush()``.
public final class Pipeline {
    private enum Entry {
        case preparation(Query)
        case statement(Pending, Query)
        case sync
    }

    private let database: Database
    private var entries: [Entry] = []
    private var isSynced = true
    private var failure: PostgresError?
    /// The first error since the transaction began: why the server refuses all else of it and answers its COMMIT with ROLLBACK.
    private var firstError: PostgresError?

    init(_ database: Database) {
        self.database = database
    }

    /// Queues a statement.
    @discardableResult
    public func query(_ query: Query) -> Pending { enqueue(query, Pending(isCommit: false)) }

    /// Queues a COMMIT. Its ``Pending/check()`` throws unless the server committed.
    @discardableResult
    public func commit() -> Pending { enqueue("COMMIT", Pending(isCommit: true)) }

    /// Ends a segment: after an error, statements are skipped up to the next sync.
    public func sync() {
        guard failure == nil else { return }
        guard PQpipelineSync(database.connection) == 1 else {
            failure = database.lost()
            return
        }
        entries.append(.sync)
        isSynced = true
        database.beginSegment()
    }

    /// Syncs, sends everything queued and reads every result, writing and reading in turns.
    /// - Throws: Only if the connection is lost. A statement's error is in its ``Pending``.
    public func flush() throws(PostgresError) {
        if !isSynced { sync() }
        try readAll()
    }

    /// Like ``flush()`` without the sync: the implicit transaction stays open.
    public func receive() throws(PostgresError) {
        if failure == nil, PQsendFlushRequest(database.connection) != 1 { failure = database.lost() }
        try readAll()
    }

    private func readAll() throws(PostgresError) {
        let entries = entries
        self.entries = []
        var cause: PostgresError?
        for (index, entry) in entries.enumerated() {
            do throws(PostgresError) {
                if let failure { throw failure }
                try read(entry, &cause)
            } catch {
                failure = error
                for unread in entries[index...] { if case .statement(let pending, _) = unread { pending.lose(error) } }
                break
            }
        }
        if let failure { throw failure }
    }

    private func enqueue(_ query: Query, _ pending: Pending) -> Pending {
        guard failure == nil else {
            pending.lose(failure ?? .closed)
            return pending
        }
        guard let isPreparing = database.enqueue(query) else {
            let error = database.lost()
            failure = error
            pending.lose(error)
            return pending
        }
        if isPreparing { entries.append(.preparation(query)) }
        entries.append(.statement(pending, query))
        isSynced = false
        return pending
    }

    private func read(_ entry: Entry, _ cause: inout PostgresError?) throws(PostgresError) {
        guard let result = try database.nextResult() else { throw database.lost() }
        if case .sync = entry {
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_PIPELINE_SYNC else { throw database.lost() }
            cause = nil
            return
        }
        let isSkipped = PQresultStatus(result) == PGRES_PIPELINE_ABORTED
        let outcome: Result<Rows, PostgresError>
        if isSkipped {
            PQclear(result)
            outcome = .failure(.skipped(after: cause ?? .closed))
        } else {
            do throws(PostgresError) { outcome = .success(try database.result(result)) } catch {
                if case .connectionLost = error { throw error }
                // in_failed_sql_transaction: an earlier segment has the reason.
                let reason = error.sqlState == "25P02" ? firstError ?? error : error
                outcome = .failure(reason)
                cause = cause ?? reason
                firstError = firstError ?? error
            }
        }
        while let extra = try database.nextResult() { PQclear(extra) }
        switch entry {
        case .preparation(let query):
            if case .success = outcome { database.confirm(query) } else { database.forget(query) }
        case .statement(let pending, let query):
            if case .failure(let error) = outcome, error.sqlState == "26000" || error.sqlState == "0A000" {
                database.forget(query)
            }
            pending.outcome = outcome
            let tag = try? outcome.get().commandTag
            guard !isSkipped, pending.isCommit || tag == "BEGIN" || tag == "ROLLBACK" else { break }
            if pending.isCommit, let tag, tag != "COMMIT" { pending.outcome = .failure(firstError ?? .rolledBack) }
            firstError = nil
        case .sync: break
        }
    }
}

/// The result of a queued statement, available once its pipeline was flushed.
public final class Pending {
    fileprivate var outcome: Result<Rows, PostgresError>?
    fileprivate let isCommit: Bool

    init(isCommit: Bool) {
        self.isCommit = isCommit
    }

    public var isDone: Bool { outcome != nil }

    /// - Throws: The statement's error, or the error for which it was skipped.
    public func rows() throws(PostgresError) -> Rows {
        guard let outcome else { preconditionFailure("flush the pipeline before reading results") }
        return try outcome.get()
    }

    /// Throws if the statement failed. A COMMIT that was answered with ROLLBACK throws the error that caused it.
    public func check() throws(PostgresError) { _ = try rows() }

    fileprivate func lose(_ error: PostgresError) {
        guard outcome == nil else { return }
        outcome = .failure(isCommit ? .commitUnknown("\(error)") : error)
    }
}

extension Pending? {
    /// The rows of a statement; none if it wasn't queued.
    @inlinable
    public var rowsIfAsked: [Row] {
        get throws(PostgresError) {
            guard let rows = try self?.rows() else { return [] }
            return (0..<rows.count).map { rows[$0] }
        }
    }
}
