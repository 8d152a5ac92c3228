import QuartetClient
import TestKit
import Testing

@Suite
struct ReconnectionPolicyTests {
    @Test("the longest delays of each policy, and where its attempts end (T3)")
    func limits() {
        func limits(_ policy: ReconnectionPolicy, _ attempts: Range<Int>) -> [Duration] {
            attempts.map { policy.limit(beforeAttempt: $0) }
        }
        #expect(limits(.standard, 1..<8) == [1, 2, 4, 8, 16, 30, 30].map { .seconds($0) })
        #expect(limits(.aggressive, 1..<4) == [500, 750, 1125].map { .milliseconds($0) })
        #expect(ReconnectionPolicy.aggressive.limit(beforeAttempt: 1_000_000) == .seconds(60))
        #expect(ReconnectionPolicy.forever.limit(beforeAttempt: .max) == .seconds(30))
        #expect(ReconnectionPolicy.standard.attempts == 5 && ReconnectionPolicy.aggressive.attempts == 10)
        #expect(ReconnectionPolicy.disabled.attempts == 0 && ReconnectionPolicy.forever.attempts == nil)
    }

    @Test("settings that make no sense are moved to the nearest that do (T3)")
    func clamping() {
        let policy = ReconnectionPolicy(attempts: -3, initial: .seconds(-1), maximum: .seconds(-5), multiplier: .nan)
        #expect(policy == ReconnectionPolicy(attempts: 0, initial: .zero, maximum: .zero, multiplier: 1))
        let shrinking = ReconnectionPolicy(attempts: 2, initial: .seconds(2), maximum: .seconds(1), multiplier: 0.5)
        #expect(shrinking.limit(beforeAttempt: 9) == .seconds(2))
    }
}
