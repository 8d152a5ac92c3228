import EdgeClient
import Foundation
import TestKit
import Testing

/// Pushes by the services of Apple, Google and browsers, which are played by a program that shares no code with the senders and checks all
/// that it gets by those services' documents.
@Suite("End to end: push services", .timeLimit(.minutes(60)))
struct PushServiceTests {
    /// What a service does with a device's pushes, and how our attempts end then.
    private typealias Reaction = (word: String, results: [String])

    private static let apns: [Reaction] = [
        ("takes", ["done"]), ("gone", ["gone"]), ("back", ["retried done"]), ("bad", ["retried done"]),
        ("large", ["refused"]),
        ("many", ["retried done"]), ("stale", ["retried done"]), ("fails", ["retried done"]),
        ("shutdown", ["retried done"]), ("topic", ["retried done"]),
        // The client may ask again by itself what the server says that it hasn't read.
        ("leaves", ["retried done", "done"]),
    ]
    private static let fcm: [Reaction] = [
        ("takes", ["done"]), ("gone", ["gone"]), ("bad", ["retried done"]), ("other", ["retried done"]),
        ("large", ["refused"]),
        ("many", ["retried done"]), ("stale", ["retried done"]), ("apple", ["retried done"]),
        ("fails", ["retried done"]), ("shutdown", ["retried done"]), ("proxy", ["retried done"]),
        ("leaves", ["retried done"]),
    ]

    private static let web: [Reaction] = [
        ("takes", ["done"]), ("queued", ["done"]), ("gone", ["gone"]), ("lost", ["gone"]), ("large", ["refused"]),
        ("many", ["retried done"]), ("bad", ["retried done"]), ("stale", ["retried done"]),
        ("forbidden", ["retried done"]), ("fails", ["retried done"]), ("shutdown", ["retried done"]),
        ("moved", ["retried done"]), ("floods", ["retried done"]), ("dawdles", ["retried done"]),
        ("leaves", ["retried done"]),
    ]

