import EdgeClient
import TestKit
import Testing

/// Streams that outlive their access tokens.
@Suite("End to end: a stream's tokens", .timeLimit(.minutes(60)))
struct StreamTokenTests {
    @Test(
        """
        a stream goes on if its reader presents the next token for it, to any replica; one that was opened with a copy of the \
        first token ends with that, and signing out ends it as ever (T19)
        """)
    func extending() async throws {
        try await Quartet.with(services: [.session, .contacts, .notifications]) { quartet in
            try await quartet.start(.sessionClient, environment: ["ACCESS_TOKEN_LIFETIME": "60s"])
            let process = try await quartet.startAnother(.sessionClient)
            let other = try await quartet.edge(of: process)
            let bob = try await Device.signUp("bob", name: "Bob", at: other)
            let anna = try await quartet.signUp("anna")
            let (view, stolen) = (try await LiveView.open(anna), try await LiveView.open(anna))
            let first = try #require(view.all.first)
            let name = first.data["stream"]
            #expect(first.name == "begun" && name.string != nil && (0...60).contains(first.data["expiresIn"].int ?? -1))
            #expect(stolen.all.first?.data["stream"] != name)

            let reply = try await other.insist("/v1/token", ["refreshToken": .string(anna.refreshToken)])
            let next = try Device(reply, edge: other)
            func present(_ name: JSON, by device: Device) async throws -> EdgeClient.Reply {
                try await other.insist("/v1/stream/token", ["stream": name], token: device.token)
            }
            let presented = try await present(name, by: next)
            #expect(
                presented.status == 200 && (800...900).contains(presented.body["expiresIn"].int ?? 0), "\(presented)")
            let tablet = try await Device.signIn("anna", at: other)
            for (name, device) in [(name, bob), (name, tablet), ("nothing", next), ("", next)] as [(JSON, Device)] {
                let refused = try await present(name, by: device)
                #expect(refused.status == 404 && refused.body["code"] == "streamNotFound", "\(refused)")
            }

            let end = try await stolen.wait("the end") { $0.name == "end" }
            #expect(end.data["reason"] == "tokenExpired")
            try await next.act("SetCheckInInterval", ["interval": .int(7_200_000_000)])
            try await view.wait("CheckInIntervalSet", in: "account")
            #expect(!view.all.contains { $0.name == "end" })

            try await next.signOut()
            let last = try await view.wait("the end") { $0.name == "end" }
            #expect(last.data["reason"] == "signedOut")
            await process.end()
        }
    }
}
