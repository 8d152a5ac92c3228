import Logging
import Postgres
import QuartetAPI
import QuartetVocabulary

extension APIError {
    /// What a request is refused with because of an error that was thrown while it was answered.
    /// - Parameter logger: Gets what is for nobody else. Made only if there is such a thing.
    init(thrown error: any Error, _ logger: @autoclosure () -> Logger) {
        switch error {
        case let error as APIError: self = error
        case let rejection as Rejection: self.init(rejection)
        case let error as MessageError:
            guard case .malformed(_, let reason, let field) = error else {
                self.init(.unknownCommand, error.description)
                return
            }
            self.init(.malformed, field.map { "\($0): \(reason)" } ?? reason, field: field)
        case let error as PostgresError where error.isConnectionLost:
            self.init(.databaseUnavailable, "The database can't be reached; try again in a moment.", retryAfter: 1)
        // The request's time was up: see Patience.
        case PostgresError.cancelled, is CancellationError:
            self.init(
                .databaseUnavailable,
                "The database doesn't answer; try again in a moment, with the same Idempotency-Key if the request had one.",
                retryAfter: 1)
        case PostgresError.poolExhausted: self.init(.overloaded, retryAfter: 1)
        case let error as PostgresError where error.sqlState.map({ Self.passing.contains($0.prefix(2)) }) ?? false:
            FailureLog.note(.database, "the database couldn't do what a request needs", error, logger())
            self.init(
                .databaseUnavailable,
                "The database can't do this now; try again in a moment, with the same Idempotency-Key if the request had one.",
                retryAfter: 1)
        default:
            // What went wrong inside is for the log, not for the caller.
            FailureLog.note(.internal, "a request failed", error, logger())
            self.init(.internal)
        }
    }

    /// Classes of SQLSTATE (PostgreSQL manual, appendix A) for what passes: a server that only reads, transactions in each
    /// other's way, too little memory or disk, a lock that wasn't to be had, a server that stops, a disk that fails.
    private static let passing: Set<Substring> = ["25", "40", "53", "55", "57", "58"]
}
