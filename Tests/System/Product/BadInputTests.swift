import EdgeClient
import Foundation
import QuartetAPI
import TestKit
import Testing

/// Bad input for every field of every request: refused with the right status, code and field, and nothing is stored.
@Suite("End to end: bad input", .timeLimit(.minutes(60)))
struct BadInputTests {
    @Test(
        """
        every field of every command is refused when wrong, missing, unknown, misleading, out of range or someone \
        else's (T23)
        """)
    func commands() async throws {
        let rules = [
            Self.profile, Self.checkIns, Self.trips, Self.alerts, Self.bare, Self.approval, Self.tiers,
            Self.pingEscalation, Self.naming,
            Self.approving,
            Self.adding,
            Self.updating, Self.reading, Self.reminders, Self.clearing,
        ]
        try await Scene.with { scene in
            try await scene.refuse(rules.flatMap { $0 })
            for name in Self.privateCommands + ["checkIn", "UpdateProfil", "%20", String(repeating: "x", count: 3000)] {
                let reply = try await scene.send("/v1/commands/\(name)", Array("{}".utf8))
                expect(reply, 404, "unknownCommand", "type", name.prefix(20))
            }
            // No notification is from these times, however absurd they are, so nothing is cleared.
            for selection in [
                #"{"everything":true,"occurredBy":0}"#, #"{"everything":true,"occurredBy":-1}"#,
                #"{"everything":true,"occurredBy":-9223372036854775808}"#,
                #"{"kinds":["groupStarted"],"occurredBy":9223372036854775807}"#,
            ] {
                let body = #"{"selection":\#(selection)}"#
                let reply = try await scene.send("/v1/commands/ClearNotifications", Array(body.utf8))
                #expect(reply.status == 200 && reply.body["event"] == .null, "\(selection): \(reply)")
            }
        }
    }

    @Test(
        """
        every field of every command about group sessions is refused when wrong, missing, unknown, misleading, out of \
        range or someone else's (T23)
        """)
    func groupCommands() async throws {
        try await Scene.with { scene in
            try await scene.refuse(Self.groups + Self.playback + Self.attaching)
        }
    }

    /// Commands that only services, timers and operations may send.
    private static let privateCommands = [
        "OpenAccount", "CloseAccount", "SignUp", "SignIn", "RefreshDevice", "SignOut", "DeliverNotification",
        "RelayAlert", "ClearReceivedPings", "RespondToAllPings", "MissCheckIn", "ForgetOldNotifications", "ForgetPush",
        "RecordPushTaken",
        "ScheduleNotification", "CancelNotification", "DeliverScheduledNotification", "ChangePassword", "ResetPassword",
        "ChangePhone", "ConfirmIdentity", "RequestPhoneChange", "RequestSignInCode", "SignInByPhone", "SetAvatar",
        "FreeHandle", "RemindCheckIn", "RepeatAlarm", "AnnounceAlert", "ExpireGroupSession", "RenewEdge", "ExpireEdge",
        "ConnectParticipant", "DisconnectParticipant", "AnnounceDrop", "DropParticipant", "WithdrawInvitations",
        "ExpireSuspension", "RecordReached", "LapseReach", "RestoreReach", "SettleResponderReach", "BeginNextTier",
        "AskForRenewal",
    ]

    @Test(
        """
        sign-up, sign-in, sign-out, tokens and operations refuse fields that are wrong, missing, unknown or someone \
        else's (T23)
        """)
    func accounts() async throws {
        try await Scene.with { scene in
            try await scene.refuse(Self.signUp + Self.signIn + Self.tokens + Self.signOut + Self.operations)
            for (path, code, field) in Self.badReads {
                let reply = try await scene.quartet.edge.send("GET", path, token: scene.anna.token)
                expect(reply, 400, code, field, path)
            }
            let place = try await scene.quartet.edge.send(
                "GET", "/v1/stream", token: scene.anna.token, headers: ["last-event-id": "7"])
            #expect(place.status == 400 && place.body["code"] == "malformedEventID", "\(place)")
            let nowhere = try await scene.quartet.edge.send("GET", "/v2/account", token: scene.anna.token)
            expect(nowhere, 404, "notFound", nil, "/v2/account")
        }
    }