    @Test(
        """
        Apple's service gets what its documents ask for, over one connection and with one token, and each of its answers leads to \
        what they say (A14)
        """)
    func apple() async throws {
        try await PushServices.with { services in
            try await Quartet.with(services: [.session, .contacts]) { quartet in
                try await quartet.start(.notifications, environment: services.environment)
                try await quartet.start(.sessionClient)
                let people = try await quartet.alarm(Self.apns, on: "ios") { word in
                    "\(word)-1".utf8.map { String(format: "%02x", $0) }.joined()
                }
                try await quartet.expect(Self.apns, people)
                // A new key, while everything runs: the old one is refused, and nothing is lost.
                let connections = Set(try services.requests(of: "apns").map(\.["connection"].int))
                #expect(try services.requests(of: "apns").allSatisfy { $0["providerTokens"].int == 1 })
                #expect(connections.count <= 2)
                try services.rotate()
                let first = try #require(people["takes"])
                let before = services.process.lastLine
                try await first.act("ClearAlert")
                try await services.process.waitForLine("the push with the new key", after: before, on: .output) {
                    $0.contains(#""token": "takes-1""#) && $0.contains(#""status": 200"#)
                }
                try await quartet.waitUntilNothingWaits()
                let theirs = try services.requests(of: "apns").filter { $0["token"].string == "takes-1" }
                #expect(theirs.map(\.["status"].int) == [200, 403, 200])
                let (raised, cleared) = (try #require(theirs.first), try #require(theirs.last))
                #expect(cleared["providerTokens"].int == 2)
                // The end of an alarm takes its beginning's place.
                #expect(raised["headers"]["apns-collapse-id"].string != nil)
                #expect(raised["headers"]["apns-collapse-id"] == cleared["headers"]["apns-collapse-id"])
                #expect(raised["sent"]["aps"]["interruption-level"] == "critical")
                #expect(cleared["sent"]["aps"]["interruption-level"] == "active")
                #expect(raised["sent"]["quartet"]["notification"]["kind"] == "alertRaised")
                #expect(raised["sent"]["quartet"]["account"].string == first.account)
                try services.check("apns")
                try quartet.expectNoSecrets(["74616b65732d31"])
            }
        }
    }

    @Test(
        """
        Google's service gets what its documents ask for, with an access token that is used until it is refused, and each of its \
        answers leads to what they say (A14)
        """)
    func google() async throws {
        try await PushServices.with { services in
            try await Quartet.with(services: [.session, .contacts]) { quartet in
                try await quartet.start(.notifications, environment: services.environment)
                try await quartet.start(.sessionClient)
                let people = try await quartet.alarm(Self.fcm, on: "android") { "\($0)-1" }
                try await quartet.expect(Self.fcm, people)
                let grants = try services.requests(of: "oauth")
                // The first, and at most one for each answer that may be the token's fault.
                #expect(2...4 ~= grants.count && grants.allSatisfy { $0["wrong"] == [] }, "\(grants.count)")
                let raised = try #require(try services.requests(of: "fcm").first { $0["token"].string == "takes-1" })[
                    "sent"]
                #expect(raised["android"]["priority"] == "HIGH" && raised["data"]["kind"] == "alertRaised")
                let first = try #require(people["takes"])
                let before = services.process.lastLine
                try await first.act("ClearAlert")
                try await services.process.waitForLine("the push of the end", after: before, on: .output) {
                    $0.contains(#""token": "takes-1""#) && $0.contains(#""status": 200"#)
                }
                let cleared = try #require(
                    try services.requests(of: "fcm").last { $0["token"].string == "takes-1" })["sent"]
                #expect(cleared["data"]["kind"] == "alertCleared")
                #expect(cleared["android"]["notification"]["tag"] == raised["android"]["notification"]["tag"])
                try services.check("fcm")
                try quartet.expectNoSecrets(["takes-1", "granted-"])
            }
        }
    }

    @Test(
        """
        A browser's push service gets what the RFCs ask for, encrypted for the browser and signed by the sender, and each of its \
        answers leads to what they say (A14)
        """)
    func browsers() async throws {
        try await PushServices.with { services in
            try await Quartet.with(services: [.session, .contacts]) { quartet in
                try await quartet.start(.notifications, environment: services.environment)
                let key = try services.text("vapid.pub")
                try await quartet.start(.sessionClient, environment: ["PUSH_WEB_PUBLIC_KEY": key])
                #expect(try await quartet.edge.send("GET", "/v1/push/key").body["publicKey"].string == key)
                let said = try quartet.process(of: .notifications).lines()
                #expect(said.contains { $0.contains("PUSH_WEB_PRIVATE is set") } && said.contains { $0.contains(key) })
                let subscriptions = try JSON(parsing: services.text("web.json"))
                let people = try await quartet.alarm(Self.web, on: "web") { "\(subscriptions[$0])" }
                try await quartet.expect(Self.web, people)
                let first = try #require(people["takes"])
                let before = services.process.lastLine
                try await first.act("ClearAlert")
                try await services.process.waitForLine("the push of the end", after: before, on: .output) {
                    $0.contains(#""token": "takes-1""#) && $0.contains(#""status": 201"#)
                }
                let requests = try services.requests(of: "web")
                let theirs = requests.filter { $0["token"].string == "takes-1" }
                let (raised, cleared) = (try #require(theirs.first), try #require(theirs.last))
                #expect(raised["headers"]["urgency"] == "high" && cleared["headers"]["urgency"] == "normal")
                // What waits about the same alarm gives way to what came later, and another person's has another name.
                #expect(raised["headers"]["topic"].string != nil)
                #expect(raised["headers"]["topic"] == cleared["headers"]["topic"])
                #expect(Set(requests.map(\.["headers"]["topic"].string)).count == Self.web.count)
                #expect(raised["sent"]["kind"] == "alertRaised" && raised["sent"]["title"] == "You raised an alert")
                #expect(raised["sent"]["account"].string == first.account && raised["sent"]["unread"] == 1)
                #expect(raised["sent"]["alarm"].string != nil && raised["sent"]["alarm"] == cleared["sent"]["alarm"])
                #expect(requests.allSatisfy { $0["plainInBody"] == false && $0["reason"] == nil })
                #expect(!requests.contains { $0["token"].string?.hasPrefix("elsewhere") == true })
                try services.check("web", taken: 201...202)
                try quartet.expectNoSecrets(["takes-1", "vapid t="])
            }
        }
    }

    @Test("a browser's push service at a private address isn't asked, unless the settings say so (A14)")
    func privateAddress() async throws {
        try await PushServices.with { services in
            try await Quartet.with(services: [.session, .contacts]) { quartet in
                let environment = services.environment.filter { $0.key != "PUSH_WEB_PRIVATE" }
                try await quartet.start(.notifications, environment: environment)
                try await quartet.start(.sessionClient)
                #expect(try await quartet.edge.send("GET", "/v1/push/key").body["publicKey"].string == nil)
                let bob = try await quartet.signUp("bob")
                let subscription = "\(try JSON(parsing: services.text("web.json"))["takes"])"
                let elsewhere = subscription.replacing(/localhost:\d+/, with: "localhost")
                for (token, reason) in [
                    (subscription, "isn''t that of a push service"), (elsewhere, "it has no public address"),
                ] {
                    try await bob.act("RegisterPush", ["token": .string(token), "platform": "web"])
                    try await bob.act("RaiseAlert")
                    try await quartet.wait(
                        for: "the push to be refused",
                        "SELECT count(*) FROM notifications.push_attempt WHERE answer LIKE '%\(reason)'"
                    ) { $0 != "0" }
                    try await bob.act("ClearAlert")
                }
                #expect(try services.requests(of: "web").isEmpty)
            }
        }
    }

    @Test("a push that nothing is set for is only logged, and doesn't count as done (A13, A14)")
    func logged() async throws {
        try await Quartet.with { quartet in
            let bob = try await quartet.signUp("bob")
            try await bob.act("RegisterPush", ["token": "phone", "platform": "ios"])
            try await bob.act("RaiseAlert")
            try await quartet.waitUntilNothingWaits()
            #expect(
                try await quartet.psql("SELECT result || ': ' || answer FROM notifications.push_attempt")
                    == "logged: it was only logged")
            let health = try await quartet.readiness(of: .notifications)
            #expect(health.status == 200)
            #expect(health.body["checks"]["push services"].string?.contains("an alarm reaches nobody") == true)
        }
    }

    @Test("an operator whose app is for one platform lacks nothing until a device of another one is registered (A14)")
    func onePlatform() async throws {
        try await PushServices.with { services in
            try await Quartet.with(services: [.session, .contacts]) { quartet in
                let apple = services.environment.filter { !$0.key.contains("FCM") }
                try await quartet.start(.notifications, environment: apple)
                try await quartet.start(.sessionClient)
                let (bob, carol) = try await quartet.signUp("bob", "carol")
                let (shownAs, problem) = ("push services", "pushes to android are only logged")
                try await bob.act("RegisterPush", ["token": "6161", "platform": "ios"])
                try await bob.act("RaiseAlert")
                try await quartet.waitUntilNothingWaits()
                #expect(try await quartet.readiness(of: .notifications).body["checks"][shownAs] == "ready")
                try await carol.act("RegisterPush", ["token": "phone", "platform": "android"])
                for _ in 0..<1200 {
                    let words = try await quartet.readiness(of: .notifications).body["checks"][shownAs].string ?? ""
                    if words.contains(problem) {
                        #expect(words.contains("set PUSH_FCM_ACCOUNT_FILE, or PUSH_WEBHOOK_URL"))
                        return
                    }
                    try await Task.sleep(for: .milliseconds(100))
                }
                Issue.record("waited two minutes for the health check to say: \(problem)")
            }
        }
    }

    @Test("settings of push services that don't fit together, or files that can't be used, are said at the start (A14)")
    func unusable() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "quartet-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "no-key").path
        try "no key".write(toFile: file, atomically: true, encoding: .utf8)
        let apns = ["PUSH_APNS_KEY_FILE": file, "PUSH_APNS_KEY_ID": "K", "PUSH_APNS_TEAM": "T"]
        try await Quartet.with(services: [.session]) { quartet in
            for (environment, sentence) in [
                (apns, "pushes to Apple's devices need PUSH_APNS_TOPIC, too"),
                (apns.merging(["PUSH_APNS_TOPIC": "app"]) { $1 }, "PUSH_APNS_KEY_FILE must name a readable file"),
                (["PUSH_FCM_ACCOUNT_FILE": file], "PUSH_FCM_ACCOUNT_FILE must name a readable file"),
                (["PUSH_WEB_KEY_FILE": file], "pushes to browsers need PUSH_WEB_SUBJECT, too"),
                (["PUSH_WEB_SUBJECT": "mailto:a@b.example"], "pushes to browsers need PUSH_WEB_KEY_FILE, too"),
                (
                    ["PUSH_WEB_KEY_FILE": file, "PUSH_WEB_SUBJECT": "mailto:a@b.example"],
                    "PUSH_WEB_KEY_FILE must name a readable file"
                ),
                (["PUSH_AUTHORITIES_FILE": "\(file)-missing"], "PUSH_AUTHORITIES_FILE must name a readable file"),
            ] {
                let process = try await quartet.startAnother(.notifications, environment: environment)
                try await process.waitForLine(containing: sentence, on: .error)
                let status = try await process.waitForExit()
                #expect(status != .exited(0))
            }
        }
    }
}

extension Quartet {
    /// Signs up a person for each reaction, whose device has the token, and has each raise an alert.
    fileprivate func alarm(
        _ reactions: [(word: String, results: [String])], on platform: String, token: (String) -> String
    ) async throws -> [String: Device] {
        var people: [String: Device] = [:]
        for (word, _) in reactions {
            let person = try await signUp("with-\(word)")
            try await person.act("RegisterPush", ["token": .string(token(word)), "platform": .string(platform)])
            try await person.act("RaiseAlert")
            people[word] = person
        }
        try await waitUntilNothingWaits()
        return people
    }

