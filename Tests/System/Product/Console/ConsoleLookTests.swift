import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// How every page looks, for everybody: by the rules of axe-core, at 320 and 1280 pixels, dark and light, with and without motion.
@Suite("Console: look", .timeLimit(.minutes(60)))
struct ConsoleLookTests {
    @Test(
        "every page, dialog and sheet keeps axe's rules and fits 320 and 1280 pixels in both themes; nothing moves for those who ask for that (C7)"
    )
    func everyPage() async throws {
        try await Console.with { console in
            let name = "Bartholomew Featherstonehaugh-Cholmondeley"
            let bob = try await Device.signUp("bob", name: name, at: console.quartet.edge)
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
            try await Self.expectStillness(anna, besides: name)
            try await anna.expectNoErrors()
        }
    }

    /// Does the same for somebody who doesn't mind motion, and for somebody who asked for less: a switch, a word that goes by, the
    /// dot and the wheel of those who wait.
    private static func expectStillness(_ page: Browser, besides name: String) async throws {
        try await page.prepare(
            """
            window.moved = new Set();
            for (const type of ['animationstart', 'transitionrun']) {
                addEventListener(type, (event) => moved.add(event.animationName ?? event.propertyName), true);
            }
            """)
        for isStill in [false, true] {
            try await page.look(width: 1280, isStill: isStill)
            try await page.go("/contacts")
            try await page.toggle("Ask me first")
            try await page.click(isStill ? "Cancel" : "Ping \(name)")
            try await page.wait("what is said", "document.querySelector('.toast')")
            try await page.run(
                """
                const waiting = document.createElement('p');
                waiting.className = 'connection warning';
                for (const name of ['dot', 'spinner']) waiting.appendChild(document.createElement('span')).className = name;
                document.querySelector('main').append(waiting);
                """)
            if !isStill {
                try await page.wait(
                    "all of it to move", "['translate', 'rise', 'pulse', 'turn'].every((one) => moved.has(one))")
            }
        }
        let moving = try await page.runAsync(
            """
            for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
            return [...moved, ...document.getAnimations().map((one) => one.animationName ?? one.transitionProperty)];
            """)
        #expect(moving == [], "less motion was asked for")
    }

    private static func check(_ page: Browser, _ name: String) async throws {
        let problems = try await page.accessibilityProblems()
        #expect(problems == [], "\(name)")
        let width = try await page.run("return document.documentElement.scrollWidth - innerWidth").int ?? 1
        #expect(width <= 0, "\(name) is wider than the window")
        try await page.screenshot(name)
    }
}
