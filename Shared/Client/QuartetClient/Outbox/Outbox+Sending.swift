import QuartetAPI
import QuartetVocabulary
import Synchronization

/// Whose turn it is, and what becomes of an item that the server has decided.
extension Outbox {
    /// Sends what waits, for a connection that runs, until the task is cancelled.
    /// - Parameter requests: Those of whoever is signed in then.
    func run(_ requests: @Sendable () -> Requests) async {
        state.withLock { $0.runners += 1 }
        defer { state.withLock { $0.runners -= 1 } }
        await run(only: nil, requests)
    }

    /// - Parameter lane: Whose items are sent, whoever made them, and what is urgent; nil for all.
    private func run(only lane: String?, _ requests: @Sendable () -> Requests) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.heedOthers() }
            while !Task.isCancelled {
                let kicked = kicks.subscribe(keeping: 1)
                // Looked at once: what may be sent from a time on that is between two looks would be neither sent nor waited for.
                let now = time.now()
                while let item = next(only: lane, now) {
                    let requests = requests()
                    group.addTask { await self.send(item, requests) }
                }
                if isBehind { group.addTask { await self.catchUp() } }
                let until = state.withLock { state in
                    let ends = state.items.compactMap { state.pace(of: $0, now: now) ?? state.isOthers($0, now: now) }
                    return (ends + [state.schedule.nextEnd(of: state.items, now: now)].compactMap { $0 }).min()
                }
                await time.wait(for: kicked, until: until)
            }
        }
    }

    func runUnlessRunning(_ requests: Requests?, for item: OutboxItem) async {
        if let requests { await run(only: item.lane) { requests } }
    }

    private func next(only lane: String?, _ now: Duration) -> OutboxItem? {
        state.withLock { state in
            let known = state
            // Somebody may wait for help.
            let items =
                lane.map { lane in known.items.filter { $0.lane == lane || $0.precedence == .urgent } } ?? known.items
            return state.schedule.next(of: items, now: now) { item in
                known.queues[item.stream]?.edits != nil && !known.joining.contains(item.id)
                    && known.pace(of: item, now: now) == nil
                    // What a caller waits for doesn't wait for another process.
                    && (lane != nil || known.isOthers(item, now: now) == nil)
            }
        }
    }

    private func send(_ item: OutboxItem, _ requests: Requests) async {
        // Its client may go meanwhile. What becomes of the change shows in the next one.
        let queue = queue(of: item)
        defer { withExtendedLifetime(queue) {} }
        let verdict = await attemptInOneNetwork(item, requests)
        if case .decided(let result) = verdict { await settle(item, result) }
        let now = time.now()
        state.withLock { state in
            state.schedule.end(item)
            var random = time.draws
            switch verdict {
            case .decided:
                state.schedule.decided(item)
                state.paces = state.paces.filter { $0.value > now }
                if item.precedence != .urgent { state.paces[item.lane] = now + Self.pace }
            case .signedOut where requests.isCurrent(): state.schedule.isBlocked = true
            case .later(let error, let pause, let isShared):
                state.schedule.rest(item, error, pause: pause, isShared: isShared, now: now, using: &random)
            case .lost: break
            case .signedOut, .cancelled:
                // Taken back, or stopped with its task, or somebody else is signed in.
                guard state.items.contains(where: { $0.id == item.id }) else { return }
                state.schedule.rest(
                    item, .willBeSentWhenOnline, pause: nil, isShared: false, now: now, using: &random)
            }
        }
        progress.send(())
        kicks.send(())
    }

    private func settle(_ item: OutboxItem, _ result: Result<CommandReply, QuartetError>) async {
        let (resets, isNew) = state.withLock { ($0.resets, $0.isNew(item.id)) }
        let renewals = store.renewals
        var made: Int64?
        if case .success(let reply) = result { made = queue(of: item)?.version(madeBy: reply) }
        noteVersion(made, madeBy: item)
        showCard(of: item, result)
        guard var item = take(item.id, where: { _ in true }) else {
            // It was taken back, or another process has ended it.
            cards.hideEarly(item.id)
            // It was dropped while it was on its way, and has arrived.
            if case .success = result { try? await cards.remove(item.id) }
            return
        }
        /// What the device has of it then; nil if that takes its time.
        let outcome: StoreUpdate.Outcome?
        // If the device fails to write this, the item is sent once more under its key, and the server answers the same.
        if case .success(let reply) = result, reply.event != nil {
            (item.accepted, item.made) = (reply.command, made)
            state.withLock { $0.accepted[item.id] = item }
            outcome = await finish(item) { [self, item] in
                // Better forgotten than made again after a restart.
                do throws(QuartetError) {
                    let decision = OutboxDecision(result, lost: item.lost, made: item.made)
                    return try await write(item, .end, of: item, isNew: isNew, decision)
                } catch {
                    await forget([item.id], of: item.account, result)
                    await forgetReplaced(by: item)
                    return .done
                }
            }
        } else {
            var reason = UnsentChange.Reason(result)
            if case .failure(.refused(let error)) = result {
                item.refusal = UnsentChange.Refusal(error)
                if isHeard(result, of: item) { reason = nil }
            }
            let isAccepted = if case .success = result { true } else { false }
            outcome = await finish(item) { [self, item, reason] in
                let outcome: StoreUpdate.Outcome
                if item.precedence == .urgent, let reason {
                    outcome = await endUnsent(
                        item, reason, isNew: isNew, renewals: renewals, unlessDroppedSince: resets)
                } else {
                    let known = await end(item, result, knownAs: isAccepted ? nil : item)
                    outcome = isNew ? .done : known
                }
                await forgetReplaced(by: item)
                return outcome
            }
        }
        guard let outcome, let known = heard(result, of: item, outcome) else { return tell(item, result) }
        if case .decided(let result) = known { tell(item, result) }
    }

    /// Shows the card of an urgent item that ended so and is still to go, unless its caller hears a refusal.
    private func showCard(of item: OutboxItem, _ result: Result<CommandReply, QuartetError>) {
        guard item.precedence == .urgent, let reason = UnsentChange.Reason(result) else { return }
        let isMeant = state.withLock { state in
            state.items.contains { $0.id == item.id } && (reason != .refused || state.callers(of: item).isEmpty)
        }
        guard isMeant else { return }
        var item = item
        if case .failure(.refused(let error)) = result { item.refusal = UnsentChange.Refusal(error) }
        cards.showEarly(item, reason)
    }

    /// What the device knows of an item that ended here.
    private enum Known {
        case decided(Result<CommandReply, QuartetError>)
        /// Another process is at it.
        case open
    }

    /// - Returns: Nil if what happened here counts.
    private func heard(
        _ result: Result<CommandReply, QuartetError>, of item: OutboxItem, _ outcome: StoreUpdate.Outcome
    ) -> Known? {
        let isServers =
            switch result {
            case .success, .failure(.refused): true
            case .failure: false
            }
        switch outcome {
        case .other(let stored) where !stored.isOver: return .open
        case .other, .gone: return isServers ? nil : outcome.result.map { .decided($0) }
        case .done, .behind: return nil
        }
    }
}
