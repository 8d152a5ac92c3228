import Foundation
import QuartetAPI
import QuartetVocabulary
import Synchronization

/// What becomes of a change before it is sent: it is kept, and its caller waits.
extension Outbox {
    /// Keeps a change, has it sent, and waits for the decision as long as a person would.
    /// - Parameters:
    ///   - account: Whose change it is.
    ///   - requests: What to send it with while nobody runs the outbox; nil while somebody does.
    ///   - isConnected: Whether it is worth waiting through a failure.
    ///   - limit: Until when an urgent one waits for the disk.
    ///   - show: Shows it, under the item's number.
    ///   - keepBase: Keeps what it stands on, so that both are there when the app is started again without a network.
    /// - Returns: What the server answered; nil if the account is gone, and nothing was kept.
    func send(
        _ edit: Data, _ command: any AppCommandBody, of account: AccountID, from queue: some EditQueue,
        _ requests: Requests?, isConnected: Bool, keptBy limit: Duration, show: (OutboxItem) -> Void,
        keepBase: @escaping @Sendable () async -> Void
    ) async throws(QuartetError) -> CommandReply? {
        let end = time.now() + time.callLimit
        let (name, sending) = (type(of: command).type, type(of: command).sending)
        let edit = queue.followingOwn(edit, of: account)
        let (made, resets) = state.withLock { state in
            let acted = clock.now.map { now in
                // What the server says of its time is a little off each time: what was done later isn't earlier by that.
                state.lastActed.map { now < $0 && $0 - now < Self.clockError ? $0 : now } ?? now
            }
            state.lastActed = acted
            let item = OutboxItem(
                id: state.makeNumber(time.wall()), stream: queue.stream, command: name, acted: time.wall(),
                lifetime: sending.lifetime,
                actedAtServer: acted, account: account, edit: edit, moment: .init(time), order: command.orderKey)
            state.own.insert(item.id)
            return (item, state.resets)
        }
        var item = made
        show(item)
        do throws(QuartetError) {
            // Somebody who has pressed the button for help has called for it, whatever becomes of the task.
            let isUrgent = sending.precedence == .urgent
            let lane = keepingUrgent[sending.topic] ?? keeping[sending.precedence]
            _ = try await lane?.run(isShielded: isUrgent) { () async throws(QuartetError) in
                // What it stands on is for a restart alone: a call for help doesn't wait for it.
                if !isUrgent { await keepBase() }
                var kept = try await keep(item, sending, until: limit, unlessDroppedSince: resets)
                while case .overtaken(let later) = kept {
                    item = later
                    await takeInOthers(isCertain: true)
                    kept = try await keep(item, sending, until: limit, unlessDroppedSince: resets)
                }
                guard case .kept(let tidy) = kept else { return }
                kicks.send(())
                await finish(item, by: limit) {
                    await tidy()
                    if isUrgent { await keepBase() }
                }
            }
        } catch {
            state.withLock { state in
                state.own.remove(item.id)
                state.leads[item.id] = nil
            }
            queue.decided(item, .failure(error))
            guard error == .needsAuthentication else { throw error }
            return nil
        }
        return try await wait(for: item, until: end, requests, isConnected: isConnected)
    }

    private enum Keeping {
        /// - Parameter tidy: What is left to do with the disk once it can be sent.
        case kept(_ tidy: @Sendable () async -> Void)
        /// Another process has kept one meanwhile that is to be sent before. Nothing of this one is kept.
        /// - Parameter later: It under a number after that, which shows.
        case overtaken(_ later: OutboxItem)
    }

    /// Has an item come after another process's. It shows all the while.
    private func renumber(
        _ item: OutboxItem, after latest: OutboxItem.ID, unlessDroppedSince resets: Int
    ) throws(QuartetError) -> OutboxItem {
        let later = state.withLock { state -> OutboxItem? in
            guard state.resets == resets else { return nil }
            // A process that makes one after the other doesn't overtake it each time: it goes on from this one's number.
            let lead = state.leads[item.id].map { min($0 * 2, Self.leadLimit) } ?? .seconds(1)
            state.last = max(state.last, latest)
            let later = item.numbered(state.makeNumber(time.wall() + Interval(lead)))
            state.own.remove(item.id)
            state.own.insert(later.id)
            (state.leads[item.id], state.leads[later.id]) = (nil, lead)
            return later
        }
        guard let later else { throw .needsAuthentication }
        let queue = queue(of: item)
        try queue?.restore(later)
        queue?.decided(item, .failure(.superseded))
        guard isCurrent(resets) else {
            queue?.decided(later, .failure(.needsAuthentication))
            throw .needsAuthentication
        }
        return later
    }

