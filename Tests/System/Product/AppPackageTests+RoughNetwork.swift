import EdgeClient
import Foundation
import QuartetAsyncHTTP
import QuartetClient
import TestKit
import Testing

import struct EdgeClient.Device

extension AppPackageTests {
    /// Real apps behind a bad network.
    @Suite
    struct RoughNetworkTests {
        /// A person, the app that has a bad day, and another one on a good network.
        private struct Person: Sendable {
            let handle: String
            /// The device that signed up.
            let device: Device
            var app: ChildProcess
            var observer: ChildProcess
            /// What the app said before it was killed.
            var said: [String] = []
        }

        @Test(
            """
            three apps that edit, call for help, check in, ping, sign out and in and are killed while connections are dropped, reset, \
            delayed, halved and overtaken: after the last cut they all show what the server has and have it by its hashes, each \
            change and each urgent command was made once, and nobody saw a value go back, a killed app when it is started again \
            neither, which shows a kept call for help (S11, S20, S22, T2, T13, T14)
            """)
        func rough() async throws {
            try await withRandom { random in
                let folder = FileManager.default.temporaryDirectory.appending(path: "rough-\(UUID().uuidString)")
                defer { try? FileManager.default.removeItem(at: folder) }
                var (choices, forked) = (random.fork(), random.fork())
                try await Quartet.with { quartet in
                    let network = try RoughNetwork(to: try await quartet.edgePort(), random: forked.fork())
                    defer { network.stop() }
                    let rpcNetwork = try RoughNetwork(to: try await quartet.rpcPort(), random: forked.fork())
                    defer { rpcNetwork.stop() }
                    // One of them speaks gRPC.
                    func url(_ handle: String) -> String {
                        handle == "carla" ? "grpc://127.0.0.1:\(rpcNetwork.port)" : "http://127.0.0.1:\(network.port)"
                    }
                    var people: [Person] = []
                    let (anna, bob, carla) = try await quartet.signUp("anna", "bob", "carla")
                    for other in [bob, carla] { try await anna.add(other, isMyResponder: true, iAmResponder: true) }
                    for (handle, device) in [("anna", anna), ("bob", bob), ("carla", carla)] {
                        people.append(
                            Person(
                                handle: handle, device: device,
                                app: try await Self.start("live", handle, folder, url(handle), seed: choices.next()),
                                observer: try await Self.start("watch", handle, folder, try quartet.url)))
                    }
                    do {
                        for network in [network, rpcNetwork] { network.roughen() }
                        let end = ContinuousClock.now + .seconds(Soak.count(12, long: 120))
                        func isRough() -> Bool {
                            [network, rpcNetwork].map(\.counts).allSatisfy {
                                $0.reset > 0 && $0.dropped > 0 && $0.halved > 0
                            }
                        }
                        while ContinuousClock.now < end || (!isRough() && ContinuousClock.now < end + .patience) {
                            let index = people.indices.randomElement(using: &choices) ?? 0
                            var last = people[index].app.lastLine
                            for _ in 0..<Int.random(in: 1...12, using: &choices) {
                                last = try await people[index].app.waitForLine(containing: "did ", after: last)
                            }
                            guard choices.oneIn(3) else { continue }
                            people[index].app.send(.kill)
                            try await people[index].app.waitForExit(.killed(.kill))
                            await people[index].app.end()
                            people[index].said += people[index].app.lines(on: .output)
                            people[index].app = try await Self.start(
                                "live", people[index].handle, folder, url(people[index].handle), seed: choices.next())
                        }
                        try #require(isRough(), "HTTP: \(network.counts); gRPC: \(rpcNetwork.counts)")
                        for network in [network, rpcNetwork] { network.calm() }
                        let calmed = ContinuousClock.now
                        // What nobody was answered at once yet they are soon, now that nothing ends their connections.
                        while !Self.hasPressed(people), ContinuousClock.now < calmed + .patience {
                            let app = people[people.indices.randomElement(using: &choices) ?? 0].app
                            _ = try await app.waitForLine(containing: "did ", after: app.lastLine)
                        }
                        try #require(Self.hasPressed(people))
                        try await Self.settle(people)
                        let took = ContinuousClock.now - calmed
                        print(
                            "HTTP: \(network.counts); gRPC: \(rpcNetwork.counts); the same \(took) after the last cut")
                        // A short one shares its machine with other tests.
                        if Soak.count(0, long: 1) == 1 { try #require(took < .seconds(5)) }
                        for person in people {
                            try Self.checkNumbers(person)
                            try Self.checkAlerts(person)
                        }
                        try await quartet.waitUntilQuiet()
                        var made: [String: Int] = [:]
                        for person in people {
                            made.merge(try await Self.checkUrgent(person, quartet), uniquingKeysWith: +)
                        }
                        // Who is pinged may have answered before any ping was cancelled.
                        try #require(made.filter { $0.value == 0 }.keys.allSatisfy { $0 == "CancelPing" }, "\(made)")
                        for index in people.indices {
                            let (handle, device) = (people[index].handle, people[index].device)
                            people[index].app = try await Self.compare(people[index].app, with: device) {
                                try await Self.start("live", handle, folder, url(handle))
                            }
                            people[index].observer = try await Self.compare(people[index].observer, with: device) {
                                try await Self.start("watch", handle, folder, try quartet.url)
                            }
                        }
                        for person in people { try await Self.check(person, quartet) }
                    } catch {
                        for person in people { print("== \(person.handle)\n\(person.app.logTail(20))") }
                        await Self.end(people)
                        throw error
                    }
                    await Self.end(people)
                }
            }
        }

        /// What everybody's app does that is urgent.
        private static let urgent = ["RaiseAlert", "ClearAlert", "CheckIn", "SendPing", "CancelPing"]

        /// Whether each urgent command of somebody was accepted; a check-in may wait, and a ping be answered before it is cancelled.
        private static func hasPressed(_ people: [Person]) -> Bool {
            let said = people.reduce(into: Set<String>()) { said, person in
                said.formUnion(person.said + person.app.lines(on: .output))
            }
            return urgent.filter { $0 != "CancelPing" }
                .allSatisfy { said.contains($0 == "CheckIn" ? "did CheckIn" : "accepted \($0)") }
        }

        private static func start(
            _ mode: String, _ handle: String, _ folder: URL, _ url: String, seed: UInt64 = 0
        ) async throws -> ChildProcess {
            let own = folder.appending(path: "\(mode)-\(handle)")
            try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
            let app = try await ChildProcess.start("offline-app", [mode, url, own.path, handle, "\(seed)"])
            try await app.waitForLine(containing: "ready")
            return app
        }

        private static func end(_ people: [Person]) async {
            for person in people {
                await person.app.end()
                await person.observer.end()
            }
        }

        /// Ends everybody's changes, and waits until both apps of each person show the same.
        private static func settle(_ people: [Person]) async throws {
            let apps = people.flatMap { [$0.app, $0.observer] }
            for app in apps { app.send(Signal(rawValue: SIGUSR1)) }
            for app in apps { try await app.waitForLine(containing: "settled ") }
            for person in people { try await same(person.app, person.observer) }
        }

        /// However often an app was started, each change follows the one before it: no change was gone after a restart.
        private static func checkNumbers(_ person: Person) throws {
            let said = person.said + person.app.lines(on: .output)
            for what in ["did ", "did notes "] {
                let numbers = said.compactMap { $0.hasPrefix(what) ? Int($0.dropFirst(what.count)) : nil }
                try #require(
                    zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 }, "\(person.handle) \(what)\(numbers)")
            }
        }

