import API
import Metrics

/// Counts what was refused because a limit was reached.
enum LimitMetrics {
    /// - Parameter limit: The code of the refusal; for what ends without an answer, a word.
    static func hit(_ limit: String) {
        Counter(label: "quartet_limits_hit_total", dimensions: [("limit", limit)]).increment()
    }
}

extension APIError.Code {
    /// Whether it says that a limit was reached.
    var isLimit: Bool {
        switch self {
        case .overloaded, .limitReached, .tooManyGroups, .groupTooLarge, .tooManyAttachments, .accountStorageFull,
            .groupStorageFull, .uploadsFull, .tooManyPixels:
            true
        default: [408, 413, 414, 429].contains(httpStatus)
        }
    }
}
