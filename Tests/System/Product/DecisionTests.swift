import EdgeClient
import Foundation
import RPCClient
import TestKit
import Testing

/// What may become of anything that a service decides, whatever it is: each such operation, over HTTP and gRPC.
@Suite("End to end: what every decision may be", .timeLimit(.minutes(60)))
struct DecisionTests {
    @Test(
        """
        a key that is too old, or was used for another request, is refused by every operation that is done once, and so is a \
        request that the database refuses, over HTTP and gRPC (R14, R15, T23)
        """)
    func keys() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: Self.environment)
            let scene = try await DecidedScene(quartet)
            try await quartet.rpc { rpc in
                try await scene.expect("idTooOld", rpc) { _ in (.asIs, EdgeClient.newKey(daysFromNow: -31)) }

                // Each used for something else of each service.
                let keys = [EdgeClient.newKey(), EdgeClient.newKey()]
                let uses = [
                    ["CheckIn", "SetContactApproval", "MarkAllRead", "ClearAllReceivedPings"],
                    ["ClearAlert", "ResetContactCode", "UnregisterPush", "RespondToAllPings"],
                ]
                for (key, names) in zip(keys, uses) {
                    for name in names { _ = try await scene.send(name, .asIs, key) }
                }
                for name in scene.names(refusing: "idReused") where scene.others[name] != nil {
                    _ = try await scene.send(name, .asIs, keys[0])
                }
                try await scene.expect("idReused", rpc) { name in
                    (scene.others[name] == nil ? .asIs : .other, uses[0].contains(name) ? keys[1] : keys[0])
                }
                try await quartet.waitUntilQuiet()

                for domain in Self.domains {
                    _ = try await quartet.psql(
                        """
                        ALTER TABLE session_client.\(domain)_commands
                          ADD CONSTRAINT nothing_is_taken CHECK (kind <> 'command') NOT VALID
                        """)
                }
                // The other form, because another code to the same phone would come too soon.
                try await scene.expect("refused", rpc) { _ in (.other, EdgeClient.newKey()) }
                for domain in Self.domains {
                    _ = try await quartet.psql(
                        "ALTER TABLE session_client.\(domain)_commands DROP CONSTRAINT nothing_is_taken")
                }
            }
        }
    }

    @Test(
        """
        whatever is asked while its service is away isn't decided yet, and has expired when the service comes back too late, \
        over HTTP and gRPC (R14, R15)
        """)
    func late() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: Self.environment)
            let scene = try await DecidedScene(quartet)
            let services = [Quartet.Service.session, .contacts, .notifications]
            try await quartet.rpc { rpc in
                try await quartet.waitUntilQuiet()
                for service in services { try await quartet.kill(service) }
                // Of each transport and each operation.
                let keys = Dictionary(
                    uniqueKeysWithValues: scene.names(refusing: "noOutcomeYet").flatMap { name in
                        ["HTTP", "gRPC"].map { ("\($0) \(name)", EdgeClient.newKey()) }
                    })
                try await scene.expectAtOnce("noOutcomeYet", rpc, keys)
                for domain in Self.domains {
                    _ = try await quartet.psql(
                        """
                        UPDATE session_client.\(domain)_commands
                           SET expires_at = clock_timestamp() - interval '1 second' WHERE expires_at > clock_timestamp()
                        """)
                }
                for service in services { try await quartet.start(service) }
                try await quartet.waitUntilQuiet()
                try await scene.expectAtOnce("expired", rpc, keys)
            }
        }
    }

    @Test("a device that is signed out while its requests wait is refused what they prove (R15, S17)")
    func signedOut() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let proofs: [(name: String, path: String, body: JSON)] = [
                ("Confirm", "/v1/confirm", ["password": "a long enough password"]),
                (
                    "ChangePassword", "/v1/change-password",
                    ["password": "a long enough password", "newPassword": "quite another password"]
                ),
            ]
            func waitFor(_ count: Int) async throws {
                try await quartet.wait(
                    for: "\(count) commands",
                    """
                    SELECT count(DISTINCT command_id) FROM session_client.session_commands
                     WHERE type IN ('SignOut', 'ConfirmIdentity', 'ChangePassword')
                    """
                ) { (Int($0) ?? 0) >= count }
            }
            // On a busy machine all of it may take longer than a request waits, so they are sent again. What is sent
            // again once the device is signed out isn't let in.
            let (codes, passing) = (["deviceSignedOut", "signedOut"], ["noOutcomeYet", "overloaded"])
            try await quartet.rpc { rpc in
                quartet.send(.stop, to: .session)
                async let end = quartet.edge.insist("/v1/sign-out", [:], token: anna.token)
                try await waitFor(1)
                try await withThrowingTaskGroup(of: String?.self) { group in
                    for (name, path, body) in proofs {
                        group.addTask {
                            try await quartet.edge.insist(path, body, token: anna.token).body["code"].string
                        }
                        group.addTask {
                            let key = EdgeClient.newKey()
                            while true {
                                do {
                                    return "\(try await rpc.call(name, body, token: anna.token, key: key).body)"
                                } catch let refused as RPCClient.Refused {
                                    guard passing.contains(refused.code ?? "") else { return refused.code }
                                }
                            }
                        }
                    }
                    try await waitFor(1 + 2 * proofs.count)
                    quartet.send(.resume, to: .session)
                    for try await code in group { #expect(codes.contains(code ?? ""), "\(code ?? "")") }
                }
                let ended = try await end
                #expect(ended.isSuccess || ended.body["code"] == "signedOut", "\(ended)")
            }
        }
    }

    @Test("what gave a device its tokens gives them no more once it is signed out (R15, S17)")
    func over() async throws {
        try await Quartet.with { quartet in
            let password: JSON = "a long enough password"
            let anna = try await quartet.signUp("anna")
            for (path, body) in [
                ("/v1/sign-up", ["handle": "dora", "password": password]),
                ("/v1/sign-in", ["handle": "dora", "password": password]),
                ("/v1/token", ["refreshToken": .string(anna.refreshToken)]),
            ] as [(String, JSON)] {
                let key = EdgeClient.newKey()
                let first = try await quartet.edge.insist(path, body, key: key)
                let token = try #require(first.body["accessToken"].string, "\(first)")
                _ = try await quartet.edge.insist("/v1/sign-out", [:], token: token)
                let again = try await quartet.edge.insist(path, body, key: key)
                #expect(again.status == 401 && again.body["code"] == "signedOut", "\(path): \(again)")
            }
        }
    }

    private static let domains = ["session", "contacts", "notifications"]
    /// Passwords may be tried often.
    /// One account asks for everything at once, so it needs more places than people do.
    private static let environment = [
        "PHONE_CODES": "log", "GUESSES_PER_MINUTE": "10000", "COMMANDS_UNANSWERED": "32768",
    ]
}

