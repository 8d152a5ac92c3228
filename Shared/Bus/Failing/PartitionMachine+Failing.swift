import QuartetVocabulary

/// What happens to messages whose transaction failed.
extension PartitionMachine.Ready {
    mutating func failed(_ fault: Fault, handling work: Work<Item>, at now: ContinuousClock.Instant) {
        let tried = work.handled
        guard tried.count <= 1 else {
            // Handled one by one, they show whose fault it is. With held messages only one is tried, so none should be held here.
            // Holding them on would repeat the same transaction without end.
            queue.alone = max(queue.alone, work.items.count)
            activity = .handling
            return
        }
        // If nothing was tried, the parking itself failed.
        guard let item = tried.first else { return rest(fault) }
        queue.alone = max(queue.alone, 1)
        hold(FailedMessage(item, fault, in: key(of: item, fault), after: queue.failure(of: item), at: now))
        lookForOthers(at: now)
    }

    mutating func failed(
        _ fault: Fault, retrying former: Parked<Item.OrderKey>, _ item: Item, at now: ContinuousClock.Instant
    ) {
        var failed = FailedMessage(item, fault, in: key(of: item, fault), parkedAs: former, at: now)
        if let alone = ordering.alone(item), givesUp {
            if former.key == alone {
                failed.key = alone
            } else if isEnough(failed, at: now), parked.count < limits.parkedKeys {
                // Nothing waits behind it any longer.
                failed.key = alone
            }
        }
        settling = .message(failed)
    }

    /// Fresh loads may help a retry at once. What goes on after that says nothing about how the message fails, unless it is at
    /// fault; it takes pauses of its own.
    mutating func contended(
        _ fault: Fault, retrying former: Parked<Item.OrderKey>, _ item: Item, at now: ContinuousClock.Instant
    ) {
        let contentions = former.contentions + 1
        if contentions >= limits.contentions, fault.code == .error || former.cause == nil {
            return failed(fault, retrying: former, item, at: now)
        }
        setBack(
            former, contentions: contentions, unsettled: former.unsettled,
            restsAs: contentions > limits.promptContentions ? contentions : nil)
    }

    /// A parked message could be neither parked again nor given up. The queue and other retries find out whether they can go on. If
    /// several of these can't be settled either, one after the other, all retries take a pause together, and one finds out after it.
    mutating func unsettled(_ fault: Fault, _ former: Parked<Item.OrderKey>) {
        settling = .nothing
        unsettledFault = fault
        unsettled.insert(former.position)
        let tries = former.unsettled + 1
        let areAll = unsettled.count >= limits.unsettled
        // Contentions in a row end where it fails.
        setBack(
            former, contentions: 0, unsettled: tries, restsAs: areAll ? max(tries, unsettled.count) : tries,
            isOfAll: areAll)
    }

    mutating func refuse(_ former: Parked<Item.OrderKey>, _ item: Item, at now: ContinuousClock.Instant) -> Bool {
        let (ended, lost) = (crashes[former.position] ?? 0, losses[former.position] ?? 0)
        let alone = givesUp ? ordering.alone(item) : nil
        var key = former.key
        let (fault, tries): (Fault, Int)
        if former.isDiscarded {
            (fault, tries) = (Fault(.discarded, "an operator discarded it"), 0)
        } else if former.cause == .crashed ? (givesUp && alone == nil) || ended > 0 : ended >= limits.crashes {
            (fault, tries) = (.trap, ended)
            if let alone, parked.count < limits.parkedKeys { key = alone }
        } else if former.cause == .lost ? lost > 0 : lost >= limits.crashes {
            (fault, tries) = (.lost, lost)
        } else {
            return false
        }
        settling = .message(FailedMessage(item, fault, tries: tries, in: key, parkedAs: former, at: now))
        endTurn(of: .retries)
        return true
    }

    /// The order in which a message that fails this way is parked.
    private func key(of item: Item, _ fault: Fault) -> Item.OrderKey {
        fault.code == .unknown ? ordering.unreadable(item, fault) : ordering.key(item)
    }

    // MARK: Verdicts

    /// Whether a message that failed is given up now.
    func isOver(_ failed: FailedMessage<Item>, at now: ContinuousClock.Instant) -> Bool {
        switch failed.fault.code {
        case .discarded: true
        case .crashed: givesUp && !mayGoOn(failed, at: now)
        case .error: givesUp && isEnough(failed, at: now) && !mayGoOn(failed, at: now)
        case .trouble, .unknown, .lost: false
        }
    }

