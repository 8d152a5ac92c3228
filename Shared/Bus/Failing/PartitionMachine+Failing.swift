import QuartetVocabulary

/// What happens to messages whose transaction failed.
extension PartitionMachine.Ready {
    mutating func failed(_ fault: Fault, handling work: Work<Item>, at now: ContinuousClock.Instant) {
        let tried = work.handled
        guard tried.count <= 1 else {
            // Handled one by one, they show whose fault it is.
            queue.alone = max(queue.alone, work.items.count)
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
        activity = .settling(failed)
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
        activity = .settling(FailedMessage(item, fault, tries: tries, in: key, parkedAs: former, at: now))
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

    /// Counts a contention. Returns true when there were so many in a row that it counts as a failure.
    mutating func isTooMuchContention() -> Bool {
        contentions += 1
        if contentions >= limits.contentions {
            contentions = 0
            return true
        }
        // The first few come from neighbours that are about to finish. Later ones need a pause.
        if contentions > 3 { pause = .due(attempt: max(contentions, trouble?.rests ?? 0)) }
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
            let isEnough = held.messages.count >= limits.probes << min(trouble?.rests ?? 0, 4)
            let mayReadOn = isRung && queue.items.count < limits.window
            if isEnough || (next == nil && !mayReadOn) { rest(held.fault) }
            return
        }
    }

    /// Starts over after a pause.
    mutating func rest(_ fault: Fault) {
        let rests = (trouble?.rests ?? 0) + 1
        trouble = PartitionMachine.Ready.Trouble(reason: fault.description, rests: rests)
        pause = .due(attempt: max(rests, contentions))
        activity = .handling
        queue.alone = max(queue.alone, 1)
    }

    mutating func rest(until end: ContinuousClock.Instant) {
        if case .due = pause { pause = .until(end) }
    }
}

extension Fault {
    fileprivate static let trap = Fault(.crashed, "it ended its owners")
    fileprivate static let lost = Fault(.lost, "the connection was lost each time it was tried alone")
}
