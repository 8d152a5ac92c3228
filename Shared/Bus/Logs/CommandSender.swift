public import Logging
public import Postgres
public import ServiceLifecycle
import Synchronization
public import Vocabulary

/// Asks a service and waits for the outcome: request and reply over two logs.
///
/// A waiter registers with the tail first, then appends. A command that may have been sent before is looked up once as
/// well, and every open one at each idle poll: a duplicate adds nothing to the log, so only the table knows its outcome.
public final class CommandSender: Service, Sendable {
    private struct Waiter: Sendable {
        let hash: BodyHash
        let entry: Appender.Entry
        let deadline: ContinuousClock.Instant
        let resume: @Sendable (Result<Outcome, CommandError>) -> Void
    }

    /// The log in which the service says its outcomes.
    private let tail: Tail
    private let appender: Appender
    private let pool: Pool
    private let logger: Logger
    private struct Open: Sendable {
        var waiters: [CommandID: [Waiter]] = [:]
        /// Sent, and given up by their senders before there was an outcome; until when they are good.
        var abandoned: [CommandID: ContinuousClock.Instant?] = [:]

        /// Commands that their service has not answered, as far as is known here.
        var count: Int { waiters.count + abandoned.count }
    }

    private let open = Mutex(Open())
    private let unansweredLimit: Int
    /// Whose outcomes are to be looked up; while one query runs, the next one's fill.
    private let lookUps = Mutex<Set<CommandID>>([])
    private let (wake, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - appender: to the command log that the service reads.
    ///   - tail: of the service's log.
    ///   - pool: connections that may read the service's table `outcome`.
    ///   - unansweredLimit: commands without an outcome, at most: a service that lags is not sent ever more. One that
    ///     nobody waits for counts until it has expired; then handling it costs its service next to nothing.
    public init(appender: Appender, tail: Tail, pool: Pool, unansweredLimit: Int = 4096, logger: Logger) {
        self.unansweredLimit = unansweredLimit
        self.appender = appender
        self.tail = tail
        self.pool = pool
        self.logger = logger
        tail.observe { [weak self] heading in
            self?.isWanted(heading) == true
        } _: { [weak self] row in
            self?.observe(row)
        } poll: { [weak self] in
            self?.poll()
        } restart: { [weak self] in
            self?.open.withLock { $0.abandoned = [:] }
        } reconnect: { [weak self] in
            // An appender that has nothing to do hasn't noticed yet.
            self?.appendAgain()
        }
        appender.onReconnect { [weak self] in self?.appendAgain() }
    }

    /// How many commands their service has not answered.
    public var unanswered: Int { open.withLock(\.count) }

    /// Sends a command and waits for its outcome.
    /// - Parameters:
    ///   - mayBeRepeated: whether this id may have been sent before, by anybody; false spares a look-up.
    ///   - patience: how long to wait for the outcome, whatever the database does. The command goes on without its sender,
    ///     also when the task is cancelled.
    /// - Throws: ``CommandError``; ``CommandError/overloaded``, having sent nothing, when too many have no outcome. After
    ///   ``CommandError/noOutcomeYet`` nobody knows whether it was done; sending it again with the same id tells.
    public func send(
        _ command: Message, mayBeRepeated: Bool, patience: Duration = .seconds(10)
    ) async throws(CommandError) -> Outcome {
        guard let id = command.commandID else { throw .refused("a command must have an id") }
        let answer = SingleAnswer<Result<Outcome, CommandError>>()
        let entry = Appender.Entry(command) { answer.give(.failure(CommandError($0))) }
        let waiter = Waiter(hash: command.bodyHash, entry: entry, deadline: .now + patience) { answer.give($0) }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                answer.wait(continuation)
                let isTaken = open.withLock { open in
                    // One that is sent again adds nothing.
                    let isKnown = open.waiters[id] != nil || open.abandoned[id] != nil
                    guard isKnown || open.count < unansweredLimit else { return false }
                    open.abandoned[id] = nil
                    open.waiters[id, default: []].append(waiter)
                    return true
                }
                guard isTaken else {
                    _ = answer.give(.failure(.overloaded))
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

    /// Looks up outcomes and gives up on those who waited too long, until cancelled or shut down.
    public func run() async throws {
        await withGracefulShutdownHandler {
            await withTaskGroup(of: Void.self) { group in
                // By itself: neither the tail nor a look-up goes on while the database doesn't answer.
                group.addTask {
                    while !Task.isCancelled {
                        try? await Task.sleep(for: .milliseconds(250))
                        self.giveUp(at: .now)
                    }
                }
                for await _ in wake { await lookUpAll() }
                group.cancelAll()
            }
        } onGracefulShutdown: {
            self.waker.finish()
        }
    }

    // MARK: Private

    private func lookUp(_ ids: [CommandID]) {
        lookUps.withLock { $0.formUnion(ids) }
        waker.yield()
    }

    private func lookUpAll() async {
        var ids = lookUps.withLock { ids in
            defer { ids = [] }
            return ids
        }
        ids = open.withLock { open in ids.filter { open.waiters[$0] != nil || open.abandoned[$0] != nil } }
        guard !ids.isEmpty else { return }
        do { try await resolve(Array(ids)) } catch {
            logger.warning("outcomes can't be looked up now", metadata: ["error": "\(error)"])
        }
    }

    /// After a reconnect: what was appended before the loss may be gone; the same id makes it the same command.
    private func appendAgain() {
        let waiting = open.withLock { open in
            // Of what is gone there never is an outcome, so what nobody waits for isn't counted any longer.
            open.abandoned = [:]
            return open.waiters.values.flatMap { $0.map(\.entry) }
        }
        appender.enqueueAgain(waiting)
    }

    /// Whether it is the outcome of a command sent from here.
    private func isWanted(_ heading: RowHeading) -> Bool {
        guard heading.hasOutcome, let id = heading.commandID else { return false }
        return open.withLock { $0.waiters[id] != nil || $0.abandoned[id] != nil }
    }

    private func observe(_ row: RecordedMessage) {
        guard let outcome = row.message.outcome, let id = row.message.commandID, let hash = row.message.commandHash
        else { return }
        answer(
            id, hash,
            Outcome(
                outcome, type: row.message.type, body: row.message.body, partition: row.partition,
                position: row.position))
    }

    private func answer(_ id: CommandID, _ hash: BodyHash, _ outcome: Outcome) {
        let found = open.withLock { open in
            open.abandoned[id] = nil
            return open.waiters.removeValue(forKey: id)
        }
        guard let found else { return }
        for waiter in found {
            waiter.resume(
                .success(
                    waiter.hash == hash
                        ? outcome
                        : .rejected(Rejection(.idReused, "this id was used before for another command; use a new one")))
            )
        }
    }

    private func forget(_ id: CommandID, _ entry: Appender.Entry, isUnanswered: Bool) {
        open.withLock { open in
            guard open.waiters[id] != nil else { return }
            open.waiters[id]?.removeAll { $0.entry.message.id == entry.message.id }
            guard open.waiters[id]?.isEmpty == true else { return }
            open.waiters[id] = nil
            if isUnanswered { open.abandoned.updateValue(entry.expiry, forKey: id) }
        }
    }

    private func poll() {
        let unanswered = open.withLock { Array($0.waiters.keys) + $0.abandoned.keys.prefix(Self.lookUpLimit) }
        if !unanswered.isEmpty { lookUp(unanswered) }
    }

    private func giveUp(at time: ContinuousClock.Instant) {
        let late = open.withLock { open in
            open.abandoned = open.abandoned.filter { _, expiry in expiry.map { time < $0 } ?? true }
            return open.waiters.flatMap { id, list in list.filter { $0.deadline <= time }.map { (id, $0) } }
        }
        for (id, waiter) in late { waiter.resume(.failure(.noOutcomeYet(id))) }
    }

    /// Of commands that nobody waits for, so many are looked up at a poll.
    private static var lookUpLimit: Int { 500 }

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
                return (
                    try row.decode(0, as: CommandID.self), BodyHash(id: try row.decode(1, as: ID<BodyHash>.self)),
                    Outcome(
                        kind, type: try row.decode(3, as: String.self),
                        body: row.bytes(4) { $0.map { [UInt8]($0) } ?? [] },
                        partition: Partition(try row.decode(5, as: Int32.self)),
                        position: Position(try row.decode(6, as: Int64.self)))
                )
            }
        }
        for (id, hash, outcome) in found { answer(id, hash, outcome) }
    }
}

/// Why a command's outcome is not known to its sender.
public enum CommandError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Too much waits already; nothing was sent.
    case overloaded
    /// The database refused the message; nothing was stored.
    case refused(String)
    /// It was sent, or is about to be, and goes on without its sender. Ask again with the same id.
    case noOutcomeYet(CommandID)

    init(_ error: AppendError) {
        switch error {
        case .overloaded: self = .overloaded
        case .refused(let reason): self = .refused(reason)
        }
    }

    /// For logs and messages to people.
    public var description: String {
        switch self {
        case .overloaded: "too much waits to be done; try again in a second"
        case .refused(let reason): "the database refused the command: \(reason)"
        case .noOutcomeYet(let id): "command \(id) has no outcome yet; ask again with the same id"
        }
    }
}
