import EdgeClient
import RPCClient
import TestKit
import Testing

/// Phones: proved by a code, and what a code is good for.
@Suite("End to end: phones", .timeLimit(.minutes(60)))
struct PhoneTests {
    @Test("a phone is added by a code, and finds its person from then on; its change is announced (S41)")
    func added() async throws {
        try await Quartet.withPhones { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            let annaSees = try await LiveView.open(anna)
            try await quartet.addPhone(to: anna)
            try await annaSees.wait("PhoneChanged", in: "account")
            try await annaSees.wait(notification: "phoneChanged")
            let account = try await anna.read("/v1/account")
            #expect(account["phone"] == ["number": "+4930123456", "region": "DE"])
            // A key that was used for one phone can't be used for another.
            let key = EdgeClient.newKey()
            let first = try await quartet.edge.insist("/v1/phone", ["phone": "+4930111111"], token: bob.token, key: key)
            let other = try await quartet.edge.insist("/v1/phone", ["phone": "+4930222222"], token: bob.token, key: key)
            #expect(first.status == 200 && other.status == 422 && other.body["code"] == "idReused", "\(other)")

            // A number gets few codes, whoever asks for them.
            let soon = try await quartet.edge.insist("/v1/phone", ["phone": .string(Quartet.phone)], token: bob.token)
            #expect(soon.status == 429 && soon.body["code"] == "tooSoon" && soon.body["retryAfter"] == 30, "\(soon)")
            try await bob.act("AddContact", ["phone": .string(Quartet.phone), "iAmResponder": true])
            let nobody = try await bob.ask("AddContact", ["phone": "+4930999999", "iAmResponder": true])
            #expect(nobody.status == 404 && nobody.body["field"] == "phone")
            try await anna.act("RemovePhone")
            let removed = try await anna.read("/v1/account")
            #expect(removed["phone"] == .null)
        }
    }

    @Test("a phone is added and signs in over gRPC, too (S41, T18)")
    func overGRPC() async throws {
        try await Quartet.withPhones { quartet in
            let anna = try await quartet.signUp("anna")
            try await quartet.rpc { rpc in
                let phone: JSON = ["phone": .string(Quartet.phone)]
                let asked = try await rpc.call("ChangePhone", phone, token: anna.token)
                let verification: JSON = [
                    "phoneCode": asked.body["phoneCode"],
                    "code": .string(try await quartet.lastPhoneCode(to: Quartet.phone)),
                ]
                let verified = try await rpc.call("VerifyPhone", verification, token: anna.token)
                #expect(verified.body["phone"]["number"] == "+4930123456", "\(verified.body)")
                let code = try await rpc.call("RequestSignInCode", phone)
                let digits = try await quartet.lastPhoneCode(to: Quartet.phone, count: 2)
                let signedIn = try await rpc.call(
                    "SignIn", phone.adding("phoneCode", code.body["phoneCode"]).adding("code", .string(digits)))
                #expect(signedIn.body["account"] == .string(anna.account))
            }
        }
    }

    @Test("a phone signs a device in by a code, once, and neither digits nor number are stored (S41)")
    func signsIn() async throws {
        try await Quartet.withPhones { quartet in
            let anna = try await quartet.signUp("anna")
            let annaSees = try await LiveView.open(anna)
            try await quartet.addPhone(to: anna)
            let request: JSON = ["phone": .string(Quartet.phone)]
            let codeKey = EdgeClient.newKey()
            let code = try await quartet.edge.insist("/v1/sign-in/codes", request, key: codeKey)
            #expect(code.status == 200, "\(code)")
            // The same request sends no second code; another one has to wait, known number or not.
            let sameCode = try await quartet.edge.insist("/v1/sign-in/codes", request, key: codeKey)
            #expect(sameCode.status == 200 && sameCode.body == code.body)
            let another = try await quartet.edge.insist("/v1/sign-in/codes", request)
            #expect(another.status == 429 && another.body["code"] == "tooSoon")
            let digits = try await quartet.lastPhoneCode(to: Quartet.phone, count: 2)
            let signIn: JSON = [
                "phone": .string(Quartet.phone), "phoneCode": code.body["phoneCode"], "code": .string(digits),
                "deviceName": "tablet",
            ]
            let key = EdgeClient.newKey()
            let tablet = try Device(try await quartet.edge.insist("/v1/sign-in", signIn, key: key), edge: quartet.edge)
            #expect(tablet.account == anna.account && tablet.id != anna.id)
            let again = try Device(try await quartet.edge.insist("/v1/sign-in", signIn, key: key), edge: quartet.edge)
            #expect(again.id == tablet.id && again.refreshToken == tablet.refreshToken, "the same request, once")
            let used = try await quartet.edge.insist("/v1/sign-in", signIn)
            #expect(used.status == 401 && used.body["code"] == "invalidCredentials")
            try await annaSees.wait(notification: "newDevice")
            let stored = try await quartet.psql(
                """
                SELECT count(*) FROM session_client.messages AS m
                 WHERE m.body::text LIKE '%' || '\(digits)' || '%'
                    OR (m.key LIKE 'phone/%' AND m.body::text LIKE '%4930123456%')
                """)
            #expect(stored == "0")
        }
    }