        /// An app that is started again shows what was pressed last before it was killed, be it sent or not.
        private static func checkAlerts(_ person: Person) throws {
            // Nil while that isn't known: it was killed before the device had it, or the server may have refused it.
            var last: String?
            for line in person.said + person.app.lines(on: .output) {
                let words = line.split(separator: " ").map(String.init)
                switch line {
                case "shows alert": try #require(last != "ClearAlert", "\(person.handle)")
                case "shows no alert": try #require(last != "RaiseAlert", "\(person.handle)")
                default:
                    guard words.count == 2, ["RaiseAlert", "ClearAlert"].contains(words[1]) else { continue }
                    switch words[0] {
                    case "accepted", "kept": last = words[1]
                    case "pressed", "refused": last = nil
                    case "unmade": last = last == words[1] ? nil : last
                    default: break
                    }
                }
            }
        }

        /// Ends an app, and sees that what it keeps has the hashes of what the server has.
        /// - Parameter restart: Starts it again: something may have been on its way when it ended.
        /// - Returns: The app that had the server's states.
        private static func compare(
            _ app: ChildProcess, with device: Device, restart: () async throws -> ChildProcess
        ) async throws -> ChildProcess {
            var (app, seen) = (app, "")
            for _ in 0..<5 {
                app.send(Signal(rawValue: SIGUSR2))
                let kept = try await app.waitForLine(containing: "copies ").text
                try await app.waitForExit(.exited(0))
                let hashes = try await device.read("/v1/stream/hashes")["hashes"].array
                    .filter { $0["stream"] != "operations" }
                    .map { "\($0["stream"].string ?? "")=\($0["hash"].string ?? "")" }.sorted()
                seen = "\(kept), and the server has \(hashes.joined(separator: " "))"
                if kept == "copies \(hashes.joined(separator: " "))" { return app }
                await app.end()
                app = try await restart()
                app.send(Signal(rawValue: SIGUSR1))
                try await app.waitForLine(containing: "settled ")
            }
            throw Unexpected(seen)
        }

