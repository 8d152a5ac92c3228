import QuartetAPI
import QuartetVocabulary
import Synchronization

/// Several processes with one store: each shows and sends what any of them keeps.
extension Outbox {
    /// How often the others' changes are looked for. A call for help of a process that was killed isn't to wait for long, and what a
    /// widget did is to show when the app comes to the front; to look costs a read of memory that the processes share.
    static let sharingInterval: Duration = .seconds(1)

    /// Takes in what other processes do, until the task is cancelled.
    func heedOthers() async {
        guard store.isShared else { return }
        while !Task.isCancelled {
            await takeInOthers()
            do { try await time.sleep(time.now() + Self.sharingInterval) } catch { return }
        }
    }

    /// Takes in what other processes have kept, sent and decided.
    /// - Parameter isCertain: Whether something is known to have changed.
    func takeInOthers(isCertain: Bool = false) async {
        guard store.isShared else { return }
        // What was read first is taken in first.
        try? await sharing.run { () async throws(QuartetError) in
            // Those that the device has for certain: what it doesn't have afterwards, another process has removed.
            let known = state.withLock { state -> (items: Set<Int64>, resets: Int)? in
                guard state.isRestored else { return nil }
                return (Set(state.items.map(\.id)).subtracting(state.unsaved), state.resets)
            }
            let cards = cards.onDevice
            guard let known, let account = store.account,
                let changes = try await store.othersChanges(isCertain: isCertain)
            else { return }
            takeIn(changes, of: account, known.items, unlessDroppedSince: known.resets)
            self.cards.takeIn(changes.items, instead: cards)
        }
    }

    private func takeIn(
        _ changes: SharedChanges, of account: AccountID, _ known: Set<Int64>, unlessDroppedSince resets: Int
    ) {
        let kept = changes.items.map { item in
            var item = item
            item.account = account
            return item
        }
        let ids = Set(kept.map(\.id))
        var decided: [(OutboxItem, Result<CommandReply, QuartetError>)] = []
        for id in known.subtracting(ids) {
            let result = changes.decisions[id].flatMap { OutboxDecision($0) }?.result ?? .failure(.unknown)
            if let item = take(id, where: { _ in true }) { decided.append((item, result)) }
        }
        for item in kept where known.contains(item.id) && item.isOver {
            guard take(item.id, where: { _ in true }) != nil else { continue }
            if let command = item.accepted {
                state.withLock { $0.accepted[item.id] = item }
                decided.append((item, .success(CommandReply(command: command, event: item.command))))
            } else {
                let decision = changes.decisions[item.id].flatMap { OutboxDecision($0) }
                decided.append((item, decision?.result ?? .failure(.unknown)))
            }
        }
        let added = change { state -> [OutboxItem] in
            guard state.resets == resets else { return [] }
            // Once the device doesn't have it, it doesn't come back.
            state.over.formIntersection(ids)
            var added: [OutboxItem] = []
            for item in kept where item.unsent == nil {
                state.last = max(state.last, item.id)
                if let index = state.items.firstIndex(where: { $0.id == item.id }) {
                    // Another process has sent it, or has found that it must be sent anew.
                    if !state.schedule.isBusy(item), !state.items[index].isSame(as: item) { state.items[index] = item }
                } else if state.accepted[item.id] == nil, !state.over.contains(item.id) {
                    added.append(item)
                    if item.accepted != nil {
                        state.accepted[item.id] = item
                    } else {
                        let index = state.items.firstIndex { $0.id > item.id } ?? state.items.endIndex
                        state.items.insert(item, at: index)
                    }
                }
            }
            for (item, _) in decided { state.schedule.decided(item) }
            return added
        }
        for item in added {
            guard let queue = queue(of: item) else { continue }
            do throws(QuartetError) { try queue.restore(item) } catch { discard(item, error) }
            if let command = item.accepted {
                queue.decided(item, .success(CommandReply(command: command, event: item.command)))
            }
        }
        for (item, result) in decided { tell(item, result) }
        guard !added.isEmpty || !decided.isEmpty else { return }
        kicks.send(())
        progress.send(())
    }

    /// Takes an item for this process before it is sent once more.
    func holdAgain(_ item: OutboxItem) async -> SharedUpdate.Outcome {
        guard store.isShared else {
            await writeIfUnsaved(item)
            return .done
        }
        // What a device that can't write has is sent all the same, under its key.
        do throws(QuartetError) { return try await writeInTime(item, isSending: true) } catch { return .done }
    }

    /// What to do about an item that another process holds or has decided.
    func yield(_ item: OutboxItem, _ outcome: SharedUpdate.Outcome) async -> Attempted {
        guard store.isShared else { return .cancelled }
        await takeInOthers(isCertain: true)
        return outcome == .held ? .later(.willBeSentWhenOnline, pause: nil, isShared: false) : .cancelled
    }

    /// Whether no other process has sent an item or is about to, so that it can be taken back.
    func isOurs(_ item: OutboxItem) async -> Bool {
        guard store.isShared else { return true }
        await takeInOthers(isCertain: true)
        let others = state.withLock { Set($0.items.map(\.id)) }
        let replacing = AccountStore.Replacing(isSending: true, isNew: true, over: others)
        do throws(QuartetError) { return try await store.replace(item, replacing) { true } == .done } catch {
            // On a device that can't write, nobody else can take it, either.
            if case .notStored = error { return true }
            return false
        }
    }
}
