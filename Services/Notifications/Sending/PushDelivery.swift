package import Bus
package import Logging
import Metrics
package import Postgres
package import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import ServiceLifecycle
import Synchronization

/// Sends what waits in the table `push`, at least once and always under the same id, until the receiver takes or
/// refuses it, its device is gone, or a day has passed.
///
/// Every replica runs one. A push is claimed for a minute before it is sent, so no one else sends it meanwhile; if the
/// process is killed, another one sends it after that. No transaction stays open during the request.
///
/// Critical ones go first and never wait for others; how many of whose are sent at a time says ``PushPlaces``. Each sender has places
/// of its own, so that a push service that doesn't answer holds up nobody whose phone another one serves. When a receiver takes one
/// again after a failure, everything that it failed to take before is due at once.
///
/// Pushes may arrive out of order: a retried one comes after later ones.
package final class PushDelivery: Service, Sendable {
    private let senders: PushSenders
    private let due: Log
    private let configuration: Configuration
    private let logger: Logger
    private let metrics = PushMetrics()
    private let backoff = Backoff(initial: .seconds(1), maximum: .seconds(600), multiplier: 2)
    private let isStopped = Mutex(false)
    private let state = Mutex(State())
    private let report: @Sendable (String?) -> Void
    private let reportPlatforms: @Sendable (Set<PushPlatform>) -> Void
    /// Yields when there may be something to send.
    private let (wakes, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    private struct State: Sendable {
        var places: [Set<PushPlatform>: PushPlaces] = [:]
        var searches: [Queue: QueueSearch] = [:]
        /// Where more was due than could be claimed.
        var unfinished: Set<Queue> = []
        /// Platforms whose sender failed since it last took a push.
        var failing: Set<PushPlatform> = []
        /// Canaries' pushes are looked for once a second, so that people's don't wait for that.
        var looksForCanaries = false

        mutating func start(_ outlet: Set<PushPlatform>) -> ClaimedPush? {
            places[outlet, default: PushPlaces()].start()
        }

        func room(in queue: Queue) -> Int { places[queue.outlet, default: PushPlaces()].room(in: queue.lane) }
    }

    /// What one sender sends in a lane.
    private struct Queue: Hashable, Sendable {
        /// The sender's platforms.
        let outlet: Set<PushPlatform>
        let lane: PushLane
    }

    private static var lease: Interval { .minutes(1) }
    /// The longest that sending may take. A push that can't be started this long before its lease ends is given back.
    private static var patience: Interval { .seconds(10) }
    /// How long a push is retried.
    private static var lifetime: Interval { .hours(24) }
    /// How long a test is.
    private static var testLifetime: Interval { Push.testLife }
    /// The longest time between two attempts of a critical push or a test.
    private static var criticalPause: Duration { .seconds(30) }
    /// The longest that a receiver is left alone because it wants to be, and with a critical push or a test: no single answer may
    /// silence an alarm for long.
    private static var longestRest: Duration { .seconds(3600) }
    private static var longestCriticalRest: Duration { .seconds(60) }
    /// For how long a critical push is refused before that is believed: until the alarm is repeated, unless that is set otherwise.
    private static var refusalsOfAlarm: Duration { .seconds(1800) }
    /// A critical push that waits longer than this is reported.
    private static var criticalWait: Duration { .seconds(30) }
    private static var countLimit: Int { 10_000 }
    private static var hurryLimit: Int { 1000 }

    /// - Parameters:
    ///   - log: The service's own log. Pushes are written together with its events, so its doorbell rings for both.
    ///   - doorbells: Must not be running yet.
    ///   - due: The log by which the service asks itself to forget a device.
    ///   - reportPlatforms: Called each second with the platforms of people's devices.
    ///   - report: Called each second with what is wrong with critical pushes, or nil.
    package init(
        senders: PushSenders, log: Log, doorbells: Doorbells, due: Log, configuration: Configuration, logger: Logger,
        reportPlatforms: @escaping @Sendable (Set<PushPlatform>) -> Void = { _ in },
        report: @escaping @Sendable (String?) -> Void = { _ in }
    ) {
        self.senders = senders
        self.due = due
        self.configuration = configuration
        self.logger = logger
        self.report = report
        self.reportPlatforms = reportPlatforms
        let waker = waker
        doorbells.onRing(of: log.name) { waker.yield() }
    }

    /// The platforms of people's devices.
    package static func platforms(_ configuration: Configuration) async throws -> Set<PushPlatform> {
        try await Connection.with(configuration) { try $0.platformsOfDevices() }
    }

    /// Runs until cancelled or shut down gracefully. A graceful shutdown finishes the pushes being sent.
    package func run() async throws {
        let pool = Pool("push", configuration: configuration, size: 2, logger: logger)
        await withTaskCancellationOrGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                group.addTask { await self.lookEverySecond(pool) }
                await self.deliverAll(pool)
                group.cancelAll()
            }
        } onCancelOrGracefulShutdown: {
            self.isStopped.withLock { $0 = true }
            self.waker.finish()
        }
        await pool.close()
    }

    /// Finds postponed pushes, and those that another replica left behind.
    private func lookEverySecond(_ pool: Pool) async {
        var counting = Chore("counting the pushes that wait", logger)
        var forgetting = Chore("forgetting devices that have left", logger)
        while !Task.isCancelled {
            state.withLock { $0.looksForCanaries = true }
            waker.yield()
            let limit = Self.countLimit
            do {
                let (count, oldest, platforms) = try await pool.withConnection { database in
                    (
                        try database.waitingPushes(limit: limit), try database.oldestCriticalPush(),
                        try database.platformsOfDevices()
                    )
                }
                metrics.wait(count, oldestCritical: oldest ?? .zero)
                report(Self.trouble(oldest))
                reportPlatforms(platforms)
                counting.succeeded()
            } catch {
                if !hasStopped {
                    report("it isn't known whether pushes about alarms wait")
                    counting.failed(error)
                }
            }
            // Apart, because it may have to wait for locks.
            do {
                try await pool.withConnection { try $0.forgetDevicesThatLeft() }
                forgetting.succeeded()
            } catch {
                if !hasStopped { forgetting.failed(error) }
            }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    /// What to report when the oldest critical push has waited for so long.
    private static func trouble(_ oldest: Duration?) -> String? {
        guard let oldest, oldest > criticalWait else { return nil }
        let seconds = oldest.components.seconds
        return "a push about an alarm has waited for \(seconds) s: see last_error in notifications.push"
    }

    private func deliverAll(_ pool: Pool) async {
        await withDiscardingTaskGroup { group in
            for await _ in wakes where !hasStopped {
                var count = 0
                let looksForCanaries = state.withLock { state in
                    defer { state.looksForCanaries = false }
                    return state.looksForCanaries
                }
                for lane in PushLane.allCases where lane != .canary || looksForCanaries {
                    for outlet in senders.outlets {
                        count += await claim(Queue(outlet: outlet, lane: lane), pool)
                        while let push = state.withLock({ $0.start(outlet) }) {
                            group.addTask { await self.deliver(from: push, pool) }
                        }
                    }
                }
                await giveBack(removeWaiting(startableUntil: .now), pool)
                // Looks once for many deliveries in a row.
                if count == 0 { try? await Task.sleep(for: .milliseconds(20)) }
            }
            await giveBack(removeWaiting(), pool)
        }
    }

    private func removeWaiting(startableUntil time: ContinuousClock.Instant? = nil) -> [ClaimedPush] {
        state.withLock { state in
            senders.outlets.flatMap { state.places[$0]?.removeWaiting(startableUntil: time) ?? [] }
        }
    }

    private var hasStopped: Bool { isStopped.withLock { $0 } }

    /// Claims what is due, as far as there is room. Returns how many pushes that were.
    private func claim(_ queue: Queue, _ pool: Pool) async -> Int {
        let (lease, patience, lifetime, testLifetime) = (
            Self.lease, Self.patience, Self.lifetime, Self.testLifetime
        )
        let (limit, claimed) = state.withLock { state in
            (state.room(in: queue), state.places[queue.outlet]?.claimed(in: queue.lane) ?? [:])
        }
        guard limit > 0 else {
            state.withLock { _ = $0.unfinished.insert(queue) }
            return 0
        }
        let look = state.withLock { $0.searches[queue, default: QueueSearch()].begin() }
        do {
            let claim = try await pool.withConnection { database in
                try database.claimPushes(
                    queue.lane, to: queue.outlet, limit: limit, besides: claimed, age: look.age, lease: lease,
                    sending: patience, patience: lifetime, testPatience: testLifetime)
            }
            let isMore = state.withLock { state in
                state.searches[queue]?.end(look, foundAll: claim.isAll)
                state.places[queue.outlet, default: PushPlaces()].add(claim.pushes, to: queue.lane)
                if claim.isAll { state.unfinished.remove(queue) } else { state.unfinished.insert(queue) }
                return !claim.isAll && !claim.pushes.isEmpty && state.room(in: queue) > 0
            }
            // One device's may have hidden those of others, which the next look finds.
            if isMore { waker.yield() }
            return claim.pushes.count
        } catch {
            state.withLock { $0.searches[queue]?.fail(look) }
            if !hasStopped { logger.warning("can't look for pushes", metadata: ["error": "\(error)"]) }
            return 0
        }
    }

    private func giveBack(_ pushes: [ClaimedPush], _ pool: Pool) async {
        guard !pushes.isEmpty else { return }
        // What isn't given back is sent once its lease ends.
        try? await pool.withConnection { database in try database.giveBack(pushes) }
        // They are due again since before the last look.
        state.withLock { $0.searches = [:] }
    }

    /// Sends a push, and then others that waited for its place.
    private func deliver(from first: ClaimedPush, _ pool: Pool) async {
        let outlet = senders.platforms(beside: first.platform)
        var next: ClaimedPush? = first
        while let push = next {
            await deliver(push, pool)
            let isMore: Bool
            (next, isMore) = state.withLock { state in
                state.places[outlet]?.end(push)
                let isMore = state.unfinished.contains { state.room(in: $0) > 0 }
                return (hasStopped ? nil : state.start(outlet), isMore)
            }
            if isMore { waker.yield() }
        }
    }

    // MARK: One push

    private func deliver(_ claimed: ClaimedPush, _ pool: Pool) async {
        guard !claimed.isOver else {
            let time = claimed.isTest ? "ten minutes" : "a day"
            log(.warning, "gave up a push that could not be sent for \(time)", claimed)
            let attempt = PushAttempt(
                claimed: claimed, result: .expired, answer: "it could not be sent for \(time)")
            return await end(attempt, pool) { try $0.remove(claimed) }
        }
        if claimed.isSuperseded {
            let due = due
            log(.info, "removed a device whose app registered again elsewhere", claimed)
            let attempt = PushAttempt(claimed: claimed, result: .gone, answer: "the app registered again elsewhere")
            return await end(attempt, pool) { try $0.forget(claimed, by: due) }
        }
        switch await timeliness(of: claimed, pool) {
        case .wanted: break
        case .unwanted: return
        case .outOfDate:
            log(.info, "dropped a push that isn't so any more", claimed)
            let attempt = PushAttempt(
                claimed: claimed, result: .expired, answer: "what it says isn't so any more")
            return await end(attempt, pool) { try $0.remove(claimed) }
        case .drillIsOver:
            log(.info, "dropped a push of a drill that is over", claimed)
            let attempt = PushAttempt(claimed: claimed, result: .expired, answer: "the drill is over")
            return await end(attempt, pool) { try $0.remove(claimed) }
        }
        let push: Push
        do { push = try claimed.push() } catch {
            log(.error, "dropped a push that can't be read", claimed, "\(error)")
            let attempt = PushAttempt(claimed: claimed, result: .refused, answer: "it can't be read")
            return await end(attempt, pool) { try $0.remove(claimed) }
        }
        let begun = ContinuousClock.now
        func attempt(_ result: PushAttempt.Result, _ answer: String) -> PushAttempt {
            PushAttempt(claimed: claimed, result: result, answer: answer, took: .now - begun)
        }
        let failure: PushFailure
        let isCanary = claimed.account.isCanary
        do throws(PushFailure) {
            let receiver: any PushSender = isCanary ? CanaryReceiver(pool: pool) : senders[claimed.platform]
            switch try await receiver.send(push) {
            case .taken(let answer):
                var taken = attempt(.done, answer)
                taken.reachedDevice = true
                await end(taken, pool) { try $0.remove(claimed) }
            case .logged(let answer): await end(attempt(.logged, answer), pool) { try $0.remove(claimed) }
            case .noted(let answer): await end(attempt(.done, answer), pool) { try $0.remove(claimed) }
            }
            // What a canary's push shows isn't that the receiver of people's is back.
            if !isCanary { await hurryOthers(claimed.platform, pool) }
            return
        } catch {
            failure = error
        }
        switch failure {
        case .gone(let since):
            if let since, since < claimed.registered {
                return await retry(claimed, because: "it was gone, but has registered since", nil, pool, attempt)
            }
            let due = due
            log(.info, "removed a device that is gone", claimed)
            await end(attempt(.gone, "the receiver answered that the device is gone"), pool) {
                try $0.forget(claimed, by: due)
            }
        case .refused(let reason):
            // It may be the fault of a proxy or of a release, which somebody mends; nothing else tells this device of the alarm. If the
            // database doesn't say for how long, it isn't long enough.
            let refused = claimed.priority == 0 ? try? await pool.withConnection { try $0.refused(claimed) } : nil
            guard claimed.priority > 0 || refused.map({ ($0 ?? .zero) >= Self.refusalsOfAlarm }) ?? false else {
                if claimed.attempt == 1 {
                    log(.error, "a push about an alarm was refused; it is tried again", claimed, reason)
                }
                return await retry(claimed, because: ClaimedPush.refusal + reason, nil, pool, attempt)
            }
            await drop(claimed, reason, pool, attempt)
        case .unfit(let reason): await drop(claimed, reason, pool, attempt)
        case .unavailable(let reason, let rest):
            if !isCanary { state.withLock { $0.failing.formUnion(senders.platforms(beside: claimed.platform)) } }
            await retry(claimed, because: reason, rest, pool, attempt)
        }
    }

    private func drop(
        _ claimed: ClaimedPush, _ reason: String, _ pool: Pool, _ attempt: (PushAttempt.Result, String) -> PushAttempt
    ) async {
        log(claimed.priority == 0 ? .error : .warning, "dropped a push that was refused", claimed, reason)
        await end(attempt(.refused, reason), pool) { try $0.remove(claimed) }
    }

    /// - Parameter rest: How long the receiver wants to be left alone.
    private func retry(
        _ claimed: ClaimedPush, because reason: String, _ rest: Duration?, _ pool: Pool,
        _ attempt: (PushAttempt.Result, String) -> PushAttempt
    ) async {
        let delay = backoff.delay(attempt: Int(claimed.attempt))
        // Somebody waits for what becomes of a test, and it ends soon.
        let isHurried = PushLane(priority: claimed.priority) != .other || claimed.isTest
        let bounded = isHurried ? min(delay, Self.criticalPause) : delay
        let pause = max(bounded, min(rest ?? .zero, isHurried ? Self.longestCriticalRest : Self.longestRest))
        log(.debug, "a push could not be sent; it will be retried", claimed, reason)
        await end(attempt(.retried, reason), pool) { try $0.postpone(claimed, for: pause, because: reason) }
    }

    /// Whether a claimed push should still be sent. While the database can't say, asks again each second as long as the push can
    /// be started; then gives it back, as it does when the process stops, so that it doesn't wait for the end of its lease.
    private func timeliness(of claimed: ClaimedPush, _ pool: Pool) async -> PushTimeliness {
        while true {
            do {
                return try await pool.withConnection { try $0.timeliness(of: claimed) }
            } catch {
                let pause = Duration.seconds(1)
                guard !hasStopped, ContinuousClock.now + pause < claimed.startBy else {
                    await giveBack([claimed], pool)
                    return .unwanted
                }
                log(.notice, "can't look whether a push is still wanted; asking again", claimed, "\(error)")
                try? await Task.sleep(for: pause)
            }
        }
    }

    /// When a sender takes a push again after a failure, makes those due that it failed to send before.
    private func hurryOthers(_ platform: PushPlatform, _ pool: Pool) async {
        let platforms = senders.platforms(beside: platform)
        guard !senders.isOfManyServices(platform),
            state.withLock({ state in
                defer { state.failing.subtract(platforms) }
                return state.failing.contains(platform)
            })
        else { return }
        let limit = Self.hurryLimit
        guard
            let hurried = try? await pool.withConnection({ try $0.hurryFailedPushes(to: platforms, limit: limit) })
        else { return }
        // The rest is for the next success.
        if hurried.isMore { state.withLock { $0.failing.formUnion(platforms) } }
        if hurried.count > 0 { waker.yield() }
    }

    /// Records how an attempt ended. If that fails, the push is sent again once its lease ends.
    private func end(
        _ attempt: PushAttempt, _ pool: Pool, _ write: @escaping @Sendable (Database) throws -> Void
    ) async {
        if !attempt.claimed.account.isCanary, !attempt.claimed.isTest { metrics.ended(attempt.result) }
        do {
            let delay = try await pool.withConnection { database in
                let delay = try database.record(attempt)
                try write(database)
                return delay
            }
            if let delay, attempt.result == .done, attempt.claimed.priority == 0 { metrics.pushedAlarm(delay) }
        } catch {
            log(
                .notice, "can't record the result of a push, so it will be sent again", attempt.claimed,
                "\(error)")
        }
    }

    /// Never logs the token.
    private func log(_ level: Logger.Level, _ text: String, _ claimed: ClaimedPush, _ reason: String? = nil) {
        var metadata: Logger.Metadata = [
            "account": "\(claimed.account)", "device": "\(claimed.device)", "notification": "\(claimed.notification)",
            "attempt": "\(claimed.attempt)",
        ]
        if let reason { metadata["reason"] = "\(reason)" }
        logger.log(level: level, "\(text)", metadata: metadata)
    }
}

/// Something that is tried again and again. Logs when it begins to fail and when it works again, not each try between.
private struct Chore {
    private let what: String
    private let logger: Logger
    private var isFailing = false

    init(_ what: String, _ logger: Logger) {
        (self.what, self.logger) = (what, logger)
    }

    mutating func succeeded() {
        if isFailing { logger.notice("\(what) works again") }
        isFailing = false
    }

    mutating func failed(_ error: any Error) {
        if !isFailing { logger.notice("\(what) fails; it is tried each second", metadata: ["error": "\(error)"]) }
        isFailing = true
    }
}

private struct PushMetrics: Sendable {
    private let results: [PushAttempt.Result: Counter]
    private let waiting = Gauge(label: "quartet_pushes_waiting")
    private let oldestCritical = Gauge(label: "quartet_critical_push_waiting_seconds")
    private let pushed = Metrics.Timer(label: "quartet_alarm_seconds", dimensions: [("leg", "pushed")])

    init() {
        results = Dictionary(
            uniqueKeysWithValues: PushAttempt.Result.allCases.map { result in
                (result, Counter(label: "quartet_push_total", dimensions: [("result", result.rawValue)]))
            })
    }

    func ended(_ result: PushAttempt.Result) { results[result]?.increment() }
    /// At most ten thousand are counted.
    func wait(_ count: Int, oldestCritical: Duration) {
        waiting.record(count)
        self.oldestCritical.record(oldestCritical / .seconds(1))
    }

    /// - Parameter delay: The time from a critical notification's delivery to the receiver's answer.
    func pushedAlarm(_ delay: Duration) { pushed.recordNanoseconds(Int64(delay / .nanoseconds(1))) }
}
