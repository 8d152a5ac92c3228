package import Logging
package import Postgres
package import QuartetVocabulary
import ServiceLifecycle
import Synchronization

/// Sends commands to a service and waits for their outcomes: request and reply over two logs.
///
/// A waiter registers with the tail before its command is appended. A command that may have been sent before is also looked
/// up at once, and every open command is looked up each second: a duplicate adds nothing to the log, so only the table
/// `outcome` has the answer.
package final class CommandSender: Service, Sendable {
    private struct Waiter: Sendable {
        let hash: BodyHash
        let entry: Appender.Entry
        let deadline: ContinuousClock.Instant
        /// How far the outcomes were known when it was sent.
        let known: [Position]
        let isReplayed: @Sendable () -> Void
        let resume: @Sendable (Result<Outcome, CommandError>) -> Void
    }

    /// A command that somebody waits for.
    private struct Awaited: Sendable {
        let place: CommandShares.Place
        var waiters: [Waiter] = []
    }

    /// A command that was sent, but nobody waits for it any longer.
    private struct Abandoned: Sendable {
        let place: CommandShares.Place
        let expiry: ContinuousClock.Instant?
    }

    /// Commands without an outcome, as far as is known here.
    private struct Open: Sendable {
        var awaited: [CommandID: Awaited] = [:]
        var abandoned: [CommandID: Abandoned] = [:]
        var shares: CommandShares

        var count: Int { awaited.count + abandoned.count }

        func contains(_ id: CommandID) -> Bool { awaited[id] != nil || abandoned[id] != nil }

        /// - Throws: Which limit is reached.
        mutating func add(
            _ waiter: Waiter, for id: CommandID, _ command: Message, isUrgent: Bool
        ) throws(CommandLimit) {
            if awaited[id] == nil {
                if let abandoned = abandoned.removeValue(forKey: id) {
                    awaited[id] = Awaited(place: abandoned.place)
                } else {
                    awaited[id] = Awaited(place: try shares.take(command, isUrgent: isUrgent))
                }
            }
            awaited[id]?.waiters.append(waiter)
        }

        /// Forgets a command.
        /// - Returns: Those who wait for it; nil if it isn't known.
        mutating func remove(_ id: CommandID) -> [Waiter]? {
            if let abandoned = abandoned.removeValue(forKey: id) {
                shares.give(abandoned.place)
                return []
            }
            guard let awaited = awaited.removeValue(forKey: id) else { return nil }
            shares.give(awaited.place)
            return awaited.waiters
        }
    }

    /// Of the log that has the outcomes.
    private let tail: Tail
    private let appender: Appender
    private let pool: Pool
    private let logger: Logger
    private let open: Mutex<Open>
    /// Commands to look up. While one query runs, they gather for the next.
    private let lookUps = Mutex<Set<CommandID>>([])
    private let (wake, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    private static let lookUpInterval: Duration = .seconds(1)
    /// How many abandoned commands are looked up at a time.
    private static let abandonedLookUpLimit = 500
    private static let abandonedAge: Duration = .seconds(300)

    /// - Parameters:
    ///   - commands: The command log that the service reads.
    ///   - tail: Of the service's own log.
    ///   - pool: Connections that may read the service's table `outcome`.
    ///   - unansweredLimit: The most commands without an outcome, so that a lagging service isn't sent more and more: a
    ///     quarter of it for one partition, 64 for one key or account. Urgent commands have a reserve beside it.
    ///     An abandoned command counts until it has expired, when handling it costs the service next to nothing, or for five minutes.
    ///   - faultPoint: Called while an append's transaction is still open, so that a test can hold or end the process there.
    ///     Costs a round trip; nil in production.
    package init(
        to commands: Log, tail: Tail, pool: Pool, unansweredLimit: Int = 4096, configuration: Configuration,
        faultPoint: (@Sendable () -> Void)? = nil, logger: Logger
    ) {
        open = Mutex(Open(shares: CommandShares(commands, limit: unansweredLimit)))
        self.tail = tail
        self.pool = pool
        self.logger = logger
        appender = Appender(log: commands, configuration: configuration, faultPoint: faultPoint, logger: logger)
        tail.observe { [weak self] heading in
            self?.isWanted(heading) == true
        } _: { [weak self] observation in
            self?.observe(observation)
        }
    }

    /// How many commands have no outcome yet.
    package var unanswered: Int { open.withLock(\.count) }

    /// Sends a command and waits for its outcome.
    /// - Parameters:
    ///   - isUrgent: Whether the reserve is for it, too.
    ///   - mayBeRepeated: Whether anybody may have sent this id before; false saves a look-up.
    ///   - isReplayed: Called if it had its outcome already when it was sent.
    ///   - patience: How long to wait for the outcome, whatever the database does. After that, or when the task is cancelled,
    ///     the command goes on without its sender.
    /// - Throws: ``CommandError/overloaded(_:)``, with nothing sent, when too many commands have no outcome;
    ///   ``CommandError/noOutcomeYet(_:)`` when it isn't known whether the command was done: send it again with the same id
    ///   to find out.
    package func send(
        _ command: Message, isUrgent: Bool = false, mayBeRepeated: Bool, patience: Duration = .seconds(10),
        isReplayed: @Sendable @escaping () -> Void = {}
    ) async throws(CommandError) -> Outcome {
        guard let id = command.commandID else { throw .refused("a command must have an id") }
        let answer = SingleAnswer<Result<Outcome, CommandError>>()
        let entry = Appender.Entry(command) { answer.give(.failure(CommandError($0))) }
        let waiter = Waiter(
            hash: command.bodyHash, entry: entry, deadline: .now + patience, known: tail.positions,
            isReplayed: isReplayed
        ) { answer.give($0) }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                answer.wait(continuation)
                do throws(CommandLimit) {
                    try open.withLock { open throws(CommandLimit) in
                        try open.add(waiter, for: id, command, isUrgent: isUrgent)
                    }
                } catch {
                    answer.give(.failure(.overloaded(error)))
                    return
                }
                do throws(AppendError) { try appender.enqueue(entry) } catch {
                    answer.give(.failure(CommandError(error)))
                }
                if mayBeRepeated { lookUp([id]) }
            }
        } onCancel: {
            answer.give(.failure(.noOutcomeYet(id)))
        }
        forget(id, entry, isUnanswered: result == .failure(.noOutcomeYet(id)))
        return try result.get()
    }

    /// Appends, looks up and times out commands until cancelled or shut down gracefully.
    package func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            // Ends by itself, after its last flush.
            group.addTask { await self.appender.run { self.appendAgain() } }
            await resolveUntilStopped()
        }
    }

    // MARK: Private

    private func resolveUntilStopped() async {
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                // Apart from the look-ups, which stall while the database doesn't answer.
                group.addTask {
                    await self.repeatedly(every: .milliseconds(250)) { self.giveUp(at: .now) }
                }
                group.addTask {
                    await self.repeatedly(every: Self.lookUpInterval) { self.lookUpOpen() }
                }
                var isFailing = false
                for await _ in wake {
                    do {
                        try await lookUpAll()
                        isFailing = false
                    } catch {
                        if !isFailing {
                            logger.warning("outcomes can't be looked up now", metadata: ["error": "\(error)"])
                        }
                        isFailing = true
                    }
                }
                group.cancelAll()
            }
        } onGracefulShutdown: {
            self.waker.finish()
        }
    }

    private func repeatedly(every pause: Duration, _ action: () -> Void) async {
        while !Task.isCancelled {
            try? await Task.sleep(for: pause)
            action()
        }
    }

    private func lookUp(_ ids: [CommandID]) {
        lookUps.withLock { $0.formUnion(ids) }
        waker.yield()
    }

    private func lookUpOpen() {
        let open = open.withLock { Array($0.awaited.keys) + $0.abandoned.keys.prefix(Self.abandonedLookUpLimit) }
        if !open.isEmpty { lookUp(open) }
    }

    private func lookUpAll() async throws {
        let ids = lookUps.withLock { ids in
            defer { ids = [] }
            return ids
        }
        let wanted = open.withLock { open in ids.filter { open.contains($0) } }
        if !wanted.isEmpty { try await resolve(Array(wanted)) }
    }

    /// What was appended before a connection was lost may be gone. Sent again with the same id, it is the same command.
    private func appendAgain() {
        let waiting = open.withLock { open in
            // A command that is gone never gets an outcome, so abandoned ones are no longer counted.
            for id in Array(open.abandoned.keys) { _ = open.remove(id) }
            return open.awaited.values.flatMap { $0.waiters.map(\.entry) }
        }
        appender.enqueueAgain(waiting)
    }

    /// Whether a row has the outcome of a command sent from here.
    private func isWanted(_ heading: RowHeading) -> Bool {
        guard heading.hasOutcome, let id = heading.commandID else { return false }
        return open.withLock { $0.contains(id) }
    }

    private func observe(_ observation: Tail.Observation) {
        // The tail may notice a lost server before an appender that has nothing to do.
        guard case .row(let row) = observation else { return appendAgain() }
        guard let outcome = row.message.outcome, let id = row.message.commandID, let hash = row.message.commandHash
        else { return }
        answer(
            id, hash,
            Outcome(
                outcome, type: row.message.type, body: row.message.body, partition: row.partition,
                position: row.position), at: (row.partition, row.position))
    }

    private func answer(
        _ id: CommandID, _ hash: BodyHash, _ outcome: Outcome, at place: (partition: Partition, position: Position)
    ) {
        guard let found = open.withLock({ $0.remove(id) }) else { return }
        for waiter in found {
            let number = Int(place.partition.number)
            // One that waited for too long may have been emptied meanwhile, so it isn't known by its hash.
            let isItsOwn = waiter.hash == hash || outcome.isUndone
            if isItsOwn, waiter.known.indices.contains(number), place.position <= waiter.known[number] {
                waiter.isReplayed()
            }
            appender.answered(waiter.entry)
            waiter.resume(
                .success(
                    isItsOwn
                        ? outcome
                        : .rejected(Rejection(.idReused, "This id was used for another command; use a new one.")))
            )
        }
    }

    private func forget(_ id: CommandID, _ entry: Appender.Entry, isUnanswered: Bool) {
        open.withLock { open in
            open.awaited[id]?.waiters.removeAll { $0.entry.message.id == entry.message.id }
            guard let awaited = open.awaited[id], awaited.waiters.isEmpty else { return }
            if isUnanswered {
                open.awaited[id] = nil
                // One that is valid for long holds its place no longer than others.
                let latest = ContinuousClock.now + Self.abandonedAge
                open.abandoned[id] = Abandoned(place: awaited.place, expiry: entry.expiry.map { min($0, latest) })
            } else {
                _ = open.remove(id)
            }
        }
    }

    private func giveUp(at time: ContinuousClock.Instant) {
        let late = open.withLock { open in
            for (id, abandoned) in open.abandoned where abandoned.expiry.map({ $0 <= time }) ?? false {
                _ = open.remove(id)
            }
            return open.awaited.flatMap { id, awaited in
                awaited.waiters.filter { $0.deadline <= time }.map { (id, $0) }
            }
        }
        for (id, waiter) in late { waiter.resume(.failure(.noOutcomeYet(id))) }
    }

    private func resolve(_ ids: [CommandID]) async throws {
        let schema = tail.log.name.schema
        let found = try await pool.withConnection { database in
            try database.query(
                """
                SELECT o.command_id, o.command_hash, o.outcome, o.type, o.body, o.partition, o.position
                  FROM \(unescaped: schema).outcome AS o WHERE o.command_id = ANY (\(ids))
                """
            ).map { row in
                let kind = try row.decode(2, as: String.self)
                guard let kind = Outcome.Kind(rawValue: kind) else {
                    throw BusError.unreadable(LogName(schema: schema, table: "outcome"), "outcome \(kind)")
                }
                let (partition, position) = (
                    Partition(try row.decode(5, as: Int32.self)), Position(try row.decode(6, as: Int64.self))
                )
                return (
                    try row.decode(0, as: CommandID.self), BodyHash(id: try row.decode(1, as: ID<BodyHash>.self)),
                    Outcome(
                        kind, type: try row.decode(3, as: String.self),
                        body: row.bytes(4) { $0.map { [UInt8]($0) } ?? [] }, partition: partition, position: position),
                    (partition, position)
                )
            }
        }
        for (id, hash, outcome, place) in found { answer(id, hash, outcome, at: place) }
    }
}

/// Why a sender doesn't know its command's outcome.
package enum CommandError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Too many commands are waiting. Nothing was sent.
    case overloaded(CommandLimit)
    /// The database refused the message. Nothing was stored.
    case refused(String)
    /// The command was sent, or is about to be, and goes on without its sender. Ask again with the same id.
    case noOutcomeYet(CommandID)

    init(_ error: AppendError) {
        switch error {
        case .overloaded: self = .overloaded(.database)
        case .refused(let reason): self = .refused(reason)
        }
    }

    package var description: String {
        switch self {
        case .overloaded(let limit): "\(limit); try again in a second"
        case .refused(let reason): "the database refused the command: \(reason)"
        case .noOutcomeYet(let id): "command \(id) has no outcome yet; send it again with the same id"
        }
    }
}
