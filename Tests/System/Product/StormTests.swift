import EdgeClient
import Foundation
import Postgres
import TestKit
import Testing

/// Faults of every kind, one after the other and drawn at random, while people need help.
@Suite("End to end: storms", .serialized, .timeLimit(.minutes(60)))
struct StormTests {
    /// What goes wrong for a few seconds.
    enum Fault: CaseIterable, Sendable {
        case databaseFrozen, databaseSlow, partitionLocked, replicaPaused, servicePaused, serviceKilled, receiverSilent,
            receiverSlow, flood
    }

    private static let pairs = Soak.count(4, long: 16)
    private static let rounds = Soak.count(Fault.allCases.count, long: 100)

    @Test(
        """
        whatever stalls, floods or dies meanwhile, every alarm reaches its responder and the responder's phone, once, and \
        so does its all-clear (S29, S34, S38)
        """)
    func alarms() async throws {
        try await withRandom("storm") { random in
            let receiver = PushReceiver { _, _ in 200 }
            try await receiver.listen {
                try await PrivateCluster.with { cluster in
                    try await Quartet.with(on: try cluster.cluster(), services: [.session, .contacts]) { quartet in
                        try await quartet.start(.notifications, environment: receiver.environment)
                        try await quartet.start(.sessionClient)
                        let replica = try await quartet.startAnother(.session)
                        var storm = try await Storm(
                            quartet, cluster, receiver, replica: replica, environment: receiver.environment,
                            pairs: Self.pairs)
                        var faults: [Fault] = []
                        for round in 0..<Self.rounds {
                            if faults.isEmpty { faults = Fault.allCases.shuffled(using: &random) }
                            try await storm.play(faults.removeLast(), round: round, using: &random)
                        }
                        try await storm.check()
                        await replica.end()
                    }
                }
            }
        }
    }
}

/// Pairs of a dependent and a responder, and what each responder has to have heard.
private struct Storm {
    struct Pair: Sendable {
        let dependent: Device
        let responder: Device
    }

    private let quartet: Quartet
    private let cluster: PrivateCluster
    private let receiver: PushReceiver
    private let replica: ChildProcess
    private let environment: [String: String]
    private let pairs: [Pair]
    private let stranger: Device
    /// How often each kind has to have been said to a responder.
    private var expected: [String: [String: Int]] = [:]

    init(
        _ quartet: Quartet, _ cluster: PrivateCluster, _ receiver: PushReceiver, replica: ChildProcess,
        environment: [String: String], pairs count: Int
    ) async throws {
        (self.quartet, self.cluster, self.receiver, self.replica) = (quartet, cluster, receiver, replica)
        self.environment = environment
        try await quartet.announceEveryAlert()
        var pairs: [Pair] = []
        for number in 0..<count {
            let pair = Pair(
                dependent: try await Device.signUp("dora\(number)", name: "Dora", at: quartet.edge),
                responder: try await Device.signUp("rob\(number)", name: "Rob", at: quartet.edge))
            try await pair.responder.add(pair.dependent)
            try await pair.responder.act(
                "RegisterPush", ["token": .string("phone-\(number)"), "platform": "android"])
            pairs.append(pair)
        }
        self.pairs = pairs
        stranger = try await quartet.signUp("eve")
        try await quartet.waitUntilQuiet()
    }

    /// Lets a fault happen while half of the dependents miss a check-in and the others raise an alert; then waits until
    /// everybody was told, ends all alarms, and waits for the all-clear.
    mutating func play(_ fault: StormTests.Fault, round: Int, using random: inout SeededRandom) async throws {
        let shuffled = pairs.shuffled(using: &random)
        let (missing, raising) = (shuffled.prefix(pairs.count / 2), shuffled.dropFirst(pairs.count / 2))
        // Shorter than a lease, and longer.
        let seconds = Int.random(in: 1...6, using: &random)
        for pair in missing {
            let distance = Int.random(in: 300...seconds * 1000, using: &random)
            try await quartet.moveDeadline(of: pair.dependent, to: "\(distance) milliseconds")
        }
        let service = Quartet.Service.allCases.randomElement(using: &random) ?? .session
        let account = (pairs.randomElement(using: &random)?.dependent ?? stranger).account
        async let raised: Void = Self.all(raising) { try await $0.dependent.act("RaiseAlert") }
        try await suffer(fault, for: .seconds(seconds), service: service, account: account)
        try await raised

        for pair in missing { expect("dependentCheckInMissed", of: pair) }
        for pair in raising { expect("dependentAlertRaised", of: pair) }
        try await heard("round \(round), \(fault)")
        try await Self.all(missing) { try await $0.dependent.act("CheckIn") }
        try await Self.all(raising) { try await $0.dependent.act("ClearAlert") }
        for pair in missing { expect("dependentCheckedInLate", of: pair) }
        for pair in raising { expect("dependentAlertCleared", of: pair) }
        try await heard("round \(round), the all-clear after \(fault)")
    }

