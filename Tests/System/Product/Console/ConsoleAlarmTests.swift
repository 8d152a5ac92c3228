import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// What the console says about alarms: one's own, those of others, and those that don't get through.
@Suite("Console: alarms", .timeLimit(.minutes(60)))
struct ConsoleAlarmTests {
    @Test(
        "another person's alarm stands on every page, in the title and in the tab's icon until it is over; then it looks over (S47, A13)"
    )
    func anotherPerson() async throws {
        try await Console.with { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            try await anna.add(bob)
            let page = try await console.person("anna")
            for isDark in [false, true] {
                try await page.look(width: 390, isDark: isDark)
                try await page.click("Listen")
                try await page.see("Morning Mood")
                try await bob.act("RaiseAlert")
                try await page.wait("the banner", Self.banner("Bob raised an alert"))
                try await page.wait("the title", "document.title === '(!) Bob: alert · Quartet'")
                try await page.wait("the icon", Self.icon("icon-alert.svg"))
                for path in ["/contacts", "/together", "/me", "/notifications", "/"] {
                    try await page.go(path)
                    try await page.wait("the banner on \(path)", Self.banner("Bob raised an alert"))
                }
                try await page.wait(
                    "what waits above one's own ring",
                    """
                    document.querySelector('#waiting-title').getBoundingClientRect().top
                        < document.querySelector('.ring').getBoundingClientRect().top
                    """)
                #expect(try await page.accessibilityProblems() == [])
                try await page.screenshot("home-their-alarm-phone-\(isDark ? "dark" : "light")")
                try await bob.act("ClearAlert")
                try await page.wait("its end", "!document.querySelector('.banner') && !document.title.includes('!')")
                try await page.wait("the icon", Self.icon("icon.svg"))
            }
            // It was read by nobody: it is said to be over, and isn't red.
            try await page.wait(
                "the alarm that is over", "document.querySelector('s')?.innerText === 'Bob raised an alert'")
            try await page.screenshot("home-alarm-over-phone-dark")
            try await page.click("Notifications")
            try await page.see("Bob ended the alert")
            #expect(try await page.run("return document.querySelectorAll('.row.critical').length") == 0)
            #expect(try await page.run("return document.querySelectorAll('.row.good').length") == 2)
            try await page.screenshot("notifications-over-phone-dark")
            try await page.expectNoErrors()
        }
    }

    @Test(
        "an alert that doesn't get through is said to have NOT gone out until it has, over a reload; it can be taken back; nothing is said to be sent or told before it is (A1, S22)"
    )
    func notSent() async throws {
        try await Console.with { console in
            let quartet = console.quartet
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await bob.add(anna)
            let page = try await console.person("anna")
            try await page.look(width: 390)
            try await page.setOffline(true)
            try await console.restartEdge {
                try await page.see("As of ")
                try await page.click("Raise an alert")
                try await page.see("You are offline: nobody is told until the connection is back. Call somebody.")
                try await page.screenshot("dialog-alert-offline")
                try await page.click("Raise the alert")
                try await page.wait("the card", Self.banner("Your alert has NOT gone out"))
                try await page.wait("the title", "document.title === '(!) Your alert: NOT sent · Quartet'")
                try await page.screenshot("home-alert-offline-light")
                try await page.look(width: 390, isDark: true)
                try await page.screenshot("home-alert-offline-dark")
                #expect(try await page.accessibilityProblems() == [])
                let text = try await page.run("return document.body.innerText").string ?? ""
                for lie in ["Sent ", "is told at once", "Sending", "will be sent"] {
                    #expect(!text.contains(lie), "\(lie): nothing was sent or told")
                }
                // On every page.
                try await page.click("Listen")
                try await page.wait("the card", Self.banner("Your alert has NOT gone out"))
                try await page.click("Don’t send")
                try await page.wait("nothing to wait", "!document.querySelector('.banner')")
            }
            try await page.setOffline(false)
            try await page.see("Connected")
            let raised = "SELECT count(*) FROM session.log WHERE type = 'AlertRaised'"
            #expect(try await quartet.psql(raised) == "0", "it was taken back before it went out")

            try await page.click("Home")
            try await page.see("Connected")
            try await page.setOffline(true)
            try await console.restartEdge {
                try await page.click("Raise an alert")
                try await page.click("Raise the alert")
                try await page.wait("the card", Self.banner("Your alert has NOT gone out"))
            }
            try await page.setOffline(false)
            try await page.see("Your alert is on")
            try await page.see("It goes to Bob.")
            try await page.wait("nothing to wait", "!document.querySelector('.banner')")
            try await bob.wait(toHear: "dependentAlertRaised")
            #expect(try await quartet.psql(raised) == "1")
            try await page.expectNoErrors()
        }
    }

