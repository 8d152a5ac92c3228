import QuartetAPI
import QuartetVocabulary
import Synchronization

extension Outbox {
    /// Takes in what was kept for an account. Its urgent items end where the person made a later one of the lane while they couldn't
    /// be read: sent after that, the end of an alert would end the next one.
    func restore(_ all: [OutboxItem], of account: AccountID) async {
        dropOthers(than: account)
        cards.restore(all, of: account)
        // Another connection has had the store meanwhile. What became of these is taken in as another process's is.
        let known = state.withLock { state in state.isRestored ? state.known : [] }
        let waiting = all.filter { $0.unsent == nil && !known.contains($0.id) }.map { item in
            var item = item
            item.account = account
            if item.order == nil { item.order = try? queue(of: item)?.order(of: item) }
            return item
        }
        let resets = state.withLock { $0.resets }
        let (kept, ended) = change { state in
            let isOver = { [madeUnread = state.madeUnread] (item: OutboxItem) in
                item.accepted == nil && item.precedence == .urgent
                    && madeUnread[item.lane].map(item.isEarlier) ?? false
            }
            let kept = waiting.filter { !isOver($0) }
            let ended = waiting.filter(isOver)
            // Until they are removed, they aren't taken for another process's.
            if state.isShared { state.over.formUnion(ended.map(\.id)) }
            let known = Set(kept.map(\.id))
            state.items = kept.filter { $0.accepted == nil } + state.items.filter { !known.contains($0.id) }
            state.items.sort { $0.id < $1.id }
            for item in kept {
                if item.accepted != nil {
                    state.accepted[item.id] = item
                } else {
                    state.kept[item.id, default: Kept()].last = item
                    state.removed[item.id] = nil
                }
            }
            state.last = max(state.last, all.map(\.id).max() ?? 0)
            state.isRestored = true
            state.madeUnread = [:]
            state.schedule.wake()
            return (kept, ended)
        }
        // Shown before anything of them can be decided.
        for item in kept {
            noteVersion(item.made, madeBy: item)
            guard let queue = queue(of: item) else { continue }
            do throws(QuartetError) { try queue.restore(item) } catch { discard(item, error) }
        }
        kicks.send(())
        for item in ended {
            if items.value.contains(where: { $0.lane == item.lane && $0.command == item.command }) {
                _ = await end(item, .failure(item.isSent ? .unknown : .superseded), knownAs: item)
            } else {
                await endUnsent(item, item.isSent ? .unknown : .superseded, unlessDroppedSince: resets)
            }
            decisions.send(OutboxEvent(item: item, error: item.isSent ? .unknown : .superseded))
        }
        await catchUp()
        if !known.isEmpty { await takeInOthers(isCertain: true) }
        restorations.send(())
    }

    /// Drops what somebody else made while they were being signed out, and a slow disk held that up. Nobody else reads what became of it.
    private func dropOthers(than account: AccountID) {
        let others = items.value.filter { $0.account.map { $0 != account } ?? false }
        for other in others {
            guard let item = take(other.id, where: { _ in true }) else { continue }
            _ = isHeard(.failure(.needsAuthentication), of: item)
            state.withLock { state in
                state.joined[item.id] = nil
                if state.madeUnread[item.lane]?.account == item.account { state.madeUnread[item.lane] = nil }
            }
            queue(of: item)?.decided(item, .failure(.needsAuthentication))
        }
        if !others.isEmpty { progress.send(()) }
    }

    /// Whether anything waits, be it only for the device to keep it.
    var isWaiting: Bool { state.withLock { !$0.items.isEmpty || !$0.adding.isEmpty } }

    /// Whether what was kept for the account is among the items.
    var isRestored: Bool { state.withLock { $0.isRestored } }

    /// The streams that have accepted items which the device needn't keep once it has what they did.
    var unfinished: Set<String> {
        state.withLock { state in Set(state.accepted.values.filter { !state.isStoodOn($0) }.map(\.stream)) }
    }

    /// The accepted items whose effects the copy of a stream has: the device needn't keep them any longer, unless what waits stands on what
    /// they made.
    func takeFinished(of stream: String) -> [OutboxItem.ID] {
        guard let queue = state.withLock({ $0.queues[stream]?.edits }) else { return [] }
        let open = queue.openEdits
        return state.withLock { state in
            let finished = state.accepted.values.filter { item in
                item.stream == stream && !open.contains(item.id) && !state.isStoodOn(item)
            }
            for item in finished { (state.accepted[item.id], state.finishing[item.id]) = (nil, item) }
            // Until they are removed with the copy.
            if state.isShared { state.over.formUnion(finished.map(\.id)) }
            return finished.map(\.id)
        }
    }

    /// A copy ended these, or couldn't, since another process had kept one that isn't older. That process may end before it has removed
    /// them: then a later copy does.
    func noteFinished(_ ids: [OutboxItem.ID], isWritten: Bool) {
        state.withLock { state in
            for id in ids {
                guard let item = state.finishing.removeValue(forKey: id), !isWritten else { continue }
                state.accepted[id] = item
            }
            if isWritten { state.over.subtract(ids) }
        }
    }

    /// Drops everything: the person signed out, or another one signed in.
    /// - Parameter next: Who signed in. Nobody else reads what became of the changes.
    func reset(for next: AccountID? = nil) {
        let dropped = change { state in
            for caller in state.items.flatMap({ state.callers(of: $0) }) {
                state.results[caller.id] = .failure(.needsAuthentication)
            }
            defer {
                (state.items, state.accepted, state.finishing, state.isRestored) = ([], [:], [:], false)
                (state.madeUnread, state.kept, state.leftovers, state.over) = ([:], [:], [:], [])
                (state.joined, state.paces, state.others) = ([:], [:], [:])
                (state.removed, state.unkept) = ([:], [:])
                (state.own, state.leads) = ([], [:])
                state.resets += 1
                state.schedule.wake()
            }
            return state.items
        }
        cards.drop(dropped, for: next)
        progress.send(())
    }
    /// The same of what was never read here.
    func noteDropped(_ items: [OutboxItem]) {
        cards.drop(items.filter { !$0.isOver }.sorted { $0.id < $1.id }, for: nil)
    }
}
