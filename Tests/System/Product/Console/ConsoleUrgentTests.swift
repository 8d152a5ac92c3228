import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// What the console says of urgent requests whose fate isn't known, and who sends them.
@Suite("Console: urgent requests", .timeLimit(.minutes(60)))
struct ConsoleUrgentTests {
    @Test(
        "what was tried and is too late now is said to be unknown, not undone; what the stream shows to be done is over, whatever became of its answer (S22, A1)"
    )
    func unknown() async throws {
        try await Console.with { console in
            let anna = try await console.quartet.signUp("anna")
            let page = try await console.person("anna")
            try await page.prepare(Self.losing("RaiseAlert"))
            try await page.go("/")
            try await page.see("Connected")
            func leave(_ name: String, isSent: Bool) async throws {
                try await page.runModules(
                    ["net/database.js", "net/outbox.js", "core/time.js", "core/model.js"],
                    """
                    const { now, newKey, minute } = m['core/time.js'], [path, isSent] = argument;
                    const { account } = m['core/model.js'].model.account;
                    await m['net/database.js'].put('outbox', {
                        account, path, fields: {}, key: newKey(), created: now() - 6 * minute, expires: now() - minute, state: 'waiting', isSent,
                    });
                    await m['net/outbox.js'].drainAll();
                    """, [.string("/v1/commands/\(name)"), .bool(isSent)])
            }

            try await leave("CheckIn", isSent: false)
            try await page.wait("the card", Self.banner("Your check-in was NOT sent"))
            try await page.see("so it wasn’t done")
            try await page.click("OK")
            try await page.wait("nothing to say", "!document.querySelector('.banner')")

            try await leave("CheckIn", isSent: true)
            try await page.see("No answer came in time, so it isn’t known whether it was done.")
            try await page.wait("the card", Self.banner("It isn’t known whether your check-in went out"))
            try await page.wait("the title", "document.title === '(!) Your check-in: no answer · Quartet'")
            #expect(
                try await page.run("return /NOT|wasn’t done/.test(document.querySelector('.banner').innerText)")
                    == false)
            try await anna.act("CheckIn")
            try await page.wait("nothing to say", "!document.querySelector('.banner')")
            try await leave("CheckIn", isSent: true)
            try await page.runModules(
                ["net/database.js"],
                "while ((await m['net/database.js'].all('outbox')).length) await new Promise((resolve) => setTimeout(resolve, 20))"
            )
            #expect(try await page.run("return document.querySelector('.banner')") == .null)

            // No answer ever comes, and the alert is on.
            try await page.click("Raise an alert")
            try await page.click("Raise it anyway")
            try await page.see("Your alert is on")
            try await page.wait("several tries", "lost >= 3")
            try await page.wait("nothing to say", "!document.querySelector('.banner') && !document.title.includes('!')")
            try await page.expectNoErrors()
        }
    }

    @Test("a request that had its token too late isn't sent, however long the token took (S22)")
    func tooLate() async throws {
        try await Console.with { console in
            let anna = try await console.quartet.signUp("anna")
            let page = try await console.person("anna")
            let sent = try await page.runModules(
                ["net/database.js", "net/outbox.js", "core/time.js", "core/model.js"],
                """
                const { now, newKey, second } = m['core/time.js'], { account } = m['core/model.js'].model.account, real = window.fetch, sent = [];
                const { put, update } = m['net/database.js'], expires = now() + 5 * second;
                window.fetch = async (path, options) => {
                    sent.push(path);
                    // The device sleeps.
                    while (path === '/v1/token' && now() <= expires) await new Promise((resolve) => setTimeout(resolve, 20));
                    return real(path, options);
                };
                await update('accounts', account, (record) => ({ ...record, expires: 0 }));
                await put('outbox', { account, path: '/v1/commands/CheckIn', fields: {}, key: newKey(), created: now(), expires, state: 'waiting' });
                await m['net/outbox.js'].drainAll();
                while (!m['core/model.js'].model.outbox.some((one) => one.state !== 'waiting')) await new Promise((resolve) => setTimeout(resolve, 20));
                return sent;
                """)
            // What is urgent asks for a token once more after a while.
            #expect(Set(sent.array.compactMap(\.string)) == ["/v1/token"])
            try await page.wait("the card", Self.banner("Your check-in was NOT sent"))
            let made = "SELECT count(*) FROM session.log WHERE type = 'CheckedIn' AND account = '\(anna.account)'"
            #expect(try await console.quartet.psql(made) == "0")
        }
    }

    @Test("that an arrival came too late for an alert is said, though the page in which it was pressed was closed (A7)")
    func lateArrival() async throws {
        try await Console.with { console in
            let anna = try await console.quartet.signUp("anna")
            let now = try #require(try await anna.read("/v1/time")["received"].int)
            let start: JSON = ["name": "Lake", "eta": .int(now + 3_600_000_000)]
            let trip = try await anna.act("StartTrip", start)["trip"]["id"]
            try await console.quartet.endTrip(of: anna)
            try await anna.wait(toHear: "alertRaised")
            let page = try await console.person("anna")
            try await page.runModules(
                ["net/database.js", "net/outbox.js", "core/time.js", "core/model.js"],
                """
                const { now, newKey, minute } = m['core/time.js'], { account } = m['core/model.js'].model.account;
                await m['net/database.js'].put('outbox', {
                    account, lane: 'trip', isUrgent: true, path: '/v1/commands/EndTrip', key: newKey(), created: now(), expires: now() + minute,
                    fields: { trip: '\(try #require(trip.string))', end: 'arrived', pressed: \(now - 60_000_000) }, state: 'waiting', isSent: true,
                });
                await m['net/outbox.js'].drainAll();
                """)
            try await page.wait("the card", Self.banner("The end of your trip was refused"))
            try await page.see("say it again")
            #expect(try await anna.read("/v1/account")["alertRaised"].int != nil)
        }
    }

    @Test(
        "what an earlier version of the page kept is as urgent as it is now, and waits for nothing that it waited for then (S22)"
    )
    func earlierVersion() async throws {
        try await Console.with { console in
            _ = try await console.quartet.signUp("anna")
            let page = try await console.person("anna")
            // As 0.1.0 stored them.
            try await page.runModules(
                ["net/database.js", "core/time.js", "core/model.js"],
                """
                const { now, newKey, minute } = m['core/time.js'], { account } = m['core/model.js'].model.account;
                for (const [name, fields] of [['UpdateProfile', { name: 'Anna Maria' }], ['RaiseAlert', {}]]) {
                    await m['net/database.js'].put('outbox', {
                        account, lane: 'account', path: `/v1/commands/${name}`, fields, key: newKey(), created: now(), expires: now() + minute, state: 'waiting',
                    });
                }
                """)
            try await page.prepare(
                """
                const real = window.fetch;
                window.fetch = (path, options) => (path === '/v1/commands/UpdateProfile' ? new Promise(() => {}) : real(path, options));
                """)
            try await page.reload()
            try await page.see("Your alert is on")
        }
    }

    @Test(
        "a call for help goes out whichever account the tabs show, or none, and they say whose waits; one that has to sign in is said so (A1, S22, R12)"
    )
    func otherAccounts() async throws {
        try await Console.with { console in
            let quartet = console.quartet
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await bob.add(anna)
            let page = try await console.person("anna")
            func show(_ account: String?) async throws {
                try await page.runModules(
                    ["net/accounts.js", "core/router.js"],
                    "await m['net/accounts.js'].choose(argument ?? undefined); m['core/router.js'].go('/')",
                    account.map(JSON.string) ?? .null)
            }
            try await show(nil)
            try await page.signIn("bob")
            let cases: [(String?, Bool)] = [(nil, true), (bob.account, true), (bob.account, false)]
            for (waits, isSignedIn) in cases {
                try await show(anna.account)
                try await page.see("Are you all right, Anna?")
                try await page.see("Connected")
                try await page.setOffline(true)
                try await page.click("Raise an alert")
                try await page.click("Raise the alert")
                try await page.wait("the card", Self.banner("Your alert has NOT gone out"))
                try await show(waits)
                try await page.wait("whose waits", Self.banner("The alert of @anna has NOT gone out"))
                try await page.wait("the title", "document.title === '(!) The alert of @anna: NOT sent · Quartet'")
                let problems = try await page.accessibilityProblems()
                #expect(problems == [], "\(problems)")
                try await page.screenshot("alert-of-another-account")
                if !isSignedIn {
                    let device = try await anna.read("/v1/account")["devices"].array.first { $0["name"] != "phone" }
                    let answer = try await anna.edge.insist(
                        "/v1/sign-out", ["device": device?["id"] ?? .null], token: anna.token)
                    #expect(answer.isSuccess)
                }
                try await page.setOffline(false)
                if !isSignedIn {
                    try await page.see("It isn’t sent before you sign in again.")
                    try await page.click("Sign in")
                    try await page.wait("whose it is", Self.banner("Your alert has NOT gone out"))
                    try await page.fill("Password", Browser.password)
                    try await page.click("Sign in")
                    try await page.see("Your alert is on")
                }
                try await quartet.wait(
                    for: "the alert", "SELECT count(*) FROM session.account WHERE alert_raised_at IS NOT NULL"
                ) { $0 == "1" }
                try await page.wait("nothing to say", "!document.querySelector('.banner[role=alert] .actions')")
                try await anna.act("ClearAlert")
            }
            let raised =
                "SELECT string_agg(DISTINCT account::text, ' ') || ' ' || count(*) FROM session.log WHERE type = 'AlertRaised'"
            #expect(try await quartet.psql(raised) == "\(anna.account) 3")
            try await page.expectNoErrors()
        }
    }

    @Test(
        "who takes an alert back that another tab has tried meanwhile is told so, and can end it; other tabs know that it was taken back (A1, S22)"
    )
    func takingBack() async throws {
        try await Console.with { console in
            let quartet = console.quartet
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await bob.add(anna)
            let page = try await console.person("anna")
            try await page.setOffline(true)
            try await page.click("Raise an alert")
            try await page.click("Raise the alert")
            try await page.wait("the card", Self.banner("Your alert has NOT gone out"))
            try await page.runModules(
                ["net/database.js"],
                """
                const { all, update } = m['net/database.js'];
                for (const { id } of await all('outbox')) await update('outbox', id, (stored) => ({ ...stored, isSent: true }));
                document.querySelector('.banner button').click();
                """)
            try await page.see("Your alert may have gone out")
            #expect(try await page.accessibilityProblems() == [])
            try await page.screenshot("dialog-alert-taken-back")
            try await page.click("End the alert")
            try await page.wait("its end", Self.banner("The end of your alert has NOT gone out"))
            try await page.setOffline(false)
            try await page.wait("nothing to say", "!document.querySelector('.banner')")

            // It arrives, and neither tab hears so.
            let first = try await page.tab()
            let deaf = """
                const real = window.fetch;
                window.fetch = (path, options) => (path === '/v1/commands/RaiseAlert' ? Promise.reject(new TypeError('lost')) : real(path, options));
                """
            try await page.prepare(deaf)
            try await page.go("/")
            try await page.see("Connected")
            let second = try await page.newTab()
            try await page.prepare(deaf)
            try await page.go("/")
            try await page.see("Connected")
            try await page.click("Raise an alert")
            try await page.click("Raise the alert")
            for tab in [first, second] {
                try await page.show(tab: tab)
                try await page.wait("the card", Self.banner("It isn’t known whether your alert went out"))
            }
            try await page.click("Stop trying")
            try await page.see("Your alert may have gone out")
            try await page.click("Cancel")
            try await page.show(tab: first)
            try await page.wait("nothing to say", "!document.querySelector('.banner')")
            try await page.expectNoErrors()
        }
    }

    @Test("the server hears that an alarm was shown when it was drawn, not when there were too many for the page (A13)")
    func receipts() async throws {
        try await Console.with { console in
            let quartet = console.quartet
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            let (dora, emil, fred) = try await quartet.signUp("dora", "emil", "fred")
            let others = [bob, carl, dora, emil, fred]
            for other in others { try await anna.add(other) }
            let page = try await console.person("anna")
            try await page.prepare("Object.defineProperty(document, 'hidden', { get: () => !window.isShown })")
            try await page.go("/docs/errors/expired")
            for other in others { try await other.act("RaiseAlert") }
            try await quartet.wait(
                for: "the notifications",
                "SELECT count(*) FROM notifications.log WHERE type = 'NotificationDelivered' AND account = '\(anna.account)' AND body::text LIKE '%dependentAlertRaised%'"
            ) { $0 == "5" }
            try await page.go("/me")
            try await page.see("2 more alarms")
            try await page.run("window.isShown = true; document.dispatchEvent(new Event('visibilitychange'))")
            func expect(shown count: Int) async throws {
                try await quartet.wait(
                    for: "\(count) receipts",
                    "SELECT coalesce(sum(json_array_length(body -> 'ids')), 0) FROM notifications.log WHERE type = 'NotificationsShown'"
                ) { $0 == "\(count)" }
            }
            try await expect(shown: 3)
            try await page.click("Home")
            try await expect(shown: 5)
        }
    }

    /// Lets requests of a kind arrive, and loses their answers; `lost` counts them.
    private static func losing(_ name: String) -> String {
        """
        window.lost = 0;
        const real = window.fetch;
        window.fetch = async (path, options) => {
            const answer = await real(path, options);
            if (path !== '/v1/commands/\(name)') return answer;
            lost += 1;
            throw new TypeError('lost');
        };
        """
    }

    private static func banner(_ text: String) -> String {
        "[...document.querySelectorAll('.banner[role=alert] strong')].some((one) => one.innerText === '\(text)')"
    }
}
