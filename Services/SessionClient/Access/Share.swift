import Bus

/// Lets bulk work through one piece at a time, and rests after each in proportion to how long it took. So it never takes more than
/// a share of the database, however many people send files at once, and commands find it free most of the time.
struct Share: Sendable {
    private let turn = Credit(limit: 1)
    let rest: Rest

    /// - Parameter share: Of the time: 0.25 rests three times as long as it works.
    init(_ share: Double) { rest = Rest(times: 1 / share - 1, longest: .milliseconds(250)) }

    /// Runs `body` when it is its turn. Returns after the rest, so that the caller sends no more in the meantime.
    func use<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await turn.use {
            let begun = ContinuousClock.now
            let result: Result<Value, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            try? await Task.sleep(for: rest.after(ContinuousClock.now - begun))
            return try result.get()
        }
    }
}
