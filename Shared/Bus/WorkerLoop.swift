import Logging
import Postgres
import Vocabulary

/// What a worker's thread does for the life of one connection. Not shared: it lives on that thread.
final class WorkerLoop<Handler: BatchHandler> {
    let worker: Worker<Handler>
    let database: Database
    var machines: [PartitionMachine<RecordedMessage>]
    /// Until when a failed partition rests.
    var rests: [ContinuousClock.Instant?]
    /// Until when the leases hold, by this machine's clock, counted from before they were asked for.
    var leasesEnd = ContinuousClock.now
    var nextMaintenance = ContinuousClock.now
    /// Partitions whose log forgot what was not handled.
    private var expired: Set<Int> = []
    /// Partitions whose lag was shown last.
    private var measured: Set<Partition> = []
    private var nextPoll = ContinuousClock.now

    var settings: ConsumerSettings { worker.settings }
    var leases: LeaseStatements { worker.leases }
    var parking: ParkingStatements { worker.parking }

    init(_ worker: Worker<Handler>, _ database: Database) {
        self.worker = worker
        self.database = database
        let count = Int(worker.source.partitionCount)
        machines = Array(
            repeating: PartitionMachine(limits: worker.settings.limits, givesUp: Handler.givesUp), count: count)
        rests = Array(repeating: nil, count: count)
    }

    /// Returns when told to stop, after the batch in hand, with its leases given back.
    /// - Throws: what ends the connection; the caller opens another and begins anew.
    func run() throws {
        try database.execute(leases.createRows(for: worker.source.partitions))
        // Who connects again lives: what it tried when it lost its connection didn't end it.
        try database.execute(parking.forgetOwnAttempts())
        try database.execute(leases.heartbeat())
        try database.ring(leases.ringMembers())
        while true {
            let rings = isBusy ? worker.bell.take() : worker.bell.wait(pause)
            if rings.stop { return try leave() }
            apply(rings)
            if rings.membership || ContinuousClock.now >= nextMaintenance { try maintain() }
            try takeAndRelease()
            try readRung()
            try handleTogether()
            for index in machines.indices { try handle(index) }
        }
    }

    // MARK: Waking

    private var isBusy: Bool {
        let now = ContinuousClock.now
        return machines.contains {
            switch $0.nextStep(at: now) {
            case .wait, .backOff: false
            default: true
            }
        }
    }

    private var pause: Duration {
        let wakes = rests.compactMap { $0 } + machines.compactMap(\.nextRetry) + [nextMaintenance, nextPoll]
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
        try lookAtParked()
        try measureLag()
    }

    /// How far the partitions in hand are behind.
    private func measureLag() throws {
        let places = machines.indices.compactMap { index in
            machines[index].position.map { (partition: Partition(Int32(index)), position: $0) }
        }
        // Once: another worker of this process may have it now.
        let owned = Set(places.map(\.partition))
        for partition in measured.subtracting(owned) {
            worker.metrics.lag(of: partition, messages: 0, seconds: 0, parked: 0)
        }
        measured = owned
        guard !places.isEmpty else { return }
        for row in try database.query(worker.source.lag(behind: places)) {
            let (partition, behind, seconds) = try row.decode(Int32.self, Int64.self, Double?.self)
            worker.metrics.lag(
                of: Partition(partition), messages: behind, seconds: seconds ?? 0,
                parked: machines[Int(partition)].parkedKeys)
        }
    }

    /// An operator may have said when a parked message is to be tried, or that it isn't.
    private func lookAtParked() throws {
        let parked = machines.indices.filter { machines[$0].hasParked && machines[$0].isOwned }
        for (index, found) in zip(parked, try parkedAndCrashes(of: parked)) {
            machines[index].parkedRead(found.parked, crashes: found.crashes)
        }
    }

