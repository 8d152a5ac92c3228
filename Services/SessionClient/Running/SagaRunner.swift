import Bus
import Foundation
import Logging
import Postgres
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetVocabulary
import ServiceLifecycle
import Synchronization

/// Brings each saga to its end, whatever is killed when: every replica looks for running ones that nobody owns and takes them
/// up from their recorded steps. One saga of an account and lane at a time, in the order of the requests, except that one which
/// rests after an error gives way to the others.
final class SagaRunner: Service, Sendable {
    let table: SagaTable
    let writer: SagaWriter
    let streams: StreamReader
    private let services: ServiceConnections
    private let steps: (pool: Pool, writer: StepWriter)
    private let logger: Logger
    private let backoff = Backoff(initial: .milliseconds(50), maximum: .seconds(30), multiplier: 2)
    private static let slowly = Backoff(initial: .seconds(1), maximum: .seconds(600), multiplier: 2)

    /// What there is to do, for the loop that does it.
    private enum Signal: Sendable {
        case look
        case run(ClaimedSaga)
    }

    /// Whether somebody looks for sagas now, and whether they have to look again.
    private enum Looking: Sendable {
        case no, once, again
    }

    /// Never more than a look and what may be in hand.
    private let signals: AsyncStream<Signal>
    private let signaller: AsyncStream<Signal>.Continuation
    private let looking = Mutex(Looking.no)
    /// How many sagas this process runs now, and whether another one found no place.
    private let inHand = Mutex((count: 0, isShort: false))
    private let search = Mutex(QueueSearch())
    /// Which these are.
    private let running = Mutex<Set<ID<OperationSubject>>>([])
    /// Those whose requests wait here; nil once this process runs no more.
    private let endings = Mutex<[ID<OperationSubject>: SagaEnding]?>([:])
    private static var concurrency: Int { 256 }

    /// - Parameters:
    ///   - steps: Connections whose commits needn't be flushed.
    ///   - ownership: How long a saga is this process's own unless renewed.
    init(
        services: ServiceConnections, pool: Pool, steps: Pool, operations: Tail, ownership: Duration, logger: Logger
    ) {
        self.services = services
        table = SagaTable(pool: pool, ownership: ownership)
        writer = SagaWriter(pool: pool, operations: operations.log, owner: table.owner, ownership: ownership)
        self.steps = (steps, StepWriter(pool: steps, owner: table.owner))
        streams = StreamReader(tail: operations, pool: pool)
        self.logger = logger
        (signals, signaller) = AsyncStream.makeStream()
    }

    // MARK: Places

    /// Takes a place among the sagas in hand, if one is free.
    func takePlace() -> Bool {
        inHand.withLock { inHand in
            inHand.isShort = inHand.count >= Self.concurrency
            if !inHand.isShort { inHand.count += 1 }
            return !inHand.isShort
        }
    }

    /// Leaves a place to whoever found none.
    func leavePlace() {
        let isShort = inHand.withLock { inHand in
            inHand.count -= 1
            defer { inHand.isShort = false }
            return inHand.isShort
        }
        if isShort { look() }
    }

    /// Has a saga run that has a place.
    /// - Returns: Its end.
    func run(_ claimed: ClaimedSaga) -> SagaEnding {
        let ending = SagaEnding()
        let isStopped = endings.withLock { endings in
            endings?[claimed.id] = ending
            return endings == nil
        }
        if isStopped { ending.give(nil) }
        hand(claimed)
        return ending
    }

    /// Has a saga run that this process owns and that has no place yet, or gives it back.
    func adopt(_ claimed: ClaimedSaga) {
        if takePlace() { hand(claimed) } else { giveBack(claimed, because: "the process had too much in hand") }
    }

    /// Hands a saga that has a place to the loop.
    private func hand(_ claimed: ClaimedSaga) {
        guard case .terminated = signaller.yield(.run(claimed)) else { return }
        leavePlace()
        giveBack(claimed, because: "the process was stopped")
    }

    /// Lets any replica go on with a saga at once, this one too.
    private func giveBack(_ claimed: ClaimedSaga, because reason: String) {
        Task {
            _ = try? await table.postpone(claimed, because: reason, for: .zero)
            look()
        }
    }

    /// Has somebody look for sagas that may run.
    func look() {
        let isFirst = looking.withLock { looking in
            defer { looking = looking == .no ? .once : .again }
            return looking == .no
        }
        if isFirst { signaller.yield(.look) }
    }