    fileprivate func expect(
        _ reactions: [(word: String, results: [String])], _ people: [String: Device]
    ) async throws {
        for (word, results) in reactions {
            let account = try #require(people[word]).account
            let result = try await psql(
                """
                SELECT string_agg(result, ' ' ORDER BY attempt) FROM notifications.push_attempt
                 WHERE account = '\(account)'
                """)
            // Another device's answer may have ended the connection or the token that this one was sent with.
            let withoutRepeats = result.replacing(/(retried )+/, with: "retried ")
            #expect(results.contains(withoutRepeats), "\(word): \(result)")
            let devices = try await psql("SELECT count(*) FROM notifications.push_device WHERE account = '\(account)'")
            if results == ["gone"] {
                try await wait(
                    for: "the device of \(word) to be forgotten",
                    "SELECT count(*) FROM notifications.push_device WHERE account = '\(account)'"
                ) { $0 == "0" }
            } else {
                #expect(devices == "1", "\(word)")
            }
        }
    }

    fileprivate func waitUntilNothingWaits() async throws {
        try await waitUntilQuiet()
        try await wait(for: "all pushes to be sent", "SELECT count(*) FROM notifications.push") { $0 == "0" }
    }

    fileprivate func expectNoSecrets(_ secrets: [String]) throws {
        let said = try process(of: .notifications).lines()
        for secret in secrets + ["bearer ", "Bearer ", "PRIVATE KEY"] {
            #expect(!said.contains { $0.contains(secret) })
        }
    }
}

/// The program that plays push services, while it runs.
struct PushServices: Sendable {
    let folder: URL
    let process: ChildProcess
    private let ports: [String]