    /// The latest item of another process that is known here and has to be sent before one that is made.
    private func latestOther(than made: OutboxItem) -> OutboxItem.ID? {
        guard store.isShared, made.precedence != .urgent else { return nil }
        return state.withLock { state in
            let known = state.items + Array(state.accepted.values) + Array(state.finishing.values)
            return known.filter { $0.lane == made.lane && $0.id > made.id && !state.own.contains($0.id) }
                .map(\.id).max()
        }
    }

    private func keep(
        _ made: OutboxItem, _ sending: Sending, until limit: Duration, unlessDroppedSince resets: Int
    ) async throws(QuartetError) -> Keeping {
        let isUrgent = sending.precedence == .urgent
        let join = isUrgent ? nil : join(made)
        let earlier = join?.earlier
        defer { if let earlier { endJoining(earlier) } }
        @Sendable func isSuperseded(_ other: OutboxItem) -> Bool {
            // Two calls of one moment may come here in the other order.
            other.lane == made.lane && other.canCancel && (isUrgent || other.id < made.id)
                && (other.id == earlier?.id || sending.supersedes.contains(other.command))
        }
        /// Whether it goes, for all that is known here: what others may find as sent keeps its place.
        @Sendable func isGoing(_ other: OutboxItem, _ state: State) -> Bool {
            isSuperseded(other) && !(state.isShared && state.isKeptAsSent(other.id))
        }
        let (isFull, replaced) = state.withLock { state in
            let replaced = state.items.filter(isSuperseded).flatMap { item in
                [OutboxItem.Replaced(id: item.id, command: item.command)] + self.replaced(by: item)
            }
            let others = state.items.filter { $0.precedence != .urgent && !isSuperseded($0) }
            let isFull =
                others.count >= Self.limit.items
                || others.reduce(made.size) { $0 + $1.size } > Self.limit.bytes
            state.replacing.formUnion(replaced.map(\.id))
            return (isFull, replaced)
        }
        defer { state.withLock { $0.replacing.subtract(replaced.map(\.id)) } }
        guard !isFull || isUrgent else { throw .outboxFull }
        let joined = join.map { join in
            var item = made
            (item.edit, item.parts) = (join.joined.edit, join.joined.parts)
            return StoreAddition.Joined(earlier: join.earlier.id, item: item)
        }
        if let latest = latestOther(than: made) {
            return .overtaken(try renumber(made, after: latest, unlessDroppedSince: resets))
        }
        // Until it is among the items here, it isn't taken for another process's.
        state.withLock { _ = $0.adding.insert(made.id) }
        defer { state.withLock { ($0.added[made.id], _) = (nil, $0.adding.remove(made.id)) } }
        let saving = store.save(made, joined: joined) { [self] in
            state.withLock { $0.own }
        } replacing: { [self] in
            state.withLock { state -> AccountStore.Others? in
                // Dropped by a sign-out, it isn't kept for the same person signed in again either.
                guard state.resets == resets else { return nil }
                let superseded = OutboxDecision(.failure(.superseded)).encoded
                guard state.adding.contains(made.id) else {
                    // What was decided here meanwhile holds: what keeps its place isn't removed.
                    guard let item = state.items.first(where: { $0.id == made.id }) else { return nil }
                    let over = self.replaced(by: item).filter { other in !state.items.contains { $0.id == other.id } }
                    return Dictionary(over.map { ($0.id, superseded) }) { $1 }
                }
                let going = replaced.filter { other in
                    let waiting = state.items.first { $0.id == other.id }
                    // One that has become a card is left to whoever reads the card.
                    return waiting.map { isGoing($0, state) }
                        ?? (state.accepted[other.id] == nil && !cards.hasKept(other.id))
                }
                return Dictionary(
                    going.map { other in
                        (other.id, other.id == earlier?.id ? OutboxDecision(joinedBy: made.id).encoded : superseded)
                    }
                ) { $1 }
            }
        } then: { [self] others, removed in
            noteAdded(made, instead: others, removed, unlessDroppedSince: resets)
        } orAfter: { [self] latest throws(QuartetError) in
            noteRemoved([made.id])
            return try renumber(made, after: latest, unlessDroppedSince: resets)
        }
        switch await finish(made, by: limit, { await saving.value }) {
        // A disk that is full or slow doesn't hold back a call for help: it is sent from memory, and written with the next attempt
        // that can, if not before.
        case .failure(.notStored) where isUrgent: break
        case .success(let later?): return .overtaken(later)
        case .success, nil: break
        case .failure(let error):
            noteRemoved([made.id])
            throw error
        }
        typealias Changed = (
            item: OutboxItem, removed: Set<OutboxItem.ID>?, superseded: [OutboxItem], left: [OutboxItem.Replaced]
        )
        let changed = change { state -> Changed? in
            guard state.resets == resets else { return nil }
            /// Those of the others that the device doesn't have any more; nil if it couldn't write, or hasn't yet.
            let removed = state.added[made.id]
            var item = joined.flatMap { removed?.contains($0.earlier) == true ? $0.item : nil } ?? made
            let superseded = state.items.filter { other in
                // Where the device has done it, what another process has sent or decided meanwhile keeps its place.
                removed == nil
                    ? isGoing(other, state) : isSuperseded(other) && !(state.isShared && !state.isNew(other.id))
            }
            // Those that stay aren't removed by this one. Others may be on the device again: it was asked to write them meanwhile.
            let left = superseded.filter { removed?.contains($0.id) != true || state.mayBeKept($0.id) }
                .flatMap { [.init(id: $0.id, command: $0.command)] + self.replaced(by: $0) }
            if removed == nil { item.replaced = left }
            state.end(superseded)
            state.replacing.subtract(replaced.map(\.id))
            state.over.subtract(removed ?? [])
            (state.added[made.id], _) = (nil, state.adding.remove(made.id))
            state.take(item, isKept: removed != nil)
            state.awaited.insert(item.id)
            if let earlier, superseded.contains(where: { $0.id == earlier.id }) {
                state.joined[item.id] = state.callers(of: earlier) + [Caller(id: made.id, edit: made.edit)]
                state.joined[earlier.id] = nil
            }
            state.leads[item.id] = nil
            if isUrgent, !state.isRestored { state.madeUnread[item.lane] = item }
            return (item, removed, superseded, left)
        }
        guard let changed else {
            // Its person signed out meanwhile, and may be signed in again.
            await finish(made, by: limit) { await self.forget([made.id], of: made.account) }
            throw .needsAuthentication
        }
        for other in changed.superseded {
            guard other.id == earlier?.id else {
                tell(other, .failure(.superseded))
                continue
            }
            self.queue(of: changed.item)?.show(changed.item, insteadOf: other)
            decisions.send(OutboxEvent(item: other, error: .superseded))
        }
        return .kept { [self] in
            let isSaved = if case .success = await saving.value { true } else { false }
            // Those whose attempt ended, or was written, after the device had come to it.
            if changed.removed != nil { await forget(changed.left, insteadOf: made) }
            // Their person may take them for sent.
            for item in changed.superseded where item.command != made.command {
                if isSaved {
                    await endUnsent(item, .superseded, isNew: true, unlessDroppedSince: resets)
                } else if isCurrent(resets) {
                    // The device still has them, and sends them after a crash.
                    cards.show(item, .superseded)
                    let isToRemove = state.withLock { state in
                        // A sign-out has taken its card along.
                        guard state.resets == resets else { return true }
                        state.unkept[item.id] = item
                        return state.items.contains { later in
                            later.replaced?.contains { $0.id == item.id } ?? false
                        }
                    }
                    // What took their place was written, or went, just before.
                    if !isToRemove { await keepCards(of: [.init(id: item.id, command: item.command)]) }
                }
            }
            // No card is written of these, so nothing else would forget them.
            state.withLock { state in
                for item in changed.superseded where item.command == made.command { state.removed[item.id] = nil }
            }
            if isSaved {
                await keepCards(of: replaced)
                await catchUp()
            }
            // The others were sent or decided by another process.
            if let removed = changed.removed, replaced.contains(where: { !removed.contains($0.id) }) {
                await takeInOthers(isCertain: true)
            }
        }
    }