    // MARK: Running

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    // Others' sagas and own ones that wait after an error.
                    while !Task.isCancelled {
                        try? await Task.sleep(for: .milliseconds(500))
                        self.look()
                    }
                    self.signaller.finish()
                }
                group.addTask { await self.renew() }
                for await signal in self.signals {
                    switch signal {
                    case .run(let claimed): group.addTask { await self.advance(claimed) }
                    // Apart, because a look that is stuck must not keep what is in hand from running.
                    case .look: group.addTask { await self.claimAll() }
                    }
                }
                group.cancelAll()
            }
        }
        let left = endings.withLock { endings in
            defer { endings = nil }
            return endings ?? [:]
        }
        for ending in left.values { ending.give(nil) }
    }

    /// Renews the sagas in hand well before another replica could take them.
    private func renew() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: table.ownership / 3)
            let ids = running.withLock { Array($0) }
            guard !ids.isEmpty else { continue }
            do { try await table.renew(ids) } catch {
                logger.notice("can't renew the sagas' leases", metadata: ["error": "\(error)"])
            }
        }
    }

    private func claimAll() async {
        var isWanted = true
        while isWanted {
            while let claimed = await claim() { hand(claimed) }
            isWanted = looking.withLock { looking in
                defer { looking = looking == .again ? .once : .no }
                return looking == .again
            }
        }
    }

    private func claim() async -> ClaimedSaga? {
        guard takePlace() else { return nil }
        let look = search.withLock { $0.begin() }
        do {
            let found = try await table.claim(notOlderThan: look.age)
            search.withLock { $0.end(look, foundAll: found == nil) }
            if found == nil { leavePlace() }
            return found
        } catch {
            leavePlace()
            search.withLock { $0.fail(look) }
            logger.warning("can't look for sagas", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private func advance(_ claimed: ClaimedSaga) async {
        running.withLock { _ = $0.insert(claimed.id) }
        let record = await attempt(claimed)
        running.withLock { _ = $0.remove(claimed.id) }
        endings.withLock { $0?.removeValue(forKey: claimed.id) }?.give(record)
        leavePlace()
    }

    /// - Returns: How it ended; nil if it goes on later or elsewhere.
    private func attempt(_ claimed: ClaimedSaga) async -> SagaRecord? {
        let recorded = RecordedSteps(
            saga: claimed, owner: table.owner, services: services, writer: steps.writer, sagas: writer, pool: steps.pool
        )
        do {
            // A saga of unknown type was begun by a newer release, and waits for one.
            let saga = try AnySaga(type: claimed.type, version: 1, body: claimed.body)
            let (state, result) = try await perform(saga.body, recorded)
            return try await end(claimed, state, result)
        } catch _ where Task.isCancelled {
            // A task of its own, which isn't cancelled: another replica goes on at once.
            await Task { _ = try? await table.postpone(claimed, because: "the process was stopped", for: .zero) }.value
        } catch let error as SagaError where error.isFinal {
            logger.tracing(claimed.traceParent).error(
                "a saga failed", metadata: ["saga": "\(claimed.id)", "error": "\(error)"])
            let reason = try? Encoded(["reason": "\(error)"])
            return try? await end(claimed, .failed, reason?.json ?? Array("{}".utf8))
        } catch {
            logger.tracing(claimed.traceParent).notice(
                "a saga will continue later", metadata: ["saga": "\(claimed.id)", "error": "\(error)"])
            // Each run after a rejection asks by another command, whose outcome is kept.
            let isRejected = if case SagaError.stepRejected = error { true } else { false }
            let hasNext = try? await table.postpone(
                claimed, because: "\(error)",
                for: (isRejected ? Self.slowly : backoff).delay(attempt: claimed.attempts))
            if hasNext == true { look() }
        }
        return nil
    }

    private func perform(
        _ saga: some Saga, _ steps: RecordedSteps
    ) async throws -> (OperationReply.State, [UInt8]) {
        do {
            return (.done, try Encoded(try await saga.run(steps)).json)
        } catch let rejection as Rejection {
            return (.rejected, try Encoded(rejection).json)
        }
    }

    private func end(
        _ saga: ClaimedSaga, _ state: OperationReply.State, _ result: [UInt8]
    ) async throws -> SagaRecord? {
        guard let ended = try await writer.end(.init(saga: saga, state: state, result: result)) else { return nil }
        if ended.hasNext { look() }
        return SagaRecord(
            type: saga.type, state: state, result: result, startedAt: saga.startedAt, endedAt: ended.at)
    }
}

/// How a saga of this process ends, for the request that began it and waits.
final class SagaEnding: Sendable {
    private let answer = SingleAnswer<SagaRecord?>()

    /// Nil if it goes on later or elsewhere, or once the task is cancelled.
    var record: SagaRecord? {
        get async {
            await withTaskCancellationHandler {
                await withCheckedContinuation { answer.wait($0) }
            } onCancel: {
                answer.give(nil)
            }
        }
    }

    func give(_ record: SagaRecord?) { answer.give(record) }
}
