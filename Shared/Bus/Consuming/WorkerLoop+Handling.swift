import Logging
import Postgres
import QuartetVocabulary

extension WorkerLoop {
    /// Does what some partitions do next, one thing each, if that needs care and this worker has the turn. Before all else of the pass,
    /// because the turn isn't kept for it for long.
    func takeCare() throws {
        careful.beginPass()
        while let next = nextCareful() {
            defer { careful.end() }
            if case .handle = partitions[next].machine.nextStep(at: .now) { partitions[next].goesOn() }
            try handle(next, exceptPending: false, mayTakeCare: true)
        }
    }

    private func nextCareful() -> Int? {
        let now = ContinuousClock.now
        let next = careful.next(
            at: now, among: partitions.count, isReady: { partitions[$0].machine.nextStep(at: now).needsCare },
            wants: { partitions[$0].machine.wantsCare(at: now) })
        // With nothing else to do, it is rung. Otherwise it would be away when its turn comes.
        guard next == nil, careful.isWaiting, isBusy, mayWaitForTurn(as: careful.claimant, besides: aheadClaimant)
        else { return next }
        return careful.wait()
    }

    /// Whether the careful turn is worth waiting for. The wait counts as progress.
    func mayWaitForTurn(as claimant: FairTurn.Claimant, besides other: FairTurn.Claimant?) -> Bool {
        worker.tenure.progressed(for: settings.leaseDuration)
        return careful.isWorthWaiting(as: claimant, besides: other, at: .now)
    }

    /// Performs the next step of a partition's machine, if that step handles messages.
    /// - Parameters:
    ///   - exceptPending: Leaves pending messages to the next ``handleTogether()``.
    ///   - mayTakeCare: Whether this worker has the turn of its process.
    func handle(_ index: Int, exceptPending: Bool, mayTakeCare: Bool = false) throws {
        let step = partitions[index].machine.nextStep(at: .now, mayTakeCare: mayTakeCare)
        switch step {
        case .handle(let work, _, _) where exceptPending && work.isPlain: return
        case .rest(let attempt):
            return partitions[index].machine.rest(until: .now + settings.restBackoff.delay(attempt: attempt))
        case .wait, .takeLease, .open, .read, .release: return
        case .handle, .retry, .parkAgain, .giveUp: break
        }
        guard worker.tenure.holds else {
            partitions[index].machine.leaseLost()
            nextMaintenance = .now
            return
        }
        switch step {
        case .handle(let work, let cursor, let epoch):
            try handle(index, work.bounded(worker.handler.weight).work, cursor, epoch)
        case .retry(let parked, let cursor, let epoch): try retry(index, parked, cursor, epoch)
        case .parkAgain(let failed, let cursor, let epoch): try parkAgain(index, failed, cursor, epoch)
        case .giveUp(let failed, let cursor, let epoch): try giveUp(index, failed, cursor, epoch)
        default: return
        }
        settings.faultPoint?(.afterCommit)
    }

    // MARK: Pending messages

    /// The messages that one partition has ready.
    private struct Ready {
        let index: Int
        let work: Work<RecordedMessage>
        let cursor: Cursor
        let epoch: Epoch
    }

    /// Handles what several partitions have ready in one transaction, which halves commits, flushes and doorbells. If
    /// it fails, each partition is handled by itself, which shows whose fault it was.
    /// - Returns: The partitions that it has handled. What is too much for one transaction is left to one of its own.
    func handleTogether() throws -> Set<Int> {
        guard worker.tenure.holds else { return [] }
        var total = 0
        let ready = partitions.indices.compactMap { index -> Ready? in
            guard case .handle(let work, let cursor, let epoch) = nextStep(index), work.isPlain else { return nil }
            let (bounded, weight) = work.bounded(worker.handler.weight)
            guard total + weight <= Work<RecordedMessage>.weightLimit else { return nil }
            total += weight
            return Ready(index: index, work: bounded, cursor: cursor, epoch: epoch)
        }
        guard ready.count > 1 else { return [] }
        do {
            try handle(ready)
            settings.faultPoint?(.afterCommit)
            return Set(ready.map(\.index))
        } catch {
            _ = try recover(from: error, handling: ready.flatMap(\.work.items), isJoint: true)
            return []
        }
    }

    private func handle(
        _ index: Int, _ work: Work<RecordedMessage>, _ cursor: Cursor, _ epoch: Epoch
    ) throws {
        do {
            try handle([Ready(index: index, work: work, cursor: cursor, epoch: epoch)])
        } catch {
            let handled = work.handled
            let failure = try recover(
                from: error, handling: handled.isEmpty ? work.items : handled,
                careful: work.isCareful ? handled.first.map { Careful($0, epoch: epoch) } : nil)
            if handled.count == 1, case .failed(let fault) = failure, let needs = fault.needs {
                try offer(index, for: handled[0], toWhoKnows: needs)
            }
            partitions[index].machine.failed(failure, handling: work, at: .now)
        }
    }

