import Testing

@testable import Bus

@Suite("Rests")
struct RestTests {
    private static let rests: [(of: String, rest: Rest, longest: Duration)] = [
        ("retention", Retention.rest, .milliseconds(250)),
        ("the first repair of timers", TimerRepair.firstRest, .seconds(5)),
        ("later repairs", TimerRepair.laterRest, .seconds(5)),
        ("turns of what goes ahead", Ahead.rest, .seconds(2)),
    ]

    @Test("work rests in proportion to its pieces, but after one that stood still no longer than it may")
    func stalled() {
        for (name, rest, longest) in Self.rests {
            #expect(rest.after(.milliseconds(10)) == Duration.milliseconds(10) * rest.times, "\(name)")
            #expect(rest.after(.seconds(30)) == longest, "\(name)")
        }
    }
}
