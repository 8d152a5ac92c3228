import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// How every page looks, for everybody: by the rules of axe-core, at 320 and 1280 pixels, dark and light.
@Suite("Console: look", .timeLimit(.minutes(30)))
struct ConsoleLookTests {
    @Test("every page, dialog and sheet keeps axe's rules and fits 320 and 1280 pixels in both themes (C7)")
    func everyPage() async throws {
        try await Console.with { console in
            let bob = try await Device.signUp(
                "bob", name: "Bartholomew Featherstonehaugh-Cholmondeley", at: console.quartet.edge)
            let anna = try await console.newPerson("anna", name: "Anna")
            try await anna.click("Contacts")
            try await anna.fill("Their code", try await bob.code())
            try await anna.toggle("I look after them")
            try await anna.click("Add")
            try await anna.see("Contact added")
            let group = try await console.begin(anna)
            try await bob.act("JoinGroupSession", ["group": .string(group)])
            try await bob.act(
                "SendGroupMessage", ["group": .string(group), "type": "text", "data": ["text": "Shall we play?"]])
            try await anna.fill("Message", "With pleasure")
            try await anna.click("Send")
            try await anna.click("Listen")
            try await anna.click("Play Death and the Maiden: Andante")
            try await anna.click("Queue Lullaby")
            try await bob.act("RaiseAlert")

            for (width, isDark) in [(320, true), (320, false), (1280, true), (1280, false)] {
                try await anna.look(width: width, isDark: isDark)
                for (path, name) in [
                    ("/", "home"), ("/contacts", "contacts"), ("/contacts/\(bob.account)", "contact"),
                    ("/notifications", "notifications"), ("/together", "together"), ("/together/\(group)", "group"),
                    ("/listen", "listen"), ("/search", "search"), ("/me", "me"), ("/listen#player", "player"),
                    ("/welcome", "welcome"),
                ] {
                    // Another page first: an address that differs in its fragment alone loads nothing.
                    try await anna.go(to: "about:blank")
                    try await anna.go(path)
                    try await anna.wait(
                        "the page", "document.querySelector('main h1') && document.body.innerText.includes('Connected')"
                    )
                    try await Self.check(anna, "\(name)-\(width)-\(isDark ? "dark" : "light")")
                }
                try await anna.go("/contacts/\(bob.account)")
                try await anna.click("Remove")
                try await anna.see("To be contacts again")
                try await Self.check(anna, "dialog-\(width)-\(isDark ? "dark" : "light")")
                try await anna.click("Cancel")
            }
            // By keyboard: the first stop leads past the navigation.
            try await anna.go("/")
            try await anna.see("Are you all right")
            try await anna.press("\u{E004}\u{E007}")
            #expect(try await anna.run("return document.activeElement.id") == "main")
            try await anna.expectNoErrors()
        }
    }

    private static func check(_ page: Browser, _ name: String) async throws {
        let problems = try await page.accessibilityProblems()
        #expect(problems == [], "\(name)")
        let width = try await page.run("return document.documentElement.scrollWidth - innerWidth").int ?? 1
        #expect(width <= 0, "\(name) is wider than the window")
        try await page.screenshot(name)
    }
}
