import Foundation
import QuartetVocabulary
import Synchronization

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
    private struct Waiting: Sendable {
        var copies: [String: Pending] = [:]
        /// Counts how often all of it was forgotten.
        var forgotten = 0
    }

    private let waiting = Mutex(Waiting())
    /// The sequences of which the device has a copy.
    private let kept = Mutex<Set<String>>([])
    /// Writes one after the other.
    private let lastWrite = Mutex<Task<Void, Never>?>(nil)
    private let kicks = Broadcast<Void>()
    private let workplace: (any Workplace)?
    /// The device has removed these items, or else has a copy that isn't older.
    private let onFinished: @Sendable ([OutboxItem.ID], _ isWritten: Bool) -> Void

    init(
        _ store: AccountStore, _ workplace: (any Workplace)?,
        onFinished: @escaping @Sendable ([OutboxItem.ID], _ isWritten: Bool) -> Void
    ) {
        self.store = store
        self.workplace = workplace
        self.onFinished = onFinished
    }

    /// Replaces an earlier copy of the sequence that still waits.
    func keep(_ copy: Pending) {
        waiting.withLock { waiting in
            var copy = copy
            copy.finished += waiting.copies[copy.sequence]?.finished ?? []
            waiting.copies[copy.sequence] = copy
        }
        kicks.send(())
    }

    /// Tries again to write what the device failed to write.
    func retry() {
        if waiting.withLock({ !$0.copies.isEmpty }) { kicks.send(()) }
    }

    /// Has copies that weren't written wait again, unless they were forgotten meanwhile.
    private func putBack(_ copies: [Pending], unlessForgottenSince forgotten: Int) {
        waiting.withLock { waiting in
            guard waiting.forgotten == forgotten else { return }
            for copy in copies {
                if waiting.copies[copy.sequence] == nil {
                    waiting.copies[copy.sequence] = copy
                } else {
                    waiting.copies[copy.sequence]?.finished += copy.finished
                }
            }
        }
    }

    func forget() {
        waiting.withLock { waiting in
            waiting.copies = [:]
            waiting.forgotten += 1
        }
        kept.withLock { $0 = [] }
    }

    /// Whether the device has a copy of a sequence, however old.
    func hasKept(_ sequence: String) -> Bool { kept.withLock { $0.contains(sequence) } }

    func noteKept(_ sequence: String) { kept.withLock { _ = $0.insert(sequence) } }

    /// Writes what is to be kept, until the task is cancelled.
    func run() async {
        let kicked = kicks.subscribe(keeping: 1) { () }
        for await _ in kicked { await finish() }
    }

    /// Writes what still waits, also for a task that is cancelled.
    func finish() async {
        let write = lastWrite.withLock { last in
            let write = Task(executorPreference: workplace) { [last] in
                await last?.value
                await self.write()
            }
            last = write
            return write
        }
        await write.value
    }

    private func write() async {
        let (waiting, forgotten) = waiting.withLock { waiting in
            defer { waiting.copies = [:] }
            return (waiting.copies, waiting.forgotten)
        }
        for (account, copies) in Dictionary(grouping: waiting.values, by: \.account) {
            var left = copies
            do {
                if try await save(copies, of: account) { continue }
                // Another process may have kept one of them alone.
                while let copy = left.last {
                    let isWritten = copies.count > 1 ? try await save([copy], of: account) : false
                    if !isWritten { onFinished(copy.finished, false) }
                    left.removeLast()
                }
            } catch {
                // The device still has the items. What it has of the sequences is older, which costs a restart some events.
                putBack(left, unlessForgottenSince: forgotten)
            }
        }
    }

    /// - Returns: False if the device has one that isn't older: then it keeps none.
    private func save(_ copies: [Pending], of account: AccountID) async throws(QuartetError) -> Bool {
        let encoded = copies.compactMap { copy in
            (try? copy.encode()).map {
                LocalCopy(sequence: copy.sequence, place: copy.place, state: $0, asOf: copy.asOf)
            }
        }
        let finished = copies.flatMap(\.finished)
        guard try await store.save(encoded, finishing: finished, of: account) else { return false }
        onFinished(finished, true)
        for copy in encoded { noteKept(copy.sequence) }
        return true
    }
}
