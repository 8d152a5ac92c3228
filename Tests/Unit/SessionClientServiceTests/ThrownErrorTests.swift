import Logging
import QuartetAPI
import Synchronization
import Testing

@testable import Postgres
@testable import SessionClientService

@Suite("What a request is answered with because of an error of the database")
struct ThrownErrorTests {
    @Test(
        "what passes is answered so that it is asked again (R15)",
        arguments: [
            "25006",  // read_only_sql_transaction, on a standby
            "40001",  // serialization_failure
            "40P01",  // deadlock_detected
            "53100",  // disk_full
            "53200",  // out_of_memory
            "53300",  // too_many_connections
            "55P03",  // lock_not_available
            "57014",  // query_canceled
            "57P01",  // admin_shutdown
            "58030",  // io_error
        ])
    func passing(sqlState: String) {
        for error in [Self.refusal(sqlState), .skipped(after: Self.refusal(sqlState))] {
            let answer = APIError(thrown: error, Logger(label: "test"))
            #expect(answer.code == .databaseUnavailable)
            #expect(answer.retryAfter == 1)
        }
    }

    @Test(
        "what a statement itself causes isn't, and says nothing of what went wrong inside (R15)",
        arguments: ["22P02", "23505", "42501", "42P01", "XX000"])
    func lasting(sqlState: String) {
        let answer = APIError(thrown: Self.refusal(sqlState), Logger(label: "test"))
        #expect(answer.code == .internal)
        #expect(answer.retryAfter == nil)
        #expect(!answer.detail.contains("secret"))
    }

    @Test("a connection that is lost or isn't to be had is answered so that it is asked again (R15)")
    func lost() {
        let logger = Logger(label: "test")
        for error in [
            PostgresError.connectionLost("cut"), .connectFailed("refused"), .commitUnknown("cut"), .cancelled,
        ] {
            #expect(APIError(thrown: error, logger).code == .databaseUnavailable)
        }
        #expect(APIError(thrown: PostgresError.poolExhausted, logger).code == .overloaded)
    }

    @Test("however often requests fail, the log has a few lines about it (T21)")
    func fewLines() {
        let lines = LogLines()
        let logger = Logger(label: "test") { _ in lines }
        for _ in 0..<500 {
            _ = APIError(thrown: Self.refusal("57014"), logger)
            _ = APIError(thrown: Self.refusal("XX000"), logger)
        }
        #expect((1...40).contains(lines.errors))
    }

    @Test("what is refused for a reason that the caller hears makes no logger (T21)")
    func quiet() {
        func logger() -> Logger {
            Issue.record("nothing is logged")
            return Logger(label: "test")
        }
        let limited = APIError(thrown: APIError(.tooManyRequests), logger())
        let overloaded = APIError(thrown: PostgresError.poolExhausted, logger())
        #expect(limited.code == .tooManyRequests && overloaded.code == .overloaded)
    }

    private static func refusal(_ sqlState: String) -> PostgresError {
        .server(
            ServerError(
                sqlState: sqlState, severity: "ERROR", message: "a secret", detail: nil, hint: nil, schema: nil,
                table: nil,
                column: nil, constraint: nil, context: nil))
    }
}

/// Counts a log's errors.
private final class LogLines: LogHandler, Sendable {
    private let count = Mutex(0)
    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { nil }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    var errors: Int { count.withLock(\.self) }

    func log(event: LogEvent) {
        if event.level >= .error { count.withLock { $0 += 1 } }
    }
}
