import Bus
import Logging
import Postgres
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import ServiceLifecycle
import Storage
import StoreKit
import Synchronization
import TestKit
import Testing

@testable import NotificationsService

/// Pushes that wait, and a receiver that answers when the test says so.
struct HeldOutbox: Sendable {
    private typealias Trial = StoreTrial<NotificationsStore>

    let receiver = HeldReceiver()
    /// What Android devices are pushed by.
    let android = HeldReceiver()
    let trouble = Observed<String?>(nil)
    let platforms = Observed<Set<PushPlatform>?>(nil)
    /// What is logged as notices or worse.
    let lines = Observed<[String]>([])
    private let database: TestDatabase
    private let trial: Trial

    static func with(
        _ tables: DatabaseTemplate, _ body: @escaping @Sendable (HeldOutbox) async throws -> Void
    ) async throws {
        try await TestDatabase.with(tables) { database in
            let trial = try await Trial(NotificationsStore(), in: database, as: "notifications")
            try await body(HeldOutbox(database: database, trial: trial))
            await trial.close()
        }
    }

    private init(database: TestDatabase, trial: Trial) {
        (self.database, self.trial) = (database, trial)
    }

    /// An account with a device.
    func account() async throws -> AccountID {
        let account = AccountID.new()
        try await open(account)
        return account
    }

    /// Registers another device of an account.
    func register(_ account: AccountID) async throws -> PushDeviceID {
        let register = register()
        try await ask([(account, register)])
        return register.device
    }

    /// Registers a device anew.
    func register(_ account: AccountID, _ device: PushDeviceID, on platform: PushPlatform) async throws {
        try await ask([(account, RegisterPush(device: device, token: "another-of-\(device)", platform: platform))])
    }

    func devices(of account: AccountID) async throws -> Set<PushDeviceID> {
        let devices = try await psql(
            "SELECT d.device FROM notifications.push_device AS d WHERE d.account = '\(account)'")
        return Set(devices.split(separator: "\n").compactMap { PushDeviceID(String($0)) })
    }

    /// Records how attempts ended, in this order.
    func record(_ attempts: [PushAttempt]) async throws {
        let connection = try await Connection.connect(Configuration(try database.url(as: "notifications")))
        _ = try await connection.run { database in try attempts.map { try database.record($0) } }
        await connection.close()
    }

    /// Waits until somebody locks a device.
    func waitUntilLocked(_ device: PushDeviceID) async throws {
        let end = ContinuousClock.now + .patience
        repeat {
            let free = try await psql(
                "SELECT count(*) FROM (SELECT FROM notifications.push_device WHERE device = '\(device)' FOR UPDATE SKIP LOCKED) AS f"
            )
            if free == "0" { return }
            try await Task.sleep(for: .milliseconds(20))
        } while ContinuousClock.now < end
        throw TimedOut("waited two minutes for the device to be locked")
    }

    /// Unregisters a device.
    func unregister(_ account: AccountID, _ device: PushDeviceID) async throws {
        try await ask([(account, UnregisterPush(device: device))])
    }

    /// How many pushes the metrics say that wait.
    func countedAsWaiting() async throws -> Int {
        let connection = try await Connection.connect(Configuration(try database.url(as: "notifications")))
        let count = try await connection.run { try $0.waitingPushes(limit: 100) }
        await connection.close()
        return count
    }

    /// Makes failed pushes due.
    func hurry(limit: Int) async throws -> (count: Int, isMore: Bool) {
        let connection = try await Connection.connect(Configuration(try database.url(as: "notifications")))
        let hurried = try await connection.run { try $0.hurryFailedPushes(to: [.ios], limit: limit) }
        await connection.close()
        return hurried
    }

    /// Adds pushes of one account, or of as many accounts.
    func add(
        _ count: Int, _ kind: NotificationKind, to account: AccountID? = nil, on platform: PushPlatform = .ios
    ) async throws {
        let accounts = (0..<count).map { _ in account ?? .new() }
        if account == nil {
            try await ask(
                accounts.flatMap { account -> [(AccountID, any CommandBody)] in
                    [(account, OpenAccount()), (account, register(platform))]
                })
        }
        try await ask(accounts.map { ($0, DeliverNotification(id: .new(), kind: kind)) })
    }

    /// Opens an account with a device.
    func open(_ account: AccountID) async throws {
        try await ask([(account, OpenAccount()), (account, register())])
    }

