import EdgeClient
import TestKit
import Testing
import WebDriver

/// Who is on an alarm, as the console shows it to the person, to the one who answers and to the others.
@Suite("Console: answers to alarms", .timeLimit(.minutes(60)))
struct ConsoleAnswerTests {
    @Test(
        """
        whoever was told says that they are on it, that the person is safe or that help is needed; the person and the others \
        see it at once, by name; nobody is said to be on it before (A2)
        """)
    func answers() async throws {
        try await Console.with { console in
            let (anna, bob, cleo) = try await console.quartet.signUp("anna", "bob", "cleo")
            for responder in [bob, cleo] { try await responder.add(anna) }
            let (hers, bobs) = (try await console.person("anna"), try await console.person("bob"))
            for page in [hers, bobs] { try await page.look(width: 390) }
            try await anna.act("RaiseAlert")
            try await hers.see("Your alert is on")
            try await hers.see("Nobody is on it yet.")
            try await bobs.see("Nobody is on it yet")
            try await bobs.screenshot("home-alarm-nobody-on-it-phone-light")
            try await bobs.go("/contacts/\(anna.account)")
            try await bobs.see("Nobody is on it yet.")
            #expect(try await bobs.accessibilityProblems() == [])
            try await bobs.screenshot("contact-alarm-phone-light")
            try await bobs.click("I’m on it")
            try await bobs.see("You are on it until")
            try await hers.see("Bob is on it until")
            #expect(try await hers.run("return document.body.innerText.includes('Nobody is on it')") == false)
            try await hers.screenshot("home-alert-on-it-phone-light")

            // Cleo isn't Bob's contact.
            let cleos = try await console.person("cleo")
            try await cleos.look(width: 1280, isDark: true)
            try await cleos.go("/contacts/\(anna.account)")
            try await cleos.see("Bob is on it until")
            #expect(try await cleos.accessibilityProblems() == [])
            try await cleos.screenshot("contact-alarm-on-it-desktop-dark")

            try await bobs.click("Reached, safe")
            try await bobs.see("Say so only if you saw Anna or spoke with them.")
            try await bobs.screenshot("dialog-safe-phone-light")
            try await bobs.click("I reached them")
            try await hers.see("Bob says: reached, and safe")
            try await cleos.click("Help is needed")
            try await hers.see("Cleo says: help is needed")
            // It isn't an end, and nobody is on it.
            try await hers.see("Your alert is on")
            try await bobs.see("Cleo says: help is needed")
            try await bobs.screenshot("contact-alarm-help-phone-light")
            try await anna.act("ClearAlert")
            for page in [bobs, cleos] {
                try await page.wait(
                    "no alarm", "!document.querySelector('.answering') && !document.querySelector('.banner')")
            }
            for page in [hers, bobs, cleos] { try await page.expectNoErrors() }
        }
    }

    @Test("who is on it reads before their time ends that they are to say so again, and is led to where they do (A2)")
    func renewal() async throws {
        try await Console.with { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            try await bob.add(anna)
            try await anna.act("RaiseAlert")
            let bobs = try await console.person("bob")
            try await bobs.look(width: 390)
            try await bobs.go("/contacts/\(anna.account)")
            try await bobs.click("I’m on it")
            try await bobs.see("You are on it until")
            try await bobs.go("/notifications")
            try await console.quartet.passOnIt(minutes: 26, for: anna)
            try await bobs.see("Are you still on it for Anna? Your time ends at")
            #expect(try await bobs.accessibilityProblems() == [])
            try await bobs.screenshot("notifications-still-on-it-phone-light")
            try await bobs.run(
                "[...document.querySelectorAll('a.row-text')].find((one) => one.innerText.includes('still on it')).click()"
            )
            try await bobs.click("I’m on it")
            try await bobs.see("You are on it until")
            try await console.quartet.wait(
                for: "the question to be cleared",
                """
                SELECT count(*) FROM notifications.notification
                 WHERE details ->> 'onItUntil' IS NOT NULL AND cleared_at IS NOT NULL
                """
            ) { $0 == "1" }
            try await bobs.expectNoErrors()
        }
    }

    @Test(
        "who doesn't hear of missed check-ins isn't told that nobody is on one; an answer without a network says so (A2, S22)"
    )
    func unheard() async throws {
        try await Console.with { console in
            let (anna, bob, cleo) = try await console.quartet.signUp("anna", "bob", "cleo")
            for responder in [bob, cleo] { try await responder.add(anna) }
            try await anna.act("CheckIn")
            let version = try await cleo.card(of: anna)["contact"]["version"]
            try await cleo.act(
                "UpdateContact",
                ["contact": .string(anna.account), "expectedVersion": version, "notifyOnMissedCheckIn": false])
            try await console.quartet.missCheckIn(of: anna)
            try await bob.wait(toHear: "dependentCheckInMissed")
            let cleos = try await console.person("cleo")
            try await cleos.go("/contacts/\(anna.account)")
            try await cleos.see("You don’t hear of missed check-ins of theirs, so who is on it isn’t shown to you.")
            #expect(try await cleos.run("return document.body.innerText.includes('Nobody is on it')") == false)

            let bobs = try await console.person("bob")
            try await bobs.go("/contacts/\(anna.account)")
            try await bobs.see("Nobody is on it yet.")
            try await bobs.setOffline(true)
            try await console.restartEdge {
                try await bobs.click("I’m on it")
                try await bobs.see("Your answer to an alarm has NOT gone out")
                try await bobs.screenshot("contact-answer-offline")
            }
            try await bobs.setOffline(false)
            try await bobs.see("You are on it until")
            try await bobs.wait("nothing to wait", "!document.body.innerText.includes('NOT gone out')")
            for page in [cleos, bobs] { try await page.expectNoErrors() }
        }
    }
}
