import EdgeClient
import Foundation
import TestKit
import Testing

/// Passwords, confirmations, devices, keys, and what is kept of them.
@Suite("End to end: security", .timeLimit(.minutes(60)))
struct EndToEndSecurityTests {
    @Test("an account may allow one device at a time: the displaced one's streams end, with the reason (S43)")
    func oneDevice() async throws {
        try await Quartet.with { quartet in
            let phone = try await quartet.signUp("anna")
            let sees = try await LiveView.open(phone)
            try await phone.act("UpdateSecurity", ["isSingleDevice": true])
            let tablet = try await Device.signIn("anna", at: quartet.edge)
            let end = try await sees.wait("the end of the phone's stream") { $0.name == "end" }
            #expect(end.data == ["reason": "signedOut", "why": "displaced"])
            try await sees.waitForEnd()
            let refused = try await phone.edge.send("GET", "/v1/account", token: phone.token)
            #expect(refused.status == 401 && refused.body["code"] == "signedOut")
            #expect(refused.body["reason"] == "displaced")
            #expect(refused.body["detail"].string?.contains("one at a time") == true)
            let refresh = try await quartet.edge.insist(
                "/v1/token", ["refreshToken": .string(phone.refreshToken)])
            #expect(refresh.status == 401 && refresh.body["detail"].string?.contains("one at a time") == true)
            let devices = try await tablet.read("/v1/account")["devices"].array
            #expect(devices.map { $0["id"].string } == [tablet.id])
        }
    }