    static func with(_ body: (PushServices) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "quartet-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let python = Products.package.appending(path: ".local/python/bin/python").path
        let program = Products.package.appending(path: "Tests/System/Product/Clients/pushes.py").path
        try await ChildProcess.with(python, [program, folder.path], name: "push services") { process in
            let ready = try await process.waitForLine("the push services to be ready", on: .output) {
                $0.hasPrefix("ready ")
            }.text
            let ports = ready.split(separator: " ").dropFirst().map(String.init)
            try await body(PushServices(folder: folder, process: process, ports: ports))
        }
    }

    var environment: [String: String] {
        [
            "PUSH_APNS_URL": "https://localhost:\(ports[0])", "PUSH_FCM_URL": "https://localhost:\(ports[1])",
            "PUSH_APNS_KEY_FILE": path("apns.p8"), "PUSH_APNS_KEY_ID": "KEY1234567", "PUSH_APNS_TEAM": "TEAM123456",
            "PUSH_APNS_TOPIC": "app.quartet.test", "PUSH_APNS_CRITICAL": "true",
            "PUSH_WEB_KEY_FILE": path("vapid.pem"), "PUSH_WEB_SUBJECT": "mailto:operator@quartet-test.example",
            "PUSH_WEB_PRIVATE": "true",
            "PUSH_FCM_ACCOUNT_FILE": path("fcm.json"), "PUSH_AUTHORITIES_FILE": path("authority.pem"),
        ]
    }

    /// What a file has that the program wrote.
    func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appending(path: name), encoding: .utf8)
    }

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    /// All requests to one of them so far, in order.
    func requests(of service: String) throws -> [JSON] {
        try process.lines(on: .output).filter { $0.hasPrefix("{") }.map { try JSON(parsing: $0) }.filter {
            $0["service"].string == service
        }
    }

    /// Everything was as the documents want it, and each push had one id.
    func check(_ service: String, taken: ClosedRange<Int64> = 200...200) throws {
        let requests = try requests(of: service)
        #expect(requests.allSatisfy { $0["wrong"] == [] }, "\(requests.filter { $0["wrong"] != [] })")
        for (id, same) in Dictionary(grouping: requests, by: \.["id"].string) {
            #expect(id != nil && Set(same.map(\.["token"])).count == 1)
            // What it took without a whole answer is sent once more.
            let isUnheard = same.contains { ["floods-1", "dawdles-1"].contains($0["token"].string ?? "") }
            #expect(same.count { $0["status"].int.map(taken.contains) ?? false } <= (isUnheard ? 2 : 1))
        }
    }

    /// Replaces the key of Apple, of which the service knows only the new one from now on.
    func rotate() throws {
        let key = try Data(contentsOf: folder.appending(path: "rotated.p8"))
        try key.write(to: folder.appending(path: "apns.p8"), options: .atomic)
        try Data().write(to: folder.appending(path: "rotate"))
    }
}
