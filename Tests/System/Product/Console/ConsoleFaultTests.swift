import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// What the console does when something is away: the network, a service, a tab, the sign-in.
@Suite("Console: faults", .timeLimit(.minutes(60)))
struct ConsoleFaultTests {
    @Test(
        "an edit shows at once, is listed among what waits, survives an offline spell and a reload, and is sent once (S20, S22, C10)"
    )
    func offlineEdit() async throws {
        try await Console.with { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            try await anna.add(bob)
            let page = try await console.person("anna")
            try await page.go("/contacts/\(bob.account)")
            try await page.see("Connected")
            try await page.fill("Nickname", "Bobby")
            try await page.reload()
            try await page.wait("the draft", "document.querySelector('#nickname')?.value === 'Bobby'")
            // People come after the contacts.
            try await page.wait("whose page it is", "document.querySelector('h1').innerText === 'Bob'")

            try await console.restartEdge {
                try await page.see("Reconnecting (")
                try await page.screenshot("state-reconnecting")
                try await page.click("Save")
                try await page.see("Will sync when online")
                try await page.wait("the new name", "document.querySelector('h1').innerText.startsWith('Bobby')")
                try await page.see("saving…")
                try await page.click("Me")
                try await page.see("Not sent yet")
                try await page.see("Your changes to Bob")
                try await page.screenshot("me-waiting")
            }
            try await page.see("Connected")
            try await page.notSee("Not sent yet")
            try await page.back()
            try await page.wait("the new name", "document.querySelector('h1').innerText === 'Bobby'")
            #expect(try await anna.card(of: bob)["contact"]["nickname"] == "Bobby")

            // The server has it but can't decide it; the page that asked is gone before the answer.
            try await console.quartet.kill(.contacts)
            try await page.fill("Nickname", "Bo")
            try await page.click("Save")
            try await page.see("saving…")
            try await page.reload()
            try await page.wait("the edit", "document.querySelector('h1')?.innerText.startsWith('Bo ')")
            try await console.quartet.start(.contacts)
            try await page.notSee("saving…")
            try await page.wait("the name", "document.querySelector('h1').innerText === 'Bo'")
            #expect(
                try await console.quartet.psql(
                    "SELECT count(*) FROM contacts.log WHERE type = 'ContactUpdated' AND body ->> 'account' = '\(anna.account)'"
                )
                    == "2")
            try await page.expectNoErrors()
        }
    }

    @Test("a page's stream outlives its access tokens without a new connection (T19)")
    func tokens() async throws {
        try await Console.with { console in
            let quartet = console.quartet
            let port = try await quartet.edgePort()
            try await quartet.kill(.sessionClient)
            try await quartet.start(.sessionClient, port: port, environment: ["ACCESS_TOKEN_LIFETIME": "20s"])
            let anna = try await console.newPerson("anna", name: "Anna")
            try await quartet.wait(for: "a token", "SELECT count(*) FROM session_client.stream_token") { $0 == "1" }
            let first = try await quartet.psql("SELECT stream || ' ' || expires_at FROM session_client.stream_token")
            let parts = first.split(separator: " ", maxSplits: 1)
            try await quartet.wait(
                for: "the token after the next one",
                """
                SELECT count(*) FROM session_client.stream_token
                 WHERE stream = '\(parts[0])' AND expires_at > '\(parts[1])'::timestamptz + interval '21 seconds'
                """
            ) { $0 == "1" }
            let count = try await quartet.psql("SELECT count(*) FROM session_client.stream_token")
            #expect(count == "1", "another connection would have another name")
            try await anna.expectNoErrors()
        }
    }

    @Test(
        "an edit made offline merges with another's, field by field; a conflict is shown and can be decided (S20, S8)")
    func conflict() async throws {
        try await Console.with { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            try await anna.add(bob)
            let page = try await console.person("anna")
            try await page.go("/contacts/\(bob.account)")
            try await page.see("Connected")
            func change(_ fields: [String: JSON]) async throws {
                let version = try await anna.card(of: bob)["contact"]["version"]
                let body: [String: JSON] = ["contact": .string(bob.account), "expectedVersion": version]
                try await anna.act("UpdateContact", .object(body.merging(fields) { $1 }))
            }
            func offline(_ nickname: String, meanwhile: [String: JSON]) async throws {
                try await page.setOffline(true)
                try await page.fill("Nickname", nickname)
                try await page.click("Save")
                try await page.see("Will sync when online")
                try await change(meanwhile)
                try await page.setOffline(false)
            }

            try await offline("Bobby", meanwhile: ["notes": "has a dog"])
            try await page.notSee("Will sync when online")
            try await page.wait(
                "both",
                "document.querySelector('h1').innerText === 'Bobby' && document.querySelector('#notes').value === 'has a dog'"
            )

            try await offline("Bob the builder", meanwhile: ["nickname": "Robert"])
            try await page.see("It was changed elsewhere in the meantime, to “Robert”.")
            try await page.wait("theirs", "document.querySelector('h1').innerText === 'Robert'")
            try await page.screenshot("contact-conflict")
            try await page.click("Use mine")
            try await page.wait("mine", "document.querySelector('h1').innerText === 'Bob the builder'")
            try await page.notSee("changed elsewhere")
            #expect(try await anna.card(of: bob)["contact"]["nickname"] == "Bob the builder")
            try await page.expectNoErrors()
        }
    }

    @Test(
        "a page stays whole while each service is killed and started again: text, focus, dialog; then everything works (C3, C12, P11)"
    )
    func kills() async throws {
        try await Console.with { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            try await anna.add(bob, isMyResponder: true)
            let page = try await console.person("anna")
            for service in Quartet.Service.allCases {
                try await page.go("/contacts/\(bob.account)")
                try await page.see("Connected")
                try await page.fill("Notes", "typed before \(service.rawValue)")
                if service == .sessionClient {
                    try await console.restartEdge { try await page.see("Reconnecting (") }
                } else {
                    try await console.quartet.restart(service)
                }
                try await page.see("Connected")
                #expect(
                    try await page.run("return [document.activeElement.id, document.activeElement.value]")
                        == ["notes", .string("typed before \(service.rawValue)")])
                if service == .sessionClient {
                    try await page.click("Remove")
                    try await console.restartEdge { try await page.see("Reconnecting (") }
                    try await page.see("Connected")
                    try await page.click("Cancel")
                }
                try await page.click("Save")
                try await page.wait(
                    "it to be saved",
                    "!document.querySelector('.standing') && document.querySelector('form button.primary').disabled")
                #expect(try await anna.card(of: bob)["contact"]["notes"] == .string("typed before \(service.rawValue)"))
                try await bob.act("RaiseAlert")
                try await page.see("Alert since")
                try await bob.act("ClearAlert")
                try await page.notSee("Alert since")
            }
            try await page.expectNoErrors()
        }
    }

    @Test(
        "each service is killed with its page open: what is asked meanwhile waits, happens once, and shows when it is back (C12, P11)"
    )
    func pages() async throws {
        try await Console.with { console in
            let quartet = console.quartet
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await anna.add(bob)
            let page = try await console.person("anna")
            try await page.run("window.isTheSame = true")

            try await quartet.kill(.session)
            try await page.click("I’m all right")
            try await page.see("Sending…")
            try await quartet.start(.session)
            try await page.see("Last check-in ")

            try await page.click("Contacts")
            try await quartet.kill(.contacts)
            try await page.click("Ping Bob")
            try await quartet.start(.contacts)
            try await page.see("no answer yet")

            try await page.click("Notifications")
            try await quartet.kill(.notifications)
            try await bob.act("RaiseAlert")
            try await quartet.start(.notifications)
            // Its notification, which may come after the banner: what isn't shown stays unread.
            try await page.wait(
                "its row",
                "[...document.querySelectorAll('.row.unread')].some((row) => row.innerText.includes('Bob raised an alert'))"
            )
            try await quartet.kill(.notifications)
            try await page.click("Mark all as read")
            try await quartet.start(.notifications)
            try await page.wait("the badge to go", "!document.querySelector('.count')")

            try await page.click("Home")
            try await console.restartEdge {
                try await page.wait("an orange dot", "document.querySelector('.connection.warning .dot')")
                try await page.see("Reconnecting (")
                try await page.click("Raise an alert")
                try await page.see("nobody is told until the connection is back")
                try await page.click("Raise it anyway")
                try await page.see("It isn’t known whether your alert went out")
            }
            try await page.wait("a green dot", "document.querySelector('.connection.good .dot')")
            try await page.see("Your alert is on")
            #expect(try await page.run("return window.isTheSame") == true, "nobody had to reload")
            let happened = try await quartet.psql(
                """
                SELECT string_agg(type || ' ' || count, ', ' ORDER BY type)
                  FROM (SELECT type, count(*)
                          FROM (SELECT type, account FROM session.log UNION ALL SELECT type, account FROM contacts.log
                                 UNION ALL SELECT type, account FROM notifications.log) AS said
                         WHERE account = '\(anna.account)' AND type IN ('CheckedIn', 'PingSent', 'AllNotificationsRead', 'AlertRaised')
                         GROUP BY type) AS counted
                """)
            #expect(happened == "AlertRaised 1, AllNotificationsRead 1, CheckedIn 1, PingSent 1")
            try await page.expectNoErrors()
        }
    }

    @Test("eight tabs share one stream; when the one that has it is closed, another goes on where it was (C4)")
    func eightTabs() async throws {
        try await Console.with { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            try await anna.add(bob)
            let page = try await console.person("anna")
            let count = """
                window.streams = 0;
                const real = window.fetch;
                window.fetch = (path, ...rest) => { if (path === '/v1/stream') window.streams += 1; return real(path, ...rest); };
                """
            var tabs = [try await page.tab()]
            try await page.prepare(count)
            try await page.go("/contacts")
            for _ in 1..<8 {
                tabs.append(try await page.newTab())
                try await page.prepare(count)
                try await page.go("/contacts")
                try await page.see("Bob")
                try await page.see("Connected")
            }
            func streams() async throws -> [Int64] {
                var found: [Int64] = []
                for tab in tabs {
                    try await page.show(tab: tab)
                    found.append(try await page.run("return window.streams").int ?? -1)
                }
                return found
            }
            let before = try await streams()
            #expect(before.reduce(0, +) == 1, "one stream for all tabs")

            let leader = try #require(before.firstIndex(of: 1))
            try await page.show(tab: tabs[leader])
            try await page.closeTab()
            tabs.remove(at: leader)
            try await bob.act("RaiseAlert")
            for tab in tabs {
                try await page.show(tab: tab)
                try await page.see("Alert since")
            }
            #expect(try await streams().reduce(0, +) == 1, "one successor")
            try await page.expectNoErrors()
        }
    }

    @Test(
        "each state of the connection has its dot and words; tokens are in no place that scripts of others could read (P11, T10, T11, T12, C10)"
    )
    func states() async throws {
        try await Console.with { console in
            let anna = try await console.quartet.signUp("anna")
            let page = try await console.person("anna")
            try await page.screenshot("state-connected")
            let places = try await page.run(
                "return JSON.stringify([{ ...localStorage }, { ...sessionStorage }, location.href, document.cookie])")
            #expect(places.string?.contains("eyJ") == false)
            #expect(places.string?.contains(anna.account) == true, "this place was looked at")

            try await page.setOffline(true)
            try await console.restartEdge {
                try await page.see("Disconnected")
                try await page.see("Retry")
                try await page.screenshot("state-disconnected")
            }
            try await page.setOffline(false)
            try await page.see("Connected")

            let device = try await anna.read("/v1/account")["devices"].array.first { $0["name"] != "phone" }
            let answer = try await anna.edge.insist(
                "/v1/sign-out", ["device": device?["id"] ?? .null], token: anna.token)
            #expect(answer.isSuccess)
            try await page.see("Sign in again")
            try await page.see("this device was signed out from another one")
            try await page.screenshot("state-needs-authentication")
            try await page.fill("Password", Browser.password)
            try await page.click("Sign in")
            try await page.see("Are you all right")
            try await page.see("Connected")

            try await page.click("Me")
            try await page.click("Sign out")
            try await page.see("Somebody notices")
            let kept = try await page.runModules(
                ["net/database.js"],
                "return [...await m['net/database.js'].all('accounts'), ...await m['net/database.js'].all('outbox')].length"
            )
            #expect(kept == 0, "signing out leaves nothing behind (S17)")

            let plain = try await console.browser(names: ["quartet.test"])
            try await plain.go(to: try console.quartet.url.replacing("127.0.0.1", with: "quartet.test"))
            try await plain.see("Not configured")
            try await plain.screenshot("state-not-configured")
            try await page.expectNoErrors()
        }
    }
}
