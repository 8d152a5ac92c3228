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
            try await anna.add(bob, isMyResponder: true, iAmResponder: false)
            try await page.notSee("Nobody looks after you")
            try await console.quartet.lapseReach(of: bob)
            try await page.see("Your only responder, Bob, couldn’t be reached for a long time")
            #expect(try await page.run("return \(first)") == true)
            try await page.expectNoErrors()
        }
    }
}
