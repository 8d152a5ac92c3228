/// A token by which a push service knows who sends: made once, and used by all sends until it is due to be renewed.
actor SenderToken {
    struct Value: Sendable {
        let text: String
        /// Whose it is: what else a send needs that comes from the same material.
        var owner = ""
        /// What it was made of, such as a key.
        let material: String
        let lifetime: Duration
    }

    private let make: @Sendable () async throws -> Value
    private let material: @Sendable () throws -> String
    /// How old one must be before it is thrown away although what it is made of hasn't changed.
    private let leastAge: Duration
    private var current: (value: Value, made: ContinuousClock.Instant)?
    private var making: Task<Value, any Error>?
    /// Why none could be made, and until when nobody tries again.
    private var failure: (error: any Error, until: ContinuousClock.Instant)?
    private static var pause: Duration { .seconds(5) }

    /// - Parameters:
    ///   - material: Reads what it is made of.
    ///   - make: Makes another one.
    init(
        leastAge: Duration, material: @escaping @Sendable () throws -> String,
        make: @escaping @Sendable () async throws -> Value
    ) {
        (self.leastAge, self.material, self.make) = (leastAge, material, make)
    }

    /// The present token, or another one if it is due. Everybody who asks meanwhile waits for the same one.
    /// - Throws: why none can be made; for the next five seconds without another try.
    func value() async throws -> Value {
        if let current, .now < current.made + current.value.lifetime { return current.value }
        if let making { return try await making.value }
        if let failure, .now < failure.until { throw failure.error }
        let make = make
        let task = Task { try await make() }
        making = task
        defer { making = nil }
        do {
            let value = try await task.value
            (current, failure) = ((value, .now), nil)
            return value
        } catch {
            failure = (error, .now + Self.pause)
            throw error
        }
    }

    /// Makes another one for the next send, after a push service refused this one: if it is old enough, or what it is made of has
    /// changed. Otherwise another one would be the same, and push services refuse who renews too often.
    func discard(_ text: String) {
        guard let current, current.value.text == text else { return }
        let isChanged = (try? material()).map { $0 != current.value.material } ?? false
        if isChanged || .now - current.made >= leastAge { self.current = nil }
    }
}
