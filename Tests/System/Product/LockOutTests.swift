import EdgeClient
import Foundation
import TestKit
import Testing

/// Strangers who guess lock out only themselves.
@Suite("End to end: lock-outs", .timeLimit(.minutes(60)))
struct LockOutTests {
    private static let (home, elsewhere) = ("198.51.100.1", "203.0.113.7")
    private static let number = "+49 30 123456"

    /// The services, behind a proxy that says where requests come from.
    private static func with(_ environment: [String: String] = [:], _ body: (Quartet) async throws -> Void) async throws
    {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(
                .sessionClient,
                environment: ["HTTP_PROXIES": "1", "PHONE_CODES": "log"].merging(environment) { $1 })
            try await body(quartet)
        }
    }

    private static func post(
        _ path: String, _ body: JSON, from address: String, _ quartet: Quartet
    ) async throws -> EdgeClient.Reply {
        let key = EdgeClient.newKey()
        return try await EdgeClient.untilFinal {
            try await quartet.edge.send("POST", path, body: body, key: key, headers: ["x-forwarded-for": address])
        }
    }

    private static func signIn(
        _ handle: String, _ password: String = "a long enough password", from address: String,
        showing device: Device? = nil, _ quartet: Quartet
    ) async throws -> EdgeClient.Reply {
        var body: [String: JSON] = ["handle": .string(handle), "password": .string(password)]
        if let device { body["refreshToken"] = .string(device.refreshToken) }
        return try await post("/v1/sign-in", .object(body), from: address, quartet)
    }

    /// A refusal without the seconds that went by.
    private static func refusal(_ reply: EdgeClient.Reply) -> [String] {
        [
            "\(reply.status)", reply.body["code"].string, reply.body["field"].string,
            reply.body["retryAfter"].int == nil ? nil : "a time to wait",
        ].compactMap { $0 }
    }

    @Test(
        "wrong passwords from elsewhere don't lock the owner out, nor those from the same address a known device (S41)")
    func passwords() async throws {
        try await Self.with(["GUESSES_PER_MINUTE": "6"]) { quartet in
            let anna = try await quartet.signUp("anna")
            var refused: EdgeClient.Reply?
            for _ in 0..<6 {
                refused = try await Self.signIn("anna", "not the password", from: Self.elsewhere, quartet)
            }
            #expect(refused.map(Self.refusal) == ["429", "tooManyAttempts", "password", "a time to wait"])
            let atHome = try await Self.signIn("anna", from: Self.home, quartet)
            #expect(atHome.status == 200, "\(atHome)")
            // Beside the stranger, and when nobody there may guess any more.
            let other = try await quartet.signUp("bob")
            let out = try await quartet.edge.insist("/v1/sign-out", [:], token: anna.token)
            #expect(out.status == 204)
            for stranger in [nil, other] {
                // Each that is let in is hashed, which takes a while; so it is used up just now.
                for _ in 0..<4 { _ = try await Self.signIn("bob", "not the password", from: Self.elsewhere, quartet) }
                let beside = try await Self.signIn("anna", from: Self.elsewhere, showing: stranger, quartet)
                #expect(beside.status == 429, "\(beside)")
            }
            let shown = try await Self.signIn("anna", from: Self.elsewhere, showing: anna, quartet)
            #expect(shown.status == 200, "\(shown)")
        }
    }

    @Test("an unknown handle is slowed like a known one: same answers, same counts, same work (S41)")
    func unknownHandle() async throws {
        try await Self.with { quartet in
            _ = try await Device.signUp("anna", at: quartet.edge)
            var answers: [String: [[String]]] = [:]
            for handle in ["anna", "nobody"] {
                for _ in 0..<7 {
                    let reply = try await Self.signIn(handle, "not the password", from: Self.elsewhere, quartet)
                    answers[handle, default: []].append(Self.refusal(reply))
                }
            }
            #expect(answers["anna"] == answers["nobody"])
            #expect(answers["nobody"]?.last == ["429", "tooManyAttempts", "password", "a time to wait"])
            // Both take the same work: each attempt was hashed before the handle was looked up.
            let hashed = try await quartet.psql(
                """
                SELECT string_agg(c.key || ' ' || c.count, ', ' ORDER BY c.key)
                  FROM (SELECT l.key, count(DISTINCT l.command_id) FILTER (WHERE l.body ->> 'verifier' IS NOT NULL) AS count
                          FROM session_client.session_commands AS l
                         WHERE l.type = 'SignIn' GROUP BY l.key) AS c
                """)
            #expect(hashed == "handle/anna 7, handle/nobody 7")
        }
    }

    @Test(
        """
        a stranger's codes and wrong digits don't stop the owner's; a refusal looks the same for known and unknown \
        phones (S41)
        """)
    func codes() async throws {
        try await Self.with { quartet in
            let anna = try await quartet.signUp("anna")
            let asked = try await quartet.edge.insist(
                "/v1/phone", ["phone": .string(Self.number)], token: anna.token)
            let verified = try await quartet.edge.insist(
                "/v1/phone/verification",
                [
                    "phoneCode": asked.body["phoneCode"],
                    "code": .string(try await quartet.lastPhoneCode(to: Self.number)),
                ], token: anna.token)
            #expect(verified.status == 200)
            func code(_ number: String, from address: String) async throws -> EdgeClient.Reply {
                try await Self.post("/v1/sign-in/codes", ["phone": .string(number)], from: address, quartet)
            }
            func digits(_ text: String, _ number: String, _ code: EdgeClient.Reply, from address: String) async throws
                -> EdgeClient.Reply
            {
                try await Self.post(
                    "/v1/sign-in",
                    ["phone": .string(number), "phoneCode": code.body["phoneCode"], "code": .string(text)],
                    from: address, quartet)
            }
            let own = try await code(Self.number, from: Self.home)
            let soon = try await code(Self.number, from: Self.home)
            #expect(Self.refusal(soon) == ["429", "tooSoon", "a time to wait"], "requested a moment ago")
            let right = try await quartet.lastPhoneCode(to: Self.number, count: 2)
            let wrong = right == "000000" ? "000001" : "000000"
            var answers: [String: [[String]]] = [:]
            for number in [Self.number, "+49 30 999999"] {
                let theirs = try await code(number, from: Self.elsewhere)
                #expect(theirs.status == 200 && theirs.body["expiresIn"] == 600, "\(theirs)")
                for _ in 0..<6 {
                    let reply = try await digits(wrong, number, theirs, from: Self.elsewhere)
                    answers[number, default: []].append(Self.refusal(reply))
                }
                answers[number]?.append(Self.refusal(try await code(number, from: Self.elsewhere)))
            }
            #expect(answers[Self.number] == answers["+49 30 999999"])
            #expect(answers[Self.number]?.first == ["401", "invalidCredentials", "code"])
            #expect(answers[Self.number]?.last == ["429", "tooManyAttempts", "phone", "a time to wait"])
            let signedIn = try await digits(right, Self.number, own, from: "192.0.2.1")
            #expect(signedIn.status == 200, "\(signedIn)")
        }
    }
}
