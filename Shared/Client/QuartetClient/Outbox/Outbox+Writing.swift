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
    ///   - base: The item as this process last found or wrote it; nil if it wasn't sent then.
    ///   - isNew: Whether the device may not have it, for one that waits no more.
    ///   - begun: The number of this write, if the item is written only if the device has something else by then, and nothing newer was
    ///     begun since.
    ///   - decision: What became of it, for other processes.
    /// - Returns: What the device has of it. What another process has made of it is what it is here, too.
    @discardableResult
    func write(
        _ item: OutboxItem, _ step: StoreUpdate.Step, of base: OutboxItem? = nil, isNew: Bool = false,
        begun: Int? = nil, _ decision: OutboxDecision? = nil
    ) async throws(QuartetError) -> StoreUpdate.Outcome {
        var item = item
        item.replaced = replaced(by: item)
        let (id, acted, written) = (item.id, item.acted, item)
        let (resets, number) = state.withLock { ($0.resets, begun ?? $0.beginWrite(of: written)) }
        let outcome = try await store.replace(item) { [self] in
            state.withLock { state -> AccountStore.Replacing? in
                let current = state.items.first { $0.id == id && $0.acted == acted }
                // Of what the server has accepted, nothing is left to be written but that.
                guard current != nil || step == .end && state.accepted[id] != nil else { return nil }
                var replacing = AccountStore.Replacing(
                    step: step, base: base, isNew: isNew, decision: decision?.encoded)
                if let current, let kept = state.kept[id] {
                    if begun != nil, kept.newest != number || kept.has(current) { return nil }
                    // What this process couldn't write isn't what the device has.
                    if !kept.has(current) { replacing.base = kept.base }
                    replacing.isNew = kept.last == nil
                }
                // One that stays after all, or was accepted, is written again if an addition has removed it.
                if current == nil || !state.replacing.contains(id) { replacing.removedAs = state.removed[id] }
                replacing.over = state.over.union(state.leftovers.keys).union(state.accepted.keys)
                return replacing
            }
        } then: { [self] outcome in
            if let outcome { note(outcome, of: written, step, unlessDroppedSince: resets) }
            state.withLock { $0.kept[id]?.end(number) }
        }
        await forgetLeftovers()
        if outcome == .done, let replaced = written.replaced, !replaced.isEmpty {
            if step == .prepare {
                // What is about to be sent doesn't wait for a card.
                Task(executorPreference: time.workplace) { await self.keepCards(of: replaced) }
            } else {
                await keepCards(of: replaced)
            }
        }
        return outcome
    }

    /// Makes an item here what the device has of it. Called in the order in which the device was asked.
    func note(
        _ outcome: StoreUpdate.Outcome, of item: OutboxItem, _ step: StoreUpdate.Step, unlessDroppedSince resets: Int
    ) {
        switch outcome {
        case .done:
            // What a slow disk has written late may not be what the item is by now.
            state.withLock { state in
                guard state.resets == resets else { return }
                state.kept[item.id]?.last = item
                state.removed[item.id] = nil
                // Those it could replace are gone.
                if let index = state.items.firstIndex(where: { $0.id == item.id }) { state.items[index].replaced = nil }
                if step == .end { state.over.remove(item.id) }
            }
        case .other(var stored):
            (stored.account, stored.order) = (item.account, stored.order ?? item.order)
            guard stored.isOver else { return adopt(stored, unlessDroppedSince: resets) }
            noteDecided(stored.id, stored, outcome, unlessDroppedSince: resets)
        // What becomes of it is what becomes of a later one, which this process may not know yet.
        case .gone(let decision) where decision.flatMap({ OutboxDecision($0) })?.joined != nil:
            state.withLock { state in
                // Nothing of it is left to be written.
                if state.resets == resets { state.kept[item.id]?.last = state.items.first { $0.id == item.id } }
            }
        // The one that is just being kept in its place shows its card.
        case .gone(OutboxDecision(.failure(.superseded)).encoded)
        where state.withLock({ $0.replacing.contains(item.id) }):
            break
        case .gone:
            noteDecided(item.id, nil, outcome, unlessDroppedSince: resets)
        case .behind: break
        }
    }

    /// Another process has made something else of an item.
    private func adopt(_ stored: OutboxItem, unlessDroppedSince resets: Int) {
        let isTaken = change { state in
            guard state.resets == resets else { return false }
            state.over.remove(stored.id)
            state.take(stored)
            return true
        }
        // What was refused of it doesn't show any more.
        if isTaken, stored.lost != nil { queue(of: stored)?.show(stored, insteadOf: nil) }
    }

    /// Another process has decided an item.
    private func noteDecided(
        _ id: OutboxItem.ID, _ stored: OutboxItem?, _ outcome: StoreUpdate.Outcome, unlessDroppedSince resets: Int
    ) {
        guard isCurrent(resets) else { return }
        // Its card shows before it goes.
        if let stored, stored.unsent != nil, !isHeardInsteadOfCard(stored) { cards.takeIn(stored) }
        let item = take(id, where: { _ in true })
        state.withLock { state in
            state.over.remove(id)
            state.removed[id] = nil
            if let stored, stored.accepted != nil { state.accepted[id] = stored }
        }
        guard var item else { return }
        item.lost = outcome.lost
        noteVersion(outcome.made, madeBy: item)
        tell(item, outcome.result ?? .failure(.unknown))
    }

    /// Leaves a refusal that another process has kept as a card to whoever waits for the item here: it isn't to show as well.
    /// - Returns: False if nobody waits, or if it is no refusal.
    func isHeardInsteadOfCard(_ card: OutboxItem) -> Bool {
        let ends = state.withLock { state in
            state.items.contains { $0.id == card.id } && !state.isNew(card.id) && !state.replacing.contains(card.id)
        }
        guard ends, card.unsent == .refused, let result = card.result, isHeard(result, of: card) else { return false }
        cards.dismiss(card)
        return true
    }

    /// The device has removed these.
    func noteRemoved(_ ids: [OutboxItem.ID]) {
        state.withLock { $0.over.subtract(ids) }
    }

    /// The same, without waiting for longer than an urgent one can.
    func writeInTime(
        _ item: OutboxItem, _ step: StoreUpdate.Step, of base: OutboxItem? = nil
    ) async throws(QuartetError) -> StoreUpdate.Outcome {
        guard state.withLock({ $0.hasRoom(item.id) }) else { throw .notStored("the disk takes its time") }
        let written = await finish(item) { () -> Result<StoreUpdate.Outcome, QuartetError> in
            do throws(QuartetError) {
                return .success(try await self.write(item, step, of: base))
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
    /// - Parameters:
    ///   - base: They stay where another process has sent them as something else; nil to remove them all the same.
    ///   - result: What became of them, for other processes.
    func forget(
        _ ids: [OutboxItem.ID], of account: AccountID?, knownAs base: OutboxItem? = nil,
        _ result: Result<CommandReply, QuartetError>? = nil
    ) async {
        // What became a card meanwhile stays.
        for id in ids where !cards.hasKept(id) {
            do throws(QuartetError) {
                if let result {
                    _ = try await store.end(id, of: account, knownAs: base, OutboxDecision(result)) { _ in
                        self.noteRemoved([id])
                    }
                } else {
                    try await store.remove(id, of: account)
                    noteRemoved([id])
                }
            } catch {
                state.withLock { $0.leftovers[id] = Leftover(account: account, base: base, result: result) }
            }
        }
    }

    /// Removes those whose place an item took, unless another process has sent them: none of them is what the item is.
    func forget(_ replaced: [OutboxItem.Replaced], insteadOf item: OutboxItem) async {
        await keepCards(of: replaced)
        await forget(replaced.map(\.id), of: item.account, knownAs: item, .failure(.superseded))
    }

    /// Keeps the cards of superseded items that the device couldn't keep before, unless somebody has read them.
    func keepCards(of replaced: [OutboxItem.Replaced]) async {
        let (shown, resets) = state.withLock { state in
            (replaced.compactMap { state.unkept.removeValue(forKey: $0.id) }, state.resets)
        }
        for item in shown where unsent.value.contains(where: { $0.id == item.id }) {
            await endUnsent(item, .superseded, isNew: true, unlessDroppedSince: resets)
        }
    }

    func forgetReplaced(by item: OutboxItem) async { await forget(item.replaced ?? [], insteadOf: item) }

    /// Ends an item, unless the device says that another process has sent or decided it.
    /// - Parameter base: The item as it is known here; nil if the server has accepted it.
    /// - Returns: What the device has of it; done as well if the device can't write.
    func end(
        _ item: OutboxItem, _ result: Result<CommandReply, QuartetError>, knownAs base: OutboxItem?
    ) async -> StoreUpdate.Outcome {
        let resets = state.withLock { $0.resets }
        do throws(QuartetError) {
            let decision = OutboxDecision(result, lost: item.lost)
            let outcome = try await store.end(item.id, of: item.account, knownAs: base, decision) { [self] outcome in
                // Nobody here sends it any more.
                if outcome == .done, isCurrent(resets), let item = take(item.id, where: \.canCancel) {
                    tell(item, result)
                }
                note(outcome, of: item, .end, unlessDroppedSince: resets)
            }
            return outcome
        } catch {
            if state.withLock({ $0.items.contains { $0.id == item.id } }) {
                // Another connection may have the store by now, and be sending it.
                guard store.account != nil, let item = take(item.id, where: \.canCancel) else { return .other(item) }
                tell(item, result)
            }
            // Its caller has heard of it: it goes also where the device has it as sent.
            state.withLock { $0.leftovers[item.id] = Leftover(account: item.account) }
            return .done
        }
    }

    /// An urgent item won't be sent any more: it becomes a card. On a device that can't write that, nothing of it stays.
    /// - Parameters:
    ///   - isNew: Whether the device may not have it.
    ///   - renewals: What ``AccountStore/renewals`` was while the item was still among those that wait; nil for what it is now. If the
    ///     store has lost something since, it may not have the item.
    /// - Returns: What the device has of it.
    @discardableResult
    func endUnsent(
        _ item: OutboxItem, _ reason: UnsentChange.Reason, isNew: Bool = false, renewals: Int? = nil,
        unlessDroppedSince resets: Int
    ) async -> StoreUpdate.Outcome {
        let renewals = renewals ?? store.renewals
        let outcome = await cards.end(
            item, reason, isNew: { isNew || self.store.renewals != renewals },
            removedAs: { self.state.withLock { $0.removed[item.id] } },
            if: { self.isCurrent(resets) },
            then: { self.note($0, of: item, .end, unlessDroppedSince: resets) })
        guard let outcome else {
            await forget([item.id], of: item.account)
            return .done
        }
        state.withLock { _ = $0.leftovers.removeValue(forKey: item.id) }
        return outcome
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
        for (id, left) in leftovers { await forget([id], of: left.account, knownAs: left.base, left.result) }
    }

    /// Whether there is something that the device couldn't do.
    var isBehind: Bool {
        state.withLock { state in
            if !state.leftovers.isEmpty { return true }
            return state.items.contains { state.isLeftToWrite($0) }
        }
    }

    /// Has the device do what it couldn't do before.
    func catchUp() async {
        await forgetLeftovers()
        let left = state.withLock { state in state.items.filter { state.isLeftToWrite($0) }.map(\.id) }
        for id in left { await writeIfUnsaved(id) }
    }

    /// Writes an item that the device failed to write before, as it is by now. It is sent in any case.
    func writeIfUnsaved(_ id: OutboxItem.ID) async {
        // What is written after this has a greater number.
        let begun = state.withLock { state -> (item: OutboxItem, step: StoreUpdate.Step, number: Int)? in
            // It may be about to be sent by now.
            guard let item = state.items.first(where: { $0.id == id }), state.isLeftToWrite(item), state.hasRoom(id)
            else { return nil }
            // What the device has as sent, another process may be sending.
            let isKeptAsSent = state.isKeptAsSent(id)
            return (item, item.isSent ? .prepare : isKeptAsSent ? .unsend : .renew, state.beginWrite(of: item))
        }
        guard let begun else { return }
        await finish(begun.item) { _ = try? await self.write(begun.item, begun.step, begun: begun.number) }
    }

    /// Keeps what is about to be sent, so that after a crash the same is sent under the same key, by whichever process.
    /// - Parameter base: The item as the device has it; nil if it wasn't sent.
    /// - Returns: What to send: another body and key if another process was quicker. ``StoreUpdate/Outcome/gone(_:)`` if the item was
    ///   taken back or decided meanwhile.
    func prepared(_ item: OutboxItem, of base: OutboxItem?) async throws(QuartetError) -> StoreUpdate.Outcome {
        let isRepeated = base.map(item.isSame) ?? false
        if isRepeated, !store.isShared {
            await writeIfUnsaved(item.id)
            return .done
        }
        var item = item
        var unwritten: QuartetError?
        do throws(QuartetError) {
            let outcome = try await writeInTime(item, .prepare, of: base)
            guard outcome == .done else { return outcome }
            item.replaced = nil
        } catch {
            unwritten = error
            guard case .notStored = error else { throw error }
            // What a device that can't write has sent before is sent all the same, under its key.
            if isRepeated { return .done }
            // Sent again under its key, it does what it does once. The key follows from what the device has of it, unless it was
            // made before the server's time was known.
            guard item.precedence == .urgent, !mayBeUndone(item) else { throw error }
        }
        let outcome = try change { [item, unwritten] state -> Result<StoreUpdate.Outcome, QuartetError> in
            // Whoever takes it back is told whether the device had it as sent.
            if let unwritten, state.cancelling.contains(item.id) { return .failure(unwritten) }
            guard let index = state.items.firstIndex(where: { $0.id == item.id }) else { return .success(.gone(nil)) }
            // What another process has made of it while the disk took its time is sent instead.
            let current = state.items[index]
            if unwritten != nil, current.isSent, base.map(current.isSame) != true { return .success(.other(current)) }
            state.items[index] = item
            return .success(.done)
        }.get()
        if outcome == .gone(nil) { await finish(item) { [item] in await self.forget([item.id], of: item.account) } }
        return outcome
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
        var unsent = item
        unsent.body = nil
        await replace(item, .unsend, with: unsent)
    }

    /// The server never did it, and never will under this key.
    /// - Returns: The item under another one.
    @discardableResult
    func renew(_ item: OutboxItem) async -> OutboxItem {
        var renewed = item
        (renewed.key, renewed.body) = (RequestKey(), nil)
        await replace(item, .renew, with: renewed)
        return renewed
    }

    private func replace(_ item: OutboxItem, _ step: StoreUpdate.Step, with other: OutboxItem) async {
        let isThere = change { state in
            // What another process has made of it meanwhile stays.
            guard let index = state.items.firstIndex(where: { $0.id == item.id && $0.isSame(as: item) })
            else { return false }
            state.items[index] = other
            return true
        }
        guard isThere else { return }
        // On a device that can't write this, what was sent before is sent again after a crash, and the server answers the same.
        _ = try? await writeInTime(other, step, of: item)
    }
}
