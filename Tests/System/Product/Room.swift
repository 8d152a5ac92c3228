/// Lets so many in at a time; others wait in their order.
actor Room {
    private var left: Int
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(for count: Int) {
        left = count
    }

    /// Runs `body` when there is room.
    nonisolated func use<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        await enter()
        do {
            let value = try await body()
            await leave()
            return value
        } catch {
            await leave()
            throw error
        }
    }

    private func enter() async {
        if left > 0 { left -= 1 } else { await withCheckedContinuation { waiters.append($0) } }
    }

    private func leave() {
        if waiters.isEmpty { left += 1 } else { waiters.removeFirst().resume() }
    }
}
