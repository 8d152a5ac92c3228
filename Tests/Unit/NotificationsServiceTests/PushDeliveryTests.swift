import Bus
import Logging
import NotificationsContract
import NotificationsRules
import NotificationsService
import Postgres
import ServiceLifecycle
import StoreKit
import Synchronization
import TestKit
import Testing
import Vocabulary

@Suite("Notifications: in which order pushes are sent")
struct PushDeliveryTests {
    private static let tables = DatabaseTemplate.tables(of: "notifications", in: "Notifications")

    @Test("a critical push doesn't wait for three hundred others, though the receiver answers none of them (S38)")
    func criticalFirst() async throws {
        try await Outbox.with(Self.tables) { outbox in
            try await outbox.add(300, .groupInvitation)
            try await outbox.sending {
                // The rest of the places is kept.
                try await outbox.receiver.wait("as many as may be sent at a time", count: 12)
                try await outbox.add(1, .dependentCheckInMissed)
                let place = try await outbox.receiver.asked.wait("the critical one") { pushes in
                    pushes.firstIndex { $0.notification.priority == .critical }
                }
                #expect(place < 12 + 32)
            }
        }
    }

    @Test("an account's pushes take only its share of the places, however slow they are (S38)")
    func shares() async throws {
        try await Outbox.with(Self.tables) { outbox in
            let slow = try await outbox.account()
            try await outbox.add(300, .groupStarted, to: slow)
            try await outbox.add(20, .dependentAlertRaised, to: slow)
            try await outbox.sending {
                try await outbox.receiver.wait("those that the account may send at a time", count: 4)
                try await outbox.add(8, .contactAdded)
                try await outbox.receiver.wait("those of others", count: 12)
                #expect(outbox.receiver.asked.value.count { $0.account == slow } == 4)
                // When the receiver answers, everything gets there.
                outbox.receiver.answer { _ in .success("taken") }
                try await outbox.receiver.wait("all", count: 328)
            }
        }
    }

    @Test("what isn't sent keeps its turn when its process stops, and doesn't count as tried (S38)")
    func givenBack() async throws {
        try await Outbox.with(Self.tables) { outbox in
            try await outbox.add(100, .groupInvitation)
            try await outbox.psql("UPDATE notifications.push SET next_attempt_at = created_at")
            try await outbox.sending {
                try await outbox.receiver.wait("as many as may be sent at a time", count: 12)
            }
            let kept = try await outbox.psql(
                "SELECT count(*) FROM notifications.push AS p WHERE p.next_attempt_at = p.created_at AND p.attempts = 0"
            )
            // Between the order to stop and its arrival, answers may have freed places for others.
            #expect(kept == "\(100 - outbox.receiver.asked.value.count)")
        }
    }

    @Test("a critical push is tried again within 30 s; when the receiver is back, everything is sent at once (S38)")
    func back() async throws {
        try await Outbox.with(Self.tables) { outbox in
            try await outbox.add(20, .groupInvitation)
            try await outbox.add(1, .dependentCheckInMissed)
            // They have failed for long, so others wait up to ten minutes.
            try await outbox.psql("UPDATE notifications.push SET attempts = 40")
            outbox.receiver.answer { _ in .failure(.unavailable("it is off")) }
            try await outbox.sending {
                try await outbox.receiver.wait("each once", count: 21)
                try await outbox.waitUntil("all of them failed", "p.last_error IS NULL", are: 0)
                let late = "p.priority = 0 AND p.next_attempt_at > clock_timestamp() + interval '30 s'"
                try await outbox.waitUntil("the critical one to be due", late, are: 0)
                outbox.receiver.answer { _ in .success("taken") }
                try await outbox.add(1, .contactAdded)
                try await outbox.waitUntil("nothing to wait", "true", are: 0)
            }
        }
    }

    @Test("a critical push that waits for long is reported, and so is its end (S38)")
    func reported() async throws {
        try await Outbox.with(Self.tables) { outbox in
            try await outbox.add(1, .dependentCheckInMissed)
            try await outbox.psql("UPDATE notifications.push SET created_at = created_at - interval '1 minute'")
            outbox.receiver.answer { _ in .failure(.unavailable("it is off")) }
            try await outbox.sending {
                let problem = try await outbox.trouble.wait("a report") { $0 }
                #expect(problem.hasPrefix("a push about an alarm has waited for "))
                outbox.receiver.answer { _ in .success("taken") }
                try await outbox.psql("UPDATE notifications.push SET next_attempt_at = clock_timestamp()")
                try await outbox.trouble.wait("its end") { $0 == nil ? true : nil }
            }
        }
    }
}

