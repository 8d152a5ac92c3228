import Bus
import Logging
import Postgres
import QuartetNotificationsContract
import QuartetVocabulary
import ServiceLifecycle
import StoreKit
import TestKit
import Testing

@testable import NotificationsService

/// Whose pushes are taken.
@Suite("Notifications: pushes that are taken")
struct TakenPushesTests {
    private static let tables = DatabaseTemplate.tables(of: "notifications", in: "Notifications")

    /// Takes every push.
    private struct Receiver: PushSender {
        func send(_ push: Push) async throws(PushFailure) -> PushAnswer { .taken("it") }
    }

    @Test("however many pushes to however many devices are taken, one a day is recorded for each account (A16)")
    func daily() async throws {
        try await Sent.with(Self.tables) { sent in
            let (anna, bob) = (try await sent.account(devices: 3), try await sent.account())
            try await sent.sending(by: Receiver()) {
                for _ in 0..<4 { try await sent.deliver(to: [anna, bob]) }
                try await sent.waitUntilSent()
                try await sent.waitUntilTold([anna: 1, bob: 1])
                try await sent.deliver(to: [anna, bob])
                try await sent.waitUntilSent()
                try await sent.psql(
                    """
                    UPDATE notifications.push_taken SET taken_at = taken_at - interval '25 hours'
                     WHERE account = '\(anna)'
                    """)
                try await sent.deliver(to: [anna, bob])
                try await sent.waitUntilSent()
                try await sent.waitUntilTold([anna: 2, bob: 1])
            }
            // What is older than a day is forgotten.
            #expect(try await sent.psql("SELECT notifications.delete_old_taken_pushes(100)") == "0")
            try await sent.psql("UPDATE notifications.push_taken SET taken_at = taken_at - interval '25 hours'")
            #expect(try await sent.psql("SELECT notifications.delete_old_taken_pushes(100)") == "2")
        }
    }

    @Test("a push that is only logged, a canary's, and one to a device that was signed out reach nobody (A16)")
    func notCounted() async throws {
        try await Sent.with(Self.tables) { sent in
            let logged = try await sent.account()
            var logger = Logger(label: "push")
            logger.logLevel = .critical
            try await sent.sending(by: LoggedPushSender(logger: logger)) {
                try await sent.deliver(to: [logged])
                try await sent.waitUntilSent()
            }
            let canary = AccountID.canary(.responder, of: Partition(3), among: 8)
            try await sent.open(canary, devices: 1)
            let leaving = try await sent.account()
            try await sent.deliver(to: [canary, leaving])
            try await sent.psql("UPDATE notifications.push_device SET is_leaving = true WHERE account = '\(leaving)'")
            try await sent.sending(by: Receiver()) { try await sent.waitUntilSent() }
            let taken = "SELECT count(*) FROM notifications.push_attempt WHERE result = 'done'"
            #expect(try await sent.psql(taken) == "2")
            #expect(
                try await sent.psql("SELECT count(*) FROM notifications.push_attempt WHERE result = 'logged'") == "1")
            #expect(try await sent.psql("SELECT count(*) FROM notifications.push_taken") == "0")
        }
    }

    @Test(
        "a partition that somebody locks, however much waits for it, holds up neither a push nor what other accounts' phones took (A16)"
    )
    func lockedPartition() async throws {
        try await Sent.with(Self.tables) { sent in
            let anna = try await sent.account()
            var bob = try await sent.account()
            @Sendable func partition(_ account: AccountID) -> Partition { Partition(of: .account(account), among: 8) }
            while partition(bob) == partition(anna) { bob = try await sent.account() }
            // More than one look finds.
            let crowd = (0..<8000).map { _ in AccountID.new() }.filter { partition($0) == partition(anna) }.prefix(600)
            #expect(crowd.count == 600)
            try await sent.psql(
                """
                INSERT INTO notifications.push_taken (account, taken_at)
                SELECT a, clock_timestamp() - interval '1 hour' FROM unnest('{\(crowd.map(\.description).joined(separator: ","))}'::uuid[]) AS a
                """)
            let blocker = try await Connection.connect(Configuration(try sent.database.url(as: "notifications")))
            try await blocker.run { database in
                try database.execute("BEGIN")
                try database.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                _ = try database.query(
                    """
                    SELECT FROM notifications.due_partition WHERE partition = \(partition(anna).number)
                       FOR NO KEY UPDATE
                    """)
            }
            try await sent.sending(by: Receiver()) {
                try await sent.deliver(to: [anna, bob])
                try await sent.waitUntilSent()
                try await sent.waitUntilTold([bob: 1])
                await blocker.close()
                try await sent.waitUntilTold([anna: 1, bob: 1].merging(crowd.map { ($0, 1) }) { $1 })
            }
        }
    }

    @Test("closing an account deletes its row (S18)")
    func closing() async throws {
        try await Sent.with(Self.tables) { sent in
            let anna = try await sent.account()
            try await sent.deliver(to: [anna])
            try await sent.sending(by: Receiver()) { try await sent.waitUntilTold([anna: 1]) }
            try await sent.close(anna)
            #expect(try await sent.psql("SELECT count(*) FROM notifications.push_taken") == "0")
        }
    }
}

