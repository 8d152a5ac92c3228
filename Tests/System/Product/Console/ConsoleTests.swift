import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// What people do in the console, each in a browser of their own.
@Suite("Console: people", .timeLimit(.minutes(60)))
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
            try await anna.click("I’m all right")
            try await anna.see("Last check-in ")
            try await bob.notSee("no answer yet")

            try await anna.click("Raise an alert")
            try await anna.see("It is sent to Bob O’Neil-Łukasz at once.")
            try await anna.screenshot("dialog-desktop-light")
            try await anna.click("Raise the alert")
            try await anna.see("Your alert is on")
            try await anna.screenshot("home-alert-desktop-light")
            try await bob.click("Home")
            try await bob.see("Alert since")
            try await bob.screenshot("home-phone-dark")
            try await anna.confirm("End the alert")
            try await bob.click("Notifications")
            try await bob.see("Anna ended the alert")
            try await bob.screenshot("notifications-phone-dark")
            try await bob.click("Mark all as read")
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
        "the wizard goes on and back and can be cancelled; Back and deep links work; a request by handle is asked first; what a dialog asks is done after its yes alone (R16, R17, S7, S44)"
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
            try await browser.fill("Password", Browser.password)
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

            let removals =
                "SELECT count(DISTINCT command_id) FROM session_client.contacts_commands WHERE type = 'RemoveContact'"
            for isByKey in [false, true] {
                try await ben.click("Remove")
                try await ben.see("Remove Anna?")
                // Escape.
                if isByKey { try await ben.press("\u{E00C}") } else { try await ben.click("Cancel") }
                try await ben.notSee("Remove Anna?")
            }
            try await ben.see("Only for you")
            #expect(try await console.quartet.psql(removals) == "0")
            try await ben.confirm("Remove")
            try await ben.see("No contacts yet")
            #expect(try await console.quartet.psql(removals) == "1")
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
                #expect(try await anna.run("return document.title") != "owned")
            }
            try await anna.expectNoErrors()
        }
    }

    @Test("a picture shows to contacts until it is removed; what happened is said in words that go by (R10, S40, R15)")
    func picture() async throws {
        try await Console.with { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            try await anna.add(bob)
            let folder = FileManager.default.temporaryDirectory.appending(path: EdgeClient.newKey())
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let (picture, text) = (folder.appending(path: "me.png"), folder.appending(path: "text.png"))
            try Data(AvatarTests.png()).write(to: picture)
            try Data("no picture".utf8).write(to: text)

            let (annas, bobs) = (try await console.person("anna"), try await console.person("bob"))
            try await annas.go("/contacts")
            try await annas.wait("Bob's letters", "document.querySelector('.row span.portrait')")
            try await bobs.go("/me")
            // The words may have gone by before anybody looks, so the page notes them.
            try await bobs.run(
                """
                window.said = new Set();
                const note = () => { for (const one of document.querySelectorAll('.toast')) said.add(`${one.className}: ${one.innerText}`); };
                new MutationObserver(note).observe(document, { subtree: true, childList: true, characterData: true });
                """)
            try await bobs.attach("Choose a picture", text.path)
            try await bobs.wait("why not", "document.querySelector('.head .problem')?.innerText.length > 10")
            try await bobs.attach("Choose a picture", picture.path)
            try await bobs.see("Remove the picture")
            try await bobs.wait("the words", "[...said].some((one) => one.endsWith(': Picture changed'))")
            try await annas.wait("the picture", "document.querySelector('.row img.portrait')?.naturalWidth === 1")
            try await bobs.click("Remove the picture")
            try await bobs.notSee("Remove the picture")
            try await annas.wait("Bob's letters", "document.querySelector('.row span.portrait')")
            try await bobs.wait("the words to go by", "!document.querySelector('.toast')")
            try await bobs.reload()
            try await bobs.see("Choose a picture")
            #expect(try await bobs.run("return document.querySelectorAll('.toast').length") == 0)
            try await annas.expectNoErrors()
            try await bobs.expectNoErrors()
        }
    }

    @Test(
        "all pings are answered at once; the badge has the server's number, and notifications are filtered (S15, S13, S28)"
    )
    func answerAll() async throws {
        try await Console.with { console in
            let quartet = console.quartet
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            for one in [anna, carl] {
                try await one.add(bob)
                try await one.ping(bob)
            }
            let page = try await console.person("bob")
            func expectBadge() async throws {
                try await quartet.waitUntilQuiet()
                let unread = try #require(try await bob.unread())
                try await page.wait(
                    "\(unread) in the title and on the badge",
                    """
                    document.title === `(${arguments[0]}) Quartet` &&
                        document.querySelector('.count')?.innerText === `${arguments[0]}`
                    """, .int(unread))
            }
            try await page.see("They ask whether you are all right")
            try await expectBadge()
            try await page.see("ask whether you are all right")
            try await page.click("I’m all right")
            try await page.notSee("They ask whether you are all right")
            for one in [anna, carl] { try await one.wait(toHear: "pingAnswered") }
            try await expectBadge()

            let shown = "[...['pings', 'relationships'].filter((one) => document.querySelector('.kind-' + one))].join()"
            try await page.click("Notifications")
            try await page.wait("both categories", "\(shown) === 'pings,relationships'")
            try await page.click("Pings")
            try await page.wait("pings alone", "\(shown) === 'pings'")
            try await page.click("All")
            try await page.wait("both categories", "\(shown) === 'pings,relationships'")
            try await page.click("Show earlier ones")
            try await page.notSee("Show earlier ones")
            try await page.toggle("Only unread")
            try await page.wait("no answered pings", "\(shown) === 'relationships'")
            try await page.expectNoErrors()
        }
    }

    @Test("a phone is added by a code, and signs its person in on another device (S41)")
    func phone() async throws {
        try await Console.with { console in
            let anna = try await console.newPerson("anna", name: "Anna")
            try await anna.go("/me")
            try await anna.click("Add a phone")
            try await anna.fill("Phone", Quartet.phone)
            try await anna.click("Send a code")
            try await anna.see("Six digits, sent to \(Quartet.phone)")
            try await anna.fill("Code", try await console.quartet.lastPhoneCode(to: Quartet.phone))
            try await anna.click("Confirm")
            try await anna.see("+4930123456")

            let other = try await console.browser()
            try await other.go("/")
            try await other.click("Sign in")
            try await other.click("Use a phone")
            try await other.fill("Phone", "030 123456")
            try await other.click("Send a code")
            try await other.wait("what is wrong", "document.querySelector('#welcome-phone-problem')?.innerText")
            try await other.fill("Phone", Quartet.phone)
            try await other.click("Send a code")
            try await other.see("a code is on its way there")
            try await other.screenshot("welcome-phone-code")
            let digits = try await console.quartet.lastPhoneCode(to: Quartet.phone, count: 2)
            try await other.fill("Code", digits == "000000" ? "000001" : "000000")
            try await other.click("Sign in")
            try await other.wait("the refusal", "document.querySelector('form .problem')?.innerText")
            try await other.fill("Code", digits)
            try await other.click("Sign in")
            try await other.see("Are you all right, Anna?")
            // The list of accounts of this browser learns whose it is.
            try await other.go("/me")
            try await other.see("@anna")
            try await other.click("Use another account")
            try await other.see("@anna")
            try await anna.see("Chrome on Linux")
            try await anna.expectNoErrors()
            try await other.expectNoErrors()
        }
    }
}
