import EdgeClient
import RPCClient
import TestKit
import Testing

/// What is refused in states that accounts seldom get into, or never should.
@Suite("End to end: what is refused rarely", .timeLimit(.minutes(60)))
struct RareRefusalTests {
    private static let password: JSON = "a long enough password"

    // MARK: Too often

    @Test(
        """
        changing security, guessing, searching, asking for codes and signing up are refused when they come too often, over HTTP \
        and gRPC, and so is a phone that is taken or gets no code (S35, S41, S48, T21, R15)
        """)
    func often() async throws {
        try await Quartet.withPhones(
            environment: ["GUESSES_PER_MINUTE": "10000", "HTTP_PROXIES": "1"]
        ) { quartet in
            let off = try await quartet.startAnother(.sessionClient, environment: ["SIGN_UPS_PER_MINUTE": "1"])
            // Nobody listens there.
            let cut = try await quartet.startAnother(
                .sessionClient, environment: ["PHONE_CODES": "http://127.0.0.1:9/codes"])
            try await quartet.overEach { carrier in
                try await Self.changeTooMuch(carrier.from("192.0.2.1"), quartet)
                try await Self.guessTooOften(carrier.from("192.0.2.2"), quartet)
                try await Self.askTooOften(carrier.from(carrier.name == "HTTP" ? "192.0.2.3" : "192.0.2.4"), quartet)
            }
            try await quartet.overEach(at: off) { carrier in
                let eve = try await carrier.signUp("eve", at: quartet)
                let phone: JSON = ["phone": "+4930333333"]
                try await carrier.expect("phoneCodesOff", of: "RequestSignInCode", phone)
                try await carrier.expect("phoneCodesOff", of: "ChangePhone", phone, token: eve.token)
                // The first of all is let in.
                try await carrier.expect(
                    "tooManySignUps", of: "SignUp", ["handle": "fay", "password": Self.password], tries: 2)
            }
            try await quartet.overEach(at: cut) { carrier in
                let gil = try await carrier.signUp("gil", at: quartet)
                try await carrier.expect(
                    "codeNotSent", of: "ChangePhone", ["phone": Self.number(carrier, 1)], token: gil.token)
            }
            for replica in [off, cut] { await replica.end() }
        }
    }

    /// A number of each carrier's.
    private static func number(_ carrier: any AddressedCarrier, _ last: Int) -> JSON {
        .string("+4930\(carrier.name == "HTTP" ? 4444 : 5555)\(last)")
    }

    /// Each change of an account's security is kept so that it can be undone, and only so many are.
    private static func changeTooMuch(_ carrier: any AddressedCarrier, _ quartet: Quartet) async throws {
        let anna = try await carrier.signUp("anna", at: quartet)
        try await quartet.addPhone(number(carrier, 1).string ?? "", to: anna)
        _ = try await quartet.psql(
            """
            INSERT INTO session.security_change (account, number, kind, changed_at, device_signed_in_at, password_hash,
                                                 password_key, is_single_device, is_confirmation_required)
            SELECT '\(anna.account)', n, 'settings', now(), now(), sha256('x'), '00000000', false, false
              FROM generate_series(101, 150) AS n
            """)
        let next: JSON = "quite another password"
        let changes: [(String, JSON)] = [
            ("ChangePassword", ["password": password, "newPassword": next]), ("ResetPassword", ["newPassword": next]),
            ("MakeRecoveryCodes", [:]), ("UpdateSecurity", ["isSingleDevice": true]), ("RemovePhone", [:]),
        ]
        for (call, body) in changes {
            try await carrier.expect("tooManyAttempts", of: call, body, token: anna.token)
        }
        // As if she had signed in a while ago.
        _ = try await quartet.psql(
            "UPDATE session.device SET confirmed_until = NULL WHERE account = '\(anna.account)'")
        try await carrier.expect("confirmationRequired", of: "RemovePhone", token: anna.token)
        // Only someone who enters the code learns that the phone is taken.
        let bob = try await carrier.signUp("bob", at: quartet)
        let code = try await carrier.act("ChangePhone", ["phone": number(carrier, 1)], token: bob.token)["phoneCode"]
        let digits = try await quartet.lastPhoneCode(to: number(carrier, 1).string ?? "", count: 2)
        try await carrier.expect(
            "phoneTaken", of: "VerifyPhone", ["phoneCode": code, "code": .string(digits)], token: bob.token)
    }

    /// After five wrong digits nobody is asked for more.
    private static func guessTooOften(_ carrier: any AddressedCarrier, _ quartet: Quartet) async throws {
        let carl = try await carrier.signUp("carl", at: quartet)
        let phone = number(carrier, 2)
        let code = try await carrier.act("ChangePhone", ["phone": phone], token: carl.token)["phoneCode"]
        let right = try await quartet.lastPhoneCode(to: phone.string ?? "")
        let wrong: JSON = ["phoneCode": code, "code": right == "000000" ? "000001" : "000000"]
        for _ in 0..<5 { try await carrier.expect("invalidCode", of: "VerifyPhone", wrong, token: carl.token) }
        try await carrier.expect("tooManyAttempts", of: "VerifyPhone", wrong, token: carl.token)
        try await carrier.expect(
            "tooManyAttempts", of: "ChangePhone", ["phone": number(carrier, 3)], token: carl.token)
    }

