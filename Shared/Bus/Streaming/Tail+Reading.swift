import Postgres
import QuartetVocabulary
import Synchronization

// A few rows are read whole, in one round trip. In a backlog, the tail reads headings first and then only wanted bodies.

extension Tail {
    /// How many rows are read whole from a partition. If there are that many, there may be a backlog.
    private static var wholeLimit: Int { 256 }
    /// How many headings are read at a time.
    private static var headingLimit: Int { 1000 }
    /// How many bytes of bodies are read at a time. A larger body is read alone.
    private static var bodyLimit: Int { 1 << 20 }

    /// A heading, and the whole row if it was wanted.
    private struct Found: Sendable {
        let heading: RowHeading
        let message: RecordedMessage?
    }

    /// Reads these partitions and offers their rows. Returns the partitions that may have more.
    func read(_ partitions: Set<Partition>, _ database: Database) throws -> Set<Partition> {
        let partitions = partitions.sorted()
        guard let place = registry.withLock({ $0.place }) else { return [] }
        var backlog: [Partition] = []
        let rows = try database.query(
            log.read(partitions.map { ($0, place.positions[Int($0.number)]) }, limit: Self.wholeLimit))
        for (partition, indices) in try rows.byPartition().sorted(by: { $0.key < $1.key }) {
            let headings = try indices.map { try RowHeading(ofWhole: rows[$0], of: log.name) }
            let found = try zip(zip(indices, headings), areWanted(headings)).map { row, isWanted in
                Found(
                    heading: row.1, message: isWanted ? try RecordedMessage(rows[row.0], of: log.name) : nil)
            }
            if !offer(found, of: partition) || indices.count == Self.wholeLimit { backlog.append(partition) }
        }
        return Set(try backlog.filter { try readBacklog(of: $0, database) })
    }

    /// Reads on in a partition by headings. Returns whether there may be more.
    private func readBacklog(of partition: Partition, _ database: Database) throws -> Bool {
        guard let place = registry.withLock({ $0.place }) else { return false }
        let after = place.positions[Int(partition.number)]
        let headings = try database.query(log.headings(of: partition, after: after, limit: Self.headingLimit))
            .map { try RowHeading($0, of: log.name) }
        // Takes headings as long as their wanted bodies fit the limit.
        var (count, wanted, bytes) = (0, [Int64](), 0)
        for (heading, isWanted) in zip(headings, areWanted(headings)) {
            if isWanted {
                guard wanted.isEmpty || bytes + heading.size <= Self.bodyLimit else { break }
                bytes += heading.size
                wanted.append(heading.position.number)
            }
            count += 1
        }
        var messages: [Position: RecordedMessage] = [:]
        if !wanted.isEmpty {
            for row in try database.query(log.read(partition, at: wanted)) {
                let message = try RecordedMessage(row, of: log.name)
                messages[message.position] = message
            }
        }
        let found = headings.prefix(count).map { Found(heading: $0, message: messages[$0.position]) }
        // A wanted row that is missing was deleted by retention in the meantime, so its subscribers have to join again.
        let gone = Set(wanted.map(Position.init)).subtracting(messages.keys)
        let isOffered = offer(found, of: partition, gone: gone)
        return !isOffered || count < headings.count || headings.count == Self.headingLimit
    }

    private func areWanted(_ headings: [RowHeading]) -> [Bool] {
        registry.withLock { registry in headings.map { registry.wants($0) } }
    }

    /// Offers rows in order, up to one that became wanted after it was read without its body. Returns whether all were
    /// offered.
    ///
    /// Holds the registry's lock, so that a subscriber gets exactly the rows after the position at which it registered.
    /// Offering only appends to bounded buffers.
    private func offer(_ found: [Found], of partition: Partition, gone: Set<Position> = []) -> Bool {
        let offered = registry.withLock { registry in
            var offered = 0
            for row in found {
                let heading = row.heading
                if !heading.isReadable || gone.contains(heading.position) {
                    // Its subscribers would miss this row, so they have to join again.
                    for subscriber in (registry.subscribers[heading.key] ?? [:]).values { subscriber.interrupt() }
                    registry.served -= registry.subscribers.removeValue(forKey: heading.key)?.count ?? 0
                    metrics.serves(registry.served)
                }
                if registry.wants(heading), !gone.contains(heading.position) {
                    guard let message = row.message else { break }
                    registry.offer(message, heading, metrics)
                }
                offered += 1
            }
            if offered > 0 {
                registry.place?.positions[Int(partition.number)] = found[offered - 1].heading.position
            }
            return offered
        }
        metrics.read(offered)
        return offered == found.count
    }
}

extension Tail.Registry {
    fileprivate func wants(_ heading: RowHeading) -> Bool {
        subscribers[heading.key] != nil || observers.contains { $0.isWanted(heading) }
    }

    fileprivate func offer(_ message: RecordedMessage, _ heading: RowHeading, _ metrics: TailMetrics) {
        metrics.decoded()
        for observer in observers where observer.isWanted(heading) { observer.observe(.row(message)) }
        for subscriber in (subscribers[heading.key] ?? [:]).values where !subscriber.offer(message) {
            metrics.fellBehind()
        }
    }
}
