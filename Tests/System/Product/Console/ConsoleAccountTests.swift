import EdgeClient
import TestKit
import Testing
import WebDriver

/// Several accounts in one browser.
@Suite("Console: accounts", .timeLimit(.minutes(60)))
struct ConsoleAccountTests {
    @Test(
        "two people share a browser: each tab shows one of them, what one typed, sees or asks for is never the other's, and signing out leaves nothing in any tab (R12, S17)"
    )
    func sharing() async throws {
        try await Console.with { console in
            let quartet = console.quartet
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            try await anna.add(carl)
            let page = try await console.person("anna")
            let first = try await page.tab()
            try await page.click("Me")
            try await page.fill("Emergency note", "only Anna knows")
            try await page.click("Use another account")
            try await page.see("Signed in in this browser")
            try await page.signIn("bob")
            try await page.see("Are you all right, Bob?")
            try await page.click("Me")
            try await page.see("@bob")
            #expect(try await page.run("return document.querySelector('#emergency-note').value") == "")
            try await page.click("Contacts")
            try await page.see("No contacts yet")

            // Side by side: a new tab shows who was there last, and then somebody else.
            let second = try await page.newTab()
            try await page.go("/")
            try await page.see("Are you all right, Bob?")
            try await Self.switchAccount(page, to: "anna")
            try await page.see("Are you all right, Anna?")
            try await page.see("Connected")
            try await carl.act("RaiseAlert")
            try await page.see("Alert since")
            try await page.show(tab: first)
            try await page.click("Home")
            try await page.click("I’m all right")
            try await page.see("Last check-in ")
            #expect(try await page.run("return document.body.innerText.includes('Carl')") == false)
            let checkedIn = try await quartet.psql("SELECT account FROM session.log WHERE type = 'CheckedIn'")
            #expect(checkedIn == bob.account)

            // What one asked for offline isn't the other's to send.
            try await page.show(tab: second)
            try await page.click("Me")
            try await page.setOffline(true)
            try await page.fill("Name", "Anna Maria")
            try await page.click("Save")
            try await page.see("Will sync when online")
            try await page.fill("Emergency note", "still only Anna")
            try await Self.switchAccount(page, to: "bob")
            try await page.setOffline(false)
            try await page.see("Are you all right, Bob?")
            try await page.click("Me")
            try await page.see("@bob")
            try await page.see("Connected")
            #expect(try await page.run("return document.body.innerText.includes('Not sent yet')") == false)
            #expect(try await anna.read("/v1/account")["name"] == "Anna")
            try await Self.switchAccount(page, to: "anna")
            try await page.see("Are you all right, Anna Maria?")
            try await page.click("Me")
            try await page.wait(
                "what was typed", "document.querySelector('#emergency-note')?.value === 'still only Anna'")
            #expect(try await bob.read("/v1/account")["name"] == "Bob")
            let named = try await quartet.psql(
                "SELECT string_agg(account::text, ', ') FROM session.log WHERE type = 'ProfileUpdated'")
            #expect(named == anna.account, "once, and for her")

            // The other tab shows her, too, with what was typed there.
            try await page.show(tab: first)
            try await Self.switchAccount(page, to: "anna")
            try await page.click("Me")
            try await page.wait(
                "what was typed", "document.querySelector('#emergency-note')?.value === 'only Anna knows'")
            try await page.click("Sign out")
            for tab in [first, second] {
                try await page.show(tab: tab)
                try await page.see("Somebody notices")
                try await page.see("@bob")
                let left = try await page.runModules(
                    ["net/database.js"],
                    """
                    const { all } = m['net/database.js'], kept = [...await all('accounts'), ...await all('outbox')];
                    return [document.body.innerText.includes('@anna'), kept.some((one) => one.account === argument),
                        Object.keys(sessionStorage).some((name) => name.includes(argument))];
                    """, .string(anna.account))
                #expect(left == [false, false, false], "on the page, in the browser, in the tab")
            }
            try await page.expectNoErrors()
        }
    }

    /// Goes to the page of the account that is shown, and chooses another one of this browser.
    private static func switchAccount(_ page: Browser, to handle: String) async throws {
        try await page.click("Me")
        try await page.click("Use another account")
        try await page.click("@\(handle)")
    }
}
