import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// What people do in the console, each in a browser of their own.
@Suite("Console: people", .timeLimit(.minutes(15)))
struct ConsoleTests {
    @Test("two people add each other by a code, ping and answer, and hear of an alert (S27, S34, S35, S47, S13, R16)")
    func story() async throws {
        try await Console.with { console in
            let anna = try await console.newPerson("anna", name: "Anna")
            let bob = try await console.newPerson("bob", name: "Bob O’Neil-Łukasz")

            try await anna.click("Contacts")
            let code = try await anna.wait("the code", "document.querySelector('code.code')?.innerText").string ?? ""
            try await bob.look(width: 390, isDark: true)
            // Where a scanned QR code leads.
            try await bob.go("/contacts#add=\(code)")
            try await bob.see("This is Anna’s code.")
            try await bob.toggle("I look after them")
            try await bob.click("Add")
            try await bob.see("Contact added")
            try await anna.see("Bob O’Neil-Łukasz")
            try await anna.screenshot("contacts-desktop-light")

            try await bob.click("Ping Anna")
            try await bob.see("no answer yet")
            try await bob.screenshot("contacts-phone-dark")
            try await anna.click("Home")
            try await anna.see("They ask whether you are all right")
            try await anna.click("Clear all and check in")
            try await anna.see("you are checked in")
            try await anna.click("Clear and check in")
            try await anna.see("Last check-in just now")
            try await bob.notSee("no answer yet")

            try await anna.click("Raise an alert")
            try await anna.see("Your responder is told at once.")
            try await anna.screenshot("dialog-desktop-light")
            try await anna.click("Raise the alert")
            try await anna.see("Your alert is on")
            try await anna.screenshot("home-alert-desktop-light")
            try await bob.click("Home")
            try await bob.see("Alert since")
            try await bob.screenshot("home-phone-dark")
            try await anna.click("End the alert")
            try await bob.click("Notifications")
            try await bob.see("Anna ended the alert")
            try await bob.screenshot("notifications-phone-dark")
            try await bob.click("Read all")
            try await bob.wait("the badge to go", "!document.querySelector('.count')")

            // Receipts of what the page showed (A13).
            try await console.quartet.wait(
                for: "a receipt", "SELECT count(*) FROM notifications.log WHERE type = 'NotificationsShown'"
            ) { $0 != "0" }
            try await anna.expectNoErrors()
            try await bob.expectNoErrors()
        }
    }

    @Test(
        "the wizard goes on and back and can be cancelled; Back and deep links work; a request by handle is asked first (R16, S7, S44)"
    )
    func navigation() async throws {
        try await Console.with { console in
            let anna = try await console.quartet.signUp("anna")
            let browser = try await console.browser()
            try await browser.go("/contacts")
            try await browser.see("Somebody notices")
            try await browser.screenshot("welcome-desktop-light")
            try await browser.click("Create an account")
            try await browser.fill("Handle", "ben")
            try await browser.fill("Password", Console.password)
            try await browser.click("Next")
            try await browser.fill("Name", "Ben")
            try await browser.click("Back")
            try await browser.wait(
                "the handle to be kept", "document.querySelector('#welcome-handle')?.value === 'ben'")
            try await browser.click("Cancel")
            try await browser.see("Somebody notices")

            let ben = try await console.newPerson("ben", name: "Ben")
            try await ben.click("Contacts")
            try await ben.click("Handle")
            try await ben.fill("Their handle", "@Anna")
            try await ben.click("Send request")
            try await ben.see("Request sent")
            try await ben.see("You asked somebody")
            let request = try await anna.read("/v1/contacts")["requests"][0]
            #expect(request["handle"] == "ben")
            try await anna.act(
                "ApproveContactRequest",
                [
                    "contact": request["account"], "isMyResponder": request["isMyResponder"],
                    "iAmResponder": request["iAmResponder"],
                ])
            try await ben.click("Anna")
            try await ben.see("Only for you")
            let path = try await ben.run("return location.pathname")
            #expect(path == .string("/contacts/\(anna.account)"))
            try await ben.back()
            try await ben.see("Add somebody")
            try await ben.go("/contacts/\(anna.account)")
            try await ben.see("Only for you")

            try await ben.click("Remove")
            try await ben.see("Remove Anna?")
            try await ben.click("Cancel")
            try await ben.see("Only for you")
            try await ben.confirm("Remove")
            try await ben.see("No contacts yet")
            try await ben.expectNoErrors()
        }
    }

