import Dispatch
import Logging
import Postgres
import Vocabulary

/// One careful message at a time in the whole process: when it ends the process, it is known which one did.
private let carefulTurn = DispatchSemaphore(value: 1)

extension WorkerLoop {
    /// Does what a partition's machine says next, if that is to handle messages.
    func handle(_ index: Int) throws {
        let step = machines[index].nextStep(at: .now)
        switch step {
        case .backOff(let attempt):
            if rests[index] == nil { rests[index] = .now + settings.backoff.delay(attempt: attempt) }
            return
        case .wait, .takeLease, .open, .read, .release: return
        case .handle, .retry, .park, .giveUp: break
        }
        guard ContinuousClock.now < leasesEnd else {
            machines[index].leaseLost()
            nextMaintenance = .now
            return
        }
        switch step {
        case .handle(let work, let cursor, let epoch): try handle(index, work, cursor, epoch)
        case .retry(let parked, let cursor, let epoch): try retry(index, parked, cursor, epoch)
        case .park(let failed, let cursor, let epoch): try park(index, failed, cursor, epoch)
        case .giveUp(let failed, let cursor, let epoch): try giveUp(index, failed, cursor, epoch)
        default: return
        }
        settings.faultPoint?(.afterCommit)
    }

    // MARK: Steps

    private func handle(_ index: Int, _ work: Work<RecordedMessage>, _ cursor: Cursor, _ epoch: Epoch) throws {
        let (partition, handled) = (Partition(Int32(index)), work.handled)
        let isCareful = work.isCareful && !handled.isEmpty
        do {
            let last = work.items[work.items.count - 1].position
            let readsAhead = machines[index].readsAhead(handling: work.items.count)
            let (batch, next, _) = try carefully(isCareful ? last : nil, partition) {
                try commit(index, after: cursor, epoch, at: last, of: work.items, readsAhead: readsAhead) {
                    pipeline, time in
                    if !work.diverted.isEmpty {
                        let diverted = work.items.filter { work.diverted.contains($0.position) }
                        pipeline.query(parking.divert(diverted, in: partition))
                    }
                    if isCareful { pipeline.query(parking.forgetAttempts(last, in: partition)) }
                    return (handled.isEmpty ? [] : try reduce(handled, time, pipeline), nil)
                }
            }
            machines[index].committed(batch, handled: work.items.count, next: next)
        } catch {
            let failure = try recover(index, from: error, handling: work.items)
            machines[index].failed(failure, handling: work.items.count)
        }
    }

    private func retry(_ index: Int, _ parked: Parked<Key>, _ cursor: Cursor, _ epoch: Epoch) throws {
        let partition = Partition(Int32(index))
        let found = try messages(
            in: database.query(
                worker.source.read(partition, after: Position(parked.position.number - 1), limit: 1)))
        guard let item = found.first, item.position == parked.position else {
            throw BusError.unreadable(
                worker.source.name, "the parked message \(partition)/\(parked.position) is gone from the log")
        }
        if machines[index].refuse(parked, item) { return }
        do {
            let (batch, _, rows) = try carefully(item.position, partition) {
                try commit(index, after: cursor, epoch, at: cursor.position, of: [item]) { pipeline, time in
                    let appendings = try reduce([item], time, pipeline)
                    return (appendings, end(item, in: partition, pipeline))
                }
            }
            worker.logger.notice(
                "a parked message is done",
                metadata: [
                    "partition": "\(partition)", "position": "\(item.position)", "tries": "\(parked.attempts + 1)",
                ])
            machines[index].committed(batch, ending: parked, next: try nextParked(rows))
        } catch {
            let failure = try recover(index, from: error, handling: [item])
            machines[index].failed(failure, retrying: parked, item)
        }
    }

    private func park(
        _ index: Int, _ failed: FailedMessage<RecordedMessage>, _ cursor: Cursor, _ epoch: Epoch
    ) throws {
        let pause: Duration? =
            switch failed.fault.code {
            case .error: settings.backoff.delay(attempt: failed.attempts)
            case .unreadable: settings.unreadableBackoff.delay(attempt: failed.attempts)
            case .crashed, .discarded: nil
            }
        do {
            // One that was parked before is behind the cursor already.
            let position = failed.former == nil ? failed.item.position : cursor.position
            let (batch, _, _) = try commit(index, after: cursor, epoch, at: position, of: [failed.item]) {
                pipeline, _ in
                pipeline.query(
                    parking.park(failed.item, attempts: failed.attempts, pause: pause, error: failed.fault.description))
                return ([], nil)
            }
            machines[index].committed(
                batch,
                parking: Parked(
                    key: failed.item.orderKey, position: failed.item.position, attempts: failed.attempts,
                    retryAt: pause.map { .now + $0 }))
        } catch {
            let failure = try recover(index, from: error, handling: [failed.item])
            machines[index].failed(failure, handling: 1)
        }
    }

