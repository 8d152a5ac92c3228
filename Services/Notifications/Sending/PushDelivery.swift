package import Bus
package import Logging
import Metrics
import NotificationsContract
import NotificationsRules
package import Postgres
import ServiceLifecycle
import Synchronization
import Vocabulary

/// Sends what waits in the table `push`, at least once and always under the same id, until the receiver takes or
/// refuses it, its device is gone, or a day has passed.
///
/// Every replica runs one. A push is claimed for a minute before it is sent, so no one else sends it meanwhile; if the
/// process is killed, another one sends it after that. No transaction stays open during the request.
///
/// Pushes may arrive out of order: a retried one comes after later ones.
package final class PushDelivery: Service, Sendable {
    private let sender: any PushSender
    private let due: Log
    private let configuration: Configuration
    private let logger: Logger
    private let metrics = PushMetrics()
    private let backoff = Backoff(initial: .seconds(1), maximum: .seconds(600), multiplier: 2)
    private let isStopped = Mutex(false)
    private let search = Mutex(QueueSearch())
    /// Yields when there may be something to send.
    private let (wakes, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    private static var concurrency: Int { 16 }
    private static var claimLimit: Int { 100 }
    private static var lease: Interval { .minutes(1) }
    /// The longest that sending may take. A push that can't be started this long before its lease ends is given back.
    private static var patience: Interval { .seconds(10) }
    /// How long a push is retried.
    private static var lifetime: Interval { .hours(24) }
    private static var countLimit: Int { 10_000 }

    /// - Parameters:
    ///   - log: The service's own log. Pushes are written together with its events, so its doorbell rings for both.
    ///   - doorbells: Must not be running yet.
    ///   - due: The log by which the service asks itself to forget a device.
    package init(
        sender: any PushSender, log: Log, doorbells: Doorbells, due: Log, configuration: Configuration, logger: Logger
    ) {
        self.sender = sender
        self.due = due
        self.configuration = configuration
        self.logger = logger
        let waker = waker
        doorbells.onRing(of: log.name) { waker.yield() }
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
        while !Task.isCancelled {
            waker.yield()
            let limit = Self.countLimit
            if let count = try? await pool.withConnection({ database in
                try database.forgetDevicesThatLeft()
                return try database.waitingPushes(limit: limit)
            }) {
                metrics.wait(count)
            }
            try? await Task.sleep(for: .seconds(1))
        }
    }

    private func deliverAll(_ pool: Pool) async {
        await withTaskGroup(of: Void.self) { group in
            var inHand = 0
            for await _ in wakes {
                while !hasStopped {
                    let until = ContinuousClock.now + (Self.lease.duration - Self.patience.duration)
                    let claimed = await claim(pool)
                    guard !claimed.isEmpty else { break }
                    for (index, push) in claimed.enumerated() {
                        if inHand == Self.concurrency {
                            _ = await group.next()
                            inHand -= 1
                        }
                        guard !hasStopped, ContinuousClock.now < until else {
                            await giveBack(Array(claimed[index...]), pool)
                            break
                        }
                        group.addTask { await self.deliver(push, pool) }
                        inHand += 1
                    }
                }
                // Looks once for many deliveries in a row.
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    private var hasStopped: Bool { isStopped.withLock { $0 } }

    private func claim(_ pool: Pool) async -> [ClaimedPush] {
        let (limit, lease, lifetime) = (Self.claimLimit, Self.lease, Self.lifetime)
        let look = search.withLock { $0.begin() }
        do {
            let claimed = try await pool.withConnection { database in
                try database.claimPushes(limit: limit, age: look.age, lease: lease, patience: lifetime)
            }
            search.withLock { $0.end(look, foundAll: claimed.count < limit) }
            return claimed
        } catch {
            if !hasStopped { logger.warning("can't look for pushes", metadata: ["error": "\(error)"]) }
            return []
        }
    }

    private func giveBack(_ pushes: [ClaimedPush], _ pool: Pool) async {
        // What isn't given back is sent once its lease ends.
        try? await pool.withConnection { database in try database.giveBack(pushes) }
    }

    // MARK: One push

    private func deliver(_ claimed: ClaimedPush, _ pool: Pool) async {
        guard !claimed.isOver else {
            log(.warning, "gave up a push that could not be sent for a day", claimed)
            let attempt = PushAttempt(claimed: claimed, result: .expired, answer: "it could not be sent for a day")
            return await end(attempt, pool) { try $0.remove(claimed) }
        }
        if claimed.isSuperseded {
            let due = due
            log(.info, "removed a device whose app registered again elsewhere", claimed)
            let attempt = PushAttempt(claimed: claimed, result: .gone, answer: "the app registered again elsewhere")
            return await end(attempt, pool) { try $0.forget(claimed, by: due) }
        }
        do {
            guard try await pool.withConnection({ try $0.isWanted(claimed) }) else { return }
        } catch {
            // It is sent once its lease ends.
            return
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
        do throws(PushFailure) {
            let answer = try await sender.send(push)
            return await end(attempt(.done, answer), pool) { try $0.remove(claimed) }
        } catch {
            failure = error
        }
        switch failure {
        case .gone:
            let due = due
            log(.info, "removed a device that is gone", claimed)
            await end(attempt(.gone, "the receiver answered that the device is gone"), pool) {
                try $0.forget(claimed, by: due)
            }
        case .refused(let reason):
            log(.warning, "dropped a push that was refused", claimed, reason)
            await end(attempt(.refused, reason), pool) { try $0.remove(claimed) }
        case .unavailable(let reason):
            let pause = backoff.delay(attempt: Int(claimed.attempt))
            log(.debug, "a push could not be sent; it will be retried", claimed, reason)
            await end(attempt(.retried, reason), pool) { try $0.postpone(claimed, for: pause, because: reason) }
        }
    }

    /// Records how an attempt ended. If that fails, the push is sent again once its lease ends.
    private func end(
        _ attempt: PushAttempt, _ pool: Pool, _ write: @escaping @Sendable (Database) throws -> Void
    ) async {
        metrics.ended(attempt.result)
        do {
            try await pool.withConnection { database in
                try database.record(attempt)
                try write(database)
            }
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

private struct PushMetrics: Sendable {
    private let results: [PushAttempt.Result: Counter]
    private let waiting = Gauge(label: "quartet_pushes_waiting")

    init() {
        results = Dictionary(
            uniqueKeysWithValues: PushAttempt.Result.allCases.map { result in
                (result, Counter(label: "quartet_push_total", dimensions: [("result", result.rawValue)]))
            })
    }

    func ended(_ result: PushAttempt.Result) { results[result]?.increment() }
    /// At most ten thousand are counted.
    func wait(_ count: Int) { waiting.record(count) }
}
