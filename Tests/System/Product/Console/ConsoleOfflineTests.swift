import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// The console where no server can be reached when it is opened.
@Suite("Console: opened without a network", .timeLimit(.minutes(60)))
struct ConsoleOfflineTests {
    @Test(
        "it opens with what it knew and how old that is, claims nothing by it, and what is asked for goes out once there is a connection (M16, H2)"
    )
    func opened() async throws {
        try await Console.with(environment: ["STREAM_HEARTBEAT": "1s"]) { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            try await anna.add(bob, isMyResponder: true)
            try await anna.act("RaiseAlert")
            let page = try await console.person("anna")
            try await page.look(width: 390)
            try await page.see("Your alert is on")
            try await page.waitUntilKept(anna.account, with: bob.account)
            let url = try console.quartet.url

            try await page.setOffline(true)
            try await page.see("As of ")
            // Nobody here can know that it was ended elsewhere.
            try await anna.act("ClearAlert")
            try await console.restartEdge {
                try await page.go(to: url + "/")
                try await page.see("As of ")
                try await page.see("was on then. Whether it still is isn’t known.")
                try await page.see("There were no alarms then.")
                let text = try await page.run("return document.body.innerText").string ?? ""
                for lie in ["Your alert is on", "There are no alarms", "It goes to"] { #expect(!text.contains(lie)) }
                #expect(try await page.run("return document.querySelector('[data-shows]') === null").isTrue)
                try await page.screenshot("home-kept-phone-light")
                try await page.click("Raise an alert")
                try await page.click("Raise the alert")
                try await page.wait("the card", Self.banner("Your alert has NOT gone out"))
                #expect(try await page.accessibilityProblems() == [])
                // Also over another start; and each page has it and its age.
                try await page.leave(for: "/contacts")
                try await page.see("Bob")
                try await page.see("As of ")
                try await page.wait("the card", Self.banner("Your alert has NOT gone out"))
                try await page.screenshot("contacts-kept-phone-light")
            }
            try await page.setOffline(false)
            try await page.see("Connected")
            try await page.notSee("As of ")
            try await page.wait("nothing to wait", "!document.querySelector('.banner')")
            try await page.click("Home")
            try await page.see("Your alert is on")
            let raised = try await console.quartet.psql("SELECT count(*) FROM session.log WHERE type = 'AlertRaised'")
            #expect(raised == "2")
        }
    }

    @Test(
        "what was kept of an account goes with its sign-out; the files stay, and nothing of a person is among them (M16, C8)"
    )
    func forgotten() async throws {
        try await Console.with(environment: ["STREAM_HEARTBEAT": "1s"]) { console in
            let anna = try await console.quartet.signUp("anna")
            let page = try await console.person("anna")
            try await page.waitUntilKept(anna.account)
            let url = try console.quartet.url
            let kept = try await page.runAsync(
                """
                const [name, ...others] = await caches.keys(), requests = await (await caches.open(name)).keys();
                return [others.length, requests.map(({ url }) => new URL(url).pathname.replace(/^.console.[0-9a-f]+/, '')).sort()];
                """)
            #expect(
                kept == [
                    0,
                    [
                        "/", "/app.js", "/icon-alert.svg", "/icon.svg", "/manifest.webmanifest", "/style/base.css",
                        "/style/pages.css", "/style/shell.css", "/style/together.css",
                    ],
                ])
            let copies =
                "return (await m['net/database.js'].keysOf('keys')).filter((one) => one.includes(argument)).length"
            #expect(try await page.runModules(["net/database.js"], copies, .string(anna.account)) == 1)
            try await page.click("Me")
            try await page.click("Sign out")
            try await page.see("Somebody notices")
            #expect(try await page.runModules(["net/database.js"], copies, .string(anna.account)) == 0)
            // Also if the sign-out was another release's, which knows of no copies.
            try await page.runModules(
                ["net/database.js"], "await m['net/database.js'].put('keys', {}, `copy-${argument}`)",
                .string(anna.account))
            try await page.reload()
            try await page.see("Somebody notices")
            try await page.runModules(
                ["net/database.js"],
                "while ((await m['net/database.js'].keysOf('keys')).some((one) => one.includes(argument))) await new Promise((done) => { setTimeout(done, 50) })",
                .string(anna.account))
            try await console.restartEdge {
                try await page.go(to: url + "/")
                try await page.see("Somebody notices")
            }
        }
    }

    @Test("what the stream has brought stands in the place of what was kept, until there is all of it (M16)")
    func completed() async throws {
        try await Console.with { console in
            let page = try await console.browser()
            try await page.go("/welcome")
            try await page.see("Somebody notices")
            let parts = try await page.runModules(
                ["net/kept.js", "state/replica.js"],
                """
                const { completed } = m['net/kept.js'], { apply, emptyReplica, isWhole } = m['state/replica.js'];
                const copy = { ...emptyReplica(), account: 'old', contacts: 'old', notifications: 'old', operations: 'old',
                    people: new Map([['bob', 'fine'], ['carol', 'fine']]) };
                const event = { event: 'person', data: { account: 'bob', alertRaised: 1 } };
                const replica = { ...apply(emptyReplica(), event), contacts: 'new' };
                const shown = completed(copy, replica, event);
                return [shown.account, shown.contacts, shown.people.get('bob').alertRaised, shown.people.get('carol'), isWhole(replica),
                    isWhole(shown), completed(copy, undefined).contacts];
                """)
            #expect(parts == ["old", "new", 1, "fine", false, true, "old"])
        }
    }

    /// Whether a card stands above the page.
    private static func banner(_ text: String) -> String {
        "[...document.querySelectorAll('.banner')].some((one) => one.innerText.includes('\(text)'))"
    }
}

extension Browser {
    /// Opens a path while nothing is on its way: what an attempt was about when its page went may have been sent.
    fileprivate func leave(for path: String) async throws {
        try await runModules(
            ["net/database.js"],
            """
            while ((await m['net/database.js'].all('outbox')).some((entry) => entry.isSent)) await new Promise((done) => { setTimeout(done, 20) });
            location.assign(argument);
            """, .string(path))
        try await wait("the other page", "location.pathname === '\(path)' && document.readyState === 'complete'")
    }

    /// Waits until the page's files and a copy of what it shows are kept, a person among it.
    fileprivate func waitUntilKept(_ account: String, with person: String? = nil) async throws {
        try await runAsync(
            """
            const { active } = await navigator.serviceWorker.ready;
            while (active.state !== 'activated') await new Promise((done) => active.addEventListener('statechange', done, { once: true }));
            """)
        try await runModules(
            ["net/kept.js"],
            """
            const isKept = (copy) => copy && (!argument[1] || copy.replica.people.has(argument[1]));
            while (!isKept(await m['net/kept.js'].keptOf(argument[0]))) await new Promise((done) => { setTimeout(done, 100) });
            """,
            [.string(account), person.map(JSON.string) ?? .null])
    }
}
