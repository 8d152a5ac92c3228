import EdgeClient
import TestKit
import Testing
import WebDriver

/// What somebody chooses about their check-ins, and what that looks like.
@Suite("Console: grace, pause and who hears first", .timeLimit(.minutes(60)))
struct ConsoleCheckInTests {
    @Test(
        """
        who chooses a grace reads who hears when; at the deadline the page says until when it doesn't count as missed; a pause is \
        asked about, shown to both, and ended (A3, A5)
        """)
    func choices() async throws {
        try await Console.with { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            try await bob.add(anna)
            try await console.quartet.waitUntilQuiet()
            let page = try await console.person("anna")
            try await page.go("/")
            try await page.see("Bob hears of it then")
            try await page.run("document.querySelector('.check-in details').open = true")
            try await page.choose("If I miss one, others hear", "600000000")
            try await page.wait("the choice to be made", "document.querySelector('#grace').value === '600000000'")
            try await console.quartet.wait(
                for: "the grace", "SELECT count(*) FROM session.account WHERE check_in_grace = interval '10 minutes'"
            ) { $0 == "1" }
            try await Self.look(page, "home-settings")

            try await console.quartet.moveDeadline(of: anna)
            try await console.quartet.wait(
                for: "the grace to begin", "SELECT count(*) FROM session.account WHERE grace_ends_at IS NOT NULL"
            ) { $0 == "1" }
            // Nothing told the page that the deadline was moved.
            try await page.go("/")
            try await page.see("until it counts as missed")
            try await Self.look(page, "home-grace")
            try await page.click("I’m all right")
            try await page.notSee("until it counts as missed")
            try await page.see("Bob hears of it then")

            try await page.run("document.querySelector('.check-in details').open = true")
            try await page.choose("Pause for", "259200000000")
            try await page.see("Bob is told of the pause")
            try await page.screenshot("dialog-pause")
            try await page.click("Pause")
            try await page.see("The first check-in is due by")
            try await Self.look(page, "home-paused")
            let other = try await console.person("bob")
            try await other.go("/contacts")
            try await other.see("Check-ins paused until")
            try await other.go("/notifications")
            try await other.see("Anna paused their check-ins until")
            try await page.click("End the pause")
            try await page.notSee("The first check-in is due by")
            try await other.see("The pause of Anna is over")
            try await page.expectNoErrors()
        }
    }

    @Test("who chooses daily times reads from when a check-in counts, and of an earlier one that it is too early (A6)")
    func daily() async throws {
        try await Console.with { console in
            let anna = try await console.quartet.signUp("anna")
            let page = try await console.person("anna")
            try await page.go("/")
            try await page.see("Are you all right")
            try await page.run("document.querySelector('.check-in details').open = true")
            // Half a day ahead and more.
            try await page.run(
                """
                const time = new Date(Date.now() + 14 * 3600e3), two = (number) => String(number).padStart(2, '0');
                const type = (id, text) => {
                  const field = document.querySelector(id);
                  field.value = text;
                  field.dispatchEvent(new Event('input', { bubbles: true }));
                };
                type('#daily-0', `${two(time.getUTCHours())}:${two(time.getUTCMinutes())}`);
                type('#daily-zone', 'Etc/UTC');
                """)
            try await page.click("Check in at these times")
            try await console.quartet.wait(
                for: "the daily times",
                "SELECT json_array_length(daily #> '{times,weekdays}') FROM session.account WHERE account = '\(anna.account)'"
            ) { $0 == "7" }
            try await page.wait("the choice to be shown", "document.querySelector('#interval').value === ''")
            try await page.see("You check in at these times")
            try await page.see("A check-in counts for")
            try await Self.look(page, "home-daily")
            // What the page knows says nothing of that: only the reply does.
            try await page.runModules(
                ["core/model.js"], "m['core/model.js'].model.replica.account.checkIn.opens = undefined")
            try await page.click("I’m all right")
            try await page.see("Too early for")
            // Between two that are three hours apart, a check-in counts for half of that.
            try await page.notSee("For some of your times there is none")
            try await anna.act(
                "SetDailyCheckIns", ["times": [480, 660], "weekdays": ["monday", "friday"], "zone": "Etc/UTC"])
            try await page.see("For some of your times there is none")
            // A tab that slept, and shows what was there before, takes no other device's times away (T26).
            func see(_ version: Int) async throws {
                try await page.runModules(
                    ["core/model.js"], "m['core/model.js'].model.replica.account.checkIn.version = \(version)")
            }
            try await see(1)
            try await page.choose("Check in every", "86400000000")
            try await page.see("It has changed in the meantime")
            try await see(2)
            try await page.choose("Check in every", "86400000000")
            try await page.notSee("A check-in counts for")
            // Nor does the page stand in its own way.
            for interval in [14_400_000_000, 28_800_000_000] {
                try await page.choose("Check in every", "\(interval)")
            }
            try await console.quartet.wait(
                for: "the last of them",
                "SELECT extract(epoch FROM check_in_interval)::int FROM session.account WHERE account = '\(anna.account)'"
            ) { $0 == "28800" }
            try await page.expectNoErrors()
        }
    }

