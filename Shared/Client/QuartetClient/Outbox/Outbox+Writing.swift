import Synchronization
import Vocabulary

extension Outbox {
    /// Writes an item that was kept, unless it is gone by the time that its turn comes, or somebody else is signed in by then.
    func write(_ item: OutboxItem) async throws(QuartetError) {
        do throws(QuartetError) {
            try await store.replace(item) { [self] in
                state.withLock { state in
                    state.accepted[item.id] != nil
                        || state.items.contains { $0.id == item.id && $0.acted == item.acted }
                }
            }
            state.withLock { _ = $0.unsaved.remove(item.id) }
        } catch {
            if case .notStored = error { state.withLock { _ = $0.unsaved.insert(item.id) } }
            throw error
        }
    }

    /// Writes an item that the device failed to write before. It is sent in any case.
    func writeIfUnsaved(_ item: OutboxItem) async {
        guard state.withLock({ $0.unsaved.contains(item.id) }) else { return }
        try? await write(item)
    }

    /// Keeps what is about to be sent, so that after a crash the same is sent under the same key.
    /// - Returns: False if the item was taken back meanwhile.
    func prepared(_ item: OutboxItem) async throws(QuartetError) -> Bool {
        var item = item
        do throws(QuartetError) {
            try await write(item)
            item.replaced = nil
        } catch {
            // Sent twice, an urgent command does what it does once.
            guard case .notStored = error, item.precedence == .urgent, !mayBeUndone(item) else { throw error }
        }
        let isThere = change { state in
            guard let index = state.items.firstIndex(where: { $0.id == item.id }) else { return false }
            state.items[index] = item
            return true
        }
        if !isThere { try? await store.remove(item) }
        return isThere
    }

    /// Whether something else, whose place an item took, might be sent after it: the device still has it. Not if more is waiting to be
    /// sent after both.
    private func mayBeUndone(_ item: OutboxItem) -> Bool {
        (item.replaced ?? []).contains { $0.command != item.command }
            && !state.withLock { $0.items.contains { $0.lane == item.lane && $0.id > item.id } }
    }

    /// The server doesn't know the item: it is sent again under another key.
    func renew(_ item: OutboxItem) async {
        var item = item
        (item.key, item.body) = (RequestKey(), nil)
        change { state in
            guard let index = state.items.firstIndex(where: { $0.id == item.id }) else { return }
            state.items[index] = item
        }
        // If the device fails to write this, the old key is sent after a crash, and the server answers the same.
        try? await write(item)
    }
}
