import Logging
import Postgres
import Vocabulary

/// What a worker's thread does for the life of one connection. Not shared: it lives on that thread.
final class WorkerLoop<Handler: BatchHandler> {
    private let worker: Worker<Handler>
    private let database: Database
    private var machines: [PartitionMachine<RecordedMessage>]
    /// Until when a failed partition rests.
    private var rests: [ContinuousClock.Instant?]
    /// Until when the leases hold, by this machine's clock, counted from before they were asked for.
    private var leasesEnd = ContinuousClock.now
    private var nextMaintenance = ContinuousClock.now
    private var nextPoll = ContinuousClock.now

    private var settings: ConsumerSettings { worker.settings }
    private var leases: LeaseStatements { worker.leases }

    init(_ worker: Worker<Handler>, _ database: Database) {
        self.worker = worker
        self.database = database
        let count = Int(worker.source.partitionCount)
        machines = Array(repeating: PartitionMachine(limits: worker.settings.limits), count: count)
        rests = Array(repeating: nil, count: count)
    }

    /// Returns when told to stop, after the batch in hand, with its leases given back.
    /// - Throws: what ends the connection; the caller opens another and begins anew.
    func run() throws {
        try database.execute(leases.createRows(for: worker.source.partitions))
        try database.execute(leases.heartbeat())
        try database.execute(leases.ringMembers())
        while true {
            let rings = isBusy ? worker.bell.take() : worker.bell.wait(pause)
            if rings.stop { return try leave() }
            apply(rings)
            if rings.membership || ContinuousClock.now >= nextMaintenance { try maintain() }
            try takeAndRelease()
            try readRung()
            for index in machines.indices { try handle(index) }
        }
    }

    // MARK: Waking

    private var isBusy: Bool {
        machines.contains {
            switch $0.nextStep() {
            case .wait, .backOff: false
            default: true
            }
        }
    }

    private var pause: Duration {
        let wakes = rests.compactMap { $0 } + [nextMaintenance, nextPoll]
        return max(.zero, (wakes.min() ?? nextPoll) - .now)
    }

    private func apply(_ rings: Rings) {
        let now = ContinuousClock.now
        let isPollDue = now >= nextPoll
        if isPollDue { nextPoll = now + settings.idlePoll }
        for index in machines.indices {
            if isPollDue || rings.all || rings.partitions.contains(Partition(Int32(index))) { machines[index].ring() }
            if let rest = rests[index], rest <= now {
                rests[index] = nil
                machines[index].backedOff()
            }
        }
    }

    // MARK: Leases

    /// Says that this worker lives, renews its leases and works out its share anew.
    private func maintain() throws {
        let asked = ContinuousClock.now
        let owned = partitions { $0.isOwned }
        let (renewed, members) = try database.pipeline { pipeline in
            pipeline.query(leases.heartbeat())
            let renewed = pipeline.query(leases.renew(owned))
            let members = pipeline.query(leases.members())
            pipeline.sync()
            try pipeline.flush()
            return (
                Set(try renewed.rows().map { Partition(try $0.decode(0, as: Int32.self)) }),
                try members.rows().map {
                    try Member(owner: $0.decode(0, as: OwnerID.self), slot: $0.decode(1, as: Int32.self))
                }
            )
        }
        leasesEnd = asked + settings.leaseDuration
        nextMaintenance = asked + min(settings.leaseDuration / 3, .seconds(1))
        let share = Member(owner: leases.owner, slot: leases.slot)
            .share(of: worker.source.partitionCount, among: members)
        for index in machines.indices {
            let partition = Partition(Int32(index))
            if machines[index].isOwned, !renewed.contains(partition) {
                worker.logger.warning("the lease was lost", metadata: ["partition": "\(partition)"])
                machines[index].leaseLost()
            }
            machines[index].want(share.contains(partition))
        }
    }

