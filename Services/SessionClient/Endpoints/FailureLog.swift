import Logging
import Metrics

/// Lines about what failed for a caller. Callers can make as many failures as they like, so all are counted in a metric, and the
/// log has the first of them as errors.
enum FailureLog {
    /// What failed, in the metric's label.
    enum Cause: String, Sendable {
        /// The database couldn't do it then.
        case database
        case `internal`, stream
        /// A code didn't get on its way to a phone.
        case code
    }

    private static let lines = RateLimit<Cause>(Rate(10, per: .minute))

    static func note(_ cause: Cause, _ text: Logger.Message, _ error: any Error, _ logger: Logger) {
        Counter(label: "quartet_caller_failures_total", dimensions: [("cause", cause.rawValue)]).increment()
        logger.log(level: lines.admit(cause) ? .error : .debug, text, metadata: ["error": "\(error)"])
    }
}