    /// Reads with a bad parameter, how it is refused, and its name.
    private static let badReads = [
        ("/v1/notifications?limit=0", "invalidParameter", "limit"),
        ("/v1/notifications?limit=x", "invalidParameter", "limit"),
        ("/v1/notifications?category=all", "invalidParameter", "category"),
        ("/v1/notifications?before=1", "invalidCursor", "before"),
        ("/v1/contacts?role=boss", "invalidParameter", "role"), ("/v1/contacts/me", "invalidID", "account"),
        ("/v1/contact-codes/1", "invalidID", "code"), ("/v1/groups?open=1", "invalidParameter", "open"),
        ("/v1/groups/1", "invalidID", "group"), ("/v1/groups/1/game", "invalidID", "group"),
        ("/v1/uploads/1", "invalidID", "upload"), ("/v1/groups/1/attachments/1", "invalidID", "group"),
        ("/v1/groups/1/messages", "invalidID", "group"),
        ("/v1/groups/019ce635-b000-8aaa-8bbb-ccccddddeeee/messages?after=-1", "invalidParameter", "after"),
        ("/v1/groups/019ce635-b000-8aaa-8bbb-ccccddddeeee/messages?limit=101", "invalidParameter", "limit"),
        ("/v1/operations/1", "invalidID", "operation"), ("/v1/operations?limit=51", "invalidParameter", "limit"),
    ]

    @Test(
        """
        phones, codes, confirmations, passwords, pushes, streams' tokens and closing refuse fields that are wrong, missing or someone \
        else's (T23)
        """)
    func security() async throws {
        try await Scene.with { scene in
            try await scene.refuse(Self.confirming + Self.phones + Self.pushes + Self.streams)
        }
    }

    // MARK: Requests, whatever they ask

