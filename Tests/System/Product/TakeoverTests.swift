import EdgeClient
import Foundation
import TestKit
import Testing

/// An account is taken over, or its owner has lost every way in: what helps the owner, and not a thief.
@Suite("End to end: an account is taken over", .timeLimit(.minutes(60)))
struct TakeoverTests {
    private static let password = "a long enough password"

    /// As if everybody had signed in a while ago.
    private static func forgetConfirmations(_ quartet: Quartet) async throws {
        _ = try await quartet.psql("UPDATE session.device SET confirmed_until = NULL")
    }

    private static func confirm(_ device: Device, password: String = password) async throws {
        let reply = try await device.edge.insist("/v1/confirm", ["password": .string(password)], token: device.token)
        #expect(reply.status == 200, "\(reply)")
    }

    private static func undo(_ device: Device, key: String? = nil) async throws -> EdgeClient.Reply {
        try await device.edge.insist("/v1/undo", ["refreshToken": .string(device.refreshToken)], key: key)
    }

    private static func changePassword(
        _ old: String, _ new: String, by device: Device
    ) async throws -> EdgeClient.Reply {
        try await device.edge.insist(
            "/v1/change-password", ["password": .string(old), "newPassword": .string(new)], token: device.token)
    }

    @Test("recovery codes are shown once, stored nowhere, work once, and let a forgotten password be reset (S41)")
    func recoveryCodes() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let sees = try await LiveView.open(anna)
            try await Self.forgetConfirmations(quartet)
            let unconfirmed = try await quartet.edge.insist("/v1/recovery-codes", [:], token: anna.token)
            #expect(unconfirmed.status == 403 && unconfirmed.body["code"] == "confirmationRequired")
            try await Self.confirm(anna)
            let key = EdgeClient.newKey()
            let made = try await quartet.edge.insist("/v1/recovery-codes", [:], token: anna.token, key: key)
            let codes = made.body["recoveryCodes"].array.compactMap(\.string)
            #expect(made.status == 201 && Set(codes).count == 10, "\(made)")
            #expect(codes.allSatisfy { $0.wholeMatch(of: /([0-9a-z]{5}-){3}[0-9a-z]{5}/) != nil })
            let again = try await quartet.edge.insist("/v1/recovery-codes", [:], token: anna.token, key: key)
            #expect(again.body == made.body, "the same request, once")
            try await sees.wait(notification: "recoveryCodesMade")

            func signIn(_ handle: String, _ code: String) async throws -> EdgeClient.Reply {
                try await quartet.edge.insist(
                    "/v1/sign-in", ["handle": .string(handle), "recoveryCode": .string(code)])
            }
            // As typed from paper.
            let typed = codes[0].uppercased().replacing("-", with: " ").replacing("0", with: "O")
            let tablet = try Device(try await signIn("anna", typed), edge: quartet.edge)
            let used = try await signIn("anna", codes[0])
            let unknown = try await signIn("nobody-here", codes[1])
            #expect(used.status == 401 && used.body["code"] == "invalidCredentials" && used.body == unknown.body)
            let short = try await signIn("anna", "12345")
            #expect(short.status == 422 && short.body["field"] == "recoveryCode")
            let both = try await quartet.edge.insist(
                "/v1/sign-in",
                ["handle": "anna", "password": .string(Self.password), "recoveryCode": .string(codes[1])])
            #expect(both.status == 400 && both.body["field"] == "recoveryCode", "\(both)")
            try await sees.wait(notification: "recoveryCodeUsed")
            let left = try await tablet.read("/v1/account")
            #expect(left["recoveryCodes"] == 9)

            // To confirm, which is good for everything that needs it.
            try await Self.forgetConfirmations(quartet)
            let wrong = try await quartet.edge.insist(
                "/v1/confirm", ["recoveryCode": .string(codes[0])], token: tablet.token)
            #expect(wrong.status == 403 && wrong.body["field"] == "recoveryCode")
            let confirmed = try await quartet.edge.insist(
                "/v1/confirm", ["recoveryCode": .string(codes[1])], token: tablet.token)
            #expect(confirmed.status == 200)
            let reset = try await quartet.edge.insist(
                "/v1/reset-password", ["newPassword": "remembered this time"], token: tablet.token)
            #expect(reset.status == 204)
            _ = try await Device.signIn("anna", password: "remembered this time", at: quartet.edge)