    @Test("daily times that were refused for another reason still stand on those that their person saw (A6, T26)")
    func dailyRefused() async throws {
        try await Console.with { console in
            let anna = try await console.quartet.signUp("anna")
            try await anna.act(
                "SetDailyCheckIns", ["times": [600], "weekdays": ["monday", "friday"], "zone": "Etc/UTC"])
            let page = try await console.person("anna")
            try await page.go("/")
            try await page.see("Are you all right")
            try await page.run("document.querySelector('.check-in details').open = true")
            try await page.see("You check in at these times")
            func fill(_ zone: String) async throws {
                try await page.run(
                    """
                    for (const [id, text] of [['#daily-0', '07:00'], ['#daily-zone', '\(zone)']]) {
                      const field = document.querySelector(id);
                      field.value = text;
                      field.dispatchEvent(new Event('input', { bubbles: true }));
                    }
                    """)
            }
            try await fill("Nowhere/Nowhere")
            try await page.click("Check in at these times")
            try await page.see("Choose a time zone by its name")
            // Another device's, which the form doesn't show.
            try await anna.act(
                "SetDailyCheckIns", ["times": [480, 660], "weekdays": ["monday", "friday"], "zone": "Etc/UTC"])
            try await page.see("For some of your times there is none")
            try await fill("Etc/UTC")
            try await page.click("Check in at these times")
            try await page.see("It has changed in the meantime")
            try await page.wait(
                "the other device's times",
                "document.querySelector('#daily-0').value === '08:00' && document.querySelector('#daily-1')?.value === '11:00'"
            )
            let kept = try await console.quartet.psql(
                "SELECT daily #> '{times,times}' FROM session.account WHERE account = '\(anna.account)'")
            #expect(kept.filter(\.isNumber) == "480660")
            // What they choose now stands on these.
            try await fill("Etc/UTC")
            try await page.click("Check in at these times")
            try await console.quartet.wait(
                for: "the chosen times",
                "SELECT daily #>> '{times,times,0}' FROM session.account WHERE account = '\(anna.account)'"
            ) { $0 == "420" }
            try await page.expectNoErrors()
        }
    }

    @Test(
        """
        who starts a trip reads when an alert is raised, and to whom it goes; it is extended, and if it is missed responders read where to \
        and the note, until it is ended (A7)
        """)
    func trip() async throws {
        try await Console.with { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            try await bob.add(anna)
            try await console.quartet.waitUntilQuiet()
            let page = try await console.person("anna")
            try await page.go("/")
            try await page.see("Going somewhere?")
            try await page.run("document.querySelector('.trip details').open = true")
            try await page.fill("Where to", "Lake")
            try await page.fill("Note", "The blue car")
            try await page.see("If you start now, an alert is raised at")
            try await page.see("It is sent to Bob.")
            try await Self.look(page, "home-trip-form")
            try await page.click("Start the trip")
            try await page.see("If you don’t say that you have arrived by")
            try await Self.look(page, "home-trip")
            let eta = try await console.quartet.psql(
                "SELECT trip #>> '{shown,eta}' FROM session.account WHERE trip IS NOT NULL")
            try await page.click("+ 30 min")
            try await console.quartet.wait(
                for: "the later end",
                "SELECT (trip #>> '{shown,eta}')::bigint - \(eta) FROM session.account WHERE trip IS NOT NULL"
            ) { $0 == "1800000000" }
            let other = try await console.person("bob")
            try await other.go("/")
            try await other.notSee("Lake")
            try await console.quartet.endTrip(of: anna)
            try await page.see("You haven’t said that you arrived")
            try await other.see("on a trip: Lake")
            try await other.go("/contacts/\(anna.account)")
            try await other.see("The blue car")
            try await Self.look(other, "contact-trip")
            try await page.click("I have arrived")
            try await page.see("Going somewhere?")
            try await other.notSee("The blue car")
            for page in [page, other] { try await page.expectNoErrors() }
        }
    }