    /// One of each sort, with a body that is good, and that would change little if it were taken.
    private static let requests: [(path: String, body: String)] = [
        ("/v1/sign-up", #"{"handle":"dora","password":"a long enough password"}"#),
        ("/v1/sign-in", #"{"handle":"nobody-here","password":"a long enough password"}"#),
        ("/v1/token", #"{"refreshToken":"<refresh>"}"#), ("/v1/sign-out", #"{"device":"<nobody>"}"#),
        ("/v1/confirm", #"{"password":"a long enough password"}"#),
        ("/v1/change-password", #"{"password":"a long enough password","newPassword":"a long enough password"}"#),
        ("/v1/reset-password", #"{"newPassword":"a long enough password"}"#),
        ("/v1/phone/verification", #"{"phoneCode":"<nobody>","code":"123456"}"#),
        ("/v1/commands/UpdateProfile", #"{"expectedVersion":1,"name":"Anne"}"#),
        ("/v1/commands/UpdateContact", #"{"contact":"<bob>","expectedVersion":1,"nickname":"B"}"#),
        ("/v1/commands/MarkAllRead", "{}"), ("/v1/operations/ClearAllReceivedPings", #"{"checkIn":false}"#),
    ]

    @Test("every path refuses bodies of another type, too large, too deep, not in UTF-8 or not JSON (T23)")
    func bodies() async throws {
        try await Scene.with { scene in
            for (path, body) in Self.requests {
                for type in [
                    "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
                    "application/jsonx", "application/merge-patch+json", "application/json/x",
                ] {
                    let reply = try await scene.send(path, Array(scene.fill(body).utf8), type: type)
                    expect(reply, 415, "notJSON", nil, "\(path) \(type)")
                }
                // The type is JSON, so it is the body that is no good.
                for type in ["application/json; charset=utf-8", "Application/JSON"] {
                    let reply = try await scene.send(path, Array("[]".utf8), type: type)
                    expect(reply, 400, "malformed", nil, "\(path) \(type)")
                }
                let longest = "[" + String(repeating: " ", count: 65_534) + "]"
                let large = try await scene.send(path, Array((longest + " ").utf8))
                expect(large, 413, "bodyTooLarge", nil, path)
                let largest = try await scene.send(path, Array(longest.utf8))
                expect(largest, 400, "malformed", nil, path)

                for (depth, code) in [(32, "malformed"), (33, "malformedBody"), (5000, "malformedBody")] {
                    let lists = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
                    let nested = try await scene.send(path, Array(lists.utf8))
                    expect(nested, 400, code, nil, "\(path) \(depth) lists")
                }
                let objects = String(repeating: "{\"a\":", count: 33) + "1" + String(repeating: "}", count: 33)
                let deep = try await scene.send(path, Array(objects.utf8))
                expect(deep, 400, "malformedBody", nil, "\(path) objects")

                // Overlong, a surrogate, beyond Unicode, cut off, out of place; UTF-16 with its mark and without.
                let invalid: [[UInt8]] = [
                    [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82], [0x80], [0xFF],
                    [0xFF, 0xFE, 0x7B, 0x00, 0x7D, 0x00], [0x7B, 0x00, 0x7D, 0x00], [0x00],
                ]
                for bytes in invalid {
                    let alone = try await scene.send(path, bytes)
                    expect(alone, 400, "malformedBody", nil, "\(path) \(bytes)")
                    let inside = try await scene.send(path, Array("{\"handle\":\"".utf8) + bytes + Array("\"}".utf8))
                    expect(inside, 400, "malformedBody", nil, "\(path) \(bytes) in a text")
                }
                for text in [
                    "{", "}", "{\"a\"", "nul", "'a'", "{'a':1}", "{\"a\":NaN}", "{\"a\":+1}", "{\"a\":0x10}", "{} {}",
                    "// no\n{}", "{\"a\":\"\\x\"}", "{\"a\":\"\u{7}\"}", "{a:1}", "{\"a\":1 \"b\":2}", "\"",
                ] {
                    let reply = try await scene.send(path, Array(text.utf8))
                    #expect(reply.status == 400 && reply.body["code"] == "malformed", "\(path) \(text): \(reply)")
                }
            }
            for method in ["GET", "PUT", "DELETE"] {
                let reply = try await scene.quartet.edge.send(
                    method, "/v1/commands/CheckIn", token: scene.anna.token)
                expect(reply, 405, "methodNotAllowed", nil, method)
                #expect(reply.headers["allow"] == "POST")
            }
        }
    }

    @Test(
        """
        an Idempotency-Key of another version or form, too old, from the future or used for something else is refused \
        (T23)
        """)
    func keys() async throws {
        try await Scene.with { scene in
            for (path, body) in Self.requests {
                let body = Array(scene.fill(body).utf8)
                for key in [
                    "6f9619ff-8b86-4d01-b42d-00cf4fc964ff", "00000000-0000-0000-0000-000000000000",
                    "ffffffff-ffff-ffff-ffff-ffffffffffff", "01a1fc7460f57a3d8f588ea58e860fb8",
                    "{01a1fc74-60f5-7a3d-8f58-8ea58e860fb8}", "urn:uuid:01a1fc74-60f5-7a3d-8f58-8ea58e860fb8",
                    "01a1fc74-60f5-7a3d-8f58-8ea58e860fb8x", "01a1fc74-60f5-7a3d-8f58", "1",
                ] {
                    let reply = try await scene.send(path, body, key: key)
                    expect(reply, 400, "invalidIdempotencyKey", "Idempotency-Key", "\(path) \(key)")
                }
                // Older than outcomes are kept, and so far ahead that an outcome would be kept for too long.
                for days in [-3650, -31, 2, 3650] {
                    let reply = try await scene.send(path, body, key: EdgeClient.newKey(daysFromNow: days))
                    #expect(reply.status == 400 && reply.body["code"] == "idTooOld", "\(path) \(days): \(reply)")
                }
            }

            // A key stands for what it was first sent with, also when that was refused.
            let key = EdgeClient.newKey()
            let stale = Array(#"{"expectedVersion":9,"name":"Anne"}"#.utf8)
            let first = try await scene.send("/v1/commands/UpdateProfile", stale, key: key)
            expect(first, 409, "staleVersion", "expectedVersion", "the first")
            for (path, body) in [
                ("/v1/commands/UpdateProfile", #"{"expectedVersion":1,"name":"Anne"}"#),
                ("/v1/commands/UpdateProfile", #"{"expectedVersion":9,"name":"Ann"}"#),
                ("/v1/commands/SetCheckInInterval", #"{"interval":3600000000}"#), ("/v1/commands/RaiseAlert", "{}"),
            ] {
                let reply = try await scene.send(path, Array(body.utf8), key: key)
                #expect(reply.status == 422 && reply.body["code"] == "idReused", "\(path) \(body): \(reply)")
            }
            let again = try await scene.send("/v1/commands/UpdateProfile", stale, key: key)
            expect(again, 409, "staleVersion", "expectedVersion", "the first again")
        }
    }
}

/// Checks the whole problem document of a refusal. Without a field none must be named.
private func expect(
    _ reply: EdgeClient.Reply, _ status: Int, _ code: String, _ field: String?, _ what: some StringProtocol
) {
    #expect(reply.status == status && reply.body["code"].string == code, "\(what): \(reply)")
    #expect(reply.body["field"].string == field, "\(what): \(reply)")
    #expect(reply.headers["content-type"] == "application/problem+json", "\(what)")
    #expect(
        reply.body["status"].int == Int64(status) && reply.body["title"].string?.isEmpty == false, "\(what): \(reply)")
    #expect(reply.body["type"].string == "/docs/errors/\(code)", "\(what): \(reply)")
    #expect((reply.body["detail"].string?.count ?? 0) > 10, "\(what): \(reply)")
    #expect(reply.body["retry"].string == APIError.Code(rawValue: code)?.retry.rawValue, "\(what): \(reply)")
}

/// Anna, who sends bad input; Bob, whose responder she is; and Eve, a stranger.
private struct Scene: Sendable {
    let quartet: Quartet
    let anna: Device
    /// The words that stand for something in bodies, such as `<bob>`.
    private let names: [String: String]

    /// Phone codes are on, guesses are hardly limited, and no outcome of a command under an old key is deleted while a test
    /// waits for it.
    private static let environment = [
        "PHONE_CODES": "log", "GUESSES_PER_MINUTE": "10000", "RETENTION_INTERVAL": "86400s",
    ]

    /// Runs `body`, after which everything must be as it was before.
    static func with(_ body: @Sendable (Scene) async throws -> Void) async throws {
        try await Quartet.with(services: []) { quartet in
            for service in Quartet.Service.allCases { try await quartet.start(service, environment: environment) }
            let (anna, bob, eve) = try await quartet.signUp("anna", "bob", "eve")
            try await anna.add(bob)
            // Nobody is connected, and that is known before anything is compared.
            _ = try await quartet.psql("UPDATE session.limits SET drop_notice = '0', drop_grace = '5 minutes'")
            let (group, foreign) = try await (Group.create(by: anna), Group.create(by: eve))
            try await group.act(anna, "ClaimSeat", ["seat": 0])
            try await group.act(anna, "StartGame", ["lead": 0])
            let away = "SELECT count(*) FROM session.participant WHERE is_drop_announced"
            try await quartet.wait(for: "both hosts to be away", away) { $0 == "2" }
            try await quartet.waitUntilQuiet()
            let told = try #require(try await bob.read("/v1/notifications")["notifications"][0]["id"].string)
            var names = [
                "<anna>": anna.account, "<bob>": bob.account, "<eve>": eve.account, "<nobody>": EdgeClient.newKey(),
                "<annaDevice>": anna.id, "<bobDevice>": bob.id, "<token>": anna.token,
                "<refresh>": anna.refreshToken,
            ]
            names["<own>"] = try await anna.code()
            names["<code>"] = try await bob.code()
            names["<told>"] = told
            (names["<group>"], names["<foreign>"]) = (group.id, foreign.id)
            // Hers but for the account in it.
            names["<forged>"] = bob.account + String(anna.refreshToken.dropFirst(anna.account.count))
            let before = try await everything(quartet, [anna, bob, eve])
            try await body(Scene(quartet: quartet, anna: anna, names: names))
            try await quartet.waitUntilQuiet()
            let after = try await everything(quartet, [anna, bob, eve])
            for (old, new) in zip(before, after) { #expect(old == new) }
        }
    }

    /// What people see of their own accounts, and the number of rows in each table.
    private static func everything(_ quartet: Quartet, _ devices: [Device]) async throws -> [String] {
        var seen: [String] = []
        for device in devices {
            for path in ["/v1/account", "/v1/contacts", "/v1/notifications"] {
                let state = try await device.read(path)
                seen.append("\(path) \(state)")
            }
            for group in try await device.offers().keys.sorted() {
                let state = try await device.read("/v1/groups/\(group)")
                seen.append("\(group) \(state)")
            }
        }
        let tables = [
            "session.account", "session.device", "session.timer", "contacts.account", "contacts.relation",
            "contacts.request", "contacts.block", "notifications.notification", "notifications.scheduled",
            "notifications.push_device", "session_client.upload",
            "session.group_session", "session.participant", "session.game", "session.playback", "session.queue_item",
            "session.attachment",
        ]
        let counts = tables.map { "'\($0) ' || (SELECT count(*) FROM \($0))" }.joined(separator: " || ', ' || ")
        seen.append(try await quartet.psql("SELECT \(counts)"))
        let events = "SELECT count(*) FROM %.log WHERE kind = 'event'"
        for schema in ["session", "contacts", "notifications"] {
            seen.append(try await quartet.psql(events.replacing("%", with: schema)))
        }
        return seen
    }

    /// A body with its words replaced by ids.
    func fill(_ body: String) -> String { names.reduce(body) { $0.replacing($1.key, with: $1.value) } }

    /// Sends bytes as Anna.
    func send(
        _ path: String, _ bytes: [UInt8], key: String? = nil, type: String = "application/json"
    ) async throws -> EdgeClient.Reply {
        try await quartet.edge.send(
            "POST", path, raw: bytes, token: anna.token, key: key, headers: ["content-type": type])
    }

    /// Sends bodies that must be refused, and checks how they are.
    func refuse(_ rules: [Rule]) async throws {
        for rule in rules {
            let path = rule.request.hasPrefix("/") ? rule.request : "/v1/commands/\(rule.request)"
            let body = fill(rule.body)
            let reply = try await send(path, Array(body.utf8))
            expect(reply, rule.status, rule.code, rule.field, "\(path) \(body.prefix(120))")
        }
    }
}