    private func handle(_ ready: [Ready]) throws {
        let items = ready.flatMap(\.work.handled)
        let advances = ready.compactMap { ready in
            ready.work.items.last.map { last in
                Advance(
                    partition: partitions[ready.index].partition, from: ready.cursor, epoch: ready.epoch,
                    items: ready.work.items, to: last.position,
                    readsAhead: readsAhead(ready))
            }
        }
        let held = ready.map { ready in ready.work.held.map { (message: $0, pause: pause(after: $0)) } }
        let careful = ready.first { $0.work.isCareful }.flatMap { ready in
            ready.work.handled.first.map { Careful($0, epoch: ready.epoch) }
        }
        let now = ContinuousClock.now
        let (committed, _) = try carefully(careful) {
            try commit(advances) { pipeline, time in
                for (ready, held) in zip(ready, held) {
                    let work = ready.work
                    if !work.diverted.isEmpty {
                        let diverted = work.items.filter { work.diverted.contains($0.position) }
                        pipeline.query(parking.divert(diverted, diverted.map { worker.ordering.key($0).family }))
                    }
                    if !held.isEmpty {
                        pipeline.query(parking.park(held, now: now))
                        // Their rows keep the count from here on.
                        let positions = held.map(\.message.item.position)
                        pipeline.query(parking.forgetAttempts(positions, in: partitions[ready.index].partition))
                    }
                }
                if let careful { pipeline.query(parking.forgetAttempts([careful.position], in: careful.partition)) }
                return (items.isEmpty ? [] : try reduce(items, time, pipeline), nil)
            }
        }
        for ((ready, held), (cursor, next)) in zip(zip(ready, held), committed) {
            if !held.isEmpty {
                worker.forgetLosses(
                    of: held.lazy.map(\.message.item.position), in: partitions[ready.index].partition)
            }
            let isNext = isNext(next, after: cursor.position)
            partitions[ready.index].machine.committed(
                cursor, ready.work, parking: held.map { $0.message.parked(for: $0.pause, at: now) },
                next: isNext ? next : [], at: .now)
            // Opens it again, which finds out what is missing.
            if !isNext { partitions[ready.index].machine.ring() }
        }
    }

    /// A consumer that waits for polls reads on only while a backlog fills its batches.
    private func readsAhead(_ ready: Ready) -> Bool {
        let count = ready.work.items.count
        return partitions[ready.index].machine.readsAhead(handling: count)
            && (!settings.waitsForPolls || count >= settings.limits.batch)
    }

    // MARK: Parked messages

    private func retry(_ index: Int, _ parked: Parked<MessageOrder>, _ cursor: Cursor, _ epoch: Epoch)
        throws
    {
        let partition = partitions[index].partition
        guard let row = try database.query(parking.message(at: parked.position, in: partition)).only else {
            // An operator removed it.
            return partitions[index].machine.nothingToRetry(try parkedHeads(of: [index])[0])
        }
        let item = try RecordedMessage(row, of: worker.source.name)
        var former = parked
        former.isDiscarded = try row.decode(17, as: Bool.self)
        if partitions[index].machine.refuse(former, item, at: .now) { return }
        do {
            let stay = Advance(partition: partition, from: cursor, epoch: epoch, items: [item], to: cursor.position)
            let (committed, rows) = try carefully(Careful(item, epoch: epoch)) {
                try commit([stay]) { pipeline, time in
                    let appendings = try reduce([item], time, pipeline)
                    return (appendings, end(item, parked.key, in: partition, pipeline))
                }
            }
            worker.logger.notice(
                "handled a parked message",
                metadata: about(item, ["tries": "\(parked.attempts + 1)"]))
            partitions[index].machine.committed(
                committed[0].cursor, retrying: parked, next: try nextParked(rows), at: .now)
        } catch {
            let failure = try recover(from: error, handling: [item], careful: Careful(item, epoch: epoch))
            if case .failed(let fault) = failure, let needs = fault.needs {
                try offer(index, for: item, toWhoKnows: needs)
            }
            partitions[index].machine.failed(failure, retrying: parked, item, at: .now)
        }
    }

