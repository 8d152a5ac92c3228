import QuartetClient
import TestKit
import Testing

extension AppPackageTests {
    /// Changes of an app while the service that decides them is away.
    @Suite
    struct OutageTests {
        @Test(
            """
            a call for help and an edit outlast a service that comes back later than their commands are valid: each is asked for \
            again under a new key and made once, and shows all the while; over HTTP and gRPC (S20, S22, R14, R15)
            """, arguments: [PackageApp.Way.http, .gRPC])
        func awayForLonger(_ way: PackageApp.Way) async throws {
            try await Quartet.with { quartet in
                let transport = RecordingTransport(inner: try await way.transport(to: quartet))
                try await PackageApp.with("anna", transport) { anna in
                    let user = anna.clients.user
                    let base = user.user.profile
                    var edit = base
                    edit.emergencyNote = "Penicillin"
                    try await quartet.waitUntilQuiet()
                    try await quartet.kill(.session)
                    let calls = [
                        Task { await Self.refusal { () async throws(QuartetError) in try await user.raiseAlert() } },
                        Task { [edit] in
                            await Self.refusal { () async throws(QuartetError) in
                                try await user.updateProfile(Edit(base: base, edit: edit))
                            }
                        },
                    ]
                    let commands = ["RaiseAlert", "UpdateProfile"]
                    func wait(for outcome: String) async throws {
                        try await transport.sent.wait("\(outcome) of both") { sent in
                            commands.allSatisfy { command in
                                sent.contains { $0.command == command && $0.outcome == outcome }
                            } ? true : nil
                        }
                    }
                    try await wait(for: "noOutcomeYet")
                    // Six minutes that nobody has to wait for: what the edge has asked is as old as if they had passed, by the only
                    // clock that the service judges it by.
                    _ = try await quartet.psql(
                        """
                        UPDATE session_client.session_commands SET expires_at = expires_at - interval '6 minutes'
                         WHERE type IN ('RaiseAlert', 'UpdateProfile')
                        """)
                    try await quartet.start(.session)
                    try await wait(for: "expired")
                    #expect(user.user.alertRaised != nil && user.user.emergencyNote == "Penicillin")
                    try await wait(for: "accepted")
                    for call in calls { #expect(await call.value == nil) }
                    let waiting = anna.connection.outbox.items
                    try await PackageApp.wait("nothing to wait", waiting.values) { $0.isEmpty }
                    try await quartet.waitUntilQuiet()
                    for (command, event) in zip(commands, ["AlertRaised", "ProfileUpdated"]) {
                        let sent = transport.sent(of: command)
                        let (late, made) = (
                            sent.filter { $0.outcome == "expired" }, sent.filter { $0.outcome == "accepted" }
                        )
                        #expect(late.count == 1 && made.count == 1 && late[0].key != made[0].key, "\(sent)")
                        // Until it is known that it didn't happen, it is asked for under one key.
                        let before = sent.prefix { $0.outcome != "expired" }
                        #expect(before.allSatisfy { $0.key == late[0].key }, "\(sent)")
                        let events = try await quartet.psql("SELECT count(*) FROM session.log WHERE type = '\(event)'")
                        #expect(events == "1", "\(command)")
                    }
                    #expect(user.user.alertRaised != nil && user.user.emergencyNote == "Penicillin")
                }
            }
        }

        /// Why a change is taken back; nil if it is made, or will be: on a busy machine a call may end before that.
        private static func refusal(_ call: () async throws(QuartetError) -> Void) async -> QuartetError? {
            do throws(QuartetError) {
                try await call()
                return nil
            } catch {
                return error.isPending ? nil : error
            }
        }
    }
}
