import QuartetVocabulary
import Synchronization

extension Outbox {
    /// Has the disk do something for an item, and waits for it: for an urgent one a second at most, and not at all while the disk is
    /// still at what that one has waited for in vain. A caller that is cancelled waits all the same.
    /// - Parameter limit: Until when an urgent one waits, where that isn't a second.
    /// - Returns: Nil if the disk needs longer. It goes on.
    @discardableResult
    func finish<Value: Sendable>(
        _ item: OutboxItem, by limit: Duration? = nil, _ body: @escaping @Sendable () async -> Value
    ) async -> Value? {
        guard item.precedence == .urgent else { return await body() }
        let isSlow = state.withLock { $0.slow[item.id] != nil }
        let limit = limit ?? time.now() + (isSlow ? .zero : Self.patience)
        let work = Task(executorPreference: time.workplace, operation: body)
        if let value = await time.value(of: work, until: limit) { return value }
        state.withLock { $0.slow[item.id, default: 0] += 1 }
        Task(executorPreference: time.workplace) { [self] in
            _ = await work.value
            state.withLock { state in
                let left = (state.slow[item.id] ?? 1) - 1
                state.slow[item.id] = left > 0 ? left : nil
            }
        }
        return nil
    }

    /// Writes an item that was kept, unless it is gone by the time that its turn comes, or somebody else is signed in by then.
    /// - Parameters:
    ///   - decision: What became of it, for other processes.
    ///   - isSending: Whether it is about to be sent, so that no other process sends it meanwhile.
    /// - Returns: Whether another process has it, or has decided it; it isn't written then.
    @discardableResult
    func write(
        _ item: OutboxItem, _ decision: OutboxDecision? = nil, isSending: Bool = false
    ) async throws(QuartetError) -> SharedUpdate.Outcome {
        var item = item
        item.replaced = replaced(by: item)
        let (id, acted) = (item.id, item.acted)
        let (isNew, over) = state.withLock { state in
            (state.unsaved.contains(id), state.over.union(state.leftovers.keys).union(state.accepted.keys))
        }
        let replacing = AccountStore.Replacing(isSending: isSending, isNew: isNew, over: over, decision: decision)
        let outcome: SharedUpdate.Outcome
        do throws(QuartetError) {
            outcome = try await store.replace(item, replacing) { [self] in
                state.withLock { state in
                    state.accepted[id] != nil || state.items.contains { $0.id == id && $0.acted == acted }
                }
            }
            if outcome == .done { state.withLock { _ = $0.unsaved.remove(item.id) } }
        } catch {
            if case .notStored = error { state.withLock { _ = $0.unsaved.insert(item.id) } }
            throw error
        }
        await forgetLeftovers()
        return outcome
    }

    /// The same, without waiting for longer than an urgent one can.
    func writeInTime(_ item: OutboxItem, isSending: Bool = false) async throws(QuartetError) -> SharedUpdate.Outcome {
        // What a disk that has stopped still has to write of one item doesn't pile up.
        let isBehind = state.withLock { state in
            guard state.slow[item.id] ?? 0 >= Self.slowLimit else { return false }
            if state.items.contains(where: { $0.id == item.id }) { state.unsaved.insert(item.id) }
            return true
        }
        guard !isBehind else { throw .notStored("the disk takes its time") }
        let written = await finish(item) { () -> Result<SharedUpdate.Outcome, QuartetError> in
            do throws(QuartetError) {
                return .success(try await self.write(item, isSending: isSending))
            } catch {
                return .failure(error)
            }
        }
        guard let written else { throw .notStored("the disk takes its time") }
        return try written.get()
    }

    /// Those whose place an item took, and that the device may still have. What became a card stays.
    func replaced(by item: OutboxItem) -> [OutboxItem.Replaced] {
        (item.replaced ?? []).filter { !cards.hasKept($0.id) }
    }

    /// Removes what the device may still have of items that are over. What it fails to remove is removed once it can write again: sent
    /// after a restart, it might end what came after it.
    /// - Parameter result: What became of them, for other processes.
    func forget(
        _ ids: [OutboxItem.ID], of account: AccountID?, _ result: Result<CommandReply, QuartetError>? = nil
    ) async {
        for id in ids {
            do throws(QuartetError) { try await store.remove(id, of: account, result.map { .init($0) }) } catch {
                state.withLock { $0.leftovers[id] = account }
            }
        }
    }

    /// An urgent item won't be sent any more: it becomes a card. On a device that can't write that, nothing of it stays.
    func endUnsent(_ item: OutboxItem, _ reason: UnsentChange.Reason, unlessDroppedSince resets: Int) async {
        if await cards.end(item, reason, if: { self.isCurrent(resets) }) {
            state.withLock { _ = $0.leftovers.removeValue(forKey: item.id) }
        } else {
            await forget([item.id], of: item.account)
        }
    }

    var hasLeftovers: Bool { state.withLock { !$0.leftovers.isEmpty } }

    /// The device may be able to write by now.
    func retryRemoving() {
        if hasLeftovers { kicks.send(()) }
    }

    func forgetLeftovers() async {
        let leftovers = state.withLock { state in
            defer { state.leftovers = [:] }
            return state.leftovers
        }
        for (id, account) in leftovers { await forget([id], of: account) }
    }

    /// Writes an item that the device failed to write before. It is sent in any case.
    func writeIfUnsaved(_ item: OutboxItem) async {
        guard state.withLock({ $0.unsaved.contains(item.id) }) else { return }
        _ = try? await writeInTime(item)
    }

    /// Keeps what is about to be sent, so that after a crash the same is sent under the same key.
    /// - Returns: ``SharedUpdate/Outcome/gone`` if the item was taken back meanwhile.
    func prepared(_ item: OutboxItem) async throws(QuartetError) -> SharedUpdate.Outcome {
        var item = item
        do throws(QuartetError) {
            let outcome = try await writeInTime(item, isSending: true)
            guard outcome == .done else { return outcome }
            item.replaced = nil
        } catch {
            // Sent again under its key, it does what it does once. The key follows from what the device has of it, unless it was
            // made before the server's time was known.
            guard case .notStored = error, item.precedence == .urgent, !mayBeUndone(item) else { throw error }
        }
        let isThere = change { state in
            guard let index = state.items.firstIndex(where: { $0.id == item.id }) else { return false }
            state.items[index] = item
            return true
        }
        if !isThere { await finish(item) { [item] in await self.forget([item.id], of: item.account) } }
        return isThere ? .done : .gone
    }

    /// Whether something else, whose place an item took, might be sent after it: the device still has it. Not if more is waiting to be
    /// sent after both.
    private func mayBeUndone(_ item: OutboxItem) -> Bool {
        (item.replaced ?? []).contains { $0.command != item.command }
            && !state.withLock { $0.items.contains { $0.lane == item.lane && $0.id > item.id } }
    }

    /// The server has nothing of the item: it can be taken back, and is sent again under its key. Should this be wrong, the server
    /// notices by the key.
    func unsend(_ item: OutboxItem) async {
        var item = item
        item.body = nil
        await replace(item)
    }

    /// The server never did it, and never will under this key.
    func renew(_ item: OutboxItem) async {
        var item = item
        (item.key, item.body) = (RequestKey(), nil)
        await replace(item)
    }

    private func replace(_ item: OutboxItem) async {
        change { state in
            guard let index = state.items.firstIndex(where: { $0.id == item.id }) else { return }
            state.items[index] = item
        }
        // On a device that can't write this, what was sent before is sent again after a crash, and the server answers the same.
        _ = try? await writeInTime(item)
    }
}
