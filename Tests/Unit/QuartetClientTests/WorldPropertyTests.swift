import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetVocabulary
import TestKit
import Testing

@testable import QuartetClient

/// Random lives in a world that fails in all ways that it can. `TEST_SEED` says which is the first, and `WORLD_SEEDS` how many follow
/// from it: one if only the first is given.
@Suite(.timeLimit(.minutes(60)))
struct WorldPropertyTests {
    @Test(
        "whatever is killed, cut, full or slow: what a person did happens once, in order and in time, and all apps show what the server has (S20, S22, R14, P36)"
    )
    func plays() async throws {
        let environment = ProcessInfo.processInfo.environment
        let usual = environment["TEST_SEED"] == nil ? Soak.count(100, long: 20_000) : 1
        let number = environment["WORLD_SEEDS"].flatMap { UInt64($0) } ?? UInt64(usual)
        let seeds = (0..<number).map { testSeed &+ $0 }
        print("\(seeds.count) plays from seed \(testSeed)")
        var counts = WorldPlay.Counts()
        var wrongs = 0
        for seed in seeds {
            do {
                var play = try await WorldPlay(seed: seed)
                try await play.run()
                counts.add(play.counts)
            } catch {
                Issue.record(error, "seed \(seed) (repeat with TEST_SEED=\(seed))")
                wrongs += 1
                // More of them say no more.
                if wrongs == 5 { return }
            }
        }
        print(counts)
        // Fewer may miss something by chance.
        guard seeds.count >= 400 else { return }
        let least = seeds.count / 20
        for act in WorldAct.allCases { #expect(counts.commands[act.rawValue, default: 0] >= least, "\(act)") }
        for fault in WorldPlay.Fault.allCases { #expect(counts.faults[fault, default: 0] >= least, "\(fault)") }
        for waits in [true, false] { #expect(counts.kills[waits, default: 0] >= least) }
        #expect(counts.takenBack >= least)
        for waiting in Sending.Precedence.allCases {
            for made in Sending.Precedence.allCases {
                let pair = "\(waiting.rawValue) \(made.rawValue)"
                #expect(counts.pairs[pair, default: 0] >= least, "\(pair)")
            }
        }
    }

    @Test("the plays make every command that an app keeps (P36)")
    func everyCommand() {
        let kept = appCommands.filter { $0.value.sending.mayWait }
        #expect(Set(kept.keys) == Set(WorldAct.allCases.map(\.rawValue)))
    }
}

extension WorldPlay.Counts {
    fileprivate mutating func add(_ other: Self) {
        commands.merge(other.commands) { $0 + $1 }
        faults.merge(other.faults) { $0 + $1 }
        pairs.merge(other.pairs) { $0 + $1 }
        kills.merge(other.kills) { $0 + $1 }
        takenBack += other.takenBack
    }
}
