import Testing

/// Lets so many in at a time; others wait in their order, behind those that go first.
actor Room {
    /// Whether the task that asks goes first: what takes longest, so that it isn't left to run alone once all others are done.
    @TaskLocal static var goesFirst = false

    /// The tests of a `.serialized` suite are such a long task together: each asks only when the one before it is done.
    private static var isOneOfMany: Bool { Test.current?.traits.contains { $0 is ParallelizationTrait } == true }

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
            let isFirst = Self.goesFirst || Self.isOneOfMany
            await withCheckedContinuation { if isFirst { first.append($0) } else { others.append($0) } }
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
