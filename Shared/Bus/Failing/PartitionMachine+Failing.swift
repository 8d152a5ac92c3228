import Vocabulary

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
        hold(FailedMessage(item, fault, after: queue.failure(of: item), at: now))
        lookForOthers(at: now)
    }

    mutating func failed(
        _ fault: Fault, retrying former: Parked<Item.OrderKey>, _ item: Item, at now: ContinuousClock.Instant
    ) {
        activity = .settling(FailedMessage(item, fault, parkedAs: former, at: now))
    }

    mutating func refuse(_ former: Parked<Item.OrderKey>, _ item: Item, at now: ContinuousClock.Instant) -> Bool {
        let ended = crashes[former.position] ?? 0
        let (fault, tries): (Fault, Int)
        if former.isDiscarded {
            (fault, tries) = (Fault(.discarded, "an operator discarded it"), 0)
        } else if former.cause == .crashed ? givesUp || ended > 0 : ended >= limits.crashes {
            (fault, tries) = (.trap, ended)
        } else {
            return false
        }
        activity = .settling(FailedMessage(item, fault, tries: tries, parkedAs: former, at: now))
        return true
    }

    // MARK: Verdicts

    /// Whether a message that failed is given up now.
    func isOver(_ failed: FailedMessage<Item>, at now: ContinuousClock.Instant) -> Bool {
        switch failed.fault.code {
        case .discarded: true
        case .crashed: givesUp
        case .error: givesUp && failed.attempts >= limits.attempts && now - failed.since >= limits.leastTime
        case .trouble, .unknown: false
        }
    }

    /// The first message of the queue, if it is given up before anything else is tried.
    func dead(_ first: Item, at now: ContinuousClock.Instant) -> FailedMessage<Item>? {
        guard parked[first.orderKey] == nil, let failed = queue.failure(of: first) ?? trap(first, at: now) else {
            return nil
        }
        return isOver(failed, at: now) ? failed : nil
    }

    /// A message that isn't tried because it ended several leases.
    func trap(_ item: Item, at now: ContinuousClock.Instant) -> FailedMessage<Item>? {
        guard let ended = crashes[item.position], ended >= limits.crashes else { return nil }
        return FailedMessage(item, .trap, tries: ended, at: now)
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
        guard parked.count + (held?.messages.count ?? 0) < limits.parkedKeys else {
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
}
