import CLibpq
import Glibc
import Synchronization

/// A connection as its own thread sees it: all calls block, and none can interleave with another's. It exists only
/// inside the closures given to ``Connection/run(_:)``.
public final class Database {
    private struct StatementKey: Hashable {
        let sql: String
        let types: [OID]
    }

    let connection: OpaquePointer
    private struct PreparedStatement {
        let name: String
        /// The segment of a pipeline in which its preparation was queued; nil once that is known to have succeeded.
        var segment: Int?
    }

    private var statements: [StatementKey: PreparedStatement] = [:]
    /// Counts the syncs of pipelines. A statement queued before a sync may have been skipped.
    private var segment = 0
    private var statementCount = 0
    private static var statementLimit: Int { 256 }
    private var isInPipeline = false
    /// How long the server may be silent while an answer is awaited; nil if the server itself sets no limit.
    var patience: Duration?
    let silence = Silence()
    private var abandoned: String?
    private var isClosed = false

    init(_ connection: OpaquePointer, patience: Duration?) {
        self.connection = connection
        self.patience = patience
        PQsetnonblocking(connection, 1)
    }

    deinit { close() }

    /// Frees the connection. Nothing may be asked of it afterwards.
    func close() {
        if !isClosed { PQfinish(connection) }
        isClosed = true
    }

    public enum TransactionStatus: Sendable {
        case idle, active, inTransaction, failed, unknown
    }

    /// As libpq knows it, without asking the server.
    public var transactionStatus: TransactionStatus {
        switch PQtransactionStatus(connection) {
        case PQTRANS_IDLE: .idle
        case PQTRANS_ACTIVE: .active
        case PQTRANS_INTRANS: .inTransaction
        case PQTRANS_INERROR: .failed
        default: .unknown
        }
    }

    /// For example 150018.
    public var serverVersion: Int { Int(PQserverVersion(connection)) }

    var backendPID: Int32 { PQbackendPID(connection) }

    var isLost: Bool { abandoned != nil || PQstatus(connection) != CONNECTION_OK }

    /// Abandons the connection, whatever the server may still send, and closes its socket.
    func abandon(_ reason: String? = nil) {
        abandoned = abandoned ?? reason ?? message
        shutdown(socket, Int32(SHUT_RDWR))
    }

    /// Ends what a body left open, so that the connection can be used again.
    func settle() {
        guard !isLost, isInPipeline || transactionStatus != .idle else { return }
        if !isInPipeline { _ = try? execute("ROLLBACK") }
        if isInPipeline || transactionStatus != .idle { abandon("it was left unfinished") }
    }

    // MARK: Statements

    /// Runs a statement and returns its rows. A statement is prepared once per connection and text.
    public func query(_ query: Query) throws(PostgresError) -> Rows {
        try makeRoom()
        let name: String
        switch statement(for: query) {
        case .known(let known): name = known
        case .new(let new):
            name = new
            try send { prepare(query, as: name) }
            do throws(PostgresError) { _ = try result(try onlyResult()) } catch {
                forget(query)
                throw error
            }
            confirm(query)
        }
        try send { execute(query, name) }
        do throws(PostgresError) { return try result(try onlyResult()) } catch {
            // invalid_sql_statement_name; feature_not_supported: "cached plan must not change result type"
            if error.sqlState == "26000" || error.sqlState == "0A000" { forget(query) }
            throw error
        }
    }

    /// Runs a statement and returns how many rows it changed.
    @discardableResult
    public func execute(_ query: Query) throws(PostgresError) -> Int { try self.query(query).affected }

    /// Runs a statement without parameters, unprepared.
    func queryOnce(_ sql: String) throws(PostgresError) -> Rows {
        try send { PQsendQueryParams(connection, sql, 0, nil, nil, nil, nil, 1) == 1 }
        return try result(try onlyResult())
    }

