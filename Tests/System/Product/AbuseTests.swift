import EdgeClient
import Foundation
import TestKit
import Testing

/// What strangers, mistakes and attackers get.
@Suite("End to end: abuse", .timeLimit(.minutes(30)))
struct AbuseTests {
    @Test("nobody reads or changes what isn't theirs")
    func strangers() async throws {
        try await Quartet.with { quartet in
            let anna = try await Device.signUp("anna", name: "Anna", at: quartet.edge)
            let bob = try await Device.signUp("bob", name: "Bob", at: quartet.edge)
            let eve = try await Device.signUp("eve", name: "Eve", at: quartet.edge)
            try await anna.add(bob)
            try await anna.act("SendPing", ["contact": .string(bob.account)])
            let key = EdgeClient.newKey()
            let operation = try await bob.operate("ClearAllReceivedPings", key: key)
            let id = operation["id"].string ?? ""

            let card = try await eve.edge.send("GET", "/v1/contacts/\(anna.account)", token: eve.token)
            #expect(card.status == 404 && card.body["code"] == "notContact")
            for path in ["/v1/operations/\(id)", "/v1/operations/\(EdgeClient.newKey())"] {
                let reply = try await eve.edge.send("GET", path, token: eve.token)
                #expect(reply.status == 404 && reply.body["code"] == "notFound")
            }
            let ping = try await eve.ask("SendPing", ["contact": .string(anna.account)])
            #expect(ping.status == 404 && ping.body["code"] == "notContact")
            let removal = try await eve.ask("RemoveContact", ["contact": .string(bob.account)])
            #expect(removal.status == 404)
            let told = try #require(
                try await bob.read("/v1/notifications")["notifications"].array.first?["id"].string)
            let read = try await eve.ask("MarkRead", ["id": .string(told)])
            #expect(read.status == 404)
            // One that is somebody else's is answered like one that isn't there, and nothing becomes of it.
            for id in [told, EdgeClient.newKey()] {
                let one = try await eve.edge.send("GET", "/v1/notifications/\(id)", token: eve.token)
                #expect(one.status == 404 && one.body["code"] == "notFound", "\(one)")
                let ids: JSON = .array([.string(id)])
                for (command, body) in [
                    ("ClearNotifications", ["selection": ["ids": ids]] as JSON), ("ShowNotifications", ["ids": ids]),
                ] {
                    let reply = try await eve.ask(command, body)
                    #expect(reply.status == 200 && reply.body["event"] == .null, "\(command): \(reply)")
                }
                let out = try await eve.edge.insist("/v1/sign-out", ["device": .string(id)], token: eve.token)
                let foreign = try await eve.edge.insist("/v1/sign-out", ["device": .string(bob.id)], token: eve.token)
                #expect(out.status == 404 && out.body == foreign.body, "\(out) \(foreign)")
            }
            let own = try await bob.read("/v1/notifications/\(told)")
            let shown = try await quartet.psql("SELECT count(*) FROM notifications.shown")
            #expect(own["read"] == .null && own["cleared"] == .null && shown == "0", "\(own)")
            let byAccount = try await eve.ask("AddContact", ["contact": .string(bob.account), "iAmResponder": true])
            #expect(byAccount.status == 400 && byAccount.body["field"] == "contact")
            // The same Idempotency-Key is another request when another account sends it.
            let same = try await eve.operate("ClearAllReceivedPings", key: key)
            #expect(same["id"] != operation["id"] && same["result"]["contacts"] == [])
            // An account in the body is no field, so nobody can speak for another.
            let forged = try await eve.ask("CheckIn", ["account": .string(anna.account)])
            #expect(forged.status == 400 && forged.body["field"] == "account")
            let state = try await anna.read("/v1/account")
            #expect(state["checkIn"]["last"] == .null)

            // Commands that are for the services alone.
            for command in [
                "OpenAccount", "CloseAccount", "SignUp", "SignIn", "RefreshDevice", "SignOut", "DeliverNotification",
                "RelayAlert", "ClearReceivedPings", "RespondToAllPings", "MissCheckIn", "ForgetOldNotifications",
                "ForgetPush", "ScheduleNotification", "CancelNotification", "DeliverScheduledNotification",
                "ChangePassword", "ResetPassword", "ChangePhone", "ConfirmIdentity", "RequestPhoneChange",
                "RequestSignInCode",
                "SignInByPhone", "SetAvatar", "FreeHandle", "Nonsense",
            ] {
                let reply = try await eve.ask(command)
                #expect(reply.status == 404 && reply.body["code"] == "unknownCommand", "\(command): \(reply)")
            }
            // A responder sees the note, nobody else.
            try await bob.act("UpdateProfile", ["expectedVersion": 1, "emergencyNote": "secret"])
            try await eve.add(bob, isMyResponder: true, iAmResponder: false)
            let seen = try await (anna.card(of: bob), eve.card(of: bob))
            #expect(seen.0["person"]["emergencyNote"] == "secret" && seen.1["person"]["emergencyNote"] == .null)
            #expect(seen.1["person"]["name"] == "Bob" && seen.1["person"]["checkIn"] == .null)
        }
    }

    @Test("S42: tokens: missing, forged, foreign, refreshed, reused, signed out")
    func tokens() async throws {
        try await Quartet.with { quartet in
            let anna = try await Device.signUp("anna", at: quartet.edge)
            func status(_ token: String?) async throws -> (Int, JSON) {
                let reply = try await quartet.edge.send("GET", "/v1/account", token: token)
                return (reply.status, reply.body["code"])
            }
            let parts = anna.token.split(separator: ".").map(String.init)
            let claims = Data(
                #"{"iss":"quartet","sub":"\#(anna.account)","dev":"\#(anna.id)","iat":1,"exp":9999999999}"#.utf8
            )
            .base64EncodedString().replacing("=", with: "")
            let none = Data(#"{"alg":"none","typ":"JWT"}"#.utf8).base64EncodedString().replacing("=", with: "")
            let forgeries = [
                "x", "a.b.c", "\(parts[0]).\(claims).\(parts[2])", "\(none).\(claims).", anna.refreshToken,
                String(repeating: "a", count: 5000), anna.token + "x",
            ]
            for token in forgeries {
                let (code, problem) = try await status(token)
                #expect(code == 401 && problem == "invalidToken", "\(token.prefix(40)): \(code) \(problem)")
            }
            let missing = try await status(nil)
            #expect(missing.0 == 401 && missing.1 == "missingToken")
            let inURL = try await quartet.edge.send("GET", "/v1/account?access_token=\(anna.token)")
            #expect(inURL.status == 401 && inURL.headers["www-authenticate"] == "Bearer")

            // Another system's token, though it looks the same.
            // Rotation, and a request for it that is sent again.
            let key = EdgeClient.newKey()
            let request: JSON = ["refreshToken": .string(anna.refreshToken)]
            let next = try Device(try await quartet.edge.insist("/v1/token", request, key: key), edge: quartet.edge)
            let again = try Device(try await quartet.edge.insist("/v1/token", request, key: key), edge: quartet.edge)
            #expect(next.refreshToken == again.refreshToken && next.refreshToken != anna.refreshToken)
            let fresh = try await status(next.token)
            #expect(fresh.0 == 200)
            let sees = try await LiveView.open(next)
            // A copy of the old one: the device is out, its streams end, its access tokens are void.
            let reuse = try await quartet.edge.insist("/v1/token", request)
            #expect(reuse.status == 401 && reuse.body["code"] == "tokenReused")
            let end = try await sees.wait("the end") { $0.name == "end" }
            #expect(end.data["reason"] == "signedOut")
            try await sees.waitForEnd()
            let void = try await status(next.token)
            #expect(void.0 == 401 && void.1 == "signedOut")
            let late = try await quartet.edge.insist("/v1/token", ["refreshToken": .string(next.refreshToken)])
            #expect(late.status == 401 && late.body["code"] == "deviceSignedOut")

            let wrong = try await quartet.edge.insist(
                "/v1/sign-in", ["handle": "anna", "password": "not the password"])
            let unknown = try await quartet.edge.insist(
                "/v1/sign-in", ["handle": "nobody", "password": "not the password"])
            #expect(wrong.status == 401 && wrong.body == unknown.body, "which of the two is wrong isn't told")
            // One device signs out another.
            let phone = try await Device.signIn("anna", device: "phone", at: quartet.edge)
            let tablet = try await Device.signIn("anna", device: "tablet", at: quartet.edge)
            let phoneSees = try await LiveView.open(phone)
            let out = try await quartet.edge.insist("/v1/sign-out", ["device": .string(phone.id)], token: tablet.token)
            #expect(out.status == 204)
            let revoked = try await phoneSees.wait("the end of the phone's stream") { $0.name == "end" }
            #expect(revoked.data["reason"] == "signedOut")
            try await phoneSees.waitForEnd()
            let gone = try await status(phone.token)
            let stays = try await status(tablet.token)
            #expect(gone.0 == 401 && stays.0 == 200)
        }
    }

    @Test("S42: of many who come with one refresh token at once, one gets the next; then the device is out")
    func refreshRace() async throws {
        try await Quartet.with { quartet in
            let anna = try await Device.signUp("anna", at: quartet.edge)
            let request: JSON = ["refreshToken": .string(anna.refreshToken)]
            let replies = try await withThrowingTaskGroup(of: EdgeClient.Reply.self) { group in
                for _ in 0..<20 { group.addTask { try await quartet.edge.insist("/v1/token", request) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let refused = replies.filter { $0.status == 401 }
            #expect(refused.count >= 19 && replies.count { $0.status == 200 } + refused.count == 20, "\(replies)")
            for reply in replies where reply.status == 200 {
                let next = try Device(reply, edge: quartet.edge)
                let late = try await quartet.edge.insist("/v1/token", ["refreshToken": .string(next.refreshToken)])
                #expect(late.status == 401, "\(late)")
                let read = try await quartet.edge.send("GET", "/v1/account", token: next.token)
                #expect(read.status == 401, "\(read)")
            }
            let said = try await quartet.psql(
                """
                SELECT string_agg(type, ' ' ORDER BY position) FROM session.log
                 WHERE type IN ('DeviceRefreshed', 'DeviceSignedOut')
                """)
            #expect(said == "DeviceRefreshed DeviceSignedOut")
        }
    }

    @Test("an expired access token is refused, its stream has ended, and the refresh token is good for another")
    func expired() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["ACCESS_TOKEN_LIFETIME": "2s"])
            let anna = try await Device.signUp("anna", at: quartet.edge)
            let sees = try await LiveView.open(anna)
            let end = try await sees.wait("the end") { $0.name == "end" }
            #expect(end.data["reason"] == "tokenExpired")
            try await sees.waitForEnd()
            let late = try await quartet.edge.send("GET", "/v1/account", token: anna.token)
            #expect(late.status == 401 && late.body["code"] == "invalidToken")
            let refreshed = try await quartet.edge.insist("/v1/token", ["refreshToken": .string(anna.refreshToken)])
            let state = try await Device(refreshed, edge: quartet.edge).read("/v1/account")
            #expect(state["handle"] == "anna" && refreshed.body["expiresIn"] == 2)
        }
    }

    @Test("another system's tokens are worth nothing here, though they look the same")
    func foreignTokens() async throws {
        let foreign = try await Quartet.with { try await Device.signUp("anna", at: $0.edge) }
        try await Quartet.with { quartet in
            _ = try await Device.signUp("anna", at: quartet.edge)
            let read = try await quartet.edge.send("GET", "/v1/account", token: foreign.token)
            #expect(read.status == 401 && read.body["code"] == "invalidToken")
            let refresh = try await quartet.edge.insist("/v1/token", ["refreshToken": .string(foreign.refreshToken)])
            #expect(refresh.status == 401 && refresh.body["code"] == "invalidToken")
        }
    }

    /// A body, and the status, code and field that it is refused with.
    struct Bad: Sendable, CustomTestStringConvertible {
        let command: String
        let body: String
        let status: Int
        let code: String
        let field: String?

        init(_ command: String, _ body: String, _ status: Int, _ code: String, _ field: String? = nil) {
            (self.command, self.body, self.status, self.code, self.field) = (command, body, status, code, field)
        }

        var testDescription: String { "\(command) \(body.prefix(60))" }
    }

    private static let contact = "01a1fc74-60f5-8a3d-8f58-8ea58e860fb8"
    private static let bad: [Bad] = [
        Bad("UpdateProfile", "{", 400, "malformed"),
        Bad("UpdateProfile", "[]", 400, "malformed"),
        Bad("UpdateProfile", "null", 400, "malformed"),
        Bad("UpdateProfile", "\"text\"", 400, "malformed"),
        Bad("UpdateProfile", "{}", 400, "malformed", "expectedVersion"),
        Bad("UpdateProfile", #"{"expectedVersion":"1"}"#, 400, "malformed", "expectedVersion"),
        Bad("UpdateProfile", #"{"expectedVersion":1.5}"#, 400, "malformed", "expectedVersion"),
        Bad("UpdateProfile", #"{"expectedVersion":99999999999999999999}"#, 400, "malformed", "expectedVersion"),
        Bad("UpdateProfile", #"{"expectedVersion":1,"nam":"Anna"}"#, 400, "malformed", "nam"),
        Bad("UpdateProfile", #"{"expectedVersion":1,"name":"A"}"#, 422, "invalidField", "name"),
        Bad("UpdateProfile", #"{"expectedVersion":1,"name":""}"#, 422, "invalidField", "name"),
        Bad(
            "UpdateProfile", #"{"expectedVersion":1,"name":"\#(String(repeating: "a", count: 51))"}"#, 422,
            "invalidField", "name"),
        Bad("UpdateProfile", #"{"expectedVersion":1,"name":"An\u0000na"}"#, 422, "invalidField"),
        Bad("UpdateProfile", #"{"expectedVersion":1,"name":"An\u202Ena"}"#, 422, "invalidField", "name"),
        Bad(
            "UpdateProfile", #"{"expectedVersion":1,"emergencyNote":"\#(String(repeating: "n", count: 1001))"}"#, 422,
            "invalidField", "emergencyNote"),
        Bad(
            "UpdateProfile", String(repeating: "[", count: 40) + String(repeating: "]", count: 40), 400, "malformedBody"
        ),
        Bad("UpdateProfile", #"{"a":"\#(String(repeating: "x", count: 70_000))"}"#, 413, "bodyTooLarge"),
        Bad("UpdateContact", #"{"contact":"me","expectedVersion":1}"#, 400, "malformed", "contact"),
        Bad("UpdateContact", #"{"contact":"\#(contact)","expectedVersion":1}"#, 404, "notContact", "contact"),
        Bad("AddContact", #"{"iAmResponder":true}"#, 422, "invalidField", "code"),
        Bad("AddContact", #"{"code":"\#(contact)"}"#, 422, "roleRequired", "isMyResponder"),
        Bad("AddContact", #"{"code":"\#(contact)","iAmResponder":true}"#, 404, "notFound", "code"),
        Bad("AddContact", #"{"handle":"аnna","iAmResponder":true}"#, 422, "invalidField", "handle"),
        Bad("SetCheckInInterval", #"{"interval":1}"#, 422, "invalidField", "interval"),
        Bad("SetCheckInReminders", #"{"reminders":["threeDays"]}"#, 400, "malformed", "reminders.0"),
        Bad("ClearNotifications", #"{"selection":{}}"#, 422, "invalidField", "selection"),
        Bad("ClearNotifications", #"{"selection":{"kinds":[],"extra":1}}"#, 400, "malformed", "selection.extra"),
        Bad("MarkRead", #"{"id":"\#(contact)"}"#, 404, "notFound", "id"),
    ]

    @Test("bad input gets a problem document that names the field, and nothing is stored")
    func badInput() async throws {
        try await Quartet.with { quartet in
            let anna = try await Device.signUp("anna", name: "Anna", at: quartet.edge)
            try await quartet.waitUntilQuiet()
            let before = try await anna.read("/v1/account")
            for bad in Self.bad {
                let reply = try await quartet.edge.send(
                    "POST", "/v1/commands/\(bad.command)", raw: Array(bad.body.utf8), token: anna.token)
                #expect(reply.status == bad.status, "\(bad.testDescription): \(reply)")
                #expect(reply.body["code"].string == bad.code, "\(bad.testDescription): \(reply)")
                if let field = bad.field {
                    #expect(reply.body["field"].string == field, "\(bad.testDescription): \(reply)")
                }
                #expect(reply.headers["content-type"] == "application/problem+json")
                #expect(reply.body["status"].int == Int64(bad.status) && reply.body["title"].string != nil)
                #expect(reply.body["type"].string?.hasPrefix("urn:quartet:problem:") == true)
                #expect((reply.body["detail"].string?.count ?? 0) > 10)
            }
            let invalid = try await quartet.edge.send(
                "POST", "/v1/commands/UpdateProfile", raw: Array("{\"a\":\"".utf8) + [0xFF, 0xFE] + Array("\"}".utf8),
                token: anna.token)
            #expect(invalid.status == 400 && invalid.body["code"] == "malformedBody")
            let form = try await quartet.edge.send(
                "POST", "/v1/commands/CheckIn", raw: Array("a=b".utf8), token: anna.token,
                headers: ["content-type": "application/x-www-form-urlencoded"])
            #expect(form.status == 415 && form.body["code"] == "notJSON")
            for key in ["x", "6e8bc430-9c3a-11d9-9669-0800200c9a66", "", "01a1fc74-60f5-8a3d-8f58-8ea58e860fb8"] {
                let reply = try await quartet.edge.send("POST", "/v1/commands/CheckIn", token: anna.token, key: key)
                #expect(reply.status == 400 && reply.body["code"] == "invalidIdempotencyKey")
            }
            let old = try await quartet.edge.send(
                "POST", "/v1/commands/CheckIn", token: anna.token, key: "018f0000-0000-7000-8000-000000000000")
            #expect(old.status == 400 && old.body["code"] == "idTooOld")
            for (path, field) in [
                ("/v1/notifications?limit=0", "limit"), ("/v1/notifications?limit=x", "limit"),
                ("/v1/notifications?category=all", "category"), ("/v1/notifications?before=1", "before"),
                ("/v1/contacts?role=boss", "role"), ("/v1/contacts/me", "account"), ("/v1/contact-codes/1", "code"),
                ("/v1/operations/1", "operation"), ("/v1/operations?limit=51", "limit"),
            ] {
                let reply = try await quartet.edge.send("GET", path, token: anna.token)
                #expect(reply.status == 400 && reply.body["field"].string == field, "\(path): \(reply)")
            }
            let id = try await quartet.edge.send(
                "GET", "/v1/stream", token: anna.token, headers: ["last-event-id": "7"])
            #expect(id.status == 400 && id.body["code"] == "malformedEventID")
            let nowhere = try await quartet.edge.send("GET", "/v2/account", token: anna.token)
            #expect(nowhere.status == 404 && nowhere.body["code"] == "notFound")

            for (body, field) in [
                (#"{"handle":"x","password":"a long enough password"}"#, "handle"),
                (#"{"handle":"admin","password":"a long enough password"}"#, "handle"),
                (#"{"handle":"carl","password":"short"}"#, "password"),
                (#"{"handle":"carl","password":"a long enough password","name":"C"}"#, "name"),
                (#"{"handle":"carl","password":"a long enough password","deviceName":""}"#, "deviceName"),
                (#"{"handle":"carl"}"#, "password"),
                (#"{"handle":"carl","password":"a long enough password","admin":true}"#, "admin"),
            ] {
                let reply = try await quartet.edge.send("POST", "/v1/sign-up", raw: Array(body.utf8))
                #expect([400, 422].contains(reply.status), "\(body): \(reply)")
                #expect(reply.body["field"].string == field, "\(body): \(reply)")
            }
            try await quartet.waitUntilQuiet()
            let after = try await anna.read("/v1/account")
            #expect(after == before)
            let accounts = try await quartet.psql("SELECT count(*) FROM session.account")
            #expect(accounts == "1")
            let refused = try await quartet.psql("SELECT count(*) FROM contacts.relation")
            #expect(refused == "0")
        }
    }

    @Test("too many streams of one account are refused; one that is closed makes room")
    func tooManyStreams() async throws {
        try await Quartet.with { quartet in
            let anna = try await Device.signUp("anna", at: quartet.edge)
            var views: [LiveView] = []
            for _ in 0..<16 {
                let view = try await LiveView.open(anna)
                views.append(view)
            }
            await #expect(throws: EdgeClient.Refused.self) { try await quartet.edge.stream(token: anna.token) }
            await views[0].close()
            for attempt in 0... {
                do {
                    let view = try await LiveView.open(anna)
                    views.append(view)
                    break
                } catch  where attempt < 300 {
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
            for view in views { await view.close() }
        }
    }
}
