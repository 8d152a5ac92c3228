import Postgres
import Vocabulary

/// Urgent messages of a partition that is far behind are handled before those in front of them.
///
/// The cursor stays where it is. When it comes to such a message, that has its outcome already, so nothing happens; what a
/// policy asked for is appended once more then, under the same ids, and its receivers do nothing.
extension WorkerLoop {
    /// Handles what is urgent in partitions that are behind by several batches.
    func handleAhead() throws {
        guard !worker.handler.urgentTypes.isEmpty else { return }
        for index in partitions.indices where partitions[index].behind > Int64(settings.limits.batch * Ahead.batches) {
            guard ContinuousClock.now >= partitions[index].ahead.next, worker.tenure.holds,
                let place = partitions[index].machine.place
            else { continue }
            if partitions[index].ahead.epoch != place.epoch { partitions[index].ahead = Ahead(epoch: place.epoch) }
            try handleAhead(index, place.cursor, place.epoch)
        }
    }

    private func handleAhead(_ index: Int, _ place: Cursor, _ epoch: Epoch) throws {
        let (begun, partition, head) = (ContinuousClock.now, partitions[index].partition, partitions[index].head)
        let from = max(partitions[index].ahead.scanned, place.position)
        let end = min(Position(from.number + Ahead.window), head)
        let rows = try database.query(
            worker.source.read(partition, after: from, upTo: end, types: worker.handler.urgentTypes, limit: Ahead.limit)
        )
        let messages = try rows.map { try RecordedMessage($0, of: worker.source.name) }
        var cursor = place
        for message in messages {
            guard worker.tenure.holds else { return }
            let order = worker.ordering.key(message)
            guard order.family == .urgent, !partitions[index].ahead.blocked.contains(order),
                partitions[index].machine.mayGoAhead(message)
            else {
                // Later ones of its order wait for the cursor, too.
                if order.family == .urgent { partitions[index].ahead.blocked.insert(order) }
                partitions[index].ahead.passed(message.position)
                continue
            }
            do {
                let careful = Careful(message, epoch: epoch)
                let stay = Advance(
                    partition: partition, from: cursor, epoch: epoch, items: [message], to: cursor.position)
                let (committed, _) = try carefully(careful) {
                    try commit([stay]) { pipeline, time in
                        let appendings = try reduce([message], time, pipeline)
                        pipeline.query(parking.forgetAttempts([message.position], in: partition))
                        return (appendings, nil)
                    }
                }
                cursor = committed[0].cursor
                partitions[index].machine.committedAhead(cursor)
            } catch {
                let failure = try recover(from: error, handling: [message], careful: Careful(message, epoch: epoch))
                if failure == .fenced { return partitions[index].machine.leaseLost() }
                if failure.mayPass, partitions[index].ahead.triesAgain() {
                    partitions[index].ahead.next = .now + Ahead.longestPause
                    return
                }
                // It is handled again, and parked if it still fails, when the cursor comes to it.
                partitions[index].ahead.blocked.insert(order)
            }
            partitions[index].ahead.passed(message.position)
        }
        if messages.count < Ahead.limit { partitions[index].ahead.passed(max(end, from)) }
        // At most a tenth of the time.
        partitions[index].ahead.next = .now + min((ContinuousClock.now - begun) * 9, Ahead.longestPause)
    }
}

/// How far a partition has been searched for urgent messages beyond its cursor, under one lease.
struct Ahead {
    /// A partition that is behind by this many batches is searched.
    static let batches = 4
    /// How many rows are searched at once, at most.
    static let window: Int64 = 20_000
    /// How many messages are handled at once, at most.
    static let limit = 64
    static let longestPause: Duration = .seconds(1)

    /// How often a message is tried ahead whose failure may pass, a pause apart.
    private static let tries = 5

    var epoch: Epoch?
    private(set) var scanned = Position.start
    /// The orders of what failed or has to wait.
    var blocked: Set<MessageOrder> = []
    var next = ContinuousClock.now
    /// Failures of the message behind ``scanned``.
    private var failures = 0

    init(epoch: Epoch? = nil) {
        self.epoch = epoch
    }

    mutating func passed(_ position: Position) { (scanned, failures) = (position, 0) }

    /// Counts a failure that may pass.
    /// - Returns: Whether the message is tried ahead again.
    mutating func triesAgain() -> Bool {
        failures += 1
        return failures < Self.tries
    }
}