    @Test("a stolen token can't take the account over: that needs the password, on the same device (S48)")
    func confirmation() async throws {
        try await Quartet.withPhones { quartet in
            let phone = try await quartet.signUp("anna")
            let tablet = try await Device.signIn("anna", at: quartet.edge)
            // As if they had signed in a while ago.
            _ = try await quartet.psql("UPDATE session.device SET confirmed_until = NULL")
            func sensitive(_ device: Device) async throws -> [EdgeClient.Reply] {
                try await [
                    device.ask("UpdateSecurity", ["isSingleDevice": true]),
                    quartet.edge.insist("/v1/phone", ["phone": .string(Quartet.phone)], token: device.token),
                    quartet.edge.insist(
                        "/v1/reset-password", ["newPassword": "chosen by a thief"], token: device.token),
                    quartet.edge.insist("/v1/operations/CloseAccount", [:], token: device.token),
                ]
            }
            for reply in try await sensitive(phone) {
                #expect(reply.status == 403 && reply.body["code"] == "confirmationRequired", "\(reply)")
            }
            // A stranger's guesses don't lock the person out of confirming.
            for _ in 0..<6 {
                _ = try await quartet.edge.insist("/v1/sign-in", ["handle": "anna", "password": "not the password"])
            }
            let wrong = try await quartet.edge.insist(
                "/v1/confirm", ["password": "not the password"], token: phone.token)
            #expect(wrong.status == 403 && wrong.body["code"] == "wrongConfirmation")
            let right = try await quartet.edge.insist(
                "/v1/confirm", ["password": "a long enough password"], token: phone.token)
            #expect(right.status == 200 && right.body["until"].int != nil)
            for reply in try await sensitive(tablet) { #expect(reply.status == 403, "another device's confirmation") }
            try await phone.act("UpdateSecurity", ["isConfirmationRequired": true])
            let out = try await quartet.edge.insist("/v1/sign-out", ["everywhere": true], token: tablet.token)
            #expect(out.status == 403 && out.body["code"] == "confirmationRequired")
        }
    }

    @Test("a new password signs the other devices out, and the old one stops working (S41)")
    func password() async throws {
        try await Quartet.with { quartet in
            let phone = try await quartet.signUp("anna")
            let tablet = try await Device.signIn("anna", at: quartet.edge)
            let tabletSees = try await LiveView.open(tablet)
            func change(_ old: String, _ new: String) async throws -> EdgeClient.Reply {
                try await quartet.edge.insist(
                    "/v1/change-password", ["password": .string(old), "newPassword": .string(new)],
                    token: phone.token)
            }
            let wrong = try await change("not the password", "another long password")
            #expect(wrong.status == 403 && wrong.body["code"] == "wrongConfirmation")
            let short = try await change("a long enough password", "short")
            #expect(short.status == 422 && short.body["field"] == "newPassword")
            let same = try await change("a long enough password", "a long enough password")
            #expect(same.status == 409 && same.body["code"] == "samePassword")
            let changed = try await change("a long enough password", "another long password")
            #expect(changed.status == 204)
            let end = try await tabletSees.wait("the end") { $0.name == "end" }
            #expect(end.data["why"] == "passwordChanged")
            let old = try await quartet.edge.insist(
                "/v1/sign-in", ["handle": "anna", "password": "a long enough password"])
            #expect(old.status == 401)
            _ = try await Device.signIn("anna", password: "another long password", at: quartet.edge)
            _ = try await phone.read("/v1/account")
            try await quartet.wait(
                for: "the change to be told",
                "SELECT count(*) FROM notifications.notification WHERE kind = 'passwordChanged'"
            ) { $0 == "1" }
        }
    }

    @Test("an account without a name needs a profile (S44)")
    func onboarding() async throws {
        try await Quartet.with { quartet in
            let anna = try await Device.signUp("anna", at: quartet.edge)
            let before = try await anna.read("/v1/account")
            #expect(before["onboarding"] == "needsProfile")
            try await anna.act("UpdateProfile", ["expectedVersion": 1, "name": "Anna"])
            let after = try await anna.read("/v1/account")
            #expect(after["onboarding"] == "done")
        }
    }

    @Test(
        "signing keys are published and rotate: the new one signs, the old one verifies until it is removed (T22, R11)")
    func rotation() async throws {
        let next = try await Quartet.Keys().signing
        try await Quartet.with { quartet in
            func keys() async throws -> [String] {
                try await quartet.edge.send("GET", "/.well-known/jwks.json").body["keys"].array.compactMap {
                    $0["kid"].string
                }
            }
            func kid(_ token: String) throws -> String? {
                var head = String(token.prefix { $0 != "." }).replacing("-", with: "+").replacing("_", with: "/")
                while head.count % 4 != 0 { head += "=" }
                let data = try #require(Data(base64Encoded: head))
                return try JSON(parsing: String(decoding: data, as: UTF8.self))["kid"].string
            }
            let anna = try await quartet.signUp("anna")
            let first = try await keys()
            #expect(try first == [kid(anna.token)])
            let set = try await quartet.edge.send("GET", "/.well-known/jwks.json")
            let key = set.body["keys"][0]
            #expect(key["kty"] == "EC" && key["crv"] == "P-256" && key["alg"] == "ES256" && key["d"] == .null)
            #expect(key["x"].string?.count == 43 && key["y"].string?.count == 43)
            #expect(set.headers["cache-control"] == "public, max-age=300")

            try await quartet.kill(.sessionClient)
            try await quartet.start(
                .sessionClient, environment: ["SIGNING_KEY": next + "\n" + quartet.keys.signing])
            _ = try await anna.read("/v1/account")
            let refreshed = try Device(
                try await quartet.edge.insist("/v1/token", ["refreshToken": .string(anna.refreshToken)]),
                edge: quartet.edge)
            let both = try await keys()
            #expect(both.count == 2 && both.last == first.first)
            #expect(try kid(refreshed.token) == both.first)

            try await quartet.kill(.sessionClient)
            try await quartet.start(.sessionClient, environment: ["SIGNING_KEY": next])
            _ = try await refreshed.read("/v1/account")
            let old = try await anna.edge.send("GET", "/v1/account", token: anna.token)
            #expect(old.status == 401 && old.body["code"] == "invalidToken")
        }
    }

    @Test("proofs and verifiers leave the logs within the hour, and a repeated request is still answered (R21)")
    func secrets() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let key = EdgeClient.newKey()
            let signIn: JSON = ["handle": "anna", "password": "a long enough password"]
            let first = try await quartet.edge.insist("/v1/sign-in", signIn, key: key)
            try await anna.act("RegisterPush", ["token": "a-push-token", "platform": "ios"])
            _ = try await quartet.edge.insist(
                "/v1/confirm", ["password": "a long enough password"], token: anna.token)
            try await quartet.waitUntilQuiet()
            let secrets = """
                SELECT count(*) FROM session_client.messages
                 WHERE body::text LIKE '%verifier%' OR body::text LIKE '%"token"%' OR body::text LIKE '%proof%'
                """
            let before = try await quartet.psql(secrets)
            #expect(before == "4")
            // As if each had failed: a dead letter is kept for half a year.
            for (schema, log) in [("session", "session_commands"), ("notifications", "notifications_commands")] {
                _ = try await quartet.psql(
                    """
                    INSERT INTO \(schema).dead_letter (message_id, source, partition, position, kind, type, version, key, account,
                                                       body, command_id, code, error, attempts, died_at)
                    SELECT message_id, 'session_client.\(log)', partition, position, kind, type, version, key, account, body,
                           command_id, 'error', 'by hand', 5, clock_timestamp() - interval '61 minutes'
                      FROM session_client.\(log)
                    """)
            }
            let tooEarly = try await quartet.psql("SELECT session_client.empty_secrets(1000)")
            #expect(tooEarly == "0")
            _ = try await quartet.psql(
                """
                UPDATE session_client.session_commands SET recorded_at = recorded_at - interval '61 minutes';
                UPDATE session_client.notifications_commands SET recorded_at = recorded_at - interval '61 minutes'
                """)
            let emptied = try await quartet.psql("SELECT session_client.empty_secrets(1000)")
            #expect(emptied == "4")
            let after = try await quartet.psql(secrets)
            #expect(after == "0")
            let emptiedLetters = try await quartet.psql(
                "SELECT session.empty_failed_secrets(1000) + notifications.empty_failed_secrets(1000)")
            #expect(emptiedLetters == "4")
            for secret in ["verifier", "proof", "a-push-token"] {
                let found = try await quartet.tablesContaining(secret)
                #expect(Set(found).isSubset(of: ["notifications.push_device"]), "\(secret)")
            }
            let again = try await quartet.edge.insist("/v1/sign-in", signIn, key: key)
            #expect(again.status == 200 && again.body["refreshToken"] == first.body["refreshToken"])
            let restarted = try await quartet.psql("SELECT count(*) FROM session.device")
            #expect(restarted == "2")
        }
    }

    @Test("two accounts in one app share nothing (R12)")
    func twoAccounts() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let work = try await Device.signUp("anna-at-work", name: "Anna", at: quartet.edge)
            let (annaSees, workSees) = try await (LiveView.open(anna), LiveView.open(work))
            try await anna.act("RaiseAlert")
            try await annaSees.wait(notification: "alertRaised")
            try await work.act("CheckIn")
            try await workSees.wait("CheckedIn", in: "account")
            #expect(!workSees.all.contains { "\($0.data)".contains(anna.account) })
            #expect(!annaSees.all.contains { "\($0.data)".contains(work.account) })
            // One account's place in its streams is none in another's.
            let mixed = try await LiveView.open(work, after: annaSees.lastEventID)
            #expect(!mixed.all.contains { "\($0.data)".contains(anna.account) })
            let kinds = try await work.kinds()
            #expect(kinds.isEmpty)
        }
    }
}
