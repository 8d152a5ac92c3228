import Synchronization
import Testing

@testable import SessionClientService

@Suite
struct ShareTests {
    private struct Failure: Error {}

    @Test("pieces come one after the other, and a failed one makes way")
    func oneAtATime() async {
        let share = Share(0.5)
        let inside = Atomic(0)
        let most = Atomic(0)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try? await share.use {
                        most.max(inside.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
                        defer { inside.subtract(1, ordering: .relaxed) }
                        await Task.yield()
                        if number.isMultiple(of: 3) { throw Failure() }
                    }
                }
            }
        }
        #expect(most.load(ordering: .relaxed) == 1)
    }

    @Test("a piece's result comes after a rest of several times as long as it took")
    func rest() async throws {
        let clock = ContinuousClock()
        var work = Duration.zero
        let whole = try await clock.measure {
            try await Share(0.25).use { work = await clock.measure { try? await Task.sleep(for: .milliseconds(5)) } }
        }
        #expect(whole >= work * 3)
    }
}