            try await quartet.waitUntilQuiet()
            for code in [codes[1], codes[9]] {
                let tables = try await quartet.tablesContaining(code.replacing("-", with: "%"))
                #expect(tables.isEmpty, "a code stands in \(tables)")
            }
            let logged = Quartet.Service.allCases.flatMap { quartet.lines(of: $0) }
            #expect(!logged.contains { line in codes.contains { line.contains($0) } })
        }
    }

    @Test("the device that a thief signed out undoes what they did, once, and their secrets stop working (S48)")
    func takeover() async throws {
        try await Quartet.with { quartet in
            let phone = try await Device.signUp("anna", device: "phone", at: quartet.edge)
            let tablet = try await Device.signIn("anna", at: quartet.edge)
            let laptop = try await Device.signIn("anna", device: "laptop", at: quartet.edge)
            let bob = try await quartet.signUp("bob")
            // Anna signed this one out herself.
            let sold = try await Device.signIn("anna", device: "sold", at: quartet.edge)
            let out = try await quartet.edge.insist("/v1/sign-out", ["device": .string(sold.id)], token: phone.token)
            #expect(out.isSuccess)
            let (phoneSees, tabletSees) = try await (LiveView.open(phone), LiveView.open(tablet))
            try await Self.forgetConfirmations(quartet)
            try await Self.expectTokenIsNotEnough(tablet, phone, quartet)

            // Now the thief has the password, too.
            try await Self.confirm(tablet)
            let codes = try await quartet.edge.insist("/v1/recovery-codes", [:], token: tablet.token)
            let thiefsCode = try #require(codes.body["recoveryCodes"][0].string)
            try await tablet.act("UpdateSecurity", ["isConfirmationRequired": true])
            try await phoneSees.wait(notification: "recoveryCodesMade")
            try await phoneSees.wait(notification: "securityChanged")
            let changed = try await Self.changePassword(Self.password, "chosen by a thief", by: tablet)
            #expect(changed.status == 204)
            let end = try await phoneSees.wait("the end of the phone's stream") { $0.name == "end" }
            #expect(end.data["why"] == "passwordChanged")
            let thief = try await Device.signIn("anna", password: "chosen by a thief", at: quartet.edge)

            // Not by someone else's secret, a forged one, a device that Anna signed out, nor the thief's own.
            let parts = phone.refreshToken.split(separator: ".").map(String.init)
            let forged = ([bob.account] + parts.dropFirst()).joined(separator: ".")
            for (secret, status) in [
                (bob.refreshToken, 409), (forged, 401), ("x", 401), (sold.refreshToken, 401),
                (thief.refreshToken, 409), (tablet.refreshToken, 409),
            ] {
                let reply = try await quartet.edge.insist("/v1/undo", ["refreshToken": .string(secret)])
                #expect(reply.status == status, "\(reply)")
            }
            // Nor by the laptop, which signed in after the tablet.
            let younger = try await Self.undo(laptop)
            #expect(younger.status == 409 && younger.body["code"] == "nothingToUndo", "\(younger)")
            try await Self.expectUndoneOnce(by: phone)
            try await tabletSees.wait("the end of the thief's stream") {
                $0.name == "end" && $0.data["why"] == "undone"
            }
            try await Self.expectOut([tablet, thief], code: thiefsCode, quartet)
            try await Self.expectRestored(quartet)
        }
    }

    /// A thief with nothing but an access token can't change or undo anything.
    private static func expectTokenIsNotEnough(_ tablet: Device, _ phone: Device, _ quartet: Quartet) async throws {
        for (path, body) in [
            ("/v1/recovery-codes", [:] as JSON), ("/v1/reset-password", ["newPassword": "chosen by a thief"]),
            ("/v1/commands/UpdateSecurity", ["isConfirmationRequired": true]),
        ] {
            let reply = try await quartet.edge.insist(path, body, token: tablet.token)
            #expect(reply.status == 403 && reply.body["code"] == "confirmationRequired", "\(path) \(reply)")
        }
        let byToken = try await quartet.edge.insist("/v1/undo", ["refreshToken": .string(tablet.token)])
        #expect(byToken.status == 401 && byToken.body["code"] == "invalidToken")
        let nothing = try await undo(phone)
        #expect(nothing.status == 409 && nothing.body["code"] == "nothingToUndo", "\(nothing)")
    }

    private static func expectUndoneOnce(by phone: Device) async throws {
        let key = EdgeClient.newKey()
        let undone = try await undo(phone, key: key)
        #expect(undone.status == 200, "\(undone)")
        #expect(undone.body["changes"] == ["recoveryCodes", "settings", "password"])
        let repeated = try await undo(phone, key: key)
        #expect(repeated.body == undone.body, "the same request, once")
        let twice = try await undo(phone)
        #expect(twice.status == 401 && twice.body["code"] == "deviceSignedOut", "\(twice)")
    }

    /// The thief's devices, password and recovery code are refused, and can't undo the undoing.
    private static func expectOut(_ devices: [Device], code: String, _ quartet: Quartet) async throws {
        for device in devices {
            let refused = try await quartet.edge.send("GET", "/v1/account", token: device.token)
            #expect(refused.status == 401 && refused.body["reason"] == "undone", "\(refused)")
            let undoing = try await undo(device)
            #expect(undoing.status == 401, "nobody undoes an undoing: \(undoing)")
        }
        let stolen = try await quartet.edge.insist("/v1/sign-in", ["handle": "anna", "password": "chosen by a thief"])
        #expect(stolen.status == 401)
        let byCode = try await quartet.edge.insist("/v1/sign-in", ["handle": "anna", "recoveryCode": .string(code)])
        #expect(byCode.status == 401)
    }

    /// Anna signs in with her own password, and finds her settings as they were.
    private static func expectRestored(_ quartet: Quartet) async throws {
        let back = try await Device.signIn("anna", at: quartet.edge)
        let account = try await back.read("/v1/account")
        #expect(account["recoveryCodes"] == 0 && account["isConfirmationRequired"] == false)
        #expect(account["devices"].array.compactMap { $0["id"].string } == [back.id])
        let kinds = try await back.kinds()
        #expect(kinds.contains("securityUndone") && kinds.contains("passwordChanged"), "\(kinds)")
    }

    @Test("after 72 hours a change can't be undone, and the earlier state is deleted (S48)")
    func late() async throws {
        try await Quartet.with { quartet in
            let phone = try await quartet.signUp("anna")
            let tablet = try await Device.signIn("anna", at: quartet.edge)
            let changed = try await Self.changePassword(Self.password, "another long password", by: tablet)
            #expect(changed.status == 204)
            _ = try await quartet.psql(
                """
                UPDATE session.security_change SET changed_at = changed_at - interval '73 hours',
                       device_signed_in_at = device_signed_in_at - interval '73 hours';
                UPDATE session.device SET signed_out_at = signed_out_at - interval '73 hours',
                       signed_in_at = signed_in_at - interval '73 hours';
                UPDATE session.account SET oldest_change_at = oldest_change_at - interval '73 hours';
                UPDATE session.timer SET due_at = due_at - interval '73 hours' WHERE type = 'ForgetSecurityChanges'
                """)
            let late = try await Self.undo(phone)
            #expect(late.status == 401 && late.body["code"] == "deviceSignedOut", "\(late)")
            try await quartet.wait(for: "the change to be forgotten", "SELECT count(*) FROM session.security_change") {
                $0 == "0"
            }
            let old = try await quartet.edge.insist(
                "/v1/sign-in", ["handle": "anna", "password": .string(Self.password)])
            #expect(old.status == 401)
        }
    }
}
