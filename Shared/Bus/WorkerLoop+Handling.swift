import Dispatch
import Logging
import Postgres
import Vocabulary

/// One careful batch at a time in the whole process: when it ends the process, it is known which one did.
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

    /// Messages that one partition has ready.
    private struct Ready {
        let index: Int
        let work: Work<RecordedMessage>
        let cursor: Cursor
        let epoch: Epoch
    }

    /// Handles what several partitions have ready in one transaction: half the commits, flushes and doorbells. If it
    /// fails, each is handled by itself, which tells whose fault it was.
    func handleTogether() throws {
        guard ContinuousClock.now < leasesEnd else { return }
        let ready = machines.indices.compactMap { index -> Ready? in
            guard case .handle(let work, let cursor, let epoch) = machines[index].nextStep(at: .now), !work.isCareful
            else { return nil }
            return Ready(index: index, work: work, cursor: cursor, epoch: epoch)
        }
        guard ready.count > 1 else { return }
        do {
            try handle(ready, careful: [])
            settings.faultPoint?(.afterCommit)
        } catch {
            _ = try recover(from: error, handling: ready.flatMap(\.work.items), isJoint: true)
        }
    }

    private func handle(_ index: Int, _ work: Work<RecordedMessage>, _ cursor: Cursor, _ epoch: Epoch) throws {
        do {
            try handle(
                [Ready(index: index, work: work, cursor: cursor, epoch: epoch)],
                careful: work.isCareful ? work.handled.map(\.position) : [])
        } catch {
            let failure = try recover(from: error, handling: work.items)
            machines[index].failed(failure, handling: work.items.count)
        }
    }

    private func handle(_ ready: [Ready], careful positions: [Position]) throws {
        let items = ready.flatMap(\.work.handled)
        let advances = ready.map { ready in
            Advance(
                partition: Partition(Int32(ready.index)), from: ready.cursor, epoch: ready.epoch,
                items: ready.work.items, to: ready.work.items[ready.work.items.count - 1].position,
                readsAhead: machines[ready.index].readsAhead(handling: ready.work.items.count))
        }
        let (committed, _) = try carefully(positions, advances[0].partition) {
            try commit(advances) { pipeline, time in
                for (ready, advance) in zip(ready, advances) where !ready.work.diverted.isEmpty {
                    let diverted = advance.items.filter { ready.work.diverted.contains($0.position) }
                    pipeline.query(parking.divert(diverted, in: advance.partition))
                }
                if !positions.isEmpty { pipeline.query(parking.forgetAttempts(positions, in: advances[0].partition)) }
                return (items.isEmpty ? [] : try reduce(items, time, pipeline), nil)
            }
        }
        for (ready, (cursor, next)) in zip(ready, committed) {
            let isNext = isNext(next, after: cursor.position)
            machines[ready.index].committed(cursor, handled: ready.work.items.count, next: isNext ? next : [])
            // Read again by itself, to be looked at.
            if !isNext { machines[ready.index].ring() }
        }
    }

    private func retry(_ index: Int, _ parked: Parked<Key>, _ cursor: Cursor, _ epoch: Epoch) throws {
        let partition = Partition(Int32(index))
        let found = try messages(
            in: database.query(
                worker.source.read(partition, after: Position(parked.position.number - 1), limit: 1)))
        guard let item = found.first, item.position == parked.position else {
            return try forget(index, parked, cursor, epoch)
        }
        if machines[index].refuse(parked, item) { return }
        do {
            let stay = Advance(partition: partition, from: cursor, epoch: epoch, items: [item], to: cursor.position)
            let (committed, rows) = try carefully([item.position], partition) {
                try commit([stay]) { pipeline, time in
                    let appendings = try reduce([item], time, pipeline)
                    return (appendings, end(item.position, of: item.message.key, in: partition, pipeline))
                }
            }
            worker.logger.notice(
                "a parked message is done",
                metadata: [
                    "partition": "\(partition)", "position": "\(item.position)", "tries": "\(parked.attempts + 1)",
                ])
            machines[index].committed(committed[0].cursor, ending: parked, next: try nextParked(rows))
        } catch {
            let failure = try recover(from: error, handling: [item])
            machines[index].failed(failure, retrying: parked, item)
        }
    }

    /// A parked message waited for longer than its log keeps what isn't handled: all that can be done is to say so and to go
    /// on with its key.
    private func forget(_ index: Int, _ parked: Parked<Key>, _ cursor: Cursor, _ epoch: Epoch) throws {
        let partition = Partition(Int32(index))
        worker.logger.error(
            "a parked message is lost: it waited for longer than its log keeps",
            metadata: ["partition": "\(partition)", "position": "\(parked.position)", "key": "\(parked.key)"])
        let stay = Advance(partition: partition, from: cursor, epoch: epoch, items: [], to: cursor.position)
        let (committed, rows) = try commit([stay]) { pipeline, _ in
            ([], end(parked.position, of: parked.key, in: partition, pipeline))
        }
        machines[index].committed(committed[0].cursor, ending: parked, next: try nextParked(rows))
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
            let (committed, _) = try commit([settling(failed, in: Partition(Int32(index)), cursor, epoch)]) {
                pipeline, _ in
                pipeline.query(
                    parking.park(failed.item, attempts: failed.attempts, pause: pause, error: failed.fault.description))
                // It failed, so it did not end this process, whatever ends that later.
                if failed.fault.code != .crashed {
                    pipeline.query(parking.forgetOwnAttempt(failed.item.position, in: Partition(Int32(index))))
                }
                return ([], nil)
            }
            machines[index].committed(
                committed[0].cursor,
                parking: Parked(
                    key: failed.item.orderKey, position: failed.item.position, attempts: failed.attempts,
                    retryAt: pause.map { .now + $0 }))
        } catch {
            let failure = try recover(from: error, handling: [failed.item])
            machines[index].failed(failure, handling: 1)
        }
    }

    private func giveUp(
        _ index: Int, _ failed: FailedMessage<RecordedMessage>, _ cursor: Cursor, _ epoch: Epoch
    ) throws {
        let partition = Partition(Int32(index))
        do {
            let (committed, rows) = try commit([settling(failed, in: partition, cursor, epoch)]) { pipeline, _ in
                let appendings = try worker.handler.giveUp(failed.item, failed.fault, in: pipeline)
                pipeline.query(parking.bury(failed.item, failed.fault, attempts: failed.attempts))
                let next = end(failed.item.position, of: failed.item.message.key, in: partition, pipeline)
                return (appendings, next)
            }
            worker.logger.error(
                "a message is given up and is a dead letter now",
                metadata: [
                    "partition": "\(partition)", "position": "\(failed.item.position)",
                    "type": "\(failed.item.message.type)", "code": "\(failed.fault.code.rawValue)",
                    "error": "\(failed.fault)",
                ])
            machines[index].committed(committed[0].cursor, ending: failed.former, next: try nextParked(rows))
        } catch {
            let failure = try recover(from: error, handling: [failed.item])
            machines[index].failed(failure, handling: 1)
        }
    }

    /// One that was parked before is behind the cursor already.
    private func settling(
        _ failed: FailedMessage<RecordedMessage>, in partition: Partition, _ cursor: Cursor, _ epoch: Epoch
    ) -> Advance {
        Advance(
            partition: partition, from: cursor, epoch: epoch, items: [failed.item],
            to: failed.former == nil ? failed.item.position : cursor.position)
    }

    // MARK: Transactions

    /// What the handler reads, decides and writes.
    private func reduce(
        _ items: [RecordedMessage], _ time: () throws -> BatchTime, _ pipeline: Pipeline
    ) throws -> [Appending] {
        let loaded = try worker.handler.load(items, in: pipeline)
        settings.faultPoint?(.afterLoad)
        return try worker.handler.handle(Batch(messages: items, time: time()), loaded, in: pipeline)
    }

    /// A message leaves what is parked; returns who waited behind it.
    private func end(
        _ position: Position, of key: Key, in partition: Partition, _ pipeline: Pipeline
    ) -> Pending {
        pipeline.query(parking.unpark(position, in: partition))
        pipeline.query(parking.forgetAttempts([position], in: partition))
        return pipeline.query(parking.parked(of: key, in: partition, after: position))
    }

    private func nextParked(_ pending: Pending?) throws -> Parked<Key>? {
        try pending?.rows().only.map { try Parked($0, of: worker.source.name, now: .now) }
    }

    /// Has it be known, before `body` runs, that these messages are tried; none: nothing needs such care.
    private func carefully<Result>(
        _ positions: [Position], _ partition: Partition, _ body: () throws -> Result
    ) throws -> Result {
        guard !positions.isEmpty else { return try body() }
        carefulTurn.wait()
        defer { carefulTurn.signal() }
        try database.pipeline { pipeline in
            pipeline.query("BEGIN")
            // It must outlive this process, not the server: nothing waits for the disk.
            pipeline.query("SET LOCAL synchronous_commit = off")
            pipeline.query(parking.attempt(positions, in: partition))
            let commit = pipeline.commit()
            pipeline.sync()
            try pipeline.flush()
            try commit.check()
        }
        return try body()
    }

    /// Everything that messages of some partitions cause and how far that brings each, in one transaction. Returns where
    /// each partition stands then, and what was read behind the commit.
    private func commit(
        _ advances: [Advance],
        _ change: (Pipeline, _ time: () throws -> BatchTime) throws -> ([Appending], Pending?)
    ) throws -> ([(cursor: Cursor, next: [RecordedMessage])], Pending?) {
        let begun = ContinuousClock.now
        return try database.pipeline { pipeline in
            pipeline.query("BEGIN ISOLATION LEVEL READ COMMITTED")
            let clock = pipeline.query("SELECT clock_timestamp()")
            func time() throws -> BatchTime {
                BatchTime(
                    clock: try clock.rows().only?.decode(0, as: Instant.self) ?? .now, after: advances.map(\.from),
                    handling: advances.flatMap(\.items), at: begun)
            }
            let (appendings, extra) = try change(pipeline, time)
            if !clock.isDone { try pipeline.flush() }
            let given = try time().given
            let filled = appendings.filter { !$0.messages.isEmpty }
            for appending in filled { pipeline.query(appending.log.append(appending.messages)) }
            pipeline.query(leases.commit(advances, at: given))
            if settings.flushesBeforeCommit {
                pipeline.sync()
                try pipeline.flush()
            }
            settings.faultPoint?(.beforeCommit)
            let commit = pipeline.commit()
            pipeline.sync()
            // Behind the commit in a transaction of their own, which the sync ends: the doorbells ring with it. What fails
            // there, say because NOTIFY's queue is full, is no reason to do anything again.
            let reads = advances.map { advance in
                advance.readsAhead
                    ? pipeline.query(
                        worker.source.read(advance.partition, after: advance.to, limit: settings.limits.batch))
                    : nil
            }
            for appending in filled { pipeline.query(appending.log.ring(for: appending.messages)) }
            pipeline.sync()
            try pipeline.flush()
            try commit.check()
            worker.metrics.committed(
                advances.reduce(0) { $0 + $1.items.count }, appendings, in: ContinuousClock.now - begun)
            return (
                try zip(advances, reads).map { advance, read in
                    (
                        Cursor(
                            number: advance.from.number + 1, position: advance.to, givenTime: given, givenAt: begun),
                        try read.map { try messages(in: $0.rows()) } ?? []
                    )
                }, extra
            )
        }
    }

    /// Sorts how a batch failed. Lost connections are thrown on: nothing about them is guessed.
    private func recover(
        from error: any Error, handling items: [RecordedMessage], isJoint: Bool = false
    ) throws -> TransactionFailure {
        let failure = TransactionFailure(error)
        worker.logger.log(
            level: failure.isExpected || isJoint ? .info : .warning, "a batch failed",
            metadata: [
                "partition": "\(items[0].partition)", "messages": "\(items.count)", "first": "\(items[0].position)",
                "failure": "\(failure)", "error": "\(error)",
            ])
        worker.metrics.failed(failure)
        if failure == .connectionLost { throw error }
        if database.transactionStatus != .idle { try database.execute("ROLLBACK") }
        if failure == .fenced { nextMaintenance = .now }
        return failure
    }
}

/// How far a transaction brings a partition.
struct Advance {
    let partition: Partition
    let from: Cursor
    let epoch: Epoch
    /// What it took.
    let items: [RecordedMessage]
    /// Everything up to here is handled then, or parked.
    let to: Position
    /// Whether what comes next is read with the commit.
    var readsAhead = false
}
