import Postgres
import QuartetVocabulary

/// Urgent messages of a partition that is behind are handled before those in front of them.
///
/// The cursor stays where it is. When it comes to such a message, that has its outcome already, so nothing happens; what a
/// policy asked for is appended once more then, under the same ids, and its receivers do nothing.
///
/// Each takes a transaction or two of its own, many times what it costs in a batch. So what is rare goes first, a call for
/// help before the day's check-ins; what most of the others are doesn't go ahead at all; and a worker spends a tenth of its
/// time on it.
extension WorkerLoop {
    /// Handles what is urgent in partitions that are behind, for a moment.
    func handleAhead() throws {
        let begun = ContinuousClock.now
        let turn = settings.carefulTurn
        guard !worker.handler.urgency.isEmpty, begun >= nextAhead || turn.isNext(aheadClaimant, at: begun) else {
            return
        }
        let first = firstAhead
        var hasTurns = true
        for offset in partitions.indices {
            let index = (first + offset) % partitions.count
            guard partitions[index].behind > Int64(settings.limits.batch * Ahead.batches),
                partitions[index].age >= Ahead.leastAge
            else {
                // Whatever was blocked has been handled since.
                partitions[index].ahead = Ahead()
                continue
            }
            guard ContinuousClock.now < begun + Ahead.turn else { break }
            guard worker.tenure.holds, let place = partitions[index].machine.place else { continue }
            if partitions[index].ahead.epoch != place.epoch { partitions[index].ahead = Ahead(epoch: place.epoch) }
            hasTurns = try handleAhead(index, place.cursor, place.epoch, until: begun + Ahead.turn)
            firstAhead = hasTurns ? index + 1 : index
            if !hasTurns { break }
        }
        if hasTurns { turn.drop(aheadClaimant) }
        nextAhead = .now + Ahead.rest.after(ContinuousClock.now - begun)
    }

    /// What goes ahead next.
    private func readAhead(_ index: Int, _ place: Cursor) throws -> [RecordedMessage] {
        let partition = partitions[index].partition
        let window = partitions[index].ahead.window(from: place.position, head: partitions[index].head)
        let counts = try database.query(
            worker.source.countUrgent(partition, window, worker.handler.urgency)
        ).map { try $0.decode(String.self, Int64.self) }
        let kinds = Ahead.next(of: counts, among: window.upTo.number - window.after.number)
        guard !kinds.isEmpty else {
            partitions[index].ahead.searched(window)
            return []
        }
        // Earlier ones of the same keys go with them, in order.
        let rows = try database.query(
            worker.source.readUrgent(
                partition, after: place.position, window, kinds, worker.handler.urgency, limit: Ahead.limit))
        return try rows.map { try RecordedMessage($0, of: worker.source.name) }
    }

    /// - Returns: False if it has had no careful turn of the process and waits for that. It goes on when it is the next one.
    private func handleAhead(
        _ index: Int, _ place: Cursor, _ epoch: Epoch, until end: ContinuousClock.Instant
    ) throws -> Bool {
        let partition = partitions[index].partition
        partitions[index].ahead.read.removeAll { $0.position <= place.position }
        if partitions[index].ahead.needsReading(at: .now) {
            let messages = try readAhead(index, place)
            partitions[index].ahead.found(messages, at: .now)
        }
        let turn = settings.carefulTurn
        var (cursor, turns) = (place, 0)
        for message in partitions[index].ahead.read {
            // At least one, however long reading took.
            guard worker.tenure.holds, turns == 0 || ContinuousClock.now < end else { return true }
            let order = worker.ordering.key(message)
            guard !partitions[index].ahead.blocked.contains(order), partitions[index].machine.mayGoAhead(message) else {
                // Later ones of its order wait for the cursor, too.
                partitions[index].ahead.blocked.insert(order)
                partitions[index].ahead.passed(message.position)
                continue
            }
            // If nothing is ready that needs care, that claim may have to wait for long yet.
            let other = careful.isWaiting ? careful.claimant : nil
            guard
                turn.take(for: aheadClaimant)
                    || mayWaitForTurn(as: aheadClaimant, besides: other)
                        && turn.take(for: aheadClaimant, within: careful.longestWait)
            else { return turns > 0 }
            // What failed is forgotten within the turn, too.
            defer { turn.end() }
            turns += 1
            partitions[index].ahead.hadTurn()
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
                if failure == .fenced {
                    partitions[index].machine.leaseLost()
                    return true
                }
                // The rest of this partition waits for the next turn.
                if failure.mayPass, partitions[index].ahead.triesAgain() { return true }
                // It is handled again, and parked if it still fails, when the cursor comes to it.
                partitions[index].ahead.blocked.insert(order)
            }
            partitions[index].ahead.passed(message.position)
        }
        return true
    }
}

/// How far a partition has been searched for urgent messages beyond its cursor, under one lease.
struct Ahead {
    /// A partition that is behind by this many batches is searched,
    static let batches = 4
    /// if its next message is as old as this.
    static let leastAge: Duration = .seconds(1)
    /// How many rows are searched at once, at most.
    static let window: Int64 = 20_000
    /// How many messages are handled at once, at most. A kind of which a window has more isn't rare.
    static let limit = 64
    /// How long a worker handles messages of all its partitions ahead before it goes on with their batches.
    static let turn: Duration = .milliseconds(100)
    static let rest = Rest(times: 9, longest: .seconds(2))