    /// Every notification that was delivered was pushed, under one id each.
    func check() async throws {
        try await quartet.wait(for: "all pushes to be sent", "SELECT count(*) FROM notifications.push") { $0 == "0" }
        let pushed = Dictionary(grouping: receiver.received.value) { $0.body["notification"]["id"].string ?? "" }
        let critical = try await quartet.psql(
            """
            SELECT n.id FROM notifications.notification AS n
             WHERE n.kind IN ('dependentCheckInMissed', 'dependentAlertRaised')
            """
        ).split(separator: "\n").map(String.init)
        #expect(
            critical.count
                == expected.values.reduce(0) {
                    $0 + ($1["dependentCheckInMissed"] ?? 0) + ($1["dependentAlertRaised"] ?? 0)
                })
        for id in critical {
            let pushes = pushed[id] ?? []
            #expect(!pushes.isEmpty && Set(pushes.map(\.id)).count == 1, "\(id) was pushed as \(pushes.map(\.id))")
        }
        // What had to wait for something else than an alarm may come last.
        try await quartet.wait(
            for: "nothing to be given up or parked",
            """
            SELECT (SELECT count(*) FROM session.dead_letter) + (SELECT count(*) FROM contacts.dead_letter)
                 + (SELECT count(*) FROM notifications.dead_letter) + (SELECT count(*) FROM session_client.dead_letter)
                 + (SELECT count(*) FROM session.parked) + (SELECT count(*) FROM contacts.parked)
                 + (SELECT count(*) FROM notifications.parked) + (SELECT count(*) FROM session_client.parked)
            """
        ) { $0 == "0" }
    }

    private mutating func expect(_ kind: String, of pair: Pair) {
        expected[pair.responder.account, default: [:]][kind, default: 0] += 1
    }

    /// Waits until each responder has heard as often as expected, and of nothing more often.
    private func heard(_ when: String) async throws {
        for (account, kinds) in expected {
            let wanted = kinds.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            try await quartet.wait(
                for: "\(account) to hear \(wanted) (\(when))",
                """
                SELECT coalesce(string_agg(kind || ' ' || count, ', ' ORDER BY kind), '')
                  FROM (SELECT kind, count(*) FROM notifications.notification
                         WHERE account = '\(account)' AND kind LIKE 'dependent%' GROUP BY kind) AS k
                """
            ) { $0 == wanted }
        }
    }

    private static func all(
        _ pairs: some Sequence<Pair>, _ body: @Sendable @escaping (Pair) async throws -> some Any
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for pair in pairs { group.addTask { _ = try await body(pair) } }
            try await group.waitForAll()
        }
    }

    // MARK: Faults

    private static let logs = [
        "session.log", "contacts.log", "notifications.log", "session.due", "contacts.due", "notifications.due",
        "session_client.session_commands", "session_client.contacts_commands", "session_client.notifications_commands",
        "session_client.operations",
    ]

    private func suffer(
        _ fault: StormTests.Fault, for time: Duration, service: Quartet.Service, account: String
    ) async throws {
        switch fault {
        case .databaseFrozen:
            try cluster.freeze()
            try await Task.sleep(for: time)
            try cluster.thaw()
        case .databaseSlow:
            let ends = try await (0..<4).asyncMap { _ in
                try await quartet.busy("SELECT count(*) FROM generate_series(1, 100000000)")
            }
            try await Task.sleep(for: time)
            for end in ends { await end() }
        case .partitionLocked:
            var releases: [@Sendable () async -> Void] = []
            // Wherever something about one of the dependents is appended.
            for log in Self.logs {
                releases.append(
                    try await quartet.hold(
                        """
                        SELECT partition::text FROM \(log)_partition
                         WHERE partition = \(log)_partition_of('account/\(account)') FOR UPDATE
                        """))
            }
            try await Task.sleep(for: time)
            for release in releases { await release() }
        case .replicaPaused:
            replica.send(.stop)
            try await Task.sleep(for: time)
            replica.send(.resume)
        case .servicePaused:
            // Without a replica, nobody handles its partitions meanwhile.
            quartet.send(.stop, to: service)
            try await Task.sleep(for: time)
            quartet.send(.resume, to: service)
        case .serviceKilled:
            try await quartet.kill(service)
            try await quartet.start(service, environment: service == .notifications ? environment : [:])
        case .receiverSilent:
            receiver.isSilent.update { $0 = true }
            try await Task.sleep(for: time)
            receiver.isSilent.update { $0 = false }
        case .receiverSlow:
            receiver.slowness.update { $0 = .seconds(1) }
            try await Task.sleep(for: time)
            receiver.slowness.update { $0 = .zero }
        case .flood:
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<300 {
                    group.addTask { [stranger] in
                        _ = try? await stranger.edge.send(
                            "POST", "/v1/commands/SetContactApproval", body: ["isRequired": true],
                            token: stranger.token, key: EdgeClient.newKey())
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}

extension Sequence {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}

extension Quartet {
    /// Runs a statement that takes long, as a superuser; returns how to end it.
    fileprivate func busy(_ sql: String) async throws -> @Sendable () async -> Void {
        let connection = try await Connection.connect(Configuration(databaseURL))
        let work = Task { try await connection.run { _ = try $0.query("\(unescaped: sql)") } }
        return {
            work.cancel()
            _ = await work.result
            await connection.close()
        }
    }
}
