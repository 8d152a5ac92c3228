import Logging
import Postgres
import QuartetVocabulary

/// The loop of a worker's thread on one connection. It lives on that thread alone.
final class WorkerLoop<Handler: BatchHandler> {
    let worker: Worker<Handler>
    let database: Database
    /// All of the source, by number.
    var partitions: [WorkerPartition]
    var nextMaintenance = ContinuousClock.now
    private var nextPoll = ContinuousClock.now
    var careful: CarefulTurns
    /// When something may be handled ahead again, and of which partition first.
    var nextAhead = ContinuousClock.now
    var firstAhead = 0
    let aheadClaimant: FairTurn.Claimant
    /// Whether the last connection ended because this thread left a transaction idle for too long.
    let wasSlow: Bool
    /// The message that is being tried alone, or was when the connection was lost.
    var triedAlone: Careful?
    /// How long the server lets a statement run, even if that is much longer than a lease.
    private(set) var statementTimeout: Duration

    var settings: ConsumerSettings { worker.settings }
    var leases: LeaseStatements { worker.leases }
    var parking: ParkingStatements { worker.parking }

    init(_ worker: Worker<Handler>, _ database: Database) {
        self.worker = worker
        self.database = database
        let longest = worker.settings.leaseDuration / 2
        careful = CarefulTurns(
            worker.settings.carefulTurn, for: FairTurn.Claimant(ringing: worker.bell, longestReservation: longest))
        aheadClaimant = FairTurn.Claimant(ringing: worker.bell, longestReservation: longest)
        wasSlow = worker.tenure.takeSlowness()
        statementTimeout = worker.settings.leaseDuration
        let machine = PartitionMachine<RecordedMessage>(
            limits: worker.settings.limits, givesUp: worker.handler.givesUp, ordering: worker.ordering)
        partitions = worker.source.partitions.map { WorkerPartition(partition: $0, machine: machine) }
    }

    /// Returns when stopped, after finishing its batch and giving its leases back.
    /// - Throws: What ends the connection. The caller opens another and starts over.
    func run() throws {
        defer { for claimant in [careful.claimant, aheadClaimant] { settings.carefulTurn.drop(claimant) } }
        let timeout = try database.query("SELECT setting::bigint FROM pg_settings WHERE name = 'statement_timeout'")
            .only?.decode(0, as: Int64.self)
        // Without that time-out, only the lease limits how long a statement may hang.
        if let timeout, timeout > 0 { statementTimeout = .milliseconds(timeout) }
        try database.execute(leases.createRows(for: worker.source.partitions))
        // This process lives, so what it tried on its last connection ended that at most.
        if !wasSlow { try database.execute(parking.forgetOwnAttempts()) }
        try database.execute(leases.heartbeat(cannot: worker.cannot))
        try database.ring(leases.ringMembers())
        while true {
            let rings = isBusy ? worker.bell.take() : sleep()
            if rings.stop { return try leave() }
            apply(rings)
            if rings.membership || ContinuousClock.now >= nextMaintenance { try maintain() }
            if rings.membership { try lookAtParked() }
            try takeAndRelease()
            try takeCare()
            try handleAhead()
            // What follows may take long, and claims nothing.
            for claimant in [careful.claimant, aheadClaimant] { settings.carefulTurn.stays(claimant, isThere: false) }
            let begun = ContinuousClock.now
            try readRung()
            let handled = try handleTogether()
            for index in partitions.indices { try handle(index, exceptPending: handled.contains(index)) }
            careful.rest = .now - begun
        }
    }

    // MARK: Waking

    /// Whether there is something to do now; while it waits for the careful turn, without that.
    var isBusy: Bool {
        let now = ContinuousClock.now
        return partitions.contains {
            switch $0.machine.nextStep(at: now, mayTakeCare: !careful.isWaiting) {
            case .wait: false
            default: true
            }
        }
    }

    private func sleep() -> Rings {
        let (turn, claimants) = (settings.carefulTurn, [careful.claimant, aheadClaimant])
        for claimant in claimants { turn.stays(claimant) }
        return worker.bell.wait(pause)
    }

    private var pause: Duration {
        let now = ContinuousClock.now
        let wakes =
            partitions.compactMap { $0.machine.nextWake(after: now, mayTakeCare: !careful.isWaiting) }
            + [nextMaintenance, nextPoll, careful.nextGlance(at: now)].compactMap(\.self)
        return max(.zero, (wakes.min() ?? now) - now)
    }

    /// The next step of a partition that needs no care.
    func nextStep(_ index: Int) -> PartitionMachine<RecordedMessage>.Step {
        partitions[index].machine.nextStep(at: .now, mayTakeCare: false)
    }

    private func apply(_ rings: Rings) {
        let now = ContinuousClock.now
        let isPollDue = now >= nextPoll
        if isPollDue { nextPoll = now + settings.idlePoll }
        for index in partitions.indices {
            if isPollDue || rings.all || rings.partitions.contains(partitions[index].partition) {
                partitions[index].machine.ring()
            }
        }
    }

    // MARK: Reading

