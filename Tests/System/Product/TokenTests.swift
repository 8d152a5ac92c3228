import EdgeClient
import Foundation
import TestKit
import Testing

/// Access and refresh tokens.
@Suite("End to end: tokens", .timeLimit(.minutes(60)))
struct TokenTests {
    @Test("missing, forged and another installation's tokens are refused (S42, T22)")
    func forged() async throws {
        let foreign = try await Quartet.with { try await $0.signUp("anna") }
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let parts = anna.token.split(separator: ".").map(String.init)
            // Whole but for the signature, so that nothing else can be the reason.
            let claims = Self.base64(
                #"{"iss":"quartet","sub":"\#(anna.account)","dev":"\#(anna.id)","roles":["user"],"iat":1,"exp":9999999999}"#
            )
            let none = Self.base64(#"{"alg":"none","typ":"JWT"}"#)
            let symmetric = Self.base64(#"{"alg":"HS256","typ":"JWT"}"#)
            for token in [
                "x", "a.b.c", "\(parts[0]).\(claims).\(parts[2])", "\(none).\(claims).", "\(none).\(parts[1]).",
                "\(symmetric).\(claims).\(parts[2])", anna.refreshToken,
                String(repeating: "a", count: 5000), anna.token + "x", foreign.token,
            ] {
                let reply = try await quartet.edge.send("GET", "/v1/account", token: token)
                #expect(reply.status == 401 && reply.body["code"] == "invalidToken", "\(token.prefix(40)): \(reply)")
            }
            let missing = try await quartet.edge.send("GET", "/v1/account")
            #expect(missing.status == 401 && missing.body["code"] == "missingToken")
            let inURL = try await quartet.edge.send("GET", "/v1/account?access_token=\(anna.token)")
            #expect(inURL.status == 401 && inURL.headers["www-authenticate"] == "Bearer")
            let refresh = try await quartet.edge.insist("/v1/token", ["refreshToken": .string(foreign.refreshToken)])
            #expect(refresh.status == 401 && refresh.body["code"] == "invalidToken")
        }
    }

    private static func base64(_ text: String) -> String {
        Data(text.utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
            .replacing("=", with: "")
    }

    @Test("a refresh token is exchanged once; a copy of a used one signs the device out and ends its streams (S42)")
    func reused() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let key = EdgeClient.newKey()
            let request: JSON = ["refreshToken": .string(anna.refreshToken)]
            let next = try Device(try await quartet.edge.insist("/v1/token", request, key: key), edge: quartet.edge)
            let again = try Device(try await quartet.edge.insist("/v1/token", request, key: key), edge: quartet.edge)
            #expect(next.refreshToken == again.refreshToken && next.refreshToken != anna.refreshToken)
            _ = try await next.read("/v1/account")
            let sees = try await LiveView.open(next)
            let reuse = try await quartet.edge.insist("/v1/token", request)
            #expect(reuse.status == 401 && reuse.body["code"] == "tokenReused")
            let end = try await sees.wait("the end") { $0.name == "end" }
            #expect(end.data["reason"] == "signedOut")
            try await sees.waitForEnd()
            let void = try await quartet.edge.send("GET", "/v1/account", token: next.token)
            #expect(void.status == 401 && void.body["code"] == "signedOut")
            let late = try await quartet.edge.insist("/v1/token", ["refreshToken": .string(next.refreshToken)])
            #expect(late.status == 401 && late.body["code"] == "deviceSignedOut")

            // A device signs out another one of its account.
            let phone = try await Device.signIn("anna", device: "phone", at: quartet.edge)
            let tablet = try await Device.signIn("anna", device: "tablet", at: quartet.edge)
            let phoneSees = try await LiveView.open(phone)
            let out = try await quartet.edge.insist("/v1/sign-out", ["device": .string(phone.id)], token: tablet.token)
            #expect(out.status == 204)
            let revoked = try await phoneSees.wait("the end of the phone's stream") { $0.name == "end" }
            #expect(revoked.data["reason"] == "signedOut")
            try await phoneSees.waitForEnd()
            let gone = try await quartet.edge.send("GET", "/v1/account", token: phone.token)
            #expect(gone.status == 401)
            _ = try await tablet.read("/v1/account")
        }
    }

    @Test("of many requests with one refresh token, one gets the next token; then the device is signed out (S42)")
    func refreshRace() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
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

    @Test("an expired access token is refused and its stream ends; the refresh token gets another (S42)")
    func expired() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["ACCESS_TOKEN_LIFETIME": "45s"])
            let anna = try await quartet.signUp("anna")
            let sees = try await LiveView.open(anna)
            let end = try await sees.wait("the end") { $0.name == "end" }
            #expect(end.data["reason"] == "tokenExpired")
            try await sees.waitForEnd()
            let late = try await quartet.edge.send("GET", "/v1/account", token: anna.token)
            #expect(late.status == 401 && late.body["code"] == "invalidToken")
            let refreshed = try await quartet.edge.insist("/v1/token", ["refreshToken": .string(anna.refreshToken)])
            let state = try await Device(refreshed, edge: quartet.edge).read("/v1/account")
            #expect(state["handle"] == "anna" && refreshed.body["expiresIn"] == 45)
        }
    }
}