    /// An address may ask for little. Its allowance grows back while it asks, so it asks a few times more.
    private static func askTooOften(_ carrier: any AddressedCarrier, _ quartet: Quartet) async throws {
        let dora = try await carrier.signUp("dora", at: quartet)
        let phone: JSON = ["phone": number(carrier, 4)]
        try await carrier.expect("tooManyCodes", of: "RequestSignInCode", phone, tries: 40)
        try await carrier.expect("tooManyCodes", of: "ChangePhone", phone, token: dora.token, tries: 10)
        try await carrier.expect(
            "tooManyLookUps", of: "AddContact", ["handle": "nobody-at-all", "iAmResponder": true], token: dora.token,
            tries: 40)
    }

    // MARK: Full, missing, broken

    @Test(
        """
        nobody gets more contacts, blocks or devices than there may be; an account that a service doesn't know or has closed, a \
        device that is signed out, a command that was given up and what is broken are refused with their codes, over HTTP and \
        gRPC (S7, S9, S17, S18, S38, R15)
        """)
    func states() async throws {
        try await Quartet.with(services: [.session, .notifications, .sessionClient]) { quartet in
            try await quartet.start(.contacts, environment: ["CONSUMER_GIVE_UP_AFTER": "1s"])
            try await quartet.overEach { carrier in
                let anna = try await carrier.signUp("anna", at: quartet)
                let bob = try await carrier.signUp("bob", at: quartet)
                let carl = try await carrier.signUp("carl", at: quartet)
                try await fill(anna, bob, carl, carrier, quartet)
                try await fail(anna, carrier, quartet)
                _ = try await quartet.psql(
                    """
                    UPDATE contacts.account SET code = NULL, closed_at = clock_timestamp() WHERE account = '\(bob.account)';
                    DELETE FROM contacts.account WHERE account = '\(anna.account)'
                    """)
                try await carrier.expect("accountClosed", of: "ResetContactCode", token: bob.token)
                try await carrier.expect("accountNotFound", of: "ResetContactCode", token: anna.token)
                // The edge knows that the device was signed in a moment ago.
                _ = try await carl.read("/v1/account")
                _ = try await quartet.psql(
                    "UPDATE session.device SET signed_out_at = now(), reason = 'signedOut' WHERE device = '\(carl.id)'")
                for (call, body) in [
                    ("Confirm", ["password": Self.password]),
                    ("ChangePassword", ["password": Self.password, "newPassword": "quite another password"]),
                ] as [(String, JSON)] {
                    try await carrier.expect("deviceSignedOut", of: call, body, token: carl.token)
                }
            }
        }
    }

    /// Fills what is limited, and asks for one more.
    private func fill(
        _ anna: Device, _ bob: Device, _ carl: Device, _ carrier: any AddressedCarrier, _ quartet: Quartet
    ) async throws {
        try await bob.add(carl)
        try await anna.act(
            "AddContact", ["handle": .string("bob-\(carrier.name.lowercased())"), "isMyResponder": true])
        _ = try await quartet.psql(
            """
            UPDATE contacts.limits SET contact_limit = 1;
            INSERT INTO contacts.block (blocker, blocked, blocked_at)
            SELECT '\(bob.account)', gen_random_uuid(), now() FROM generate_series(1, 1000);
            INSERT INTO notifications.push_device (account, device, token, platform, registered_at)
            SELECT '\(bob.account)', gen_random_uuid(), 'token-' || n, 'ios', now() FROM generate_series(1, 20) AS n
            """)
        let full: [(String, JSON)] = [
            (
                "ApproveContactRequest",
                ["contact": .string(anna.account), "isMyResponder": false, "iAmResponder": true]
            ),
            ("BlockContact", ["contact": .string(anna.account)]),
            ("RegisterPush", ["token": "one-more", "platform": "ios"]),
        ]
        for (call, body) in full { try await carrier.expect("limitReached", of: call, body, token: bob.token) }
        _ = try await quartet.psql("UPDATE contacts.limits SET contact_limit = DEFAULT")
    }

    /// A command that fails at every try, and a read that the edge has no right to.
    private func fail(_ anna: Device, _ carrier: any AddressedCarrier, _ quartet: Quartet) async throws {
        _ = try await quartet.psql(
            """
            ALTER TABLE contacts.account ADD CONSTRAINT nobody_is_careful CHECK (NOT is_approval_required) NOT VALID;
            REVOKE SELECT ON session.account_state FROM session_client
            """)
        try await carrier.expect("failed", of: "SetContactApproval", ["isRequired": true], token: anna.token)
        try await carrier.expect("internal", of: "GetAccount", token: anna.token)
        _ = try await quartet.psql(
            """
            ALTER TABLE contacts.account DROP CONSTRAINT nobody_is_careful;
            GRANT SELECT ON session.account_state TO session_client
            """)
    }
}