    private func giveUp(
        _ index: Int, _ failed: FailedMessage<RecordedMessage>, _ cursor: Cursor, _ epoch: Epoch
    ) throws {
        let partition = Partition(Int32(index))
        do {
            let position = failed.former == nil ? failed.item.position : cursor.position
            let (batch, _, rows) = try commit(index, after: cursor, epoch, at: position, of: [failed.item]) {
                pipeline, _ in
                let appendings = try worker.handler.giveUp(failed.item, failed.fault, in: pipeline)
                pipeline.query(parking.bury(failed.item, failed.fault, attempts: failed.attempts))
                return (appendings, end(failed.item, in: partition, pipeline))
            }
            worker.logger.error(
                "a message is given up and is a dead letter now",
                metadata: [
                    "partition": "\(partition)", "position": "\(failed.item.position)",
                    "type": "\(failed.item.message.type)", "code": "\(failed.fault.code.rawValue)",
                    "error": "\(failed.fault)",
                ])
            machines[index].committed(batch, ending: failed.former, next: try nextParked(rows))
        } catch {
            let failure = try recover(index, from: error, handling: [failed.item])
            machines[index].failed(failure, handling: 1)
        }
    }

    // MARK: Transactions

    /// What the handler reads, decides and writes.
    private func reduce(
        _ items: [RecordedMessage], _ time: () throws -> Instant, _ pipeline: Pipeline
    ) throws -> [Appending] {
        let loaded = try worker.handler.load(items, in: pipeline)
        settings.faultPoint?(.afterLoad)
        return try worker.handler.handle(Batch(messages: items, time: time()), loaded, in: pipeline)
    }

    /// A message leaves what is parked; returns who waited behind it.
    private func end(_ item: RecordedMessage, in partition: Partition, _ pipeline: Pipeline) -> Pending {
        pipeline.query(parking.unpark(item.position, in: partition))
        pipeline.query(parking.forgetAttempts(item.position, in: partition))
        return pipeline.query(parking.parked(of: item.message.key, in: partition, after: item.position))
    }

    private func nextParked(_ pending: Pending?) throws -> Parked<Key>? {
        try pending?.rows().only.map { try Parked($0, of: worker.source.name, now: .now) }
    }

    /// Has it be known, before `body` runs, that this message is tried; nil for nothing that needs such care.
    private func carefully<Result>(
        _ position: Position?, _ partition: Partition, _ body: () throws -> Result
    ) throws -> Result {
        guard let position else { return try body() }
        carefulTurn.wait()
        defer { carefulTurn.signal() }
        try database.execute(parking.attempt(position, in: partition))
        return try body()
    }

    /// One batch: everything that it causes and how far it came, in one transaction.
    private func commit(
        _ index: Int, after cursor: Cursor, _ epoch: Epoch, at position: Position, of items: [RecordedMessage],
        readsAhead: Bool = false,
        _ change: (Pipeline, _ time: () throws -> Instant) throws -> ([Appending], Pending?)
    ) throws -> (Cursor, [RecordedMessage], Pending?) {
        let partition = Partition(Int32(index))
        return try database.pipeline { pipeline in
            pipeline.query("BEGIN ISOLATION LEVEL READ COMMITTED")
            let clock = pipeline.query("SELECT clock_timestamp()")
            // Never before what was already done or said: after a failover the clock may be an earlier one, and a deadline
            // that had passed when its timer fired must have passed when it is handled.
            let said = items.map(\.recordedAt).max()
            func time() throws -> Instant {
                let now = try clock.rows().only?.decode(0, as: Instant.self) ?? .now
                return max(now, cursor.givenTime ?? now, said ?? now)
            }
            let (appendings, extra) = try change(pipeline, time)
            if !clock.isDone { try pipeline.flush() }
            let given = try time()
            let filled = appendings.filter { !$0.messages.isEmpty }
            for appending in filled { pipeline.query(appending.log.append(appending.messages)) }
            pipeline.query(
                leases.commitBatch(
                    after: cursor, partition: partition, position: position, epoch: epoch, time: given,
                    messages: items.count))
            if settings.flushesBeforeCommit {
                pipeline.sync()
                try pipeline.flush()
            }
            settings.faultPoint?(.beforeCommit)
            let commit = pipeline.commit()
            pipeline.sync()
            for appending in filled { pipeline.query(appending.log.ring(for: appending.messages)) }
            if !filled.isEmpty { pipeline.sync() }
            var next: Pending?
            if readsAhead {
                next = pipeline.query(worker.source.read(partition, after: position, limit: settings.limits.batch))
                pipeline.sync()
            }
            try pipeline.flush()
            try commit.check()
            return (
                Cursor(number: cursor.number + 1, position: position, givenTime: given),
                try next.map { try messages(in: $0.rows()) } ?? [], extra
            )
        }
    }

    /// Sorts how a batch failed. Lost connections are thrown on: nothing about them is guessed.
    private func recover(
        _ index: Int, from error: any Error, handling items: [RecordedMessage]
    ) throws -> TransactionFailure {
        let failure = TransactionFailure(error)
        worker.logger.log(
            level: failure.isExpected ? .info : .warning, "a batch failed",
            metadata: [
                "partition": "\(index)", "messages": "\(items.count)", "first": "\(items[0].position)",
                "failure": "\(failure)", "error": "\(error)",
            ])
        if failure == .connectionLost { throw error }
        if database.transactionStatus != .idle { try database.execute("ROLLBACK") }
        if (error as? PostgresError)?.sqlState == "55P03" {
            try database.execute(leases.endSilentSessions(silentFor: settings.leaseDuration / 5))
        }
        if failure == .fenced { nextMaintenance = .now }
        return failure
    }
}