/// Pushes that wait, and a receiver that answers when the test says so.
private struct Outbox: Sendable {
    private typealias Trial = StoreTrial<NotificationsStore>

    let receiver = HeldReceiver()
    let trouble = Observed<String?>(nil)
    private let database: TestDatabase
    private let trial: Trial

    static func with(
        _ tables: DatabaseTemplate, _ body: @escaping @Sendable (Outbox) async throws -> Void
    ) async throws {
        try await TestDatabase.with(tables) { database in
            let trial = try await Trial(NotificationsStore(), in: database, as: "notifications")
            try await body(Outbox(database: database, trial: trial))
            await trial.close()
        }
    }

    private init(database: TestDatabase, trial: Trial) {
        (self.database, self.trial) = (database, trial)
    }

    /// An account with a device.
    func account() async throws -> AccountID {
        let account = AccountID.new()
        try await ask([(account, OpenAccount()), (account, register())])
        return account
    }

    /// Adds pushes of one account, or of as many accounts.
    func add(_ count: Int, _ kind: NotificationKind, to account: AccountID? = nil) async throws {
        let accounts = (0..<count).map { _ in account ?? .new() }
        if account == nil {
            try await ask(
                accounts.flatMap { account -> [(AccountID, any CommandBody)] in
                    [(account, OpenAccount()), (account, register())]
                })
        }
        try await ask(accounts.map { ($0, DeliverNotification(id: .new(), kind: kind)) })
    }

    private func register() -> RegisterPush {
        let device = PushDeviceID.new()
        return RegisterPush(device: device, token: "token-of-\(device)", platform: .ios)
    }

    private func ask(_ commands: [(AccountID, any CommandBody)]) async throws {
        let ended = try await trial.handle(commands.map { Trial.Command($0.1, by: $0.0, at: .now) })
        for ended in ended { _ = try ended.get() }
    }

    @discardableResult
    func psql(_ sql: String) async throws -> String { try await database.psql(sql) }

    /// Waits until so many pushes fulfil a condition.
    func waitUntil(_ what: String, _ condition: String, are count: Int) async throws {
        var last = ""
        for _ in 0..<1500 {
            last = try await psql("SELECT count(*) FROM notifications.push AS p WHERE \(condition)")
            if last == "\(count)" { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw TimedOut("waited half a minute for \(what); last: \(last)")
    }

    /// Sends while `body` runs. What is still held then has failed.
    func sending(_ body: () async throws -> Void) async throws {
        let configuration = Configuration(try database.url(as: "notifications"))
        var logger = Logger(label: "push")
        logger.logLevel = .critical
        func log(_ table: String) -> Log {
            Log(name: LogName(schema: "notifications", table: table), partitionCount: 8)
        }
        let delivery = PushDelivery(
            sender: receiver, log: log("log"), doorbells: Doorbells(configuration: configuration, logger: logger),
            due: log("due"), configuration: configuration, logger: logger
        ) { [trouble] problem in trouble.update { $0 = problem } }
        let services = ServiceGroup(services: [delivery], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            let result: Result<Void, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            await services.triggerGracefulShutdown()
            receiver.answer { _ in .failure(.unavailable("the test is over")) }
            try await group.waitForAll()
            try result.get()
        }
    }
}

/// Holds each push until it is to answer.
private final class HeldReceiver: PushSender {
    typealias Answer = @Sendable (Push) -> Result<String, PushFailure>

    private struct State: Sendable {
        var answer: Answer?
        var held: [CheckedContinuation<Answer, Never>] = []
    }

    /// What it was asked to send, in order.
    let asked = Observed<[Push]>([])
    private let state = Mutex(State())

    func send(_ push: Push) async throws(PushFailure) -> String {
        asked.update { $0.append(push) }
        let answer = await withCheckedContinuation { continuation in
            let answer = state.withLock { state in
                if state.answer == nil { state.held.append(continuation) }
                return state.answer
            }
            if let answer { continuation.resume(returning: answer) }
        }
        return try answer(push).get()
    }

    /// Answers those that are held, and from now on each at once.
    func answer(_ answer: @escaping Answer) {
        let held = state.withLock { state in
            defer { state.held = [] }
            state.answer = answer
            return state.held
        }
        for continuation in held { continuation.resume(returning: answer) }
    }

    func wait(_ what: String, count: Int) async throws {
        try await asked.wait(what) { $0.count >= count ? true : nil }
    }
}
