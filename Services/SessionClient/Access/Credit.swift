/// How many of something may be under way at a time.
actor Credit {
    private var left: Int
    private var waiters: [CheckedContinuation<Void, Never>] = []
    private var isClosed = false

    init(limit: Int) { left = limit }

    /// Lets all waiters go: no more room will be given.
    func close() {
        isClosed = true
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    /// Waits for room and takes it.
    func take() async {
        if isClosed { return }
        if left > 0 {
            left -= 1
        } else {
            await withCheckedContinuation { waiters.append($0) }
        }
    }

    /// Takes room while `body` runs.
    nonisolated func use<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        await take()
        do {
            let value = try await body()
            await give()
            return value
        } catch {
            await give()
            throw error
        }
    }

    /// Makes room for one, or so many.
    func give(_ count: Int = 1) {
        for _ in 0..<count {
            if waiters.isEmpty { left += 1 } else { waiters.removeFirst().resume() }
        }
    }
}