    @Test(
        """
        who runs a drill reads what responders are told, and then who got it; these read that it is no alarm, and say that they \
        got it (A11)
        """)
    func drill() async throws {
        try await Console.with { console in
            let (anna, bob, carl) = try await console.quartet.signUp("anna", "bob", "carl")
            for responder in [bob, carl] { try await responder.add(anna) }
            try await console.quartet.waitUntilQuiet()
            let page = try await console.person("anna")
            try await page.go("/")
            try await page.see("Would an alarm reach them?")
            try await page.click("Run a drill")
            try await page.see("says first of all that it is a drill and no alarm")
            try await page.screenshot("dialog-drill")
            try await page.click("Run the drill")
            try await page.see("A drill is on")
            let other = try await console.person("bob")
            try await other.go("/")
            try await other.see("Drill, no alarm: Anna")
            try await Self.look(other, "home-drilled")
            try await other.click("I got it")
            try await other.notSee("Drill, no alarm: Anna")
            try await console.quartet.wait(
                for: "the answer",
                "SELECT count(*) FROM notifications.notification AS n WHERE n.account = '\(bob.account)' AND n.answered_at IS NOT NULL"
            ) { $0 == "1" }
            try await console.quartet.waitUntilQuiet()
            try await page.click("See who got it")
            try await page.see("got it after")
            try await page.see("no answer yet")
            try await Self.look(page, "home-drill")
            try await anna.act("RaiseAlert")
            try await page.notSee("A drill is on")
            try await other.see("raised an alert")
            for page in [page, other] { try await page.expectNoErrors() }
        }
    }

    @Test(
        "who chooses that one responder hears after another reads in which order they hear, and so after a reload (A10)"
    )
    func order() async throws {
        try await Console.with { console in
            let (anna, bob, carl) = try await console.quartet.signUp("anna", "bob", "carl")
            for responder in [bob, carl] { try await responder.add(anna) }
            try await console.quartet.waitUntilQuiet()
            let page = try await console.person("anna")
            try await page.go("/")
            try await page.see("Bob and Carl hear of it then")
            try await page.run("document.querySelector('.check-in details').open = true")
            try await page.choose("Carl hears", "900000000")
            try await page.see("Bob hears of it then, Carl at")
            try await page.choose("Bob hears", "300000000")
            // Nobody hears at once, so the next ones do.
            try await page.see("Bob hears of it then, Carl at")
            try await page.choose("Bob hears", "0")
            try await console.quartet.wait(
                for: "the tiers",
                "SELECT responder_tiers->0->>'after' FROM contacts.account WHERE account = '\(anna.account)'"
            ) { $0 == "900000000" }
            try await page.go("/")
            try await page.see("Bob hears of it then, Carl at")
            try await page.run("document.querySelector('.check-in details').open = true")
            try await Self.look(page, "home-tiers")
            let labels = "[...document.querySelectorAll('.check-in label')].map((one) => one.textContent)"
            try await page.wait(
                "both choices", "['Carl hears', 'Bob hears'].every((label) => \(labels).includes(label))")
            // Two choices one after the other, of which nothing has come yet, are both made.
            try await page.run(
                """
                for (const [name, value] of [['Carl', '0'], ['Bob', '1200000000']]) {
                    const label = [...document.querySelectorAll('.check-in label')].find((one) => one.textContent === `${name} hears`);
                    const field = document.getElementById(label.htmlFor);
                    field.value = value;
                    field.dispatchEvent(new Event('change', { bubbles: true }));
                    await new Promise(requestAnimationFrame);
                }
                """)
            try await page.see("Carl hears of it then, Bob at")
            try await page.expectNoErrors()
        }
    }