/// Anna, who asks for everything that a service decides; Bob, her contact; a group session of hers.
private struct DecidedScene: Sendable {
    enum Form: Sendable { case asIs, other }

    let description: Description
    private let quartet: Quartet
    private let anna: Device
    private let messages: [String: JSON]
    /// What asks for something else of the same kind, where every kind has its own keys.
    let others: [String: JSON]

    init(_ quartet: Quartet) async throws {
        self.quartet = quartet
        description = Description(try await quartet.edge.send("GET", "/openapi.json").body)
        let (anna, bob) = try await quartet.signUp("anna", "bob")
        let tablet = try await Device.signIn("anna", at: quartet.edge)
        // A drill needs somebody who hears of it.
        try await anna.add(bob, isMyResponder: true)
        let group = try await Group.create(by: anna)
        self.anna = anna
        let code = try await bob.code()
        // A picture's bytes stand here in base64.
        let pictures = try [AvatarTests.png(), AvatarTests.png(padding: 100)].map {
            JSON.string(Data($0).base64EncodedString())
        }
        let (contact, id): (JSON, JSON) = (["contact": .string(bob.account)], .string(EdgeClient.newKey()))
        let password: JSON = "a long enough password"
        messages = [
            "SignUp": ["handle": "dora", "password": password],
            "SignIn": ["handle": "anna", "password": password],
            "RequestSignInCode": ["phone": "+4930999999"],
            "RefreshToken": ["refreshToken": .string(anna.refreshToken)],
            "Undo": ["refreshToken": .string(anna.refreshToken)],
            "SignOut": ["device": .string(EdgeClient.newKey())],
            "Confirm": ["password": password],
            "ChangePassword": ["password": "not this password", "newPassword": "quite another password"],
            "ResetPassword": ["newPassword": "quite another password"],
            "ChangePhone": ["phone": "+4930111111"],
            "VerifyPhone": ["phoneCode": .string(EdgeClient.newKey()), "code": "123456"],
            "AddContact": ["code": .string(code), "iAmResponder": true],
            "ApproveContactRequest": contact.adding("isMyResponder", true).adding("iAmResponder", false),
            "DeclineContactRequest": contact, "WithdrawContactRequest": contact, "RequestRoleChange": contact,
            "AcceptRoleChange": contact, "DeclineRoleChange": contact, "WithdrawRoleChange": contact,
            "SetContactApproval": ["isRequired": true],
            "SetResponderTiers": ["tiers": [["after": 900_000_000, "responders": [.string(bob.account)]]]],
            "SetPingEscalation": ["after": 3_600_000_000], "SetPingQuietHours": ["quietHours": ["from": 0, "to": 60]],
            "UpdateContact": contact.adding("expectedVersion", 1).adding("nickname", "Bobby"),
            "RemoveContact": contact, "BlockContact": contact, "UnblockContact": contact, "SendPing": contact,
            "CancelPing": contact, "RespondToPing": contact,
            "AcknowledgeAlarm": contact.adding("alarm", id).adding("answer", "cannot"),
            "UpdateProfile": ["expectedVersion": 1, "name": "Anne"], "SetAvatar": pictures[0],
            "UpdateSecurity": ["isSingleDevice": false],
            "SetCheckInInterval": ["interval": 3_600_000_000], "SetCheckInReminders": ["reminders": ["twoHours"]],
            "SetCheckInGrace": ["grace": 600_000_000], "PauseCheckIns": ["until": 1],
            "SetDailyCheckIns": ["times": [480], "weekdays": ["monday"], "zone": "Europe/Berlin"],
            "StartTrip": ["name": "Lake", "eta": 1], "ExtendTrip": ["trip": id, "eta": 1],
            "EndTrip": ["trip": id, "end": "arrived"],
            "MarkRead": ["id": id], "AnswerDrill": ["id": id],
            "ScheduleReminder": ["id": id, "text": "Tea", "due": 1], "CancelReminder": ["id": id],
            "ClearNotifications": ["selection": ["everything": true]],
            "ShowNotifications": ["ids": [id]], "RegisterPush": ["token": "x", "platform": "ios"],
            "CreateGroupSession": [
                "activity": ["identifier": "org.example.other", "type": "generic", "title": "A game"]
            ],
        ].merging(GroupRequests.all(to: group.id, with: bob.account, file: String(repeating: "0", count: 64))) { $1 }
        others = [
            "SignUp": ["handle": "dora", "password": "quite another password"],
            "SignIn": ["handle": "anna", "password": "quite another password"],
            "RefreshToken": ["refreshToken": .string(tablet.refreshToken)],
            "Undo": ["refreshToken": .string(anna.refreshToken), "since": 1],
            "SignOut": ["device": .string(EdgeClient.newKey())],
            "Confirm": ["password": "not this password"],
            "ChangePassword": ["password": "not this password", "newPassword": "yet another password"],
            "ResetPassword": ["newPassword": "yet another password"],
            "ChangePhone": ["phone": "+4930222222"],
            "VerifyPhone": ["phoneCode": .string(EdgeClient.newKey()), "code": "654321"],
            "SetAvatar": pictures[1],
        ]
    }