    @Test("hostile names and notes show as text, on every page (C8)")
    func hostileTexts() async throws {
        try await Console.with { console in
            let hostile = "<img src=x onerror=document.title='owned'>"
            let anna = try await console.newPerson("anna", name: "Anna")
            let bob = try await Device.signUp("bob", name: "Bob", at: console.quartet.edge)
            try await anna.click("Contacts")
            try await anna.fill("Their code", try await bob.code())
            try await anna.see("This is Bob’s code.")
            try await anna.toggle("I look after them")
            try await anna.click("Add")
            try await anna.click("Bob")
            try await anna.fill("Nickname", hostile)
            try await anna.fill("Notes", "</textarea><script>document.title='owned'</script>")
            try await anna.click("Save")
            try await anna.wait(
                "it to be saved", "document.querySelector('h1').innerText === arguments[0]", .string(hostile))
            try await bob.act(
                "UpdateProfile", ["expectedVersion": 1, "emergencyNote": .string("<b onmouseover=alert(1)>note</b>")])
            try await anna.see("<b onmouseover=alert(1)>note</b>")
            try await bob.act("RaiseAlert")
            for page in ["/", "/contacts", "/notifications", "/me"] {
                try await anna.go(page)
                if page != "/me" { try await anna.see(hostile) } else { try await anna.see("Recovery codes") }
                #expect(
                    try await anna.run("return document.querySelectorAll('main img, main b, main script').length") == 0)
                #expect(try await anna.run("return document.title").string?.contains("owned") == false)
            }
            try await anna.expectNoErrors()
        }
    }

    @Test("every page has landmarks, labels and names, and fits 320 and 1280 pixels in both themes (C7)")
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
            for (width, isDark) in [(320, true), (320, false), (1280, true), (1280, false)] {
                try await anna.look(width: width, isDark: isDark)
                for page in ["/", "/contacts", "/contacts/\(bob.account)", "/notifications", "/me", "/welcome"] {
                    try await anna.go(page)
                    try await anna.wait(
                        "the page", "document.querySelector('main h1') && document.body.innerText.includes('Connected')"
                    )
                    let problems = try await anna.run(Self.check)
                    #expect(problems == [], "\(page) at \(width)")
                    let name =
                        page == "/"
                        ? "home" : page.split(separator: "/").count > 1 ? "contact" : String(page.dropFirst())
                    try await anna.screenshot("\(name)-\(width)-\(isDark ? "dark" : "light")")
                }
            }
            // By keyboard: the first stop leads past the navigation.
            try await anna.go("/")
            try await anna.see("Are you all right")
            try await anna.press("\u{E004}\u{E007}")
            #expect(try await anna.run("return document.activeElement.id") == "main")
            try await anna.expectNoErrors()
        }
    }

    /// The rules that matter most, as https://github.com/dequelabs/axe-core has them: what breaks them.
    private static let check = """
        const problems = [], name = (one) => (one.getAttribute('aria-label') ?? one.innerText ?? '').trim();
        const shown = (one) => one.checkVisibility();
        for (const one of document.querySelectorAll('input, select, textarea')) if (!one.labels.length) problems.push('no label: ' + one.outerHTML);
        for (const one of document.querySelectorAll('button, a')) if (shown(one) && !name(one)) problems.push('no name: ' + one.outerHTML);
        for (const one of document.querySelectorAll('img, svg')) if (!one.hasAttribute('alt') && !one.hasAttribute('aria-label') && one.getAttribute('aria-hidden') !== 'true') problems.push('no text: ' + one.outerHTML.slice(0, 99));
        const ids = [...document.querySelectorAll('[id]')].map((one) => one.id);
        if (new Set(ids).size < ids.length) problems.push('ids twice');
        if (document.querySelectorAll('main').length !== 1 || document.querySelectorAll('h1').length !== 1) problems.push('one main and one h1');
        if (document.documentElement.scrollWidth > innerWidth) problems.push('wider than the window: ' + document.documentElement.scrollWidth);
        for (const one of document.querySelectorAll('button, main a, input, select')) {
            const { width, height } = one.getBoundingClientRect();
            if (shown(one) && !one.matches('.visually-hidden') && (width < 24 || height < 24)) problems.push('small target: ' + one.outerHTML.slice(0, 99));
        }
        return problems;
        """
}
