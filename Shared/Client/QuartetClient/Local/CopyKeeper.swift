import Foundation
import Synchronization
import Vocabulary

/// Has the device keep copies of what the server has, encoded and written beside the stream.
final class CopyKeeper: Sendable {
    /// A copy to be kept.
    struct Pending: Sendable {
        let account: AccountID
        let sequence: String
        let place: String
        let asOf: Instant
        let encode: @Sendable () throws -> Data
        /// Items whose effects it has.
        var finished: [OutboxItem.ID]
    }

    private let store: AccountStore
    private let pending = Mutex<[String: Pending]>([:])
    private let kicks = Broadcast<Void>()

    init(_ store: AccountStore) {
        self.store = store
    }

    /// Replaces an earlier copy of the sequence that still waits.
    func keep(_ copy: Pending) {
        pending.withLock { pending in
            var copy = copy
            copy.finished += pending[copy.sequence]?.finished ?? []
            pending[copy.sequence] = copy
        }
        kicks.send(())
    }

    func forget() { pending.withLock { $0 = [:] } }

    /// Writes what is to be kept, until the task is cancelled.
    func run() async {
        let kicked = kicks.subscribe(keeping: 1) { () }
        for await _ in kicked { await finish() }
    }

    /// Writes what still waits.
    func finish() async {
        let waiting = pending.withLock { pending in
            defer { pending = [:] }
            return pending
        }
        for (account, copies) in Dictionary(grouping: waiting.values, by: \.account) {
            let encoded = copies.compactMap { copy in
                (try? copy.encode()).map {
                    LocalCopy(sequence: copy.sequence, place: copy.place, state: $0, asOf: copy.asOf)
                }
            }
            // A device that can't keep them loads them from the server.
            try? await store.save(encoded, finishing: copies.flatMap(\.finished), of: account)
        }
    }
}
