internal import CLibpq
public import Foundation

/// The PostgreSQL server that tests make their databases on: a scratch cluster of this run, or a server of yours.
///
/// `make test` starts one and says where it is in `TEST_DATABASE_URL`; set that yourself to use another. Tests that stop
/// or kill the server use a ``PrivateCluster``.
public struct TestCluster: Sendable {
    /// There is no server, or it refused a command.
    public struct Failure: Error, CustomStringConvertible {
        /// What went wrong and what to do.
        public let description: String
    }

    /// A superuser's connection string.
    public let superuserURL: String

    /// The server of this run.
    /// - Throws: ``Failure`` when `TEST_DATABASE_URL` isn't set.
    public static func shared() throws -> TestCluster {
        guard let url = ProcessInfo.processInfo.environment["TEST_DATABASE_URL"], !url.isEmpty else {
            throw Failure(
                description: """
                    This test needs PostgreSQL. Run 'make test', which starts one, or set TEST_DATABASE_URL to the \
                    connection string of a superuser on a server of yours.
                    """)
        }
        return TestCluster(superuserURL: url)
    }

    /// - Parameter superuserURL: A superuser's connection string.
    public init(superuserURL: String) {
        self.superuserURL = superuserURL
    }

    /// The connection string for a database and a role of this server. The server lets the role in as it lets the
    /// superuser in, so on a server of yours the roles need no passwords, or have the superuser's.
    /// - Parameters:
    ///   - database: The database.
    ///   - role: The role; the superuser unless given.
    /// - Throws: ``Failure`` when the superuser's connection string is malformed.
    public func url(database: String, role: String? = nil) throws -> String {
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(superuserURL, &message) else {
            let reason = message.map { String(cString: $0) } ?? "out of memory"
            PQfreemem(message)
            throw Failure(description: "TEST_DATABASE_URL is no connection string: \(reason)")
        }
        defer { PQconninfoFree(options) }
        var words: [String] = []
        var option = options
        while let keyword = option.pointee.keyword {
            let name = String(cString: keyword)
            let given = option.pointee.val.map { String(cString: $0) }
            let value = name == "dbname" ? database : name == "user" ? role ?? given : given
            if let value {
                let quoted = value.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
                words.append("\(name)='\(quoted)'")
            }
            option += 1
        }
        return words.joined(separator: " ")
    }

    /// Runs SQL as the superuser, in one transaction unless it says otherwise. Needs no process of its own, so tests may
    /// ask as often as they like.
    /// - Parameters:
    ///   - sql: The SQL: one statement or several.
    ///   - database: Where to run it; the superuser's own database unless given.
    /// - Returns: The rows as psql prints them, unaligned and without headers.
    /// - Throws: ``Failure`` with what the server said.
    @discardableResult
    public func psql(_ sql: String, database: String? = nil) async throws -> String {
        let url = try database.map { try self.url(database: $0) } ?? superuserURL
        return try await withCheckedThrowingContinuation { continuation in
            // libpq blocks.
            Self.queue.async { continuation.resume(with: Result { try Self.run(sql, at: url) }) }
        }
    }

    private static let queue = DispatchQueue(label: "SQL of tests", attributes: .concurrent)

    private static func run(_ sql: String, at url: String) throws -> String {
        let connection = PQconnectdb(url)
        defer { PQfinish(connection) }
        func failure() -> Failure {
            Failure(description: "\(sql): \(PQerrorMessage(connection).map { String(cString: $0) } ?? "out of memory")")
        }
        guard PQstatus(connection) == CONNECTION_OK else { throw failure() }
        _ = PQsetNoticeProcessor(connection, { _, _ in }, nil)
        guard PQsendQuery(connection, sql) == 1 else { throw failure() }
        let deadline = ContinuousClock.now + .seconds(300)
        var lines: [String] = []
        while true {
            while PQisBusy(connection) == 1 {
                // A server that says nothing must not keep the test waiting without end.
                var socket = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
                poll(&socket, 1, 1000)
                guard ContinuousClock.now < deadline else {
                    throw Failure(description: "\(sql): no answer within five minutes")
                }
                guard PQconsumeInput(connection) == 1 else { throw failure() }
            }
            guard let result = PQgetResult(connection) else { break }
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            case PGRES_TUPLES_OK:
                for row in 0..<PQntuples(result) {
                    let fields = (0..<PQnfields(result)).map { String(cString: PQgetvalue(result, row, $0)) }
                    lines.append(fields.joined(separator: "|"))
                }
            case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: break
            default: throw failure()
            }
        }
        return lines.joined(separator: "\n")
    }

    /// Runs a psql script as the superuser, and stops at its first error.
    /// - Parameters:
    ///   - file: The script.
    ///   - variables: psql variables.
    ///   - database: Where to run it; the superuser's own database unless given.
    /// - Returns: What it printed, unaligned and without headers.
    /// - Throws: ``Failure`` with what psql said.
    @discardableResult
    public func psql(
        file: URL, variables: [String: String] = [:], database: String? = nil
    ) async throws -> String {
        let settings = variables.sorted { $0.key < $1.key }.flatMap { ["--set", "\($0.key)=\($0.value)"] }
        return try await psql(settings + ["--file", file.path], database: database)
    }

    private func psql(_ arguments: [String], database: String?) async throws -> String {
        let url = try database.map { try self.url(database: $0) } ?? superuserURL
        let always = [
            "--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1", "--dbname", url,
        ]
        let psql = try await ChildProcess.start("/usr/bin/env", ["psql"] + always + arguments, name: "psql")
        let status = try await psql.waitForExit(within: .seconds(300))
        await psql.end()
        guard status == .exited(0) else {
            let said = psql.lines(on: .error).joined(separator: "\n")
            throw Failure(description: "psql \(arguments.joined(separator: " ")): \(said)")
        }
        return psql.lines(on: .output).joined(separator: "\n")
    }
}
