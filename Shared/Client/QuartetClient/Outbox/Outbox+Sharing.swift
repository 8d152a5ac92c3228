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
        // Fails only for a task that is cancelled while it waits.
        try? await heeding.run { () async throws(QuartetError) in
            while !Task.isCancelled {
                await takeInOthers()
                do { try await time.sleep(time.now() + Self.sharingInterval) } catch { return }
            }
        }
    }

    /// For how long what another process has made is left to it, and what it has sent. Two processes that send the same do no harm,
    /// and do it in vain.
    private static let leave = (made: Duration.seconds(2), sent: Duration.seconds(10))

    /// Takes in what other processes have kept, sent and decided.
    /// - Parameter isCertain: Whether something is known to have changed.
    func takeInOthers(isCertain: Bool = false) async {
        guard store.isShared else { return }
        let resets = state.withLock { $0.isRestored ? $0.resets : nil }
        guard let resets else { return }
        // What can't be read now is read the next time.
        try? await store.othersChanges(isCertain: isCertain) { [self] changes, account in
            takeIn(changes, of: account, unlessDroppedSince: resets)
        }
    }

    /// What another process made of an item that waits here.
    private enum Fate {
        /// - Parameter lost: What of it was refused in any case.
        case ended(Result<CommandReply, QuartetError>, lost: OutboxItem.Lost?, made: Int64?)
        /// A later one does what it was to do.
        case joined(OutboxItem.ID)
    }

    private static func fate(of id: OutboxItem.ID, in changes: StoreChanges) -> Fate {
        var id = id
        while true {
            if let item = changes.items.first(where: { $0.id == id }), let result = item.result {
                return .ended(result, lost: item.lost, made: item.made)
            }
            guard let decision = changes.decisions[id].flatMap({ OutboxDecision($0) }) else {
                return .ended(.failure(.unknown), lost: nil, made: nil)
            }
            guard let later = decision.joined, later > id else {
                return .ended(decision.result, lost: decision.lost, made: decision.made)
            }
            if changes.items.contains(where: { $0.id == later && !$0.isOver }) { return .joined(later) }
            id = later
        }
    }

    private func takeIn(_ changes: StoreChanges, of account: AccountID, unlessDroppedSince resets: Int) {
        guard isCurrent(resets) else { return }
        let kept = changes.items.map { item in
            var item = item
            item.account = account
            if item.order == nil { item.order = try? queue(of: item)?.order(of: item) }
            return item
        }
        let over = Dictionary(kept.filter(\.isOver).map { ($0.id, $0) }) { $1 }
        let now = time.now()
        // A refusal that its caller hears needs no card. The others show before their items go.
        for card in kept where card.unsent != nil { _ = isHeardInsteadOfCard(card) }
        cards.takeIn(changes.items, of: account)
        typealias Changed = (ended: [(OutboxItem, Fate)], added: [OutboxItem])
        let changed = change { state -> Changed? in
            guard state.resets == resets else { return nil }
            // Once the device doesn't have it, it doesn't come back.
            state.over.formIntersection(changes.ids)
            // What the device failed to keep, it needn't have.
            let gone = state.items.filter { item in
                !state.isNew(item.id) && !state.replacing.contains(item.id)
                    && (over[item.id] != nil || !changes.ids.contains(item.id))
            }
            var ended: [(OutboxItem, Fate)] = []
            for item in gone {
                let fate = Self.fate(of: item.id, in: changes)
                if case .joined(let later) = fate {
                    state.joined[later, default: []] += state.callers(of: item)
                    state.joined[item.id] = nil
                }
                ended.append((item, fate))
                if let stored = over[item.id], stored.accepted != nil { state.accepted[item.id] = stored }
                state.schedule.decided(item)
            }
            state.end(gone)
            state.over.subtract(gone.map(\.id))
            var added: [OutboxItem] = []
            for item in kept where item.unsent == nil {
                state.last = max(state.last, item.id)
                if let known = state.items.first(where: { $0.id == item.id }) {
                    // What the device doesn't have yet of what was done here isn't undone by what it has.
                    guard state.kept[item.id]?.has(known) == true, !known.isSame(as: item) else { continue }
                    state.take(item)
                    if item.isSent { state.others[item.id] = now + Self.leave.sent }
                } else if state.accepted[item.id] == nil, state.leftovers[item.id] == nil,
                    !state.over.contains(item.id), !state.adding.contains(item.id)
                {
                    added.append(item)
                    if item.accepted != nil {
                        state.accepted[item.id] = item
                    } else {
                        state.take(item)
                        state.others[item.id] = now + (item.isSent ? Self.leave.sent : Self.leave.made)
                    }
                }
            }
            return (ended, added)
        }
        guard let changed else { return }
        for (item, fate) in changed.ended {
            switch fate {
            case .ended(let result, let lost, let made):
                var item = item
                item.lost = lost
                noteVersion(made, madeBy: item)
                tell(item, result)
            case .joined:
                queue(of: item)?.decided(item, .failure(.superseded))
                decisions.send(OutboxEvent(item: item, error: .superseded))
            }
        }
        // What was refused of these doesn't show any more.
        for item in kept where item.lost != nil && !item.isOver { queue(of: item)?.show(item, insteadOf: nil) }
        for item in changed.added {
            noteVersion(item.made, madeBy: item)
            guard let queue = queue(of: item) else { continue }
            do throws(QuartetError) { try queue.restore(item) } catch { discard(item, error) }
        }
        guard !changed.added.isEmpty || !changed.ended.isEmpty else { return }
        kicks.send(())
        progress.send(())
    }

    /// The device has lost these, and others may have taken them back or sent them long ago: they aren't sent. It has the cards of those
    /// that are urgent.
    func endHeldBack(_ ids: Set<OutboxItem.ID>, of account: AccountID) {
        func isMeant(_ item: OutboxItem) -> Bool { item.account == account && ids.contains(item.id) }
        for item in items.value where isMeant(item) {
            if let card = item.heldBack?.card { cards.takeIn(card) }
        }
        let ended = change { state in
            let ended = state.items.filter(isMeant)
            for item in ended { state.schedule.decided(item) }
            state.end(ended)
            // Where one waits again, another process knows better, and sends it.
            state.over.subtract(ended.map(\.id))
            return ended
        }
        for item in ended {
            if item.precedence == .urgent { cards.tell(item.id) }
            tell(item, .failure(.unknown))
        }
        kicks.send(())
    }

    /// What to do about an item before which another one waits: that is sent first, from here if need be.
    func yieldToEarlier(_ item: OutboxItem) async -> Attempted {
        await takeInOthers(isCertain: true)
        let isKnown = state.withLock { state in state.items.contains { $0.lane == item.lane && $0.id < item.id } }
        return isKnown ? .lost : .later(.willBeSentWhenOnline, pause: nil, isShared: false)
    }
}