        private static func same(_ one: ChildProcess, _ other: ChildProcess) async throws {
            @Sendable func last(_ app: ChildProcess) -> String? {
                app.lines(on: .output).last { $0.hasPrefix("state ") }
            }
            try await withDeadline(.patience, "the same state") {
                while true {
                    let (before, otherBefore) = (one.lastLine, other.lastLine)
                    if let state = last(one), state == last(other) { return }
                    try await withThrowingTaskGroup { group in
                        group.addTask { try await one.waitForLine(containing: "state ", after: before) }
                        group.addTask { try await other.waitForLine(containing: "state ", after: otherBefore) }
                        _ = try await group.next()
                        group.cancelAll()
                    }
                }
            }
        }

        /// The server has each change once: signing up made the first version of the profile, adding each contact the first of that.
        private static func check(_ person: Person, _ quartet: Quartet) async throws {
            let device = try await Device.signIn(
                person.handle, at: quartet.edge)
            let line = try await person.app.waitForLine(containing: "settled ").text
            let numbers = line.split(separator: " ").compactMap { Int64($0) }
            try #require(numbers.count == 2)
            let account = try await device.read("/v1/account")
            try #require(account["emergencyNote"] == .string("\(numbers[0])"))
            // What waited together was sent as one change: each was made once, after those before it.
            let made = try await quartet.psql(
                """
                SELECT string_agg(body ->> 'emergencyNote', ' ' ORDER BY position) FROM session.log
                WHERE type = 'ProfileUpdated' AND body ->> 'account' = '\(device.account)'
                """
            ).split(separator: " ").compactMap { Int64($0) }
            try #require(zip(made, made.dropFirst()).allSatisfy { $0 < $1 }, "\(made)")
            try #require(account["profileVersion"] == .int(Int64(made.count) + 1), "\(made)")
            let versions: (Int64) -> ClosedRange<Int64> = { number in min(number, 1) + 1...number + 1 }
            let contacts = try await device.read("/v1/contacts")["contacts"].array.map { $0["contact"] }
            let first = try #require(contacts.min { ($0["account"].string ?? "") < ($1["account"].string ?? "") })
            try #require(first["notes"].string ?? "" == (numbers[1] == 0 ? "" : "\(numbers[1])"), "\(first)")
            try #require(first["version"].int.map { versions(numbers[1]).contains($0) } == true, "\(first)")
            // Sent again under another key, a change that was made is accepted and finds nothing to change.
            for (service, type) in [
                ("session", "UpdateProfile"), ("contacts", "UpdateContact"), ("session", "RaiseAlert"),
                ("contacts", "SendPing"),
            ] {
                let needless = try await quartet.psql(
                    """
                    SELECT count(*) FROM \(service).log WHERE type = 'Accepted' AND command_id IN
                     (SELECT command_id FROM session_client.\(service)_commands
                       WHERE type = '\(type)' AND account = '\(device.account)')
                    """)
                try #require(needless == "0", "\(person.handle) \(type)")
            }
        }