    @Test("a code takes five tries, and unknown numbers are answered like known ones (S41)")
    func bruteForce() async throws {
        try await Quartet.withPhones { quartet in
            let anna = try await quartet.signUp("anna")
            try await quartet.addPhone(to: anna)
            let known = try await quartet.edge.insist("/v1/sign-in/codes", ["phone": .string(Quartet.phone)])
            let unknown = try await quartet.edge.insist("/v1/sign-in/codes", ["phone": "+4930999999"])
            #expect(known.status == unknown.status && known.body["expiresIn"] == unknown.body["expiresIn"])
            let right = try await quartet.lastPhoneCode(to: Quartet.phone, count: 2)
            func attempt(_ digits: String, _ phone: String, _ code: JSON) async throws -> EdgeClient.Reply {
                try await quartet.edge.insist(
                    "/v1/sign-in", ["phone": .string(phone), "phoneCode": code, "code": .string(digits)])
            }
            let ghost = try await attempt(right, "+4930999999", unknown.body["phoneCode"])
            let wrongDigits = right == "000000" ? "000001" : "000000"
            for _ in 0..<5 {
                let wrong = try await attempt(wrongDigits, Quartet.phone, known.body["phoneCode"])
                #expect(wrong.status == 401 && wrong.body == ghost.body, "\(wrong) \(ghost)")
            }
            let late = try await attempt(right, Quartet.phone, known.body["phoneCode"])
            #expect(late.status == 429 && late.body["code"] == "tooManyAttempts", "after five tries none is looked at")
            let malformed = try await attempt("12345", Quartet.phone, known.body["phoneCode"])
            #expect(malformed.status == 422 && malformed.body["field"] == "code")
        }
    }

    @Test("a forgotten password is reset after signing in by a code (S41)")
    func forgottenPassword() async throws {
        try await Quartet.withPhones { quartet in
            let phone = try await quartet.signUp("anna")
            try await quartet.addPhone(to: phone)
            let code = try await quartet.edge.insist("/v1/sign-in/codes", ["phone": .string(Quartet.phone)])
            let digits = try await quartet.lastPhoneCode(to: Quartet.phone, count: 2)
            let tablet = try Device(
                try await quartet.edge.insist(
                    "/v1/sign-in",
                    [
                        "phone": .string(Quartet.phone), "phoneCode": code.body["phoneCode"], "code": .string(digits),
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

    @Test("wrong guesses are slowed per address, across accounts; correct passwords cost nothing (S41)")
    func guessesPerAddress() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(
                .sessionClient, environment: ["GUESSES_PER_MINUTE": "3", "HTTP_PROXIES": "1"])
            for name in ["anna", "bob", "carl", "dora"] { _ = try await Device.signUp(name, at: quartet.edge) }
            @Sendable func signIn(
                _ name: String, _ password: String, from address: String
            ) async throws -> EdgeClient.Reply {
                let key = EdgeClient.newKey()
                return try await EdgeClient.untilFinal {
                    try await quartet.edge.send(
                        "POST", "/v1/sign-in", body: ["handle": .string(name), "password": .string(password)], key: key,
                        headers: ["x-forwarded-for": address])
                }
            }
            /// At the same time: one more is let in after twenty seconds, and each takes a while.
            func guess(_ guesses: [(name: String, address: String)]) async throws -> [Int] {
                try await withThrowingTaskGroup(of: Int.self) { group in
                    for (name, address) in guesses {
                        group.addTask { try await signIn(name, "not the password", from: address).status }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
            }
            for _ in 0..<6 {
                let right = try await signIn("anna", "a long enough password", from: "203.0.113.7")
                #expect(right.status == 200)
            }
            let wrong = try await guess(["anna", "bob", "carl"].map { ($0, "203.0.113.7") })
            #expect(wrong == [401, 401, 401])
            let slowed = try await signIn("dora", "not the password", from: "203.0.113.7")
            #expect(slowed.status == 429 && slowed.body["code"] == "tooManyAttempts")
            #expect(slowed.headers["retry-after"] == "20")
            // The client's own entries in the header don't count: the proxy's is the last.
            let spoofed = try await signIn("dora", "not the password", from: "198.51.100.1, 203.0.113.7")
            #expect(spoofed.status == 429)
            let elsewhere = try await signIn("dora", "a long enough password", from: "198.51.100.1")
            #expect(elsewhere.status == 200)
            // One customer has all of a /64.
            _ = try await guess((1...3).map { ("dora", "2001:db8::\($0)") })
            let neighbour = try await signIn("dora", "not the password", from: "2001:db8::ffff")
            #expect(neighbour.status == 429)
        }
    }
}

extension Quartet {
    /// Someone's number, as a person writes it.
    static let phone = "+49 30 123456"

    /// Runs `body` while all four services run, with codes for phones in session-client's log.
    static func withPhones(
        environment: [String: String] = [:], _ body: (Quartet) async throws -> Void
    ) async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(
                .sessionClient, environment: environment.merging(["PHONE_CODES": "log"]) { $1 })
            try await body(quartet)
        }
    }

    /// Gives an account a phone.
    func addPhone(_ number: String = Quartet.phone, to device: Device) async throws {
        let asked = try await edge.insist(
            "/v1/phone", ["phone": .string(number), "region": "DE"], token: device.token)
        #expect(asked.status == 200 && asked.body["expiresIn"] == 600, "\(asked)")
        let verified = try await edge.insist(
            "/v1/phone/verification",
            ["phoneCode": asked.body["phoneCode"], "code": .string(try await lastPhoneCode(to: number))],
            token: device.token)
        #expect(verified.status == 200, "\(verified)")
    }

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
