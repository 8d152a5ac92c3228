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
    var nextMaintenance = ContinuousClock.now
    /// Partitions whose log forgot what was not handled.
    var truncated: Set<Int> = []
    /// Partitions whose lag was shown last.
    var measured: Set<Partition> = []
    /// Since when each partition has been in trouble, and with what.
    var troubles: [Int: (since: ContinuousClock.Instant, reason: String)] = [:]
    /// When something last needed more than some replica knows, by partition.
    var needy: [Int: ContinuousClock.Instant] = [:]
    private var nextPoll = ContinuousClock.now
    /// Whether the last connection was ended because this thread left a transaction idle for too long.
    let wasSlow: Bool
    /// How long the server lets a statement take, however much longer than a lease that is.
    private(set) var statementTimeout: Duration

    var settings: ConsumerSettings { worker.settings }
    var leases: LeaseStatements { worker.leases }
    var parking: ParkingStatements { worker.parking }

    init(_ worker: Worker<Handler>, _ database: Database) {
        self.worker = worker
        self.database = database
        wasSlow = worker.tenure.takeSlowness()
        statementTimeout = worker.settings.leaseDuration
        let count = Int(worker.source.partitionCount)
        machines = Array(
            repeating: PartitionMachine(limits: worker.settings.limits, givesUp: worker.handler.givesUp), count: count)
        rests = Array(repeating: nil, count: count)
    }

    /// Returns when told to stop, after the batch in hand, with its leases given back.
    /// - Throws: what ends the connection; the caller opens another and begins anew.
    func run() throws {
        let timeout = try database.query("SELECT setting::bigint FROM pg_settings WHERE name = 'statement_timeout'")
            .only?.decode(0, as: Int64.self)
        // Without one, nothing but the lease says when a statement hangs.
        if let timeout, timeout > 0 { statementTimeout = .milliseconds(timeout) }
        try database.execute(leases.createRows(for: worker.source.partitions))
        try database.execute(leases.heartbeat(cannot: worker.cannot))
        try database.ring(leases.ringMembers())
        while true {
            let rings = isBusy ? worker.bell.take() : worker.bell.wait(pause)
            if rings.stop { return try leave() }
            apply(rings)
            if rings.membership || ContinuousClock.now >= nextMaintenance { try maintain() }
            if rings.membership { try lookAtParked() }
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
            case .wait, .rest: false
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
                machines[index].rested()
            }
        }
    }

    // MARK: Reading

    /// Reads cursors and messages of all partitions that want to, in one round trip each.
    private func readRung() throws {
        let opening = machines.indices.filter {
            if case .open = machines[$0].nextStep(at: .now) { true } else { false }
        }
        if !opening.isEmpty { try open(opening) }
        let reading = machines.indices.compactMap { index -> (index: Int, after: Position, query: Query)? in
            guard case .read(let position, let limit) = machines[index].nextStep(at: .now) else { return nil }
            return (index, position, worker.source.read(Partition(Int32(index)), after: position, limit: limit))
        }
        guard !reading.isEmpty else { return }
        let found = try pipelined(reading) { $0.query }
        for (read, rows) in zip(reading, found) {
            let messages = try messages(in: rows)
            if isNext(messages, after: read.after) {
                machines[read.index].messagesRead(messages, at: .now)
            } else {
                // The log forgot what comes in between while this partition waited. Opening it again finds that out.
                machines[read.index].leaseLost()
                nextMaintenance = .now
            }
        }
        worker.settings.faultPoint?(.afterRead)
    }

    /// Positions have no gaps, so what is read begins right behind what was handled.
    func isNext(_ messages: [RecordedMessage], after position: Position) -> Bool {
        messages.first.map { $0.position == position.next } ?? true
    }

    private func open(_ opening: [Int]) throws {
        let cursors = try pipelined(opening) { leases.cursor(Partition(Int32($0))) }
        let bases = try pipelined(opening) { leases.base(Partition(Int32($0))) }
        let crashes = try pipelined(opening) {
            parking.crashes(in: Partition(Int32($0)), before: machines[$0].epoch ?? Epoch(0))
        }
        for (((index, (rows, base)), parked), crashes) in zip(
            zip(zip(opening, zip(cursors, bases)), try parkedHeads(of: opening)), crashes)
        {
            let begin = Position(try base.only?.decode(0, as: Int64.self) ?? 0)
            // Who never read this log begins where it now begins.
            let cursor = try rows.only.map(Cursor.init) ?? Cursor(position: begin)
            guard cursor.position >= begin else {
                findTruncated(index, cursor.position, begin)
                continue
            }
            if truncated.remove(index) != nil, truncated.isEmpty { settings.onTruncation?(nil) }
            let ended = Dictionary(
                uniqueKeysWithValues: try crashes.map {
                    (Position(try $0.decode(0, as: Int64.self)), Int(try $0.decode(1, as: Int64.self)))
                })
            if !ended.isEmpty {
                try database.execute(parking.forgetOldAttempts(before: cursor.position, in: Partition(Int32(index))))
            }
            machines[index].opened(cursor, parked: parked, crashes: ended)
        }
    }

    /// Messages were deleted that nobody here handled: going on as if nothing were would be to skip them silently.
    private func findTruncated(_ index: Int, _ position: Position, _ begin: Position) {
        let problem = """
            \(worker.source.name) was kept to \(begin) in partition \(index), but only \(position) is handled: what is \
            between is lost to \(leases.schema), which was gone for too long. To go on without it, as quartet_operator: \
            SELECT \(leases.schema).accept_truncation('\(worker.source.name)')
            """
        if !truncated.contains(index) { worker.logger.error("\(problem)") }
        truncated.insert(index)
        settings.onTruncation?(problem)
        machines[index].leaseLost()
        machines[index].leaseRefused()
    }

    /// An operator may have said when a parked message is to be tried, or that it isn't.
    func lookAtParked() throws {
        let ready = machines.indices.filter { machines[$0].position != nil && machines[$0].parkedKeys > 0 }
        for (index, parked) in zip(ready, try parkedHeads(of: ready)) { machines[index].parkedRead(parked) }
    }

    func parkedHeads(of indices: [Int]) throws -> [[Parked<Key>]] {
        guard !indices.isEmpty else { return [] }
        let found = try pipelined(indices) { parking.parked(in: Partition(Int32($0))) }
        let (now, cannot) = (ContinuousClock.now, worker.cannot)
        return try found.map { rows in
            try rows.map { row in
                var head = try ParkedHead(row, of: worker.source.name, now: now)
                // Others couldn't read it; this replica hasn't tried.
                if let needs = head.needs, !cannot.contains(needs) { head.parked.retryAt = now }
                return head.parked
            }
        }
    }

    func pipelined<Item>(_ items: [Item], _ query: (Item) -> Query) throws -> [Rows] {
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
}

extension Cursor {
    init(_ row: Row) throws {
        self.init(
            number: try row.decode(0, as: Int64.self), position: Position(try row.decode(1, as: Int64.self)),
            givenTime: try row.decode(2, as: Instant.self), givenAt: .now)
    }
}
