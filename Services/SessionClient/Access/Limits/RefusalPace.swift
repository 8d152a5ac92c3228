import API
import Vocabulary

/// Slows down clients that go on asking although they are refused. A refusal costs about as much as a small answer, so a client
/// that asks again as soon as it is refused would take its share of the process without getting anything.
///
/// The first refusals of an address are answered at once. Then each waits its turn, and nothing else does.
struct RefusalPace: Sendable {
    private let rate = RateLimit<String>(EdgeLimits.refusals)
    /// Well below what a request may take (``RequestTime``).
    private static let patience: Duration = .seconds(5)

    /// Waits before a refusal is answered, if its address has had many. The task's cancellation ends the wait.
    func wait(_ code: APIError.Code, at address: String) async {
        guard code.httpStatus == 429 else { return }
        let delay = rate.delay(address, longest: Self.patience)
        guard delay > .zero else { return }
        LimitMetrics.hit(.refusals)
        try? await Task.sleep(for: delay)
    }
}
