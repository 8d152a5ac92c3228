import Testing
import Vocabulary

@testable import SessionClientService

@Suite
struct ProblemTests {
    @Test(
        "a problem says after how many seconds to retry, however many those are",
        arguments: [(0, 0), (1, 1), (999_999, 1), (1_000_001, 2), (-1, 0), (Int64.max, 9_223_372_036_855)])
    func retryAfter(microseconds: Int64, seconds: Int) {
        let rejection = Rejection(.idReused, "later", retryAfter: Interval(microseconds: microseconds))
        #expect(Problem(rejection).retryAfter == seconds)
    }
}