    private func takeAndRelease() throws {
        for index in machines.indices {
            let partition = Partition(Int32(index))
            switch machines[index].nextStep(at: .now) {
            case .takeLease: try take(partition, index)
            case .release(let epoch):
                try database.execute(leases.release(partition, epoch: epoch))
                machines[index].released()
                try database.ring(leases.ringMembers())
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
        let hasRunOut = try row.decode(2, as: Bool?.self) ?? false
        if let former {
            worker.logger.notice(
                "took over from an owner that did not give its lease back",
                metadata: ["partition": "\(partition)", "former": "\(former)", "epoch": "\(epoch)"])
            // One that was taken before its time had no session to end; what it has by now is a new one.
            if hasRunOut { try database.execute(leases.endSessions(of: former)) }
        }
        machines[index].leaseTaken(Epoch(epoch), isTakenOver: former != nil)
    }

    private func leave() throws {
        for index in machines.indices {
            guard let epoch = machines[index].epoch else { continue }
            try database.execute(leases.release(Partition(Int32(index)), epoch: epoch))
            machines[index].released()
        }
        try database.execute(leases.leave())
        try database.ring(leases.ringMembers())
    }

    // MARK: Reading

    /// Reads cursors and messages of all partitions that want to, in one round trip each.
    private func readRung() throws {
        let opening = machines.indices.filter {
            if case .open = machines[$0].nextStep(at: .now) { true } else { false }
        }
        if !opening.isEmpty { try open(opening) }
        let reading = machines.indices.compactMap { index -> (Int, Query)? in
            guard case .read(let position, let limit) = machines[index].nextStep(at: .now) else { return nil }
            return (index, worker.source.read(Partition(Int32(index)), after: position, limit: limit))
        }
        guard !reading.isEmpty else { return }
        let found = try pipelined(reading) { $0.1 }
        for ((index, _), rows) in zip(reading, found) {
            let messages = try messages(in: rows)
            if isNext(messages, after: machines[index].position) {
                machines[index].messagesRead(messages)
            } else {
                // The log forgot what comes in between while this partition waited. Opening it again finds that out.
                machines[index].leaseLost()
                nextMaintenance = .now
            }
        }
        worker.settings.faultPoint?(.afterRead)
    }

    /// Positions have no gaps, so what is read begins right behind what was handled.
    func isNext(_ messages: [RecordedMessage], after position: Position?) -> Bool {
        messages.first.map { $0.position == position?.next } ?? true
    }

    private func open(_ opening: [Int]) throws {
        let cursors = try pipelined(opening) { leases.cursor(Partition(Int32($0))) }
        let bases = try pipelined(opening) { leases.base(Partition(Int32($0))) }
        for ((index, (rows, base)), found) in zip(
            zip(opening, zip(cursors, bases)), try parkedAndCrashes(of: opening))
        {
            let begin = Position(try base.only?.decode(0, as: Int64.self) ?? 0)
            // Who never read this log begins where it now begins.
            let cursor = try rows.only.map(Cursor.init) ?? Cursor(position: begin)
            guard cursor.position >= begin else {
                expire(index, cursor.position, begin)
                continue
            }
            if expired.remove(index) != nil, expired.isEmpty { settings.onExpiry?(nil) }
            if !found.crashes.isEmpty {
                try database.execute(
                    parking.forgetOldAttempts(before: cursor.position, in: Partition(Int32(index))))
            }
            machines[index].opened(cursor, parked: found.parked, crashes: found.crashes)
        }
    }

    /// Messages were deleted that nobody here handled: going on as if nothing were would be to skip them silently.
    private func expire(_ index: Int, _ position: Position, _ begin: Position) {
        let problem = """
            \(worker.source.name) was kept to \(begin) in partition \(index), but only \(position) is handled: what is \
            between is lost to \(leases.schema), which was gone for too long. To go on without it, as quartet_operator: \
            SELECT \(leases.schema).accept_expiry('\(worker.source.name)')
            """
        if !expired.contains(index) { worker.logger.error("\(problem)") }
        expired.insert(index)
        settings.onExpiry?(problem)
        machines[index].leaseLost()
        machines[index].leaseRefused()
    }

    private func parkedAndCrashes(
        of indices: [Int]
    ) throws -> [(parked: [Parked<Key>], crashes: [Position: Int])] {
        guard !indices.isEmpty else { return [] }
        let parked = try pipelined(indices) { parking.parked(in: Partition(Int32($0))) }
        let crashes = try pipelined(indices) { parking.crashes(in: Partition(Int32($0))) }
        let now = ContinuousClock.now
        return try zip(parked, crashes).map { parked, crashes in
            (
                try parked.map { try Parked($0, of: worker.source.name, now: now) },
                Dictionary(
                    uniqueKeysWithValues: try crashes.map {
                        (Position(try $0.decode(0, as: Int64.self)), Int(try $0.decode(1, as: Int64.self)))
                    })
            )
        }
    }

    private func pipelined<Item>(_ items: [Item], _ query: (Item) -> Query) throws -> [Rows] {
        try database.pipeline { pipeline in
            let pendings = items.map { pipeline.query(query($0)) }
            pipeline.sync()
            try pipeline.flush()
            return try pendings.map { try $0.rows() }
        }
    }

    func messages(in rows: Rows) throws -> [RecordedMessage] {
        try rows.map { try RecordedMessage($0, of: worker.source.name) }
    }

    private func partitions(where condition: (PartitionMachine<RecordedMessage>) -> Bool) -> [Partition] {
        machines.indices.filter { condition(machines[$0]) }.map { Partition(Int32($0)) }
    }
}

extension Cursor {
    init(_ row: Row) throws {
        self.init(
            number: try row.decode(0, as: Int64.self), position: Position(try row.decode(1, as: Int64.self)),
            givenTime: try row.decode(2, as: Instant.self), givenAt: .now)
    }
}

extension TransactionFailure {
    /// Sorts errors by what helps against them.
    init(_ error: any Error) {
        guard let error = (error as? PostgresError)?.root else {
            self = .permanent(Fault(error is MessageError ? .unreadable : .error, "\(error)"))
            return
        }
        switch error {
        case .server(let server):
            switch server.sqlState {
            case "23505" where server.constraint == "batch_has_one_successor": self = .fenced
            // unique_violation on shared rows, serialization_failure, deadlock_detected, lock_not_available
            case "23505", "40001", "40P01", "55P03": self = .transient(error.description)
            // query_canceled by statement_timeout
            case "57014": self = .permanent(Fault(.error, error.description))
            // admin_shutdown, crash_shutdown, cannot_connect_now, idle_in_transaction_session_timeout
            case "57P01", "57P02", "57P03", "25P03": self = .connectionLost
            default: self = .permanent(Fault(.error, error.description))
            }
        case .decoding: self = .permanent(Fault(.error, error.description))
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
