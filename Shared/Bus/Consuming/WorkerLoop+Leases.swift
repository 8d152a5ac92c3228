import Logging
import Postgres
import QuartetVocabulary

/// Shares, leases and reports.
extension WorkerLoop {
    /// Sends a heartbeat, renews the leases and works out the share again.
    func maintain() throws {
        let asked = ContinuousClock.now
        let owned = partitions.indices.filter { partitions[$0].machine.epoch != nil }
        for index in partitions.indices { partitions[index].lookWhetherItStands(at: asked) }
        let stuck = partitions.indices.filter(isStuck)
        for index in stuck {
            if partitions[index].neededTurnAt == nil {
                worker.logger.warning(
                    "another message of this process that needs care takes long: the partition goes to another replica, if any",
                    metadata: ["partition": "\(index)"])
            }
            partitions[index].neededTurnAt = .now
        }
        // Otherwise another worker of this process, which can't take it, might seem able until its own heartbeat.
        if !stuck.isEmpty { try database.execute(leases.lack(Careful.turn)) }
        let (renewed, members, needs) = try database.pipeline { pipeline in
            pipeline.query(leases.heartbeat(cannot: worker.cannot))
            let renewed = pipeline.query(
                leases.renew(
                    owned.map { partitions[$0].partition },
                    troubles: owned.map { trouble($0) ?? partitions[$0].machine.stalled }))
            // Behind that, which locks all leases in the order in which the keeper does.
            for index in stuck { pipeline.query(leases.add(Careful.turn, to: partitions[index].partition)) }
            let members = pipeline.query(leases.members())
            let needs = pipeline.query(leases.needs())
            pipeline.sync()
            try pipeline.flush()
            return (
                Set(try renewed.rows().map { Int(try $0.decode(0, as: Int32.self)) }),
                try self.members(in: members.rows()),
                Dictionary(
                    uniqueKeysWithValues: try needs.rows().map {
                        (Partition(try $0.decode(0, as: Int32.self)), Set(try $0.decode(1, as: [String].self)))
                    })
            )
        }
        worker.tenure.renewed(asked, until: asked + settings.leaseDuration)
        nextMaintenance = asked + settings.renewalInterval
        let me = Member(owner: leases.owner, slot: leases.slot, cannot: worker.cannot)
        let share = me.share(of: worker.source.partitionCount, among: members, needs: needs)
        for index in partitions.indices {
            if partitions[index].machine.epoch != nil, !renewed.contains(index) {
                worker.logger.warning("the lease was lost", metadata: ["partition": "\(index)"])
                partitions[index].machine.leaseLost()
            }
            partitions[index].machine.want(share.contains(partitions[index].partition))
        }
        try forgetNeeds(needs)
        try measureLag()
        reportTrouble()
    }

    private func members(in rows: Rows) throws -> [Member] {
        try rows.map {
            try Member(
                owner: $0.decode(0, as: OwnerID.self), slot: $0.decode(1, as: Int32.self),
                cannot: Set($0.decode(2, as: [String].self)))
        }
    }

    func takeAndRelease() throws {
        for index in partitions.indices {
            let partition = partitions[index].partition
            switch partitions[index].machine.nextStep(at: .now) {
            case .takeLease: try take(partition, index)
            case .release(let epoch):
                try database.execute(
                    leases.release(partition, epoch: epoch, isCareful: partitions[index].machine.isCareful))
                partitions[index].machine.leaseLost()
                try database.ring(leases.ringMembers())
            default: break
            }
        }
    }

    private func take(_ partition: Partition, _ index: Int) throws {
        guard let row = try database.query(leases.take(partition)).only else {
            partitions[index].machine.leaseRefused()
            return
        }
        let (epoch, former) = try (row.decode(0, as: Int64.self), row.decode(1, as: OwnerID?.self))
        let hasRunOut = try row.decode(2, as: Bool?.self) ?? false
        if let former, former != leases.owner {
            worker.logger.notice(
                "took over from an owner that did not give its lease back",
                metadata: ["partition": "\(partition)", "former": "\(former)", "epoch": "\(epoch)"])
            // A lease taken before it ran out had no session left to end. The former owner may have a new one by now.
            if hasRunOut { try database.execute(leases.endSessions(of: former)) }
        }
        let isCareful = try row.decode(3, as: Bool.self)
        partitions[index].machine.leaseTaken(Epoch(epoch), wasLost: former != nil || isCareful)
    }