    /// The device has added an item, and doesn't have some of those any more whose place that was to take. Called before anything else is
    /// asked of it.
    private func noteAdded(
        _ item: OutboxItem, instead others: AccountStore.Others, _ removed: Set<OutboxItem.ID>,
        unlessDroppedSince resets: Int
    ) {
        change { state in
            guard state.resets == resets else { return }
            for id in removed {
                state.kept[id]?.last = nil
                if item.precedence == .urgent { state.removed[id] = others[id] }
            }
            state.over.subtract(removed)
            guard !state.adding.contains(item.id) else {
                state.added[item.id] = removed
                return
            }
            state.kept[item.id]?.last = item
            guard let index = state.items.firstIndex(where: { $0.id == item.id }) else { return }
            // The device has done with these what it may.
            state.items[index].replaced?.removeAll { others[$0.id] != nil }
        }
    }

    /// Has an item do as well what the one before it is to do, if that was never sent. It is held until ``endJoining(_:)``.
    /// - Returns: That one, and the item's edit if it goes.
    private func join(_ item: OutboxItem) -> (earlier: OutboxItem, joined: JoinedEdit)? {
        let earlier = state.withLock { state -> OutboxItem? in
            // Whatever else is to happen in between keeps its place.
            guard let last = state.items.last(where: { $0.lane == item.lane }), last.canCancel, last.lost == nil,
                last.id < item.id,
                !state.schedule.isBusy(last), !state.isKeptAsSent(last.id)
            else { return nil }
            state.joining.insert(last.id)
            return last
        }
        guard let earlier else { return nil }
        guard let joined = queue(of: item)?.merged(item, with: earlier) else {
            endJoining(earlier)
            return nil
        }
        return (earlier, joined)
    }