    @Test("one chooses when an unanswered ping raises an alert, for all and for one, and both see when it does (A4)")
    func pings() async throws {
        try await Console.with { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            try await anna.add(bob, isMyResponder: true, iAmResponder: false)
            try await console.quartet.waitUntilQuiet()
            let page = try await console.person("anna")
            try await page.go("/")
            try await page.see("Bob hears of it then")
            try await page.run("document.querySelector('.check-in details').open = true")
            try await page.choose("If I don’t answer a ping, an alert is raised", "1800000000")
            try await console.quartet.wait(
                for: "the choice",
                "SELECT ping_escalation ->> 'after' FROM contacts.account WHERE account = '\(anna.account)'"
            ) { $0 == "1800000000" }
            try await page.run("document.querySelector('#quiet').click()")
            try await console.quartet.wait(
                for: "the quiet hours",
                "SELECT ping_escalation -> 'quietHours' IS NOT NULL FROM contacts.account WHERE account = '\(anna.account)'"
            ) { $0 == "t" }
            try await page.see("You are warned when they end")
            try await Self.look(page, "home-pings")
            // The first alone is refused: they would begin when they end.
            func set(_ end: String, _ time: String) async throws {
                try await page.run(
                    "const f = document.querySelector('#quiet-\(end)'); f.value = '\(time)'; f.dispatchEvent(new Event('change'))"
                )
            }
            try await set("from", "07:00")
            try await page.see("Give two different minutes of the day")
            #expect(try await page.run("return document.querySelector('#quiet-from').value === '07:00'").isTrue)
            try await set("to", "09:00")
            try await console.quartet.wait(
                for: "both ends of the quiet hours",
                """
                SELECT ((ping_escalation #>> '{quietHours,to}')::int - (ping_escalation #>> '{quietHours,from}')::int + 1440) % 1440
                  FROM contacts.account WHERE account = '\(anna.account)'
                """
            ) { $0 == "120" }
            try await page.run("document.querySelector('#quiet').click()")
            try await console.quartet.wait(
                for: "no quiet hours",
                "SELECT ping_escalation -> 'quietHours' IS NULL FROM contacts.account WHERE account = '\(anna.account)'"
            ) { $0 == "t" }
            try await bob.act("SendPing", ["contact": .string(anna.account)])
            try await page.see("If you don’t answer by")
            try await page.go("/contacts/\(bob.account)")
            try await page.see("your responders are told.")
            try await page.choose("If I don’t answer, an alert is raised", "0")
            try await console.quartet.wait(
                for: "the choice for Bob",
                "SELECT ping_escalation FROM contacts.contact WHERE account = '\(anna.account)'"
            ) { $0 == "0" }
            try await Self.look(page, "contact-pings")
            try await page.go("/")
            try await page.see("Bob hears of it then")
            try await page.run("document.querySelector('.check-in details').open = true")
            try await page.see("Never for Bob: on their page you can choose a time.")
            let bobs = try await console.person("bob")
            try await bobs.go("/contacts/\(anna.account)")
            try await bobs.see("If they don’t answer by")
            #expect(try await bobs.run("return !document.body.textContent.includes('Ask again')").isTrue)
            // Nothing comes of it any more, so he may take it back or, some seconds after it, ask again.
            try await anna.act("CheckIn")
            try await bobs.see("Ask again")
            try await bobs.see("Cancel the ping")
            try await bobs.go("/contacts")
            try await bobs.see("Ask again")
            try await page.expectNoErrors()
            try await bobs.expectNoErrors()
        }
    }

    private static func look(_ page: Browser, _ name: String) async throws {
        for (width, isDark) in [(1280, false), (390, true)] {
            try await page.look(width: width, isDark: isDark)
            try await page.screenshot("\(name)-\(width)")
            #expect(try await page.accessibilityProblems() == [])
        }
    }
}
