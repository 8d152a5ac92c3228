import EdgeClient
import TestKit
import Testing
import WebDriver

@Suite("Console: nobody to tell", .timeLimit(.minutes(60)))
struct ConsoleReachTests {
    @Test("home says above anything else that nobody would be told, and whom that depends on (A16)")
    func home() async throws {
        try await Console.with { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            let page = try await console.person("anna")
            try await page.see("Nobody looks after you")
            let first = "document.querySelector('.columns .card').classList.contains('reach')"
            #expect(try await page.run("return \(first)") == true)
            try await bob.add(anna)
            try await page.notSee("Nobody looks after you")
            func hear(_ isOn: Bool, _ version: Int64) async throws {
                try await bob.act(
                    "UpdateContact",
                    [
                        "contact": .string(anna.account), "expectedVersion": .int(version),
                        "notifyOnMissedCheckIn": .bool(isOn),
                    ])
            }
            try await hear(false, 1)
            try await page.see("Nobody is told if you miss a check-in")
            #expect(try await page.run("return \(first)") == true)
            try await hear(true, 2)
            try await page.notSee("Nobody is told if you miss a check-in")
            try await console.quartet.lapseReach(of: bob)
            try await page.see("Your only responder, Bob, hasn’t opened the app for a long time")
            #expect(try await page.run("return \(first)") == true)
            try await page.expectNoErrors()
        }
    }
}
