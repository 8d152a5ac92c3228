import Dispatch
import Logging
import Postgres
import Vocabulary

/// One careful message at a time in the whole process: when it ends the process, it is known which one did.
private let carefulTurn = DispatchSemaphore(value: 1)

/// Another worker has the lease by now.
struct LeaseTaken: Error {}

/// Another careful message is in hand in this process, and takes long.
struct CarefulTurnTaken: Error {}

/// A message that may end its owner.
struct Careful {
    let position: Position
    let partition: Partition
    let epoch: Epoch

    init(_ message: RecordedMessage, epoch: Epoch) {
        position = message.position
        partition = message.partition
        self.epoch = epoch
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

extension WorkerLoop {
    /// Records that a message is tried before running `body`. Without one, just runs it.
    func carefully<Result>(_ careful: Careful?, _ body: () throws -> Result) throws -> Result {
        guard let careful else { return try body() }
        // A neighbour may take long. Its own partitions wait for it; this one's do something else.
        let patience = Int(settings.leaseDuration / 2 / .milliseconds(1))
        guard carefulTurn.wait(timeout: .now() + .milliseconds(patience)) == .success else { throw CarefulTurnTaken() }
        defer { carefulTurn.signal() }
        try database.pipeline { pipeline in
            pipeline.query("BEGIN")
            // It must outlive this process, not the server: nothing waits for the disk.
            pipeline.query("SET LOCAL synchronous_commit = off")
            let attempt = pipeline.query(
                parking.attempt(careful.position, in: careful.partition, epoch: careful.epoch))
            let commit = pipeline.commit()
            pipeline.sync()
            try pipeline.flush()
            try commit.check()
            if try attempt.rows().isEmpty { throw LeaseTaken() }
        }
        return try body()
    }

    /// Everything that messages of some partitions cause and how far that brings each, in one transaction. Returns where
    /// each partition stands then, and what was read behind the commit.
    func commit(
        _ advances: [Advance],
        _ change: (Pipeline, _ time: () throws -> BatchTime) throws -> ([Appending], Pending?)
    ) throws -> ([(cursor: Cursor, next: [RecordedMessage])], Pending?) {
        let begun = ContinuousClock.now
        worker.tenure.progressed(for: statementTimeout)
        defer { worker.tenure.progressed(for: settings.leaseDuration) }
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
            worker.tenure.progressed(for: statementTimeout)
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
    /// - Parameter careful: what was noted as tried. It failed and its owner goes on, so the note is taken back.
    func recover(
        from error: any Error, handling items: [RecordedMessage], careful: Careful? = nil, isJoint: Bool = false
    ) throws -> TransactionFailure {
        let failure = TransactionFailure(error)
        worker.logger.log(
            level: failure.isExpected || isJoint ? .info : .warning, "a batch failed",
            metadata: [
                "first": "\(items.first.map { "\($0.partition)/\($0.position)" } ?? "-")", "messages": "\(items.count)",
                "failure": "\(failure)", "error": "\(error)",
            ])
        worker.metrics.failed(failure)
        if failure == .connectionLost {
            // idle_in_transaction_session_timeout: what ends a session is known by its text alone.
            if "\(error)".contains("25P03") { worker.tenure.wasSlow() }
            throw error
        }
        if database.transactionStatus != .idle { try database.execute("ROLLBACK") }
        if let careful { try database.attempt(parking.forgetAttempts([careful.position], in: careful.partition)) }
        if failure == .fenced { nextMaintenance = .now }
        return failure
    }
}
