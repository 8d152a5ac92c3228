import EdgeClient
import TestKit
import Testing
import WebDriver

@Suite("Console: nobody to tell", .timeLimit(.minutes(60)))
struct ConsoleReachTests {
    @Test(
        "home says above anything else that nobody would be told, and whom that depends on; an alert says so, too (A16)"
    )
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
            // He hears of alerts all the same, if he can be reached.
            try await page.click("Raise an alert")
            try await page.see("It is sent to Bob. Whether that reaches anybody isn’t known: call somebody, too.")
            try await page.see("Raise the alert")
            try await page.click("Cancel")
            try await hear(true, 2)
            try await page.notSee("Nobody is told if you miss a check-in")
            try await console.quartet.lapseReach(of: bob)
            try await page.see("Your only responder, Bob, couldn’t be reached for a long time")
            #expect(try await page.run("return \(first)") == true)

            let warning =
                "Your only responder, Bob, couldn’t be reached for a long time, so an alarm may reach nobody."
            try await page.click("Raise an alert")
            try await page.wait(
                "the warning", "document.querySelector('dialog[open]')?.innerText.includes(arguments[0])",
                .string(warning))
            try await page.screenshot("dialog-alert-out-of-reach")
            try await page.click("Raise it anyway")
            try await page.wait(
                "the warning", "document.querySelector('.alert-card.is-on')?.innerText.includes(arguments[0])",
                .string(warning))
            try await page.see("It goes to Bob all the same.")
            try await page.expectNoErrors()
        }
    }

    @Test("whoever wants to hear of missed check-ins agrees to be seen; to want less agrees to nothing (A16)")
    func consent() async throws {
        try await Console.with { console in
            let quartet = console.quartet
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await bob.add(anna)
            let page = try await console.person("bob")
            try await page.prepare(
                """
                const real = fetch;
                window.bodies = [];
                window.fetch = (address, options) => {
                    if (String(address).includes('UpdateContact')) bodies.push(JSON.parse(options.body));
                    return real(address, options);
                };
                """)
            try await page.go("/contacts/\(anna.account)")
            func body(_ label: String, _ count: Int64) async throws -> JSON {
                try await page.toggle(label)
                return try await page.wait(
                    "the edit", "bodies.length === arguments[0] && bodies[arguments[0] - 1]", .int(count))
            }
            #expect(try await body("Tell me when they check in", 1)["iAmResponder"] == .null)
            #expect(try await body("I ping them", 2)["iAmResponder"] == .null)
            #expect(try await body("Tell me when they miss a check-in", 3)["iAmResponder"] == .null)
            #expect(try await body("Tell me when they miss a check-in", 4)["iAmResponder"] == true)
            try await page.see("Whoever turns it on agrees: They see it when none of their responders")
            try await page.expectNoErrors()
        }
    }
}