        /// Each urgent command that was accepted was made, and none more often than somebody pressed.
        /// - Returns: How often each was made.
        private static func checkUrgent(_ person: Person, _ quartet: Quartet) async throws -> [String: Int] {
            let device = person.device
            let said = person.said + person.app.lines(on: .output)
            var counts: [String: Int] = [:]
            for (service, command, event) in [
                ("session", "RaiseAlert", "AlertRaised"), ("session", "ClearAlert", "AlertCleared"),
                ("session", "CheckIn", "CheckedIn"), ("contacts", "SendPing", "PingSent"),
                ("contacts", "CancelPing", "PingCancelled"),
            ] {
                func count(_ what: String) -> Int { said.count { $0 == "\(what) \(command)" } }
                let made = try await quartet.psql(
                    """
                    SELECT count(*) FROM \(service).log WHERE type = '\(event)' AND body ->> 'account' = '\(device.account)'
                       AND command_id IN (SELECT command_id FROM session_client.\(service)_commands
                                           WHERE type = '\(command)' AND account = '\(device.account)')
                    """)
                // An all-clear may find the alert that it is about never raised, and a ping may have been answered.
                let least = ["ClearAlert", "CancelPing"].contains(command) ? 0 : count("accepted")
                let number = try #require(Int(made))
                try #require(
                    (least...count("pressed")).contains(number), "\(person.handle): \(made) \(event), \(said)")
                counts[command] = number
            }
            // An app's last all-clear came after its last call for help.
            let account = try await device.read("/v1/account")
            try #require(account["alertRaised"] == .null, "\(person.handle)")
            let types = try await quartet.psql(
                """
                SELECT string_agg(type, ' ' ORDER BY position) FROM session.log
                 WHERE type IN ('AlertRaised', 'AlertRaisedAgain', 'AlertCleared') AND body ->> 'account' = '\(device.account)'
                """
            ).split(separator: " ")
            for (index, type) in types.enumerated() {
                try #require(type == (index.isMultiple(of: 2) ? "AlertRaised" : "AlertCleared"), "\(types)")
            }
            return counts
        }

        @Test(
            """
            an app that slept while its connection died and its token ended goes on with one refresh and one stream; one that \
            slept too long says what it fetched again (S11, T13)
            """)
        func asleep() async throws {
            let folder = FileManager.default.temporaryDirectory.appending(path: "asleep-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
                try await quartet.start(.sessionClient, environment: ["ACCESS_TOKEN_LIFETIME": "60s"])
                let (anna, bob) = try await quartet.signUp("anna", "bob")
                try await anna.add(bob, isMyResponder: true, iAmResponder: true)
                let network = try RoughNetwork(to: try await quartet.edgePort(), random: SeededRandom(seed: 0))
                defer { network.stop() }
                let app = try await Self.start("watch", "anna", folder, "http://127.0.0.1:\(network.port)")
                let awake = try await Self.start("watch", "anna", folder.appending(path: "awake"), try quartet.url)
                for one in [app, awake] {
                    one.send(Signal(rawValue: SIGUSR1))
                    try await one.waitForLine(containing: "settled ")
                }
                // The first device signed up.
                let device = try await quartet.psql(
                    """
                    SELECT body->'device'->>'id' FROM session.log
                     WHERE type = 'DeviceSignedIn' AND body->>'account' = '\(anna.account)' ORDER BY position LIMIT 1 OFFSET 1
                    """)
                func refreshes() async throws -> Int {
                    let count = try await quartet.psql(
                        """
                        SELECT count(*) FROM session.log
                         WHERE type = 'DeviceRefreshed' AND body->>'device' = '\(device)'
                        """)
                    return try #require(Int(count))
                }
                app.send(.stop)
                // A refresh that was on its way when the app stopped counts as well.
                var (count, last) = (try await refreshes(), -1)
                while count != last {
                    try await Task.sleep(for: .milliseconds(500))
                    (count, last) = (try await refreshes(), count)
                }
                let before = count
                network.cutAll()
                let slept = try await quartet.psql("SELECT now()")
                // Tokens are short here.
                try await Device.signIn("bob", at: quartet.edge).ping(anna)
                try await quartet.wait(
                    for: "the token's end", "SELECT now() > '\(slept)'::timestamptz + interval '61 s'"
                ) { $0 == "t" }
                app.send(.resume)
                try await app.waitForLine(containing: "reconnected")
                try #require(try await refreshes() == before + 1)
                try await Self.same(app, awake)
                try #require(app.lines().count { $0.contains("reconnected") } == 1)
                try #require(!app.lines().contains { $0.contains("refetched") })

                app.send(.stop)
                network.cutAll()
                let stranger = try await quartet.psql(
                    """
                    SELECT account FROM (SELECT gen_random_uuid() AS account FROM generate_series(1, 10000)) AS a
                     WHERE notifications.log_partition_of('account/' || account)
                           = notifications.log_partition_of('account/\(anna.account)') LIMIT 1
                    """)
                for _ in 0..<5 { try await quartet.publish(events: 300, bytes: 1, to: stranger) }
                app.send(.resume)
                try await app.waitForLine(containing: "refetched notifications")
                try await Self.same(app, awake)
                await app.end()
                await awake.end()
            }
        }

        @Test(
            "what a connection brought that is then reset instead of answering is made once, under its key (S22, R14)")
        func resetAnswer() async throws {
            try await Quartet.with { quartet in
                let network = try RoughNetwork(to: try await quartet.edgePort(), random: SeededRandom(seed: 0))
                defer { network.stop() }
                let url = try #require(URL(string: "http://127.0.0.1:\(network.port)"))
                let transport = RecordingTransport(inner: HTTPTransport(asyncHTTP: url))
                try await PackageApp.with("anna", transport) { anna in
                    network.resetAnswer(to: "POST /v1/commands/ResetContactCode")
                    try await anna.clients.contacts.resetCode()
                    #expect(network.counts.reset == 1)
                    let sent = transport.sent(of: "ResetContactCode")
                    // An edge that is busy may say in between that there is no outcome yet.
                    #expect(sent.first?.outcome == "lost" && sent.last?.outcome == "accepted")
                    #expect(sent.count { $0.outcome == "accepted" } == 1)
                    #expect(Set(sent.map(\.key)).count == 1)
                    try await quartet.waitUntilQuiet()
                    // Made twice, it would give two codes.
                    let codes = try await quartet.psql(
                        "SELECT count(*) FROM contacts.log WHERE type = 'ContactCodeReset'")
                    #expect(codes == "1")
                }
            }
        }

        @Test("connections whose tasks were cancelled leave no task, no memory and no socket (T7)")
        func scopes() async throws {
            try await Quartet.with { quartet in
                for (handle, url) in [
                    ("anna", try quartet.url), ("bob", "grpc://127.0.0.1:\(try await quartet.rpcPort())"),
                ] {
                    try await ChildProcess.with("offline-app", ["scopes", url, "/", handle, "20"]) { app in
                        let line = try await app.waitForLine(containing: "left ")
                        #expect(line.text == "left 0 sockets, 0 connections", "\(url)")
                        try await app.waitForExit(.exited(0))
                    }
                }
            }
        }
    }
}
