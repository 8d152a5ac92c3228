import Bus
import Synchronization
import Testing

@testable import SessionClientService

@Suite
struct ShareTests {
    private struct Failure: Error {}

    /// How many are inside, and how many ever were at a time.
    private final class Count: Sendable {
        private let state = Mutex((now: 0, most: 0))

        var most: Int { state.withLock(\.most) }
        func enter() { state.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) } }
        func leave() { state.withLock { $0.now -= 1 } }
    }

    @Test("pieces come one after the other, and a failed one makes way")
    func oneAtATime() async {
        let share = Share(0.5)
        let count = Count()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try? await share.use {
                        count.enter()
                        defer { count.leave() }
                        await Task.yield()
                        if number.isMultiple(of: 3) { throw Failure() }
                    }
                }
            }
        }
        #expect(count.most == 1)
    }

    @Test("a piece's result comes after a rest of several times as long as it took")
    func rest() async throws {
        let clock = ContinuousClock()
        var work = Duration.zero
        let share = Share(0.25)
        let whole = try await clock.measure {
            try await share.use { work = await clock.measure { try? await Task.sleep(for: .milliseconds(5)) } }
        }
        #expect(whole - work >= share.rest.after(work))
        #expect(share.rest.after(.milliseconds(10)) == .milliseconds(30))
        #expect(share.rest.after(.seconds(30)) == .milliseconds(250), "a database that was away owes nobody a rest")
    }
}