    func add(_ kind: NotificationKind, of alarm: AlarmID, to account: AccountID) async throws {
        try await add(kind, .init(at: .now, alarm: alarm), to: account)
    }

    func add(_ kind: NotificationKind, _ details: NotificationDetails, to account: AccountID) async throws {
        try await ask([(account, DeliverNotification(id: .new(), kind: kind, details: details))])
    }

    /// Tells an account of somebody's drill.
    func addDrill(of dependent: AccountID, to account: AccountID) async throws -> NotificationID {
        let details = NotificationDetails(at: .now, drill: .new(), drillEnds: .now + .hours(1))
        let told = DeliverNotification(id: .new(), kind: .system, subject: dependent, details: details)
        try await ask([(account, told)])
        return told.id
    }

    /// Tells an account of somebody's alarm.
    func addAlarm(of dependent: AccountID, to account: AccountID) async throws {
        let details = NotificationDetails(at: .now, alarm: .new())
        let told = DeliverNotification(id: .new(), kind: .dependentAlertRaised, subject: dependent, details: details)
        try await ask([(account, told)])
    }

    func answer(_ drill: NotificationID, of account: AccountID) async throws {
        try await ask([(account, AnswerDrill(id: drill))])
    }

    func clear(_ id: NotificationID, of account: AccountID) async throws {
        try await ask([(account, ClearNotifications(selection: NotificationSelection(ids: [id])))])
    }

    private func register(_ platform: PushPlatform = .ios) -> RegisterPush {
        let device = PushDeviceID.new()
        return RegisterPush(device: device, token: "token-of-\(device)", platform: platform)
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
        let end = ContinuousClock.now + .patience
        repeat {
            last = try await psql("SELECT count(*) FROM notifications.push AS p WHERE \(condition)")
            if last == "\(count)" { return }
            try await Task.sleep(for: .milliseconds(20))
        } while ContinuousClock.now < end
        throw TimedOut("waited two minutes for \(what); last: \(last)")
    }

    /// Sends while `body` runs. What is still held then has failed.
    func sending(_ body: () async throws -> Void) async throws {
        let configuration = Configuration(try database.url(as: "notifications"))
        let logger = Logger(label: "push") { [lines] _ in KeptNotices(lines: lines) }
        func log(_ table: String) -> Log {
            Log(name: LogName(schema: "notifications", table: table), partitionCount: 8)
        }
        let delivery = PushDelivery(
            senders: PushSenders(receiver, own: [.android: android]), log: log("log"),
            doorbells: Doorbells(configuration: configuration, logger: logger),
            due: log("due"), configuration: configuration, logger: logger,
            reportPlatforms: { [platforms] found in platforms.update { $0 = found } },
            report: { [trouble] problem in trouble.update { $0 = problem } })
        let services = ServiceGroup(services: [delivery], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            let result: Result<Void, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            await services.triggerGracefulShutdown()
            receiver.hang([])
            for receiver in [receiver, android] {
                receiver.answer { _ in .failure(.unavailable("the test is over")) }
            }
            try await group.waitForAll()
            try result.get()
        }
    }
}

/// Keeps what is logged as notices or worse.
private struct KeptNotices: LogHandler {
    let lines: Observed<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.notice

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let line = "\(event.message)"
        lines.update { $0.append(line) }
    }
}

/// Holds each push until it is to answer.
final class HeldReceiver: PushSender {
    typealias Answer = @Sendable (Push) -> Result<PushAnswer, PushFailure>

    private struct State: Sendable {
        var answer: Answer?
        var held: [CheckedContinuation<Answer, Never>] = []
        var hanging: Set<PushDeviceID> = []
    }

    /// What it was asked to send, in order.
    let asked = Observed<[Push]>([])
    private let state = Mutex(State())

    func send(_ push: Push) async throws(PushFailure) -> PushAnswer {
        asked.update { $0.append(push) }
        let answer = await withCheckedContinuation { continuation in
            let answer = state.withLock { state in
                let answer = state.hanging.contains(push.device) ? nil : state.answer
                if answer == nil { state.held.append(continuation) }
                return answer
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

    /// Holds pushes to these devices whatever else is answered.
    func hang(_ devices: Set<PushDeviceID>) { state.withLock { $0.hanging = devices } }

    func wait(_ what: String, count: Int) async throws {
        try await asked.wait(what) { $0.count >= count ? true : nil }
    }
}
