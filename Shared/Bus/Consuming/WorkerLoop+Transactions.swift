import Logging
import Postgres
import QuartetVocabulary

/// Another worker has the lease by now.
struct LeaseTaken: Error {}

/// A message that may end its owner.
struct Careful {
    /// What the workers of a process lack while one of its turns is late: as in `lease.needs` and `member.cannot`. No type is called so.
    static let turn = "a turn to be careful"

    let position: Position
    let partition: Partition
    let epoch: Epoch
}

extension Careful {
    init(_ message: RecordedMessage, epoch: Epoch) {
        self.init(position: message.position, partition: message.partition, epoch: epoch)
    }
}

/// How far a transaction moves a partition's cursor.
struct Advance {
    let partition: Partition
    let from: Cursor
    let epoch: Epoch
    /// The messages it covers.
    let items: [RecordedMessage]
    /// Everything up to here is handled or parked.
    let to: Position
    /// Whether the next messages are read behind the commit.
    var readsAhead = false
}

extension WorkerLoop {
    /// Records an attempt for the message before running `body`, in this worker's careful turn. With no message, just runs it.
    func carefully<Result>(_ careful: Careful?, _ body: () throws -> Result) throws -> Result {
        triedAlone = nil
        guard let careful else { return try body() }
        worker.tenure.progressed(for: settings.leaseDuration)
        try database.pipeline { pipeline in
            pipeline.query("BEGIN")
            // The note must outlive this process, not the server, so nothing waits for the disk.
            pipeline.query("SET LOCAL synchronous_commit = off")
            let attempt = pipeline.query(
                parking.attempt(careful.position, in: careful.partition, epoch: careful.epoch))
            let commit = pipeline.commit()
            pipeline.sync()
            try pipeline.flush()
            try commit.check()
            if try attempt.rows().isEmpty { throw LeaseTaken() }
        }
        triedAlone = careful
        let result = try body()
        worker.forgetLosses(of: CollectionOfOne(careful.position), in: careful.partition)
        return result
    }

    /// Commits the effects of some partitions' messages and the partitions' new cursors in one transaction. Returns
    /// each new cursor and the messages that were read behind the commit.
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
            // Behind the commit, in a transaction of their own that ends with the sync and rings the doorbells. If
            // something fails there, say because NOTIFY's queue is full, nothing has to be repeated.
            let ahead = advances.filter(\.readsAhead).map { (partition: $0.partition, after: $0.to) }
            let next = ahead.isEmpty ? nil : pipeline.query(read(ahead))
            for appending in filled { pipeline.query(appending.log.ring(for: appending.messages)) }
            pipeline.sync()
            try pipeline.flush()
            try commit.check()
            worker.metrics.committed(
                advances.reduce(0) { $0 + $1.items.count }, appendings, in: ContinuousClock.now - begun)
            let found = try next.map { try messages(in: $0.rows()) } ?? [:]
            return (
                advances.map { advance in
                    (
                        Cursor(
                            number: advance.from.number + 1, position: advance.to, givenTime: given, givenAt: begun),
                        found[advance.partition] ?? []
                    )
                }, extra
            )
        }
    }

    /// Classifies a batch's failure. Rethrows if the connection is lost: nothing about that is guessed.
    /// - Parameters:
    ///   - items: What failed, without messages that were only parked beside it, unless there were no others.
    ///   - careful: The message whose attempt was to be recorded. If it was, it failed and its owner goes on, so the record is deleted;
    ///     what a later owner recorded stays.
    func recover(
        from error: any Error, handling items: [RecordedMessage], careful: Careful? = nil, isJoint: Bool = false
    ) throws -> TransactionFailure {
        let failure = TransactionFailure(error)
        worker.logger.log(
            level: failure.isExpected || isJoint ? .info : .warning, "a batch failed",
            metadata: about(items, failure, error))
        worker.metrics.failed(failure)
        if failure == .connectionLost {
            // idle_in_transaction_session_timeout: the reason why a session ended is only in the error's text.
            if "\(error)".contains("25P03") { worker.tenure.wasSlow() } else { countLoss() }
            throw error
        }
        do {
            if database.transactionStatus != .idle { try database.execute("ROLLBACK") }
        } catch {
            // The server said why before it ended the connection.
            countLoss()
            throw error
        }
        if let careful, triedAlone != nil { try database.attempt(parking.forgetAttempts(of: careful)) }
        if failure == .fenced { nextMaintenance = .now }
        return failure
    }

    private func about(
        _ items: [RecordedMessage], _ failure: TransactionFailure, _ error: any Error
    ) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "first": "\(items.first.map { "\($0.partition)/\($0.position)" } ?? "-")", "messages": "\(items.count)",
            "failure": "\(failure)", "error": "\(error)",
        ]
        if items.count == 1, let parent = items[0].message.traceParent { metadata["trace_parent"] = .string(parent) }
        return metadata
    }

    private func countLoss() {
        if let triedAlone { worker.lostConnection(trying: triedAlone) }
    }
}