    private func endJoining(_ item: OutboxItem) {
        state.withLock { _ = $0.joining.remove(item.id) }
        kicks.send(())
    }

    private func wait(
        for item: OutboxItem, until end: Duration, _ requests: Requests?, isConnected: Bool
    ) async throws(QuartetError) -> CommandReply {
        // Nobody else would find out that the device is signed in again, or not soon enough for a call for help.
        if requests != nil || item.precedence == .urgent {
            state.withLock { $0.schedule.isBlocked = false }
            kicks.send(())
        }
        let running = Task(executorPreference: time.workplace) { await self.runUnlessRunning(requests, for: item) }
        defer { stop(running, by: end) }
        let undecided = await waitForDecision(of: item, until: end, isConnected: isConnected)
        let result = state.withLock { state in
            state.awaited.remove(item.id)
            return state.results.removeValue(forKey: item.id)
        }
        guard let result else { throw await promise(of: item, undecided ?? .willBeSentWhenOnline, requests) }
        return try result.get()
    }

    /// Ends what a call has run, and doesn't wait for what else hangs there. What is urgent is sent on for as long as the call might have
    /// lasted: somebody may be calling for help with it, and nobody else sends it.
    private func stop(_ running: Task<Void, Never>, by end: Duration) {
        guard isSendingUrgently else { return running.cancel() }
        Task(executorPreference: time.workplace) { [self] in
            defer { running.cancel() }
            while time.now() < end {
                let news = progress.subscribe(keeping: 1)
                guard isSendingUrgently else { return }
                await time.wait(for: news, until: end)
            }
        }
    }

    /// What can be said of an item that isn't decided. Where it ends with the process and nobody sends it, it isn't kept.
    private func promise(of item: OutboxItem, _ error: QuartetError, _ requests: Requests?) async -> QuartetError {
        // A connection may have begun to run since.
        let (isRunning, resets, isNew) = state.withLock { ($0.runners > 0, $0.resets, $0.isNew(item.id)) }
        guard requests != nil, !isRunning, !store.isDurable, !Task.isCancelled,
            let item = take(item.id, where: { _ in true })
        else { return error }
        let end: QuartetError = item.isSent ? .unknown : .offline
        await forgetReplaced(by: item)
        if item.precedence == .urgent {
            await endUnsent(item, item.isSent ? .unknown : .expired, isNew: isNew, unlessDroppedSince: resets)
        } else {
            await forget([item.id], of: item.account)
        }
        tell(item, .failure(end))
        return end
    }

    /// Waits for the decision.
    /// - Returns: Why there is none, in time; nil if there is.
    private func waitForDecision(
        of item: OutboxItem, until end: Duration, isConnected: Bool
    ) async -> QuartetError? {
        while true {
            let news = progress.subscribe(keeping: 1)
            let now = time.now()
            let (isDecided, isBlocked, rest) = state.withLock { state in
                (state.results[item.id] != nil, state.schedule.isBlocked, state.schedule.rest(of: item, now: now))
            }
            if isDecided { return nil }
            // Cancelling the call doesn't take the change back.
            if Task.isCancelled || isBlocked { return .willBeSentWhenOnline }
            if let rest, !isConnected || rest.until > end || now >= end { return rest.error }
            if now >= end { return .willBeSentWhenOnline }
            await time.wait(for: news, until: end)
        }
    }
}
