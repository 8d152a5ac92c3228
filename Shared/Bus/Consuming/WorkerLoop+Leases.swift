import Logging
import Postgres
import Vocabulary

/// Shares, leases and reports.
extension WorkerLoop {
    /// Sends a heartbeat, renews the leases and works out the share again.
    func maintain() throws {
        let asked = ContinuousClock.now
        let owned = machines.indices.filter { machines[$0].epoch != nil }
        let (renewed, members, needs) = try database.pipeline { pipeline in
            pipeline.query(leases.heartbeat(cannot: worker.cannot))
            let renewed = pipeline.query(
                leases.renew(owned.map { Partition(Int32($0)) }, troubles: owned.map { machines[$0].trouble }))
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
        for index in machines.indices {
            if machines[index].epoch != nil, !renewed.contains(index) {
                worker.logger.warning("the lease was lost", metadata: ["partition": "\(index)"])
                machines[index].leaseLost()
            }
            machines[index].want(share.contains(Partition(Int32(index))))
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
        for index in machines.indices {
            let partition = Partition(Int32(index))
            switch machines[index].nextStep(at: .now) {
            case .takeLease: try take(partition, index)
            case .release(let epoch):
                try database.execute(leases.release(partition, epoch: epoch))
                machines[index].leaseLost()
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
        if former == leases.owner {
            // Nobody took over in the meantime, so what was being tried ended neither this process nor its lease.
            if !wasSlow { try database.execute(parking.forgetOwnAttempts(in: partition)) }
        } else if let former {
            worker.logger.notice(
                "took over from an owner that did not give its lease back",
                metadata: ["partition": "\(partition)", "former": "\(former)", "epoch": "\(epoch)"])
            // A lease taken before it ran out had no session left to end. The former owner may have a new one by now.
            if hasRunOut { try database.execute(leases.endSessions(of: former)) }
        }
        machines[index].leaseTaken(Epoch(epoch), wasLost: former != nil)
    }

    func leave() throws {
        for index in machines.indices {
            guard let epoch = machines[index].epoch else { continue }
            try database.execute(leases.release(Partition(Int32(index)), epoch: epoch))
            machines[index].leaseLost()
        }
        try database.execute(leases.leave())
        try database.ring(leases.ringMembers())
    }

    // MARK: What not every replica knows

    /// Records that a message needs a replica that knows more. Returns whether there may be one.
    func isLeftToOthers(_ needs: String, _ index: Int) throws -> Bool {
        let partition = Partition(Int32(index))
        let isNew = worker.learn(cannot: needs)
        needy[index] = .now
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
        guard members.contains(where: { $0.cannot.isDisjoint(with: all) }) else { return false }
        worker.logger.notice(
            "left a message to a replica that may know more", metadata: ["partition": "\(partition)", "needs": "\(needs)"])
        machines[index].want(false)
        try database.ring(leases.ringMembers())
        return true
    }

    /// Returns a partition to the common share once nothing in it has needed such a replica for a minute.
    private func forgetNeeds(_ needs: [Partition: Set<String>]) throws {
        for index in machines.indices {
            let partition = Partition(Int32(index))
            guard needs[partition] != nil, let epoch = machines[index].epoch else {
                needy[index] = nil
                continue
            }
            let isWaiting = machines[index].parked.contains { $0.cause == .unknown }
            let since = needy[index] ?? .now
            needy[index] = isWaiting ? .now : since
            if !isWaiting, ContinuousClock.now - since > .seconds(60) {
                try database.execute(leases.forgetNeeds(of: partition, epoch: epoch))
            }
        }
    }

    // MARK: What is said

    /// Measures how far the owned partitions are behind.
    private func measureLag() throws {
        let places = machines.indices.compactMap { index in
            machines[index].position.map { (partition: Partition(Int32(index)), position: $0) }
        }
        // Once: another worker of this process may own it now.
        let owned = Set(places.map(\.partition))
        for partition in measured.subtracting(owned) { worker.metrics.left(partition) }
        measured = owned
        guard !places.isEmpty else { return }
        for row in try database.query(worker.source.lag(behind: places)) {
            let (partition, behind, seconds) = try row.decode(Int32.self, Int64.self, Double?.self)
            let machine = machines[Int(partition)]
            worker.metrics.lag(
                of: Partition(partition), messages: behind, seconds: seconds ?? 0, parked: machine.parked.count,
                isResting: machine.trouble != nil)
        }
    }

    /// Logs once when a partition begins to rest and once when it goes on. Readiness follows after a second, so that it
    /// doesn't flicker with each deadlock.
    func reportTrouble() {
        let now = ContinuousClock.now
        for index in machines.indices {
            switch (troubles[index], machines[index].trouble) {
            case (nil, let reason?):
                troubles[index] = (now, reason)
                worker.logger.warning(
                    "nothing succeeds: the partition rests and retries every few seconds",
                    metadata: ["partition": "\(index)", "error": "\(reason)"])
            case (let former?, let reason?):
                troubles[index] = (former.since, reason)
            case (let former?, nil):
                troubles[index] = nil
                worker.logger.notice(
                    "the partition works again", metadata: ["partition": "\(index)", "rested": "\(now - former.since)"])
            case (nil, nil): break
            }
        }
        let lasting = troubles.filter { now - $0.value.since >= .seconds(1) }
        let parked = machines.reduce(0) { $0 + $1.parked.count }
        worker.report(
            resting: lasting.min { $0.key < $1.key }.map {
                "\(lasting.count) of its partitions rest; partition \($0.key): \($0.value.reason)"
            }, parked: parked)
    }
}