    /// Whether a message that fails by its own fault was tried often and long enough in its order.
    private func isEnough(_ failed: FailedMessage<Item>, at now: ContinuousClock.Instant) -> Bool {
        failed.fault.code == .error && failed.attempts >= limits.attempts && now - failed.since >= limits.leastTime
    }

    /// Whether a message that nobody would send again is tried on: by itself or, while no more can be parked by themselves, where it is.
    private func mayGoOn(_ failed: FailedMessage<Item>, at now: ContinuousClock.Instant) -> Bool {
        guard let alone = ordering.alone(failed.item), now - failed.since < limits.aloneTime else { return false }
        return failed.key == alone || failed.former != nil
    }

    /// The first message of the queue, if it is given up before anything else is tried.
    func dead(_ first: Item, at now: ContinuousClock.Instant) -> FailedMessage<Item>? {
        guard let failed = queue.failure(of: first) ?? trap(first, at: now), !isParkedFirst(first) else { return nil }
        return isOver(failed, at: now) ? failed : nil
    }

    /// A message that isn't tried because it ended several leases or connections.
    func trap(_ item: Item, at now: ContinuousClock.Instant) -> FailedMessage<Item>? {
        if let ended = crashes[item.position], ended >= limits.crashes {
            let alone = givesUp && parked.count < limits.parkedKeys ? ordering.alone(item) : nil
            return FailedMessage(item, .trap, tries: ended, in: alone ?? ordering.key(item), at: now)
        }
        guard let lost = losses[item.position], lost >= limits.crashes else { return nil }
        return FailedMessage(item, .lost, tries: lost, in: ordering.key(item), at: now)
    }

    /// Counts a contention of the queue. Returns true when there were so many in a row that it counts as a failure.
    /// - Parameter isHolding: Whether something is held. Then it counts as one where a pause would begin: the next message is
    ///   tried instead.
    mutating func isTooMuchContention(isHolding: Bool) -> Bool {
        contentions += 1
        let isOverdue = contentions > limits.promptContentions
        if contentions >= limits.contentions || isHolding && isOverdue {
            contentions = 0
            return true
        }
        if isOverdue { pause = .due(attempt: contentions) }
        return false
    }

    // MARK: Holding and resting

    private mutating func hold(_ failed: FailedMessage<Item>) {
        let held: Held? = if case .holding(let held) = activity { held } else { nil }
        guard parked[failed.key] != nil || parked.count + (held?.messages.count ?? 0) < limits.parkedKeys else {
            if failed.fault.code == .error { queue.stuck = .message(failed) }
            return rest(Fault(failed.fault.code, "no more keys can be parked: \(failed.fault)"))
        }
        activity = .holding(Held(failed, after: held))
    }

    /// While something is held, the partition rests unless there is a message of another key to try.
    mutating func lookForOthers(at now: ContinuousClock.Instant) {
        while case .holding(let held) = activity, !held.mayBeParkedAlone {
            let next = candidate(after: held)
            if let next, let trap = trap(queue.items[next], at: now) {
                hold(trap)
                continue
            }
            // Each rest lets more messages be tried: those in front may be the only ones that fail.
            let isEnough = held.messages.count >= limits.probes << min(rests, 4) || isUrgentLate(behind: held, at: now)
            let mayReadOn = isRung && queue.items.count < limits.window
            if isEnough || (next == nil && !mayReadOn) { rest(held.fault) }
            return
        }
    }

    /// Whether a retry that may be urgent waits until nothing is held any longer, and has waited for long.
    private func isUrgentLate(behind held: Held, at now: ContinuousClock.Instant) -> Bool {
        guard let first = held.messages.first, now - first.since >= limits.urgentPatience * (1 << min(rests, 6)) else {
            return false
        }
        if let retriesResumeAt, now < retriesResumeAt { return false }
        return parked.values.contains { now - $0.retryAt >= limits.urgentPatience && ordering.isUrgent($0.key) }
    }

    /// Starts over after a pause.
    mutating func rest(_ fault: Fault) {
        rests += 1
        trouble = fault.description
        pause = .due(attempt: rests)
        activity = .handling
        queue.alone = max(queue.alone, 1)
    }
}

extension Fault {
    fileprivate static let trap = Fault(.crashed, "it ended its owners")
    fileprivate static let lost = Fault(.lost, "the connection was lost each time it was tried alone")
}