    /// Runs a script of several statements without parameters, in one implicit transaction unless it says otherwise.
    public func executeScript(_ sql: String) throws(PostgresError) {
        try send { PQsendQuery(connection, sql) == 1 }
        var failure: PostgresError?
        while let result = try nextResult() {
            do throws(PostgresError) { _ = try self.result(result) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    // MARK: Transactions

    /// PostgreSQL manual, section 13.2.
    public enum Isolation: String, Sendable {
        case readCommitted = "READ COMMITTED"
        case repeatableRead = "REPEATABLE READ"
    }

    /// Runs `body` in a transaction: commits when it returns, rolls back when it throws.
    /// - Throws: ``PostgresError/commitUnknown(_:)`` if the commit's answer was lost; what `body` throws.
    public func transaction<Result>(
        isolation: Isolation = .readCommitted, readOnly: Bool = false, _ body: (Database) throws -> Result
    ) throws -> Result {
        try execute("BEGIN ISOLATION LEVEL \(unescaped: isolation.rawValue)\(unescaped: readOnly ? " READ ONLY" : "")")
        let value: Result
        do { value = try body(self) } catch {
            if !isLost { _ = try? execute("ROLLBACK") }
            throw error
        }
        do throws(PostgresError) {
            guard try query("COMMIT").commandTag == "COMMIT" else { throw .rolledBack }
        } catch {
            if case .connectionLost(let reason) = error { throw PostgresError.commitUnknown(reason) }
            throw error
        }
        return value
    }

    // MARK: Pipelines

    /// Runs `body` in pipeline mode (PostgreSQL manual, section 34.5), where statements are queued and travel together.
    /// Whatever `body` leaves queued is flushed. If `body` throws, what it queued is sent and the results are dropped;
    /// rolling back an open transaction is left to the caller.
    public func pipeline<Result>(_ body: (Pipeline) throws -> Result) throws -> Result {
        guard !isLost else { throw lost() }
        precondition(!isInPipeline, "pipelines don't nest")
        try makeRoom()
        guard PQenterPipelineMode(connection) == 1 else { throw lost() }
        isInPipeline = true
        let pipeline = Pipeline(self)
        // With answers still to come, there is no way back: the connection's next user would get them.
        defer { if PQexitPipelineMode(connection) == 1 { isInPipeline = false } else { abandon() } }
        let value: Result
        do { value = try body(pipeline) } catch {
            try? pipeline.flush()
            throw error
        }
        try pipeline.flush()
        return value
    }

    /// Queues a statement, and its preparation if it is new. Returns whether a preparation's result comes first, or nil
    /// if nothing could be queued.
    func enqueue(_ query: Query) -> Bool? {
        switch statement(for: query) {
        case .known(let name): execute(query, name) ? false : nil
        case .new(let name): prepare(query, as: name) && execute(query, name) ? true : nil
        }
    }

    func confirm(_ query: Query) {
        statements[StatementKey(sql: query.sql, types: query.types)]?.segment = nil
    }

    func beginSegment() { segment += 1 }

    func forget(_ query: Query) {
        statements[StatementKey(sql: query.sql, types: query.types)] = nil
    }

    // MARK: Prepared statements

    private enum Statement {
        case known(String)
        case new(String)
    }

    private func statement(for query: Query) -> Statement {
        let key = StatementKey(sql: query.sql, types: query.types)
        // A preparation from before the last sync may have been skipped after an error.
        if let known = statements[key], known.segment == nil || known.segment == segment { return .known(known.name) }
        statementCount += 1
        // Its first word helps readers of pg_prepared_statements or a protocol trace.
        let name = "\(statementCount) \(query.sql.prefix { !$0.isWhitespace })"
        statements[key] = PreparedStatement(name: name, segment: segment)
        return .new(name)
    }

    /// Keeps ever-changing statements from filling the server's memory. A failed transaction accepts nothing but its
    /// end.
    private func makeRoom() throws(PostgresError) {
        guard statements.count >= Self.statementLimit, transactionStatus != .failed else { return }
        statements = [:]
        try send { PQsendQuery(connection, "DEALLOCATE ALL") == 1 }
        _ = try result(try onlyResult())
    }

    private func prepare(_ query: Query, as name: String) -> Bool {
        let types = query.types.map(\.rawValue)
        return PQsendPrepare(connection, name, query.sql, Int32(types.count), types) == 1
    }

    private func execute(_ query: Query, _ name: String) -> Bool {
        let count = query.ranges.count
        // A NULL pointer means NULL, so even empty values need an address.
        let empty: StaticString = ""
        return query.values.withUnsafeBytes { values in
            let pointers = query.ranges.map { range -> UnsafePointer<CChar>? in
                guard let range else { return nil }
                let base = values.baseAddress.map { $0 + range.lowerBound } ?? UnsafeRawPointer(empty.utf8Start)
                return base.assumingMemoryBound(to: CChar.self)
            }
            let lengths = query.ranges.map { Int32($0?.count ?? 0) }
            let formats = [Int32](repeating: 1, count: count)
            return PQsendQueryPrepared(connection, name, Int32(count), pointers, lengths, formats, 1) == 1
        }
    }

    // MARK: Waiting

    private func send(_ call: () -> Bool) throws(PostgresError) {
        guard call() else { throw lost() }
    }

    private func onlyResult() throws(PostgresError) -> OpaquePointer {
        guard let first = try nextResult() else { throw lost() }
        while let extra = try nextResult() { PQclear(extra) }
        return first
    }

    /// Waits for the next result, sending whatever is still unsent. Otherwise both sides could wait for each other with
    /// full buffers.
    func nextResult() throws(PostgresError) -> OpaquePointer? {
        var deadline = patience.map { ContinuousClock.now + $0 }
        defer { silence.end() }
        while true {
            let unsent = PQflush(connection)
            guard unsent >= 0 else { throw lost() }
            guard PQisBusy(connection) == 1 else { return PQgetResult(connection) }
            silence.start()
            var descriptor = pollfd(
                fd: PQsocket(connection), events: Int16(POLLIN) | (unsent > 0 ? Int16(POLLOUT) : 0), revents: 0)
            guard poll(&descriptor, 1, Self.milliseconds(until: deadline)) >= 0 || errno == EINTR else { throw lost() }
            if descriptor.revents & ~Int16(POLLOUT) != 0, PQconsumeInput(connection) == 0 { throw lost() }
            if descriptor.revents != 0 {
                deadline = patience.map { .now + $0 }
            } else if let passed = deadline, passed <= .now {
                abandon("the server didn't answer in time")
                throw lost()
            }
        }
    }

    /// Turns a result into rows or an error, and takes ownership of it.
    func result(_ result: OpaquePointer) throws(PostgresError) -> Rows {
        let rows = Rows(result)
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY, PGRES_SINGLE_TUPLE: return rows
        default: throw error(of: result)
        }
    }

    private func error(of result: OpaquePointer) -> PostgresError {
        func field(_ code: Character) -> String? {
            PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
        }
        guard let state = field("C") else { return lost() }
        let error = ServerError(
            sqlState: state, severity: field("V") ?? field("S") ?? "ERROR", message: field("M") ?? "",
            detail: field("D"),
            hint: field("H"), schema: field("s"), table: field("t"), column: field("c"), constraint: field("n"),
            context: field("W"))
        return error.severity == "FATAL" || error.severity == "PANIC"
            ? .connectionLost(error.description) : .server(error)
    }

    func lost() -> PostgresError { .connectionLost(abandoned ?? message) }

    private var message: String {
        let message = String(cString: PQerrorMessage(connection))
        return message.isEmpty ? "unknown reason" : message.trimmingSuffix { $0.isNewline }
    }
}

/// Since when a connection's thread has waited for an answer, readable from other threads.
final class Silence: Sendable {
    private let since = Mutex<ContinuousClock.Instant?>(nil)

    var begin: ContinuousClock.Instant? { since.withLock(\.self) }

    func start() { since.withLock { $0 = $0 ?? .now } }

    func end() { since.withLock { $0 = nil } }
}

extension String {
    func trimmingSuffix(while condition: (Character) -> Bool) -> String {
        var text = self[...]
        while let last = text.last, condition(last) { text.removeLast() }
        return String(text)
    }
}