    /// Reads the cursors and messages of all partitions that are due, in one round trip each.
    private func readRung() throws {
        let opening = partitions.indices.filter {
            if case .open = nextStep($0) { true } else { false }
        }
        if !opening.isEmpty { try open(opening) }
        let reading = partitions.indices.compactMap { index -> (index: Int, after: Position)? in
            guard case .read(let position) = nextStep(index) else { return nil }
            return (index, position)
        }
        guard !reading.isEmpty else { return }
        let found = try messages(in: database.query(read(reading.map { (partitions[$0.index].partition, $0.after) })))
        for (index, after) in reading {
            let messages = found[partitions[index].partition] ?? []
            if isNext(messages, after: after) {
                partitions[index].machine.messagesRead(messages, at: .now)
            } else {
                // The log deleted messages while this partition waited. Opening it again shows which.
                partitions[index].machine.leaseLost()
                nextMaintenance = .now
            }
        }
        worker.settings.faultPoint?(.afterRead)
    }

    /// Positions have no gaps, so the next message comes right after the last one handled.
    func isNext(_ messages: [RecordedMessage], after position: Position) -> Bool {
        messages.first.map { $0.position == position.next } ?? true
    }

    private func open(_ opening: [Int]) throws {
        let families = worker.handler.urgency.families
        if !families.isEmpty {
            // What a replica of 0.1.0 has parked since.
            _ = try pipelined(opening) { parking.separateUrgent(families, in: partitions[$0].partition) }
        }
        if settings.beginsAtHead {
            _ = try pipelined(opening) {
                leases.beginAtHead(partitions[$0].partition, epoch: partitions[$0].machine.epoch ?? Epoch(0))
            }
        }
        let cursors = try pipelined(opening) { leases.cursor(partitions[$0].partition) }
        let bases = try pipelined(opening) { leases.base(partitions[$0].partition) }
        let crashes = try pipelined(opening) {
            parking.crashes(in: partitions[$0].partition, before: partitions[$0].machine.epoch ?? Epoch(0))
        }
        for (((index, (rows, base)), parked), crashes) in zip(
            zip(zip(opening, zip(cursors, bases)), try parkedHeads(of: opening)), crashes)
        {
            let begin = Position(try base.only?.decode(0, as: Int64.self) ?? 0)
            // A new reader begins where the log now begins, unless it was to begin at the head.
            let cursor = try rows.only.map(Cursor.init) ?? Cursor(position: begin)
            guard cursor.position >= begin else {
                findTruncated(index, cursor.position, begin)
                continue
            }
            if partitions[index].isTruncated {
                partitions[index].isTruncated = false
                if !partitions.contains(where: \.isTruncated) { settings.onTruncation?(nil) }
            }
            let ended = Dictionary(
                uniqueKeysWithValues: try crashes.map {
                    (Position(try $0.decode(0, as: Int64.self)), Int(try $0.decode(1, as: Int64.self)))
                })
            if !ended.isEmpty {
                try database.execute(
                    parking.forgetOldAttempts(before: cursor.position, in: partitions[index].partition))
            }
            let isOpen = { position in position > cursor.position || parked.contains { $0.position == position } }
            partitions[index].machine.opened(
                cursor, parked: parked, crashes: ended,
                losses: worker.losses(in: partitions[index].partition, where: isOpen))
        }
    }

    /// The log deleted messages that were not handled. Going on would skip them silently.
    private func findTruncated(_ index: Int, _ position: Position, _ begin: Position) {
        let problem = """
            partition \(index) of \(worker.source.name) begins after \(begin), but only messages up to \(position) are \
            handled: \(leases.schema) was away for too long and has lost those in between. To go on without them, run as \
            quartet_operator: \
            SELECT \(leases.schema).accept_truncation('\(worker.source.name)', '<why>')
            """
        if !partitions[index].isTruncated { worker.logger.error("\(problem)") }
        partitions[index].isTruncated = true
        settings.onTruncation?(problem)
        partitions[index].machine.leaseLost()
        partitions[index].machine.leaseRefused()
    }

    /// An operator may have rescheduled or discarded a parked message.
    func lookAtParked() throws {
        let ready = partitions.indices.filter {
            partitions[$0].machine.position != nil && !partitions[$0].machine.parked.isEmpty
        }
        for (index, parked) in zip(ready, try parkedHeads(of: ready)) { partitions[index].machine.parkedRead(parked) }
    }

    func parkedHeads(of indices: [Int]) throws -> [[Parked<MessageOrder>]] {
        guard !indices.isEmpty else { return [] }
        let found = try pipelined(indices) { parking.parked(in: partitions[$0].partition) }
        let (now, cannot) = (ContinuousClock.now, worker.cannot)
        return try found.map { rows in
            try rows.map { row in
                var head = try ParkedHead(row, of: worker.source.name, now: now)
                // Other replicas couldn't read it. This one hasn't tried.
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

    /// The next messages of these partitions, at most a batch of each.
    func read(_ places: [(partition: Partition, after: Position)]) -> Query {
        worker.source.read(places, limit: settings.limits.batch)
    }

    /// What ``read(_:)`` found, in order.
    func messages(in rows: Rows) throws -> [Partition: [RecordedMessage]] {
        try rows.byPartition().mapValues { indices in
            try indices.map { try RecordedMessage(rows[$0], of: worker.source.name) }
        }
    }
}