    func leave() throws {
        for index in partitions.indices {
            guard let epoch = partitions[index].machine.epoch else { continue }
            try database.execute(
                leases.release(
                    partitions[index].partition, epoch: epoch, isCareful: partitions[index].machine.isCareful))
            partitions[index].machine.leaseLost()
        }
        try database.execute(leases.leave())
        try database.ring(leases.ringMembers())
    }

    // MARK: What not every replica can do

    /// Whether a partition has something to do that needs care, and the process's turn is late. As with messages that this replica
    /// can't read, the partition goes to a process that lacks nothing, and stays here if there is none. This process takes part again
    /// once the turn has ended; a new owner forgets after a minute what the partition needed.
    private func isStuck(_ index: Int) -> Bool {
        worker.isTurnLate && partitions[index].machine.wantsCare(at: .now)
    }

    /// Why a partition rests; nil if its queue goes on.
    private func trouble(_ index: Int) -> String? {
        partitions[index].machine.trouble
            ?? (partitions[index].stands(
                forLeasesOf: settings.leaseDuration, isTurnLate: worker.isTurnLate, at: .now)
                ? "its next message needs care and waits for others of its process" : nil)
    }

    /// Records that a message needs a replica that knows more. If there may be one, it gets the partition; if there is none by then after
    /// all, the message has failed here.
    func offer(_ index: Int, for item: RecordedMessage, toWhoKnows needs: String) throws {
        let partition = partitions[index].partition
        let isNew = worker.learn(cannot: needs)
        partitions[index].neededMoreAt = .now
        let (members, all) = try database.pipeline { pipeline in
            if isNew { pipeline.query(leases.heartbeat(cannot: worker.cannot)) }
            pipeline.query(leases.add(needs, to: partition))
            let members = pipeline.query(leases.members())
            let all = pipeline.query(leases.needs())
            pipeline.sync()
            try pipeline.flush()
            return (
                try self.members(in: members.rows()),
                try all.rows().first { try $0.decode(0, as: Int32.self) == partition.number }
                    .map { Set(try $0.decode(1, as: [String].self)) } ?? []
            )
        }
        // A late turn ends; what a replica doesn't know stays unknown to it.
        let lasting = all.subtracting([Careful.turn])
        guard members.contains(where: { $0.cannot.isDisjoint(with: lasting) }) else { return }
        worker.logger.notice(
            "left a message to a replica that may know more", metadata: about(item, ["needs": "\(needs)"]))
        partitions[index].machine.want(false)
        try database.ring(leases.ringMembers())
    }

    /// Returns a partition to the common share once nothing in it has needed such a replica for a minute.
    private func forgetNeeds(_ needs: [Partition: Set<String>]) throws {
        for index in partitions.indices {
            let partition = partitions[index].partition
            guard let needs = needs[partition], let epoch = partitions[index].machine.epoch else {
                (partitions[index].neededMoreAt, partitions[index].neededTurnAt) = (nil, nil)
                continue
            }
            if partitions[index].machine.parked.contains(where: { $0.cause == .unknown }) {
                partitions[index].neededMoreAt = .now
            }
            let turn = needs.intersection([Careful.turn])
            let forgotten =
                past(needs.subtracting(turn), &partitions[index].neededMoreAt)
                + past(turn, &partitions[index].neededTurnAt)
            if !forgotten.isEmpty { try database.execute(leases.forget(forgotten, of: partition, epoch: epoch)) }
        }
    }

    /// What of this a partition hasn't needed for a minute.
    private func past(_ needs: Set<String>, _ last: inout ContinuousClock.Instant?) -> [String] {
        let (now, since) = (ContinuousClock.now, last ?? .now)
        last = needs.isEmpty ? nil : since
        return now - since > .seconds(60) ? needs.sorted() : []
    }

    // MARK: What is said

