import Vocabulary

/// What becomes of messages whose transaction failed.
extension PartitionMachine {
    /// The transaction of pending messages did not commit, as far as is known.
    public mutating func failed(
        _ failure: TransactionFailure, handling work: Work<Item>, at now: ContinuousClock.Instant
    ) {
        guard let fault = fault(of: failure) else { return }
        let tried = work.handled
        guard tried.count <= 1 else {
            // One by one, to see whose fault it is.
            alone = max(alone, work.items.count)
            return
        }
        // Where nothing was tried, setting aside what had failed didn't work either.
        guard let item = tried.first else { return rest(fault) }
        alone = max(alone, 1)
        let earlier = stuck.flatMap { $0.item.position == item.position ? $0 : nil }
        hold(
            FailedMessage(
                item, former: nil, fault: fault, to: earlier.map { ($0.fault.code, $0.attempts, $0.since) }, at: now))
        lookForOthers(at: now)
    }

    /// The transaction that tried a parked message again did not commit, as far as is known.
    public mutating func failed(
        _ failure: TransactionFailure, retrying former: Parked<Item.OrderKey>, _ item: Item,
        at now: ContinuousClock.Instant
    ) {
        guard let fault = fault(of: failure) else { return }
        retried = FailedMessage(
            item, former: former, fault: fault, to: (former.cause, former.attempts, former.since), at: now)
    }

    /// What was to be parked again or given up was not, as far as is known.
    public mutating func failedToSettle(_ failure: TransactionFailure) {
        guard let fault = fault(of: failure) else { return }
        rest(fault)
    }

    /// A parked message isn't tried.
    public mutating func refuse(
        _ former: Parked<Item.OrderKey>, _ item: Item, at now: ContinuousClock.Instant
    ) -> Bool {
        let ended = crashes[former.position] ?? 0
        if former.isDiscarded {
            retried = FailedMessage(
                item, former: former, fault: Fault(.discarded, "an operator gave it up"), adding: 0,
                to: (.discarded, former.attempts, former.since), at: now)
        } else if former.cause == .crashed ? givesUp || ended > 0 : ended >= limits.crashes {
            retried = FailedMessage(
                item, former: former, fault: .trap, adding: ended,
                to: (former.cause, former.attempts, former.since), at: now)
        } else {
            return false
        }
        return true
    }

    // MARK: Verdicts

    /// Whether one that failed is given up now.
    func isOver(_ failed: FailedMessage<Item>, at now: ContinuousClock.Instant) -> Bool {
        switch failed.fault.code {
        case .discarded: true
        case .crashed: givesUp
        case .error: givesUp && failed.attempts >= limits.attempts && now - failed.since >= limits.leastTime
        case .trouble, .unknown: false
        }
    }

    /// The first pending one, if it is given up before anything else.
    func dead(_ first: Item, at now: ContinuousClock.Instant) -> FailedMessage<Item>? {
        guard parked[first.orderKey] == nil else { return nil }
        let failed = stuck.flatMap { $0.item.position == first.position ? $0 : nil } ?? trap(first, at: now)
        return failed.flatMap { isOver($0, at: now) ? $0 : nil }
    }

    /// One that isn't tried since it ended several leases.
    func trap(_ item: Item, at now: ContinuousClock.Instant) -> FailedMessage<Item>? {
        guard let ended = crashes[item.position], ended >= limits.crashes else { return nil }
        return FailedMessage(item, former: nil, fault: .trap, adding: ended, to: nil, at: now)
    }

    /// Why a message failed; nil when that isn't for a message to answer.
    private mutating func fault(of failure: TransactionFailure) -> Fault? {
        switch failure {
        case .fenced, .connectionLost:
            leaseLost()
            return nil
        case .contention(let fault):
            contentions += 1
            if contentions >= limits.contentions {
                contentions = 0
                return fault
            }
            // The first few come from neighbours that are just done; later ones need a pause.
            isResting = contentions > 3
            return nil
        case .failed(let fault):
            contentions = 0
            return fault
        }
    }

    // MARK: Holding and resting

    private mutating func hold(_ failed: FailedMessage<Item>) {
        guard parked.count + held.count < limits.parkedKeys else {
            if failed.fault.code == .error { stuck = failed }
            return rest(Fault(failed.fault.code, "no more keys can be parked: \(failed.fault)"))
        }
        held.append(failed)
        // A body that can't be read says nothing about the database's health.
        isSettling = failed.fault.code == .error || held.allSatisfy { $0.fault.code != .trouble }
    }

    /// With something held, the partition rests unless there is a message of another key to try.
    mutating func lookForOthers(at now: ContinuousClock.Instant) {
        guard !isResting, !isSettling, let last = held.last else { return }
        while let next = candidate, let trap = trap(pending[next], at: now) {
            hold(trap)
            isSettling = false
            if isResting { return }
        }
        // The longer this goes on, the more are tried: those in front may be the only ones that fail.
        let isEnough = held.count >= limits.probes << min(rests, 4)
        let mayReadOn = isRung && pending.count < limits.window
        if isEnough || (candidate == nil && !mayReadOn) { rest(last.fault) }
    }

    private mutating func rest(_ fault: Fault) {
        trouble = fault.description
        rests += 1
        isResting = true
        held = []
        isSettling = false
        retried = nil
        alone = max(alone, 1)
    }
}

extension Fault {
    fileprivate static let trap = Fault(.crashed, "it ended its owners")
}