    /// The operations that may be refused in a way, but one that another device would have to ask for: ten codes.
    func names(refusing code: String) -> [String] {
        description.appOperations.filter {
            $0.refusals[code] != nil && !($0.id == "MakeRecoveryCodes" && code == "idReused")
        }.map(\.id)
    }

    private func message(_ name: String, _ form: Form) -> JSON {
        switch form {
        case .asIs: messages[name] ?? [:]
        case .other: others[name] ?? messages[name] ?? [:]
        }
    }

    /// - Parameter code: What is expected.
    func send(
        _ name: String, _ form: Form, _ key: String, expecting code: String = ""
    ) async throws -> EdgeClient.Reply {
        let operation = try #require(description[name])
        let message = message(name, form)
        let (path, body) = operation.request(message.members)
        let picture = message.string.flatMap { Data(base64Encoded: $0) }
        while true {
            let reply = try await quartet.edge.send(
                operation.method, path, body: operation.content.isEmpty ? nil : body, raw: picture.map(Array.init),
                token: anna.token, key: key, headers: picture == nil ? [:] : ["content-type": "image/png"])
            guard Self.isPassing(reply.body["code"].string, expecting: code) else { return reply }
            try await Self.waitForRoom()
        }
    }

    private func call(
        _ rpc: RPCClient, _ name: String, _ form: Form, _ key: String, expecting code: String
    ) async throws {
        while true {
            do {
                _ = try await rpc.call(name, message(name, form), token: anna.token, key: key)
                return
            } catch let refused as RPCClient.Refused where Self.isPassing(refused.code, expecting: code) {
                try await Self.waitForRoom()
            }
        }
    }