    private func takeAndRelease() throws {
        for index in machines.indices {
            let partition = Partition(Int32(index))
            switch machines[index].nextStep() {
            case .takeLease: try take(partition, index)
            case .release(let epoch):
                try database.execute(leases.release(partition, epoch: epoch))
                machines[index].released()
                try database.execute(leases.ringMembers())
            default: break
            }
        }
    }

    private func take(_ partition: Partition, _ index: Int) throws {
        guard let row = try database.query(leases.take(partition)).only else {
            machines[index].leaseRefused()
            return
        }
        let (epoch, former) = try (row.decode(0, as: Int64.self), row.decode(1, as: OwnerID?.self))
        if let former {
            worker.logger.notice(
                "took over from an owner that did not give its lease back",
                metadata: ["partition": "\(partition)", "former": "\(former)", "epoch": "\(epoch)"])
            try database.execute(leases.endSessions(of: former))
        }
        machines[index].leaseTaken(Epoch(epoch))
    }

    private func leave() throws {
        for index in machines.indices {
            guard let epoch = machines[index].epoch else { continue }
            try database.execute(leases.release(Partition(Int32(index)), epoch: epoch))
            machines[index].released()
        }
        try database.execute(leases.leave())
        try database.execute(leases.ringMembers())
    }

    // MARK: Reading

    /// Reads cursors and messages of all partitions that want to, in one round trip each.
    private func readRung() throws {
        let opening = machines.indices.filter { if case .readCursor = machines[$0].nextStep() { true } else { false } }
        if !opening.isEmpty {
            let cursors = try pipelined(opening) { leases.cursor(Partition(Int32($0))) }
            for (index, rows) in zip(opening, cursors) {
                machines[index].cursorRead(try rows.only.map(Cursor.init) ?? Cursor())
            }
        }
        let reading = machines.indices.compactMap { index -> (Int, Query)? in
            guard case .read(let position, let limit) = machines[index].nextStep() else { return nil }
            return (index, worker.source.read(Partition(Int32(index)), after: position, limit: limit))
        }
        guard !reading.isEmpty else { return }
        let found = try pipelined(reading) { $0.1 }
        for ((index, _), rows) in zip(reading, found) { machines[index].messagesRead(try messages(in: rows)) }
        worker.settings.faultPoint?(.afterRead)
    }

    private func pipelined<Item>(_ items: [Item], _ query: (Item) -> Query) throws -> [Rows] {
        try database.pipeline { pipeline in
            let pendings = items.map { pipeline.query(query($0)) }
            pipeline.sync()
            try pipeline.flush()
            return try pendings.map { try $0.rows() }
        }
    }

    private func messages(in rows: Rows) throws -> [RecordedMessage] {
        try rows.map { try RecordedMessage($0, of: worker.source.name) }
    }

    // MARK: Handling

    private func handle(_ index: Int) throws {
        let items: [RecordedMessage]
        let cursor: Cursor
        let epoch: Epoch
        var surrendered: String?
        switch machines[index].nextStep() {
        case .handle(let messages, let after, let current): (items, cursor, epoch) = (messages, after, current)
        case .giveUp(let message, let after, let current, let error):
            (items, cursor, epoch, surrendered) = ([message], after, current, error)
        case .backOff(let attempt):
            if rests[index] == nil { rests[index] = .now + settings.backoff.delay(attempt: attempt) }
            return
        default: return
        }
        guard ContinuousClock.now < leasesEnd else {
            machines[index].leaseLost()
            nextMaintenance = .now
            return
        }
        do {
            let (batch, next) = try transact(index, items, cursor, epoch, surrendered: surrendered)
            machines[index].committed(batch, handled: items.count, next: next)
            settings.faultPoint?(.afterCommit)
        } catch {
            try recover(index, from: error, handling: items)
        }
    }

