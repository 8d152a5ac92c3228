import EdgeClient
import Foundation
import TestKit
import Testing

/// The server's key is changed while people go on.
@Suite("End to end: key rotation", .timeLimit(.minutes(60)))
struct KeyRotationTests {
    private static func key() -> String {
        Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString()
    }

    /// Restarts the edge with these keys, as a deploy would.
    private static func restart(_ keys: [String], _ quartet: Quartet) async throws {
        try await quartet.kill(.sessionClient)
        // As if a while had passed since the last code.
        _ = try await quartet.psql("DELETE FROM session.sign_in_attempt")
        try await quartet.start(
            .sessionClient, environment: ["SERVER_KEY": keys.joined(separator: "\n"), "PHONE_CODES": "log"])
    }

    private static func signIn(by number: String, _ quartet: Quartet) async throws -> EdgeClient.Reply {
        let asked = try await quartet.edge.insist("/v1/sign-in/codes", ["phone": .string(number)])
        return try await quartet.edge.insist(
            "/v1/sign-in",
            [
                "phone": .string(number), "phoneCode": asked.body["phoneCode"],
                "code": .string(try await quartet.lastPhoneCode(to: number)),
            ])
    }

    private static func refresh(
        _ device: Device, key: String? = nil, _ quartet: Quartet
    ) async throws -> EdgeClient.Reply {
        try await quartet.edge.insist("/v1/token", ["refreshToken": .string(device.refreshToken)], key: key)
    }

    private static let password = "a long enough password"
    private static let (annasPhone, bobsPhone) = ("+49 30 123456", "+49 30 654321")

    @Test(
        """
        when the server's key rotates, everything goes on and moves to the new one; whoever came meanwhile notices \
        nothing (R11)
        """)
    func rotation() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            let (old, new) = (Self.key(), Self.key())
            try await Self.restart([old], quartet)
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            let tablet = try await Device.signIn("anna", at: quartet.edge)
            try await quartet.addPhone(Self.annasPhone, to: anna)
            try await quartet.addPhone(Self.bobsPhone, to: bob)
            let code = try await anna.code()
            // A request whose answer gets lost, while the key changes.
            let lost = EdgeClient.newKey()
            let unheard = try await Self.refresh(tablet, key: lost, quartet)

            try await Self.restart([new, old], quartet)
            let again = try await Self.refresh(tablet, key: lost, quartet)
            #expect(again.status == 200 && again.body["refreshToken"] == unheard.body["refreshToken"], "\(again)")
            try await Self.expectPhonesMoved(quartet)
            let refreshed = try Device(try await Self.refresh(anna, quartet), edge: quartet.edge)
            let byPassword = try await Device.signIn("anna", at: quartet.edge)
            let byPhone = try await Self.signIn(by: Self.annasPhone, quartet)
            #expect(byPhone.status == 200, "\(byPhone)")
            try await byPassword.act("AddContact", ["phone": .string(Self.bobsPhone), "iAmResponder": true])
            try await bob.act("AddContact", ["code": .string(code), "isMyResponder": true])
            let moved = try await quartet.psql(
                """
                SELECT count(*) FROM session.credential AS c JOIN session.handle AS h ON h.account = c.account
                  JOIN session.phone AS p ON p.account = c.account AND p.key = c.key
                 WHERE h.handle = 'anna'
                """)
            #expect(moved == "1")

            try await Self.restart([new], quartet)
            _ = try Device(try await Self.refresh(refreshed, quartet), edge: quartet.edge)
            _ = try await Device.signIn("anna", at: quartet.edge)
            let annasAgain = try await Self.signIn(by: Self.annasPhone, quartet)
            #expect(annasAgain.status == 200, "\(annasAgain)")
            let codeNow = try await byPassword.code()
            #expect(codeNow == code)
            try await Self.expectOnlyThePhoneIsGood(of: bob, quartet)
        }
    }

    /// Phones move to the new key by themselves, passwords when they are used.
    private static func expectPhonesMoved(_ quartet: Quartet) async throws {
        try await quartet.wait(
            for: "phones to have their other names",
            "SELECT count(*) FROM session.server_key WHERE phones > 0 AND passwords > 0"
        ) { $0 == "0" }
        let held = try await quartet.psql(
            "SELECT string_agg(passwords || ' ' || phones, ', ' ORDER BY passwords) FROM session.server_key")
        #expect(held == "0 2, 2 0")
    }

    /// Without the old key, tokens and passwords of someone who didn't come meanwhile are refused. The phone moved by
    /// itself, and gets another password.
    private static func expectOnlyThePhoneIsGood(of bob: Device, _ quartet: Quartet) async throws {
        let token = try await refresh(bob, quartet)
        #expect(token.status == 401 && token.body["code"] == "invalidToken", "\(token)")
        #expect(token.body["detail"].string?.contains("no longer accepts") == true)
        let byPassword = try await quartet.edge.insist(
            "/v1/sign-in", ["handle": "bob", "password": .string(password)])
        #expect(byPassword.status == 401 && byPassword.body["code"] == "invalidCredentials")
        let again = try Device(try await signIn(by: bobsPhone, quartet), edge: quartet.edge)
        let reset = try await quartet.edge.insist(
            "/v1/reset-password", ["newPassword": "another long password"], token: again.token)
        #expect(reset.status == 204, "\(reset)")
        _ = try await Device.signIn("bob", password: "another long password", at: quartet.edge)
    }

    @Test("a code sent before the key rotates is accepted after it (R11)")
    func codeOnItsWay() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            let (old, new) = (Self.key(), Self.key())
            try await Self.restart([old], quartet)
            let anna = try await quartet.signUp("anna")
            try await quartet.addPhone(Self.annasPhone, to: anna)
            let asked = try await quartet.edge.insist("/v1/sign-in/codes", ["phone": .string(Self.annasPhone)])
            let digits = try await quartet.lastPhoneCode(to: Self.annasPhone, count: 2)
            try await Self.restart([new, old], quartet)
            let signedIn = try await quartet.edge.insist(
                "/v1/sign-in",
                ["phone": .string(Self.annasPhone), "phoneCode": asked.body["phoneCode"], "code": .string(digits)])
            #expect(signedIn.status == 200, "\(signedIn)")
        }
    }
}