    /// Measures how far the owned partitions are behind.
    private func measureLag() throws {
        for index in partitions.indices where partitions[index].isMeasured && partitions[index].machine.position == nil
        {
            // Once: another worker of this process may own it now.
            worker.metrics.left(partitions[index].partition)
            partitions[index].isMeasured = false
            partitions[index].behind = 0
        }
        let owned = partitions.indices.filter { partitions[$0].machine.position != nil }
        guard !owned.isEmpty else { return }
        let places = owned.map { (partitions[$0].partition, partitions[$0].machine.position ?? .start) }
        for row in try database.query(worker.source.lag(behind: places)) {
            let (number, behind, seconds) = try row.decode(Int32.self, Int64.self, Double?.self)
            guard let index = owned.first(where: { $0 == Int(number) }) else { continue }
            let machine = partitions[index].machine
            partitions[index].isMeasured = true
            partitions[index].behind = behind
            partitions[index].age = .seconds(seconds ?? 0)
            partitions[index].head = Position((machine.position ?? .start).number + behind)
            worker.metrics.lag(
                of: partitions[index].partition, messages: behind, seconds: seconds ?? 0, parked: machine.parked.count,
                isResting: trouble(index) != nil)
        }
    }

    /// Why what needs care doesn't go on, though all else does.
    private var waiting: String? {
        if partitions.indices.contains(where: { isStuck($0) && trouble($0) == nil }) {
            return "what needs care waits in vain for another message of its process"
        }
        return settings.carefulTurn.wait(of: careful.claimant) >= settings.leaseDuration * 1.5
            ? "what needs care waits long for other messages of its process" : nil
    }

    /// Logs once when a partition begins to rest and once when it goes on. Readiness follows after a second, so that it
    /// doesn't flicker with each deadlock.
    func reportTrouble() {
        let now = ContinuousClock.now
        for index in partitions.indices {
            switch (partitions[index].restingSince, trouble(index)) {
            case (nil, let reason?):
                partitions[index].restingSince = now
                worker.logger.warning(
                    "nothing succeeds: the partition rests and retries every few seconds",
                    metadata: ["partition": "\(index)", "error": "\(reason)"])
            case (let since?, nil):
                partitions[index].restingSince = nil
                worker.logger.notice(
                    "the partition works again", metadata: ["partition": "\(index)", "rested": "\(now - since)"])
            default: break
            }
        }
        let lasting = partitions.indices.filter { now - (partitions[$0].restingSince ?? now) >= .seconds(1) }
        worker.report(
            ConsumerReport.Condition(
                resting: lasting.first.map {
                    "\(lasting.count) of its partitions rest; partition \(partitions[$0].partition): \(trouble($0) ?? "")"
                },
                waiting: waiting ?? partitions.lazy.compactMap(\.machine.stalled).first,
                parked: partitions.reduce(0) { $0 + $1.machine.parked.count }))
    }
}

/// What a worker's thread knows of one partition, whether it has its lease or not.
struct WorkerPartition {
    let partition: Partition
    var machine: PartitionMachine<RecordedMessage>
    /// The log deleted messages that nobody here had handled.
    var isTruncated = false
    /// Its lag was reported and has to be taken back.
    var isMeasured = false
    /// How many messages were left when that was last measured, how old the first of them was, and the last one's position.
    var behind: Int64 = 0
    var age: Duration = .zero
    var head = Position.start
    var ahead = Ahead()
    var restingSince: ContinuousClock.Instant?
    /// When one of its messages last needed a replica that knows more.
    var neededMoreAt: ContinuousClock.Instant?
    /// When something of it last needed a process whose careful turn isn't late.
    var neededTurnAt: ContinuousClock.Instant?
    /// Since when what its queue does next needs care and can't be tried, and where the cursor is meanwhile.
    private(set) var stopped: (since: ContinuousClock.Instant, at: Position?)?
}

extension WorkerPartition {
    mutating func lookWhetherItStands(at now: ContinuousClock.Instant) {
        guard machine.queueNeedsCare(at: now) else { return goesOn() }
        if stopped == nil || stopped?.at != machine.position { stopped = (now, machine.position) }
    }

    /// What its queue does next is tried.
    mutating func goesOn() { stopped = nil }

    /// Whether the queue hasn't gone on for so long, only because it needs care, that nobody can count on it. Unless the turn is late,
    /// it may only be slow.
    func stands(forLeasesOf lease: Duration, isTurnLate: Bool, at now: ContinuousClock.Instant) -> Bool {
        stopped.map { now - $0.since >= lease * (isTurnLate ? 1.5 : 3) } ?? false
    }
}
