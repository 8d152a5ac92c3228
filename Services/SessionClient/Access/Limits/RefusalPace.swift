import QuartetAPI
import QuartetVocabulary

/// Slows down clients that go on asking although they are refused. A refusal costs about as much as a small answer, so a client
/// that asks again as soon as it is refused would take its share of the process without getting anything.
///
/// The first refusals of an address are answered at once. Then each waits its turn, and nothing else does. As what waits takes room,
/// and its client may be gone, only so many do; the others are answered at once.
struct RefusalPace: Sendable {
    private enum Everyone { case all }

    private let rate = RateLimit<String>(EdgeLimits.refusals)
    private let ofAddress = Places<String>(limit: 100)
    private let all = Places<Everyone>(limit: 1000)
    /// Well below what a request may take (``RequestTime``).
    private static let patience: Duration = .seconds(5)

    /// Waits before a refusal is answered, if its address has had many. The task's cancellation ends the wait.
    func wait(_ code: APIError.Code, at address: String) async {
        guard code.httpStatus == 429 else { return }
        let delay = rate.delay(address, longest: Self.patience)
        guard delay > .zero else { return }
        LimitMetrics.hit(.refusals)
        guard let place = ofAddress.enter(address) else { return }
        defer { place.leave() }
        guard let seat = all.enter(.all) else { return }
        defer { seat.leave() }
        try? await Task.sleep(for: delay)
    }
}