    @Test(
        "a person whom nobody looks after reads that before anything looks well, and no alert is said to be told; with somebody, they don't (S47)"
    )
    func nobody() async throws {
        try await Console.with { console in
            let quartet = console.quartet
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            // Looking after somebody is not being looked after.
            try await anna.add(bob)
            let page = try await console.person("anna")
            try await page.wait(
                "the card above the ring",
                """
                document.querySelector('.reach')?.innerText.startsWith('Nobody looks after you') &&
                    document.querySelector('.reach').getBoundingClientRect().top
                        < document.querySelector('.ring').getBoundingClientRect().top
                """)
            #expect(try await page.run("return document.querySelector('.ring').className") == "ring neutral")
            #expect(try await page.run("return document.querySelectorAll('main .empty .icon').length") == 0)
            for isDark in [false, true] {
                try await page.look(width: 390, isDark: isDark)
                #expect(try await page.accessibilityProblems() == [])
                try await page.screenshot("home-nobody-phone-\(isDark ? "dark" : "light")")
            }
            try await page.click("Raise an alert")
            try await page.see("Nobody looks after you, so nobody would be told. Call somebody.")
            try await page.click("Raise it anyway")
            try await page.see("Nobody looks after you, so nobody is told. Call somebody.")
            #expect(try await page.run("return document.body.innerText.includes('notified')") == false)
            try await page.click("End the alert")
            try await page.see("Then your alert is over. Nobody looks after you.")
            try await page.click("End the alert")
            try await page.see("Do you need help?")
            try await carl.add(anna)
            try await page.notSee("Nobody looks after you")
            try await page.wait("a green ring", "document.querySelector('.ring').className === 'ring good'")
            try await page.expectNoErrors()
        }
    }

    @Test("one button checks in and answers everybody who asks; a check-in of a moment ago is as good (S15, S34)")
    func oneButton() async throws {
        try await Console.with { console in
            let quartet = console.quartet
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            try await anna.add(bob)
            try await carl.add(bob)
            try await anna.ping(bob)
            let page = try await console.person("bob")
            try await page.look(width: 390)
            try await page.see("Anna asks whether you are all right")
            try await page.screenshot("home-pinged-phone")
            try await page.click("I’m all right")
            try await page.notSee("asks whether you are all right")
            try await page.see("Last check-in ")
            try await anna.wait(toHear: "pingAnswered")
            let made = "SELECT count(*) FROM session.log WHERE type = 'CheckedIn'"
            #expect(try await quartet.psql(made) == "1")

            try await carl.ping(bob)
            try await page.see("Carl asks whether you are all right")
            try await page.click("I’m all right")
            try await page.notSee("asks whether you are all right")
            try await carl.wait(toHear: "pingAnswered")
            #expect(try await page.run("return document.querySelectorAll('.toast.critical').length") == 0)
            #expect(try await quartet.psql(made) == "1", "within five minutes there is one")
            try await page.expectNoErrors()
        }
    }

    @Test("ending an alarm asks once, says who gets the all-clear, and does nothing until it is meant (S34, A1)")
    func ending() async throws {
        try await Console.with { console in
            let quartet = console.quartet
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await bob.add(anna)
            try await anna.act("RaiseAlert")
            let page = try await console.person("anna")
            try await page.look(width: 390, isDark: true)
            try await page.click("End the alert")
            try await page.see("Are you safe?")
            try await page.see("Bob gets the all-clear at once")
            #expect(try await page.accessibilityProblems() == [])
            try await page.screenshot("dialog-end-alert-phone-dark")
            // Escape; and a pocket that presses Enter where the focus is.
            for key in ["\u{E00C}", "\u{E007}"] {
                try await page.press(key)
                try await page.notSee("Are you safe?")
                try await page.see("Your alert is on")
                try await page.click("End the alert")
                try await page.see("Are you safe?")
            }
            let ended =
                "SELECT count(DISTINCT command_id) FROM session_client.session_commands WHERE type = 'ClearAlert'"
            #expect(try await quartet.psql(ended) == "0")
            try await page.click("End the alert")
            try await page.see("Do you need help?")
            try await bob.wait(toHear: "dependentAlertCleared")
            #expect(try await quartet.psql(ended) == "1")
            try await page.expectNoErrors()
        }
    }

