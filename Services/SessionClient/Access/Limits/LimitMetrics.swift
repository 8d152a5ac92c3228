import Metrics
import QuartetAPI

/// Counts what was refused because a limit was reached.
enum LimitMetrics {
    static func hit(_ code: APIError.Code) { counter(code.rawValue).increment() }
    static func hit(_ word: LimitHit.Word) { counter(word.rawValue).increment() }

    /// Shows those of ``EdgeLimits`` before they are hit.
    static func show() {
        for label in EdgeLimits.all.compactMap(\.hit.label) { counter(label).increment(by: 0) }
    }

    private static func counter(_ limit: String) -> Counter {
        Counter(label: "quartet_limits_hit_total", dimensions: [("limit", limit)])
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
