import QuartetAPI
import QuartetVocabulary
import Synchronization

/// Has one signal of a subject be sent at a time, and of those that wait the newest: of a cursor, only where it is now matters.
final class SignalTurns: Sendable {
    struct Subject: Hashable, Sendable {
        private let group: GroupID
        private let topic: String
        private let recipients: [AccountID]?

        init(_ group: GroupID, _ signal: SignalRequest) {
            (self.group, topic, recipients) = (group, signal.topic, signal.to)
        }
    }

    private struct Turn: Sendable {
        let lane = Lane()
        var newest = 0
        var callers = 0
    }

    private let turns = Mutex<[Subject: Turn]>([:])

    /// How many wait for their turn or have it.
    func callers(of subject: Subject) -> Int { turns.withLock { $0[subject]?.callers ?? 0 } }

    /// Runs `body` when its turn has come, unless a newer one waits by then.
    func run(_ subject: Subject, _ body: () async throws(QuartetError) -> Void) async throws(QuartetError) {
        let (lane, number) = turns.withLock { turns in
            var turn = turns[subject] ?? Turn()
            turn.newest += 1
            turn.callers += 1
            turns[subject] = turn
            return (turn.lane, turn.newest)
        }
        defer {
            turns.withLock { turns in
                turns[subject]?.callers -= 1
                if turns[subject]?.callers == 0 { turns[subject] = nil }
            }
        }
        try await lane.run { () async throws(QuartetError) in
            guard turns.withLock({ $0[subject]?.newest == number }) else { return }
            try await body()
        }
    }
}