    /// How often a message is tried ahead whose failure may pass, once a turn.
    private static let tries = 5

    var epoch: Epoch?
    /// Up to where everything that goes ahead has been handled.
    private(set) var scanned = Position.start
    /// What was handled ahead, or may not be, behind ``scanned``.
    private(set) var done: Set<Int64> = []
    /// What was read and goes ahead next, in order.
    var read: [RecordedMessage] = []
    /// Until when that stays if none of it has a turn.
    private var readAgainAt: ContinuousClock.Instant?
    /// The orders of what failed or has to wait.
    var blocked: Set<MessageOrder> = []
    private var failures = 0

    init(epoch: Epoch? = nil) {
        self.epoch = epoch
    }

    /// Where to search next.
    func window(from cursor: Position, head: Position) -> AheadWindow {
        let from = max(scanned, cursor)
        let end = min(Position(from.number + Self.window), head)
        return AheadWindow(after: from, upTo: max(end, from), except: Array(done))
    }

    /// The kinds that go ahead next: the rarest ones, as many as can be handled at once; then all, unless they are more than a
    /// quarter of what was searched, so that little would be gained.
    static func next(of counts: [(kind: String, count: Int64)], among all: Int64) -> [String] {
        var left = Int64(limit)
        let rare = counts.sorted { ($0.count, $0.kind) < ($1.count, $1.kind) }.prefix {
            left -= $0.count
            return left >= 0
        }
        guard rare.isEmpty, counts.reduce(0, { $0 + $1.count }) <= all / 4 else { return rare.map(\.kind) }
        return counts.map(\.kind)
    }

    /// Whether to read what goes ahead next. What waits for its first turn stays for a while, so that reading doesn't make it late for
    /// that. Afterwards something rarer may have come.
    func needsReading(at now: ContinuousClock.Instant) -> Bool { read.isEmpty || readAgainAt.map { now >= $0 } ?? true }

    mutating func found(_ messages: [RecordedMessage], at now: ContinuousClock.Instant) {
        (read, readAgainAt) = (messages, now + Self.rest.longest)
    }

    /// One of the messages found had its turn. The others that have theirs in the same round don't need it read again.
    mutating func hadTurn() { readAgainAt = nil }

    /// Nothing is left there that goes ahead.
    mutating func searched(_ window: AheadWindow) {
        (scanned, failures) = (window.upTo, 0)
        done = []
    }

    mutating func passed(_ position: Position) {
        done.insert(position.number)
        read.removeAll { $0.position == position }
        failures = 0
    }

    /// Counts a failure that may pass.
    /// - Returns: Whether the message is tried ahead again.
    mutating func triesAgain() -> Bool {
        failures += 1
        return failures < Self.tries
    }
}

/// A stretch of a partition.
struct AheadWindow: Sendable {
    var after: Position
    var upTo: Position
    /// Positions that are of no interest.
    var except: [Int64]
}

/// Which messages of a set are urgent, as SQL can tell: by their type, or by the `kind` in their bodies.
package struct Urgency: Sendable {
    let types: [String]
    /// As in `DeliverNotification/alertRaised`.
    let kinds: [String]
    /// The families of all these.
    let families: [String: Family]

    var isEmpty: Bool { types.isEmpty && kinds.isEmpty }
}

extension Log {
    /// A row's type; with the kind in its body, if some types need it to be known as urgent. Reading bodies takes longer.
    private static func kind(_ urgency: Urgency, of row: Query) -> Query {
        urgency.kinds.isEmpty ? "\(row).type" : "(\(row).type || '/' || coalesce(\(row).body ->> 'kind', ''))"
    }

    private func isUrgent(_ urgency: Urgency) -> Query {
        "(l.type = ANY (\(urgency.types)) OR \(Self.kind(urgency, of: "l")) = ANY (\(urgency.kinds)))"
    }

    /// How many urgent messages of each kind a stretch has.
    func countUrgent(_ partition: Partition, _ window: AheadWindow, _ urgency: Urgency) -> Query {
        """
        SELECT \(Self.kind(urgency, of: "l")), count(*) FROM \(unescaped: name.description) AS l
         WHERE l.partition = \(partition.number) AND l.position > \(window.after.number)
           AND l.position <= \(window.upTo.number) AND l.position <> ALL (\(window.except)) AND \(isUrgent(urgency))
         GROUP BY 1
        """
    }

    /// The urgent messages of the keys that have one of certain kinds in a stretch, from an earlier position on.
    func readUrgent(
        _ partition: Partition, after: Position, _ window: AheadWindow, _ kinds: [String], _ urgency: Urgency,
        limit: Int
    ) -> Query {
        """
        SELECT \(unescaped: Self.columnList) FROM \(unescaped: name.description) AS l
         WHERE l.partition = \(partition.number) AND l.position > \(after.number) AND l.position <= \(window.upTo.number)
           AND l.position <> ALL (\(window.except)) AND \(isUrgent(urgency))
           AND l.key = ANY (ARRAY (SELECT r.key FROM \(unescaped: name.description) AS r
                                    WHERE r.partition = \(partition.number) AND r.position > \(window.after.number)
                                      AND r.position <= \(window.upTo.number)
                                      AND r.position <> ALL (\(window.except))
                                      AND \(Self.kind(urgency, of: "r")) = ANY (\(kinds))))
         ORDER BY l.position LIMIT \(Int64(limit))
        """
    }
}
