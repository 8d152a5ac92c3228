/// Lets so many in at a time; others wait in their order, behind those that go first.
actor Room {
    /// Whether the task that asks goes first: what takes longest, so that it isn't left to run alone once all others are done.
    @TaskLocal static var goesFirst = false

    private var left: Int
    private var first: [CheckedContinuation<Void, Never>] = []
    private var others: [CheckedContinuation<Void, Never>] = []

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
        if left > 0 {
            left -= 1
        } else {
            await withCheckedContinuation { if Self.goesFirst { first.append($0) } else { others.append($0) } }
        }
    }

    private func leave() {
        if !first.isEmpty {
            first.removeFirst().resume()
        } else if !others.isEmpty {
            others.removeFirst().resume()
        } else {
            left += 1
        }
    }
}