    private func parkAgain(
        _ index: Int, _ failed: FailedMessage<RecordedMessage>, _ cursor: Cursor, _ epoch: Epoch
    ) throws {
        let (partition, pause, now) = (partitions[index].partition, pause(after: failed), ContinuousClock.now)
        do {
            guard let former = failed.former else { return }
            let (committed, rows) = try commit([settling(failed, in: partition, cursor, epoch)]) { pipeline, _ in
                pipeline.query(parking.parkAgain(failed, pause: pause, now: now))
                // Its row keeps the count from here on.
                pipeline.query(parking.forgetAttempts([failed.item.position], in: partition))
                let hasLeft = failed.key != former.key
                return ([], hasLeft ? pipeline.query(parking.parked(of: former.key, in: partition)) : nil)
            }
            worker.forgetLosses(of: CollectionOfOne(failed.item.position), in: partition)
            let next = try nextParked(rows)
            if failed.key != former.key, failed.key == worker.ordering.alone(failed.item) {
                worker.metrics.setAside(isUrgent: isUrgent(failed.item))
                worker.logger.error(
                    "a message keeps failing: it is tried on by itself, and no other waits for it any longer",
                    metadata: about(
                        failed.item, ["type": "\(failed.item.message.type)", "error": "\(failed.fault)"]))
            }
            partitions[index].machine.committed(
                committed[0].cursor, parking: failed.parked(for: pause, at: now), again: former, next: next)
        } catch {
            let failure = try recover(from: error, handling: [failed.item])
            partitions[index].machine.failedToSettle(failure, failed, at: .now)
        }
    }

    private func giveUp(
        _ index: Int, _ failed: FailedMessage<RecordedMessage>, _ cursor: Cursor, _ epoch: Epoch
    ) throws {
        let partition = partitions[index].partition
        do {
            let (committed, rows) = try commit([settling(failed, in: partition, cursor, epoch)]) { pipeline, _ in
                let appendings = try worker.handler.giveUp(failed.item, failed.fault, in: pipeline)
                pipeline.query(parking.bury(failed.item, failed.fault, attempts: failed.attempts))
                let order = failed.former?.key ?? failed.key
                return (appendings, end(failed.item, order, in: partition, pipeline))
            }
            worker.forgetLosses(of: CollectionOfOne(failed.item.position), in: partition)
            worker.metrics.gaveUp(isUrgent: isUrgent(failed.item))
            worker.logger.error(
                "gave a message up: it is a dead letter now",
                metadata: about(
                    failed.item,
                    [
                        "type": "\(failed.item.message.type)", "code": "\(failed.fault.code.rawValue)",
                        "error": "\(failed.fault)",
                    ]))
            partitions[index].machine.committed(committed[0].cursor, givingUp: failed, next: try nextParked(rows))
        } catch {
            let failure = try recover(from: error, handling: [failed.item])
            partitions[index].machine.failedToSettle(failure, failed, at: .now)
        }
    }

    /// For a line about one message: where it is, and the trace, by which the line is found together with what else the request led
    /// to.
    func about(_ item: RecordedMessage, _ more: Logger.Metadata) -> Logger.Metadata {
        var metadata = more
        metadata["partition"] = "\(item.partition)"
        metadata["position"] = "\(item.position)"
        if let parent = item.message.traceParent { metadata["trace_parent"] = .string(parent) }
        return metadata
    }

    /// A message that was parked before is already behind the cursor.
    private func settling(
        _ failed: FailedMessage<RecordedMessage>, in partition: Partition, _ cursor: Cursor, _ epoch: Epoch
    ) -> Advance {
        Advance(
            partition: partition, from: cursor, epoch: epoch, items: [failed.item],
            to: failed.former == nil ? failed.item.position : cursor.position)
    }

    /// How long a failed message waits for its next try.
    private func pause(after failed: FailedMessage<RecordedMessage>) -> Duration {
        switch failed.fault.code {
        // A quarter of the time for which it has failed.
        case .error where failed.key == worker.ordering.alone(failed.item):
            min(
                max((ContinuousClock.now - failed.since) / 4, settings.crashBackoff.initial),
                settings.crashBackoff.maximum)
        case .error, .discarded: settings.backoff.delay(attempt: failed.attempts)
        case .trouble, .unknown: settings.troubleBackoff.delay(attempt: failed.attempts)
        case .crashed, .lost: settings.crashBackoff.delay(attempt: failed.attempts)
        }
    }

    private func isUrgent(_ message: RecordedMessage) -> Bool { worker.ordering.key(message).family.isUrgent }

    /// Unparks a message. Returns the message of its order that waited behind it.
    private func end(
        _ item: RecordedMessage, _ order: MessageOrder, in partition: Partition, _ pipeline: Pipeline
    ) -> Pending {
        pipeline.query(parking.unpark(item.position, in: partition))
        pipeline.query(parking.forgetAttempts([item.position], in: partition))
        return pipeline.query(parking.parked(of: order, in: partition))
    }

    private func nextParked(_ pending: Pending?) throws -> Parked<MessageOrder>? {
        try pending?.rows().only.map { try ParkedHead($0, of: worker.source.name, now: .now).parked }
    }

    func reduce(
        _ items: [RecordedMessage], _ time: () throws -> BatchTime, _ pipeline: Pipeline
    ) throws -> [Appending] {
        let loaded = try worker.handler.load(items, in: pipeline)
        // From here to the commit, the server waits for this thread.
        worker.tenure.progressed(for: settings.leaseDuration)
        settings.faultPoint?(.afterLoad)
        return try worker.handler.handle(Batch(messages: items, time: time()), loaded, in: pipeline)
    }
}
