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
        var last = 0
        /// Those that wait for their turn or have it.
        var waiting: Set<Int> = []
    }

    private let turns = Mutex<[Subject: Turn]>([:])

    /// How many wait for their turn or have it.
    func callers(of subject: Subject) -> Int { turns.withLock { $0[subject]?.waiting.count ?? 0 } }

    /// Runs `body` when its turn has come, unless a newer one waits by then.
    func run(_ subject: Subject, _ body: () async throws(QuartetError) -> Void) async throws(QuartetError) {
        let (lane, number) = turns.withLock { turns in
            var turn = turns[subject] ?? Turn()
            turn.last += 1
            turn.waiting.insert(turn.last)
            turns[subject] = turn
            return (turn.lane, turn.last)
        }
        defer { leave(subject, number) }
        let result = await withTaskCancellationHandler {
            do throws(QuartetError) {
                try await lane.run { () async throws(QuartetError) in
                    guard turns.withLock({ $0[subject]?.waiting.max() == number }) else { return }
                    try await body()
                }
                return Result<Void, QuartetError>.success(())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            // The newest of those that still wait is sent.
            turns.withLock { _ = $0[subject]?.waiting.remove(number) }
        }
        try result.get()
    }

    private func leave(_ subject: Subject, _ number: Int) {
        turns.withLock { turns in
            turns[subject]?.waiting.remove(number)
            if turns[subject]?.waiting.isEmpty == true { turns[subject] = nil }
        }
    }
}