    @Test(
        "a call for help that an earlier server refuses goes out at once without what that doesn't know; its end says which alarm was seen, and one that comes late ends no newer (S22, S34)"
    )
    func whichAlarm() async throws {
        try await Console.with { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            try await bob.add(anna)
            let page = try await console.person("anna")
            try await page.prepare(
                """
                window.sent = [];
                const real = window.fetch;
                const unknown = { type: '/docs/errors/malformed', code: 'malformed', status: 400, field: 'pressed', detail: 'pressed: there is no such field' };
                window.fetch = async (path, options) => {
                    if (!path.endsWith('Alert')) return real(path, options);
                    const body = JSON.parse(options.body);
                    sent.push({ path, fields: Object.keys(body).sort().join(), key: options.headers['Idempotency-Key'], alarm: body.alarm });
                    if (path.endsWith('RaiseAlert') && body.pressed) return new Response(JSON.stringify(unknown), { status: 400 });
                    return real(path, options);
                };
                """)
            try await page.go("/")
            try await page.see("Connected")
            try await page.click("Raise an alert")
            try await page.see("It is sent to Bob at once")
            try await page.click("Raise the alert")
            try await page.see("Your alert is on")
            let alarm = try await anna.read("/v1/account")["alertAlarm"]
            // Another device ends it and raises the next before this one's end arrives.
            try await page.click("End the alert")
            try await page.see("Are you safe?")
            try await anna.act("ClearAlert")
            try await anna.act("RaiseAlert")
            try await page.click("End the alert")
            try await page.see("Your alert isn't the one that you wanted to end")
            let next = try await anna.read("/v1/account")["alertAlarm"]
            #expect(next != .null && next != alarm)
            let sent = try await page.run("return sent").array
            #expect(sent.map { $0["fields"] } == ["pressed", "", "alarm,pressed"], "\(sent)")
            #expect(sent[0]["key"] != sent[1]["key"] && sent[2]["alarm"] == alarm)
            try await page.confirm("End the alert")
            try await page.see("Do you need help?")
            try await page.expectNoErrors()
        }
    }

    @Test(
        "in an alarm a contact's page begins with what they wrote for it and with what to do; numbers in it can be called (S33, S47)"
    )
    func helping() async throws {
        try await Console.with { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            try await anna.add(bob)
            try await bob.act(
                "UpdateProfile",
                ["expectedVersion": 1, "emergencyNote": "Diabetic since 2019-04-01. Neighbour Ms Lang: +49 30 123456"])
            let page = try await console.person("anna")
            try await page.click("Contacts")
            try await page.wait(
                "the group of those who never checked in",
                "document.querySelector('h2.group')?.innerText.startsWith('Not checked in yet')")
            try await page.click("Bob")
            try await page.see("Diabetic")
            try await page.wait(
                "a ring that isn't green", "document.querySelector('.ring').className === 'ring neutral'")
            try await bob.act("RaiseAlert")
            try await page.see("What to do")
            for (width, isDark) in [(1440, false), (390, true)] {
                try await page.look(width: width, isDark: isDark)
                try await page.wait(
                    "the note first, then what to do, then the rest",
                    """
                    (([note, help, form]) => note < help && help < form && note < innerHeight)(
                        ['.note', '#help-title', '#nickname'].map((one) => document.querySelector(one).getBoundingClientRect().top))
                    """)
                #expect(try await page.accessibilityProblems() == [])
                try await page.screenshot("contact-alarm-\(width)")
            }
            #expect(
                try await page.run(
                    "return [...document.querySelectorAll('a[href^=\"tel:\"]')].map((one) => [one.getAttribute('href'), one.innerText])"
                )
                    == [["tel:+4930123456", "+49 30 123456"]])
            #expect(try await page.run("return document.querySelectorAll('main .ring').length") == 0)
            #expect(
                try await page.run(
                    "return document.querySelector('main > div').innerText.split('Alert since').length") == 2,
                "said once")
            try await page.click("Are you all right?")
            try await page.see("no answer yet")
            try await bob.act("ClearAlert")
            try await page.notSee("What to do")
            try await page.expectNoErrors()
        }
    }

    @Test("what is wrong at sign-up is shown at its field, with the focus there (S27)")
    func signUpRefusals() async throws {
        try await Console.with { console in
            _ = try await console.quartet.signUp("anna")
            let page = try await console.browser()
            try await page.look(width: 390)
            for (handle, password, field) in [
                ("anna", Browser.password, "handle"), ("ben räuber", Browser.password, "handle"),
                ("ben", "password12", "password"),
            ] {
                try await page.go("/welcome")
                try await page.run("sessionStorage.clear()")
                try await page.reload()
                try await page.click("Create an account")
                try await page.wait("the focus", "document.activeElement.id === 'welcome-handle'")
                try await page.fill("Handle", handle)
                try await page.fill("Password", password)
                try await page.click("Next")
                try await page.fill("Name", "Ben")
                try await page.click("Create account")
                try await page.wait(
                    "what is wrong with \(handle)",
                    """
                    document.querySelector('#welcome-\(field)-problem')?.innerText.length > 10
                        && document.activeElement.id === 'welcome-\(field)'
                    """)
                try await page.screenshot("welcome-refused-\(field)")
            }
            try await page.fill("Password", Browser.password)
            try await page.click("Next")
            try await page.click("Create account")
            try await page.see("Remind me")
            try await page.expectNoErrors()
        }
    }

    private static func banner(_ text: String) -> String {
        "[...document.querySelectorAll('.banner[role=alert] strong')].some((one) => one.innerText === '\(text)')"
    }

    private static func icon(_ name: String) -> String {
        "document.querySelector('link[rel=icon]').href.endsWith('/\(name)')"
    }
}