/// Accounts with devices, what is delivered to them, and what follows when that is sent.
private struct Sent: Sendable {
    private typealias Trial = StoreTrial<NotificationsStore>

    let database: TestDatabase
    private let trial: Trial

    static func with(
        _ tables: DatabaseTemplate, _ body: @escaping @Sendable (Sent) async throws -> Void
    ) async throws {
        try await TestDatabase.with(tables) { database in
            let trial = try await Trial(NotificationsStore(), in: database, as: "notifications")
            try await body(Sent(database: database, trial: trial))
            await trial.close()
        }
    }

    func account(devices: Int = 1) async throws -> AccountID {
        let account = AccountID.new()
        try await open(account, devices: devices)
        return account
    }

    func open(_ account: AccountID, devices: Int) async throws {
        let registrations = (0..<devices).map { _ in
            let device = PushDeviceID.new()
            return RegisterPush(device: device, token: "token-of-\(device)", platform: .ios)
        }
        try await ask([(account, OpenAccount())] + registrations.map { (account, $0) })
    }

    func close(_ account: AccountID) async throws { try await ask([(account, CloseAccount())]) }

    func deliver(to accounts: [AccountID]) async throws {
        try await ask(accounts.map { ($0, DeliverNotification(id: .new(), kind: .pingsCleared)) })
    }

    private func ask(_ commands: [(AccountID, any CommandBody)]) async throws {
        let ended = try await trial.handle(commands.map { Trial.Command($0.1, by: $0.0, at: .now) })
        for ended in ended { _ = try ended.get() }
    }

    @discardableResult
    func psql(_ sql: String) async throws -> String { try await database.psql(sql) }

    /// Waits until every push has been taken.
    func waitUntilSent() async throws {
        try await wait(for: "all pushes to be sent", "SELECT count(*) FROM notifications.push", "0")
    }

    /// Waits until everything that was taken is passed on, and how often for whom is as given.
    func waitUntilTold(_ counts: [AccountID: Int]) async throws {
        let wanted = counts.map { "\($0.key) \($0.value)" }.sorted().joined(separator: ", ")
        try await wait(
            for: "the rules to be told",
            """
            SELECT string_agg(t.account || ' ' || t.count, ', ' ORDER BY t.account::text)
              FROM (SELECT d.body ->> 'account' AS account, count(*) FROM notifications.due AS d
                     WHERE d.type = 'RecordPushTaken' GROUP BY 1) AS t
            """, wanted)
    }

    private func wait(for what: String, _ sql: String, _ wanted: String) async throws {
        var last = ""
        let end = ContinuousClock.now + .patience
        repeat {
            last = try await psql(sql)
            if last == wanted { return }
            try await Task.sleep(for: .milliseconds(20))
        } while ContinuousClock.now < end
        throw TimedOut("waited two minutes for \(what) (\(wanted)); last: \(last)")
    }

    /// Sends what waits, and tells the rules what was taken, while `body` runs.
    func sending(by sender: any PushSender, _ body: () async throws -> Void) async throws {
        let configuration = Configuration(try database.url(as: "notifications"))
        var logger = Logger(label: "push")
        logger.logLevel = .critical
        func log(_ table: String) -> Log {
            Log(name: LogName(schema: "notifications", table: table), partitionCount: 8)
        }
        let delivery = PushDelivery(
            senders: PushSenders(sender), log: log("log"),
            doorbells: Doorbells(configuration: configuration, logger: logger),
            due: log("due"), configuration: configuration, logger: logger)
        let taken = TakenPushes(due: log("due"), configuration: configuration, logger: logger)
        let services = ServiceGroup(services: [delivery, taken], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            let result: Result<Void, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
            try result.get()
        }
    }
}