    /// One batch: everything that it causes and how far it came, in one transaction.
    private func transact(
        _ index: Int, _ items: [RecordedMessage], _ cursor: Cursor, _ epoch: Epoch, surrendered: String?
    ) throws -> (Cursor, [RecordedMessage]) {
        let partition = Partition(Int32(index))
        return try database.pipeline { pipeline in
            pipeline.query("BEGIN ISOLATION LEVEL READ COMMITTED")
            let clock = pipeline.query("SELECT clock_timestamp()")
            let appendings: [Appending]
            // Never before what was already done or said: after a failover the clock may be an earlier one, and a deadline
            // that had passed when its timer fired must have passed when it is handled.
            let said = items.map(\.recordedAt).max()
            var time: Instant {
                get throws {
                    let now = try clock.rows().only?.decode(0, as: Instant.self) ?? .now
                    return max(now, cursor.givenTime ?? now, said ?? now)
                }
            }
            if let surrendered {
                pipeline.sync()
                try pipeline.flush()
                appendings = try worker.handler.giveUp(items[0], error: surrendered)
            } else {
                let loaded = try worker.handler.load(items, in: pipeline)
                settings.faultPoint?(.afterLoad)
                appendings = try worker.handler.handle(Batch(messages: items, time: time), loaded, in: pipeline)
            }
            let given = try time
            let filled = appendings.filter { !$0.messages.isEmpty }
            for appending in filled { pipeline.query(appending.log.append(appending.messages)) }
            let position = items[items.count - 1].position
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
            if machines[index].readsAhead(handling: items.count) {
                next = pipeline.query(
                    worker.source.read(partition, after: position, limit: settings.limits.batch))
                pipeline.sync()
            }
            try pipeline.flush()
            try commit.check()
            return (
                Cursor(number: cursor.number + 1, position: position, givenTime: given),
                try next.map { try messages(in: $0.rows()) } ?? []
            )
        }
    }

    /// Says to the machine how a batch failed. Lost connections are thrown on: nothing about them is guessed.
    private func recover(_ index: Int, from error: any Error, handling items: [RecordedMessage]) throws {
        let failure = PartitionMachine<RecordedMessage>.Failure(error)
        let partition = Partition(Int32(index))
        worker.logger.log(
            level: failure.isExpected ? .info : .warning, "a batch failed",
            metadata: [
                "partition": "\(partition)", "messages": "\(items.count)", "first": "\(items[0].position)",
                "failure": "\(failure)", "error": "\(error)",
            ])
        if failure == .connectionLost { throw error }
        if database.transactionStatus != .idle { try database.execute("ROLLBACK") }
        if (error as? PostgresError)?.sqlState == "55P03" {
            try database.execute(leases.endSilentSessions(silentFor: settings.leaseDuration / 5))
        }
        machines[index].failed(failure, handling: items.count)
        if failure == .fenced { nextMaintenance = .now }
    }

    private func partitions(where condition: (PartitionMachine<RecordedMessage>) -> Bool) -> [Partition] {
        machines.indices.filter { condition(machines[$0]) }.map { Partition(Int32($0)) }
    }
}

extension Cursor {
    init(_ row: Row) throws {
        self.init(
            number: try row.decode(0, as: Int64.self), position: Position(try row.decode(1, as: Int64.self)),
            givenTime: try row.decode(2, as: Instant.self))
    }
}

extension PartitionMachine.Failure {
    /// Sorts errors by what helps against them.
    init(_ error: any Error) {
        guard let error = (error as? PostgresError)?.root else {
            self = .permanent("\(error)")
            return
        }
        switch error {
        case .server(let server):
            switch server.sqlState {
            case "23505" where server.constraint == "batch_has_one_successor": self = .fenced
            // unique_violation on shared rows, serialization_failure, deadlock_detected, lock_not_available
            case "23505", "40001", "40P01", "55P03": self = .transient(error.description)
            // query_canceled by statement_timeout
            case "57014": self = .permanent(error.description)
            // admin_shutdown, crash_shutdown, cannot_connect_now, idle_in_transaction_session_timeout
            case "57P01", "57P02", "57P03", "25P03": self = .connectionLost
            default: self = .permanent(error.description)
            }
        case .decoding: self = .permanent(error.description)
        default: self = .connectionLost
        }
    }

    var isExpected: Bool {
        switch self {
        case .transient, .fenced: true
        default: false
        }
    }
}
