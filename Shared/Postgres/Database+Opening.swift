import CLibpq
import Glibc

extension Database {
    /// Connects within the configured time. From then on, no answer is awaited for much longer than the server lets a
    /// statement run.
    static func open(_ configuration: Configuration) throws(PostgresError) -> Database {
        let database = Database(try link(configuration), patience: configuration.connectTimeout)
        // It may come from the role, the connection string or the configuration. The server knows which.
        do throws(PostgresError) {
            let limit = try database.queryOnce(
                "SELECT (extract(epoch FROM current_setting('statement_timeout')::interval) * 1000)::int8"
            ).only?.decode(0, as: Int64.self)
            database.patience = limit.flatMap { $0 > 0 ? .milliseconds($0) + slack : nil }
        } catch {
            throw .connectFailed("\(error)")
        }
        return database
    }

    /// How much longer to wait for an answer than the statement may take.
    private static var slack: Duration { .seconds(5) }

    private static func link(_ configuration: Configuration) throws(PostgresError) -> OpaquePointer {
        guard configuration.isReadable else {
            throw .connectFailed(
                "the connection string is neither a URI nor keywords and values that libpq knows; in a URI, special characters "
                    + "must be percent-encoded")
        }
        let keywords = configuration.keywords
        var names = keywords.map { strdup($0.0) }
        var values = keywords.map { strdup($0.1) }
        defer { for text in names + values { free(text) } }
        names.append(nil)
        values.append(nil)
        let connection = names.withUnsafeBufferPointer { names in
            values.withUnsafeBufferPointer { values in
                names.withMemoryRebound(to: UnsafePointer<CChar>?.self) { names in
                    values.withMemoryRebound(to: UnsafePointer<CChar>?.self) { values in
                        PQconnectStartParams(names.baseAddress, values.baseAddress, 1)
                    }
                }
            }
        }
        guard let connection else { throw .connectFailed("out of memory") }
        do throws(PostgresError) {
            try finish(connection, until: .now + configuration.connectTimeout)
        } catch {
            PQfinish(connection)
            throw error
        }
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
        return connection
    }

    private static func finish(
        _ connection: OpaquePointer, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        guard PQstatus(connection) != CONNECTION_BAD else { throw failed(connection) }
        var wanted = PGRES_POLLING_WRITING
        while wanted != PGRES_POLLING_OK {
            guard wanted != PGRES_POLLING_FAILED else { throw failed(connection) }
            var descriptor = pollfd(
                fd: PQsocket(connection), events: Int16(wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT), revents: 0)
            let ready = poll(&descriptor, 1, Self.milliseconds(until: deadline))
            guard ready != 0 else { throw .connectFailed("the server didn't answer in time") }
            guard ready > 0 || errno == EINTR else { throw .connectFailed("can't wait for the socket") }
            wanted = PQconnectPoll(connection)
        }
    }

    private static func failed(_ connection: OpaquePointer) -> PostgresError {
        .connectFailed(String(cString: PQerrorMessage(connection)).trimmingSuffix { $0.isNewline })
    }

    /// Milliseconds for `poll`, rounded up so that the deadline has passed when it returns; -1, which means forever,
    /// for nil.
    static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        return Int32(min(max(0, ((deadline - .now) / .milliseconds(1)).rounded(.up)), 1e9))
    }
}