    /// Few passwords are hashed at a time, and on a busy machine a request that waits for its turn may not be decided in time.
    private static func isPassing(_ code: String?, expecting expected: String) -> Bool {
        code != expected && ["overloaded", "noOutcomeYet", "tooManyUploads"].contains(code)
    }

    /// A request that is refused for want of room isn't told when there is some.
    private static func waitForRoom() async throws { try await Task.sleep(for: .milliseconds(200)) }

    /// Asks for one after the other, and expects the same refusal of all.
    func expect(
        _ code: String, _ rpc: RPCClient, _ request: (String) -> (form: Form, key: String)
    ) async throws {
        for name in names(refusing: code) {
            let (form, key) = request(name)
            let reply = try await send(name, form, key, expecting: code)
            check(reply, name, code)
            guard RPCClient.calls.contains(name) else { continue }
            await check(name, code) { try await call(rpc, name, form, key, expecting: code) }
        }
    }

    /// Asks for all at once.
    /// - Parameter keys: By transport and name.
    func expectAtOnce(_ code: String, _ rpc: RPCClient, _ keys: [String: String]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in names(refusing: code) {
                group.addTask {
                    check(try await send(name, .asIs, keys["HTTP \(name)"] ?? "", expecting: code), name, code)
                }
                guard RPCClient.calls.contains(name) else { continue }
                group.addTask {
                    await check(name, code) {
                        try await call(rpc, name, .other, keys["gRPC \(name)"] ?? "", expecting: code)
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func check(_ reply: EdgeClient.Reply, _ name: String, _ code: String) {
        #expect(
            reply.body["code"].string == code && reply.status == description[name]?.refusals[code],
            "\(name) \(code): \(reply)")
    }

    private func check(_ name: String, _ code: String, _ call: () async throws -> Void) async {
        do {
            try await call()
            Issue.record("\(name) over gRPC isn't refused as \(code)")
        } catch {
            #expect((error as? RPCClient.Refused)?.code == code, "\(name) over gRPC: \(error)")
        }
    }
}
