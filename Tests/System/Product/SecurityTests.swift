import EdgeClient
import Foundation
import TestKit
import Testing

/// Who somebody is: phones, passwords, confirmations, devices, keys.
@Suite("End to end: security", .timeLimit(.minutes(30)))
struct EndToEndSecurityTests {
    /// The services with codes shown in the log, and a helper that reads them there.
    private static func withPhones(_ body: (Quartet) async throws -> Void) async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["PHONE_CODES": "log"])
            try await body(quartet)
        }
    }

    private static let number = "+49 30 123456"

    /// Gives a device's account a phone.
    private static func addPhone(_ device: Device, number: String = number, _ quartet: Quartet) async throws {
        let asked = try await quartet.edge.insist(
            "/v1/phone", ["phone": .string(number), "region": "DE"], token: device.token)
        #expect(asked.status == 200 && asked.body["expiresIn"] == 600, "\(asked)")
        let verified = try await quartet.edge.insist(
            "/v1/phone/verification",
            ["phoneCode": asked.body["phoneCode"], "code": .string(try await quartet.lastPhoneCode(to: number))],
            token: device.token)
        #expect(verified.status == 200, "\(verified)")
    }

    @Test("S41: a phone is added by a code, signs in by a code, adds contacts, and its change is told")
    func phone() async throws {
        try await Self.withPhones { quartet in
            let anna = try await Device.signUp("anna", name: "Anna", at: quartet.edge)
            let bob = try await Device.signUp("bob", name: "Bob", at: quartet.edge)
            let annaSees = try await LiveView.open(anna)
            try await Self.addPhone(anna, quartet)
            try await annaSees.wait("PhoneChanged", in: "account")
            try await annaSees.wait(notification: "phoneChanged")
            let account = try await anna.read("/v1/account")
            #expect(account["phone"] == ["number": "+4930123456", "region": "DE"])
            // A key that was used for one phone is none for another.
            let phoneKey = EdgeClient.newKey()
            let first = try await quartet.edge.insist(
                "/v1/phone", ["phone": "+4930111111"], token: bob.token, key: phoneKey)
            let other = try await quartet.edge.insist(
                "/v1/phone", ["phone": "+4930222222"], token: bob.token, key: phoneKey)
            #expect(first.status == 200 && other.status == 422 && other.body["code"] == "idReused", "\(other)")

            // One number isn't flooded, whoever asks; and it can be looked for.
            let soon = try await quartet.edge.insist("/v1/phone", ["phone": .string(Self.number)], token: bob.token)
            #expect(soon.status == 429 && soon.body["code"] == "tooSoon" && soon.body["retryAfter"] == 30, "\(soon)")
            try await bob.act("AddContact", ["phone": .string(Self.number), "iAmResponder": true])
            let nobody = try await bob.ask("AddContact", ["phone": "+4930999999", "iAmResponder": true])
            #expect(nobody.status == 404 && nobody.body["field"] == "phone")

            // Signing in by it, on another device.
            let request: JSON = ["phone": .string(Self.number)]
            let codeKey = EdgeClient.newKey()
            let code = try await quartet.edge.insist("/v1/sign-in/codes", request, key: codeKey)
            #expect(code.status == 200, "\(code)")
            // The same request again sends nothing again; another one has to wait, known number or not.
            let sameCode = try await quartet.edge.insist("/v1/sign-in/codes", request, key: codeKey)
            #expect(sameCode.status == 200 && sameCode.body == code.body)
            let another = try await quartet.edge.insist("/v1/sign-in/codes", request)
            #expect(another.status == 429 && another.body["code"] == "tooSoon")
            let digits = try await quartet.lastPhoneCode(to: Self.number, count: 2)
            let signIn: JSON = [
                "phone": .string(Self.number), "phoneCode": code.body["phoneCode"], "code": .string(digits),
                "deviceName": "tablet",
            ]
            let key = EdgeClient.newKey()
            let tablet = try Device(
                try await quartet.edge.insist("/v1/sign-in", signIn, key: key), edge: quartet.edge)
            #expect(tablet.account == anna.account && tablet.id != anna.id)
            let again = try Device(
                try await quartet.edge.insist("/v1/sign-in", signIn, key: key), edge: quartet.edge)
            #expect(again.id == tablet.id && again.refreshToken == tablet.refreshToken, "the same request, once")
            let used = try await quartet.edge.insist("/v1/sign-in", signIn)
            #expect(used.status == 401 && used.body["code"] == "invalidCredentials")
            try await annaSees.wait(notification: "newDevice")

            // What is stored and said shows neither the digits nor, before the sign-in, the number.
            let stored = try await quartet.psql(
                """
                SELECT count(*) FROM session_client.messages AS m
                 WHERE m.body::text LIKE '%' || '\(digits)' || '%'
                    OR (m.key LIKE 'phone/%' AND m.body::text LIKE '%4930123456%')
                """)
            #expect(stored == "0")
            try await anna.act("RemovePhone")
            let removed = try await anna.read("/v1/account")
            #expect(removed["phone"] == .null)
        }
    }

    @Test("S41: brute force on a code ends after five tries, and unknown numbers answer as known ones do")
    func bruteForce() async throws {
        try await Self.withPhones { quartet in
            let anna = try await Device.signUp("anna", at: quartet.edge)
            try await Self.addPhone(anna, quartet)
            let known = try await quartet.edge.insist("/v1/sign-in/codes", ["phone": .string(Self.number)])
            let unknown = try await quartet.edge.insist("/v1/sign-in/codes", ["phone": "+4930999999"])
            #expect(known.status == unknown.status && known.body["expiresIn"] == unknown.body["expiresIn"])
            let right = try await quartet.lastPhoneCode(to: Self.number, count: 2)
            func attempt(_ digits: String, _ phone: String, _ code: JSON) async throws -> EdgeClient.Reply {
                try await quartet.edge.insist(
                    "/v1/sign-in", ["phone": .string(phone), "phoneCode": code, "code": .string(digits)])
            }
            let ghost = try await attempt(right, "+4930999999", unknown.body["phoneCode"])
            let wrongDigits = right == "000000" ? "000001" : "000000"
            for _ in 0..<5 {
                let wrong = try await attempt(wrongDigits, Self.number, known.body["phoneCode"])
                #expect(wrong.status == 401 && wrong.body == ghost.body, "\(wrong) \(ghost)")
            }
            let late = try await attempt(right, Self.number, known.body["phoneCode"])
            #expect(late.status == 429 && late.body["code"] == "tooManyAttempts", "after five tries none is looked at")
            let malformed = try await attempt("12345", Self.number, known.body["phoneCode"])
            #expect(malformed.status == 422 && malformed.body["field"] == "code")
        }
    }

    @Test("S41: wrong guesses are slowed per address, whosever account they are at; right ones cost nothing")
    func guessesPerAddress() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(
                .sessionClient, environment: ["GUESSES_PER_MINUTE": "3", "HTTP_PROXIES": "1"])
            for name in ["anna", "bob", "carl", "dora"] { _ = try await Device.signUp(name, at: quartet.edge) }
            func signIn(_ name: String, _ password: String, from address: String) async throws -> EdgeClient.Reply {
                try await quartet.edge.send(
                    "POST", "/v1/sign-in", body: ["handle": .string(name), "password": .string(password)],
                    headers: ["x-forwarded-for": address])
            }
            for _ in 0..<6 {
                let right = try await signIn("anna", "a long enough password", from: "203.0.113.7")
                #expect(right.status == 200)
            }
            for name in ["anna", "bob", "carl"] {
                let wrong = try await signIn(name, "not the password", from: "203.0.113.7")
                #expect(wrong.status == 401)
            }
            let slowed = try await signIn("dora", "not the password", from: "203.0.113.7")
            #expect(slowed.status == 429 && slowed.body["code"] == "tooManyAttempts")
            #expect(slowed.headers["retry-after"] == "20")
            // What a client writes into the header itself isn't believed: the proxy's entry is the last.
            let spoofed = try await signIn("dora", "not the password", from: "198.51.100.1, 203.0.113.7")
            #expect(spoofed.status == 429)
            let elsewhere = try await signIn("dora", "a long enough password", from: "198.51.100.1")
            #expect(elsewhere.status == 200)
            // One customer has all of a /64.
            for end in 1...3 { _ = try await signIn("dora", "not the password", from: "2001:db8::\(end)") }
            let neighbour = try await signIn("dora", "not the password", from: "2001:db8::ffff")
            #expect(neighbour.status == 429)
        }
    }

    @Test("S43: one device at a time, if the account wants: the displaced one's streams end, and it is told why")
    func oneDevice() async throws {
        try await Quartet.with { quartet in
            let phone = try await Device.signUp("anna", at: quartet.edge)
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

    @Test("a stolen token doesn't become the account: what could take it away needs the password, on the device (S48)")
    func confirmation() async throws {
        try await Self.withPhones { quartet in
            let phone = try await Device.signUp("anna", at: quartet.edge)
            let tablet = try await Device.signIn("anna", at: quartet.edge)
            // As if they had signed in a while ago.
            _ = try await quartet.psql("UPDATE session.device SET confirmed_until = NULL")
            func sensitive(_ device: Device) async throws -> [EdgeClient.Reply] {
                try await [
                    device.ask("UpdateSecurity", ["isSingleDevice": true]),
                    quartet.edge.insist("/v1/phone", ["phone": .string(Self.number)], token: device.token),
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

    @Test("who forgot the password signs in by a code and sets a new one (S41)")
    func forgottenPassword() async throws {
        try await Self.withPhones { quartet in
            let phone = try await Device.signUp("anna", at: quartet.edge)
            try await Self.addPhone(phone, quartet)
            let code = try await quartet.edge.insist("/v1/sign-in/codes", ["phone": .string(Self.number)])
            let digits = try await quartet.lastPhoneCode(to: Self.number, count: 2)
            let tablet = try Device(
                try await quartet.edge.insist(
                    "/v1/sign-in",
                    [
                        "phone": .string(Self.number), "phoneCode": code.body["phoneCode"], "code": .string(digits),
                        "deviceName": "tablet",
                    ]), edge: quartet.edge)
            let reset = try await quartet.edge.insist(
                "/v1/reset-password", ["newPassword": "remembered this time"], token: tablet.token)
            #expect(reset.status == 204)
            let old = try await quartet.edge.insist(
                "/v1/sign-in", ["handle": "anna", "password": "a long enough password"])
            #expect(old.status == 401)
            _ = try await Device.signIn("anna", password: "remembered this time", at: quartet.edge)
            let displaced = try await quartet.edge.send("GET", "/v1/account", token: phone.token)
            #expect(displaced.status == 401 && displaced.body["reason"] == "passwordChanged")
        }
    }

    @Test("S41: another password ends the other devices; the old one signs in no more")
    func password() async throws {
        try await Quartet.with { quartet in
            let phone = try await Device.signUp("anna", at: quartet.edge)
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

    @Test("S44: an account that has no name yet needs a profile")
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

    @Test("T22 R11: keys are published and rotate: the new one signs, the old one verifies until it is taken away")
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
            let anna = try await Device.signUp("anna", at: quartet.edge)
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

    @Test("R21: what proves who somebody is leaves the logs within the hour, and what was asked then is still answered")
    func secrets() async throws {
        try await Quartet.with { quartet in
            let anna = try await Device.signUp("anna", at: quartet.edge)
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

    @Test("R12: two accounts in one app share nothing")
    func twoAccounts() async throws {
        try await Quartet.with { quartet in
            let anna = try await Device.signUp("anna", name: "Anna", at: quartet.edge)
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

extension Quartet {
    /// The digits that were last sent to a phone, after so many were.
    func lastPhoneCode(to number: String, count: Int = 1) async throws -> String {
        let digits = number.filter { $0.isNumber || $0 == "+" }
        var line: ChildProcess.Line?
        for _ in 0..<count {
            line = try await process(of: .sessionClient).waitForLine(containing: "phone=\(digits)", after: line)
        }
        let code = try #require(line?.text.firstRange(of: "code="))
        return String(try #require(line?.text[code.upperBound...].prefix(6)))
    }
}
