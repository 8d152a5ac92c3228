import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// What operators see and do in the console.
@Suite("Console: operators", .timeLimit(.minutes(60)))
struct ConsoleOperatorTests {
    @Test(
        "a key opens the pages; they answer whether somebody was told, show the bus at work, and keep axe's rules (A13, T24, C7)"
    )
    func looking() async throws {
        try await Console.with(forOperators: true) { console in
            let quartet = console.quartet
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            try await anna.act("RegisterPush", ["token": "secret-of-annas-phone", "platform": "ios"])
            try await quartet.missCheckIn(of: bob)
            try await anna.wait(toHear: "dependentCheckInMissed")
            let notification =
                try await anna.read("/v1/notifications")["notifications"].array
                .first { $0["kind"].string == "dependentCheckInMissed" } ?? .null
            try await anna.act("ShowNotifications", ["ids": [notification["id"]]])
            try await anna.act("MarkRead", ["id": notification["id"]])
            try await anna.operate("ClearAllReceivedPings")
            let group = try await Group.create(by: anna)
            try await group.act(anna, "ClaimSeat", ["seat": 1])
            try await quartet.waitUntilQuiet()

            let browser = try await console.browser()
            try await browser.go("/ops/told")
            try await browser.see("Paste your API key")
            try await browser.fill("API key", "quartet-operator-of-nobody")
            try await browser.click("Open")
            try await browser.see("The API key is wrong")
            try await Self.look(browser, "ops-key")
            try await browser.fill("API key", try await quartet.makeKey("on-call", "read"))
            try await browser.click("Open")

            // The key is kept over a reload, and nowhere that others can read.
            try await browser.see("on-call (reads)")
            try await browser.reload()
            try await browser.see("The newest alarms")
            #expect(
                try await browser.run("return localStorage.length + sessionStorage.length + document.cookie.length")
                    == 0)

            try await browser.see("bob")
            try await Self.look(browser, "ops-alarms")
            let alarm = try #require(notification["details"]["alarm"].string)
            try await browser.wait("the alarm", "document.querySelector('a[href=\"/ops/told/\(alarm)\"]')")
            try await browser.click("\(alarm.prefix(13))…")
            try await browser.see("@bob missed the check-in")
            try await browser.see("1 of 1 responder notified, 1 of 1 responder read it.")
            for step in ["Notified", "Pushed, attempt 1", "Shown", "Read", "notifications.log"] {
                try await browser.see(step)
            }
            try await Self.look(browser, "ops-told")

            try await browser.click("Overview")
            for service in ["session", "contacts", "notifications", "session_client"] { try await browser.see(service) }
            try await browser.see("well")
            try await browser.see("Synthetic alarms")
            try await browser.see("waits to be")
            try await browser.see("None has waited there for 5 s.")
            try await browser.wait(
                "a chart", "document.querySelector('.chart path.series-0')?.getAttribute('d').includes('L')")
            try await Self.look(browser, "ops-overview")

            try await browser.click("Live tail")
            // It begins with the last minute, which the pages before it may have taken.
            try await anna.act("RegisterPush", ["token": "another-secret-of-annas-phone", "platform": "ios"])
            try await bob.act("RaiseAlert")
            try await browser.see("NotificationDelivered")
            try await browser.fill("Only what contains", "pushregistered")
            try await browser.notSee("NotificationDelivered")
            try await browser.see("PushRegistered")
            try await browser.click("Pause")
            try await anna.act("CheckIn")
            try await browser.fill("Only what contains", "checkedin")
            try await browser.see("Nothing of it matches.")
            try await browser.click("Go on")
            try await browser.see("CheckedIn")
            try await browser.fill("Only what contains", "anna")
            try await browser.fill("Only what contains", "notification")
            try await Self.look(browser, "ops-tail")

            let relay = try await quartet.psql(
                "SELECT command_id FROM session_client.contacts_commands WHERE type = 'RelayAlert' LIMIT 1")
            try await browser.go("/ops/story/\(relay.prefix(36))")
            try await browser.see("DeliverNotification")
            try await browser.see("took")
            try await Self.look(browser, "ops-story")
            try await browser.click("Stories")
            try await browser.see("The newest request")
            try await browser.see("took")
            try await Self.look(browser, "ops-stories")

            try await browser.click("Operations")
            try await browser.see("ClearAllReceivedPings")
            try await Self.look(browser, "ops-sagas")
            try await browser.run("document.querySelector('main a[href^=\"/ops/sagas/\"]').click()")
            try await browser.see("its story")
            try await Self.look(browser, "ops-saga")
            try await browser.click("Groups")
            try await browser.see(String(group.id.prefix(13)))
            try await Self.look(browser, "ops-groups")
            try await browser.click("\(group.id.prefix(13))…")
            try await browser.see("Who is in it")
            let newest = try await browser.run("return document.querySelector('main').innerText")
            try await browser.run(
                "const slider = document.querySelector('#position'); slider.value = 0; slider.dispatchEvent(new Event('input', { bubbles: true }))"
            )
            try await browser.wait(
                "an earlier state", "document.querySelector('main').innerText !== arguments[0]", newest)
            try await browser.see("Who is in it")
            try await Self.look(browser, "ops-group")

            try await browser.click("Queries")
            try await browser.choose("Query", "lag")
            try await browser.see("FROM session_client.lag")
            try await browser.see("contacts_commands")
            try await Self.look(browser, "ops-queries")
            try await browser.expectNoErrors()
            try await browser.click("Forget key")
            try await browser.see("Paste your API key")
        }
    }

    @Test("someone who heard only of an alarm's end doesn't count as told of the alarm (A13)")
    func onlyTheAllClear() async throws {
        try await Console.with(forOperators: true) { console in
            let quartet = console.quartet
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            try await quartet.missCheckIn(of: bob)
            try await anna.wait(toHear: "dependentCheckInMissed")
            try await bob.act("CheckIn")
            try await anna.wait(toHear: "dependentCheckedInLate")
            try await anna.act("MarkAllRead")
            try await quartet.waitUntilQuiet()
            let alarm = try await quartet.psql(
                "SELECT DISTINCT alarm FROM notifications.notification WHERE kind = 'dependentCheckInMissed'")
            // As if it had become a dead letter: what is left isn't about this alarm.
            _ = try await quartet.psql(
                """
                UPDATE notifications.notification SET details = (details::jsonb - 'alarm')::json
                 WHERE kind = 'dependentCheckInMissed'
                """)
            let recent = try await quartet.named(":recent_alarms")
            #expect(recent.contains("|bob|missed check-in|1|0|-|0|0"), "\(recent)")

            let browser = try await console.browser()
            try await browser.open("/ops/told/\(alarm)", withKey: try await quartet.makeKey("on-call", "read"))
            try await browser.see("0 of 1 responder notified, 0 of 1 responder read it.")
            try await browser.wait("the verdict to be bad", "document.querySelector('.verdict.critical')")
            try await browser.see("no notification of it is there")
            try await browser.see("All clear")
            try await browser.expectNoErrors()
        }
    }

    @Test(
        "a dead letter is retried and another discarded, each with a reason that the audit keeps; keys that only read see no buttons; what is counted is exact to 10,000 (T22, T24)"
    )
    func acting() async throws {
        try await Console.with(forOperators: true) { console in
            let quartet = console.quartet
            let anna = try await quartet.signUp("anna")
            _ = try await quartet.psql(
                """
                INSERT INTO contacts.dead_letter (message_id, source, partition, position, kind, type, version, key, account,
                                                  body, command_id, code, error, attempts)
                SELECT gen_random_uuid(), 'session_client.contacts_commands', 0, n, 'command', t, 1, 'account/\(anna.account)',
                       '\(anna.account)', '{"isRequired":true}', gen_random_uuid(), 'error', 'division by <b>zero</b>', 5
                  FROM (VALUES (1, 'SetContactApproval'), (2, 'ResetContactCode')) AS letter (n, t)
                """)
            let browser = try await console.browser()
            try await browser.open("/ops/dead", withKey: try await quartet.makeKey("reader", "read"))
            // Texts are texts.
            try await browser.see("division by <b>zero</b>")
            #expect(try await browser.run("return [...document.querySelectorAll('main button')].length") == 0)
            try await browser.click("Forget key")
            try await browser.fill("API key", try await quartet.makeKey("on-call", "act"))
            try await browser.click("Open")
            try await browser.see("SetContactApproval")
            try await Self.look(browser, "ops-failures")
            try await browser.wait(
                "the letter",
                "[...document.querySelectorAll('tr')].find((row) => row.innerText.includes('SetContactApproval')).querySelector('button').click() ?? true"
            )
            try await browser.see("Send it again?")
            try await Self.look(browser, "ops-dialog")
            try await browser.fill("Why", "the bug is mended")
            try await browser.click("Retry")
            try await browser.see("retried")
            try await browser.click("Discard")
            try await browser.fill("Why", "nobody needs it")
            try await browser.click("Discard")
            try await browser.see("discarded")
            let audit = try await quartet.psql(
                "SELECT string_agg(act || ' ' || key_name || ' ' || reason, ', ' ORDER BY number) FROM session_client.operator_acts WHERE with_key IS NOT NULL"
            )
            #expect(audit == "retry_dead_letter on-call the bug is mended, discard_dead_letter on-call nobody needs it")
            try await browser.click("Overview")
            try await browser.see("nobody needs it")

            for (count, shown) in [(9_999, "9,999"), (10_000, "10,000"), (10_001, "10,000+"), (10_050, "10,000+")] {
                try await quartet.addTimers(upTo: count)
                try await browser.reload()
                try await browser.wait(
                    "\(shown) timers",
                    """
                    [...document.querySelectorAll('.tiles li')]
                        .find((one) => one.innerText.includes('timers'))?.querySelector('strong').innerText === arguments[0]
                    """, .string(shown))
            }
            try await browser.expectNoErrors()
        }
    }

    @Test("a parked message is retried and given up by an operator, and then is a dead letter (T22)")
    func parked() async throws {
        try await Console.with(forOperators: true) { console in
            let quartet = console.quartet
            let anna = try await quartet.signUp("anna")
            try await quartet.park(of: anna.account, error: "the disk is full")
            let browser = try await console.browser()
            try await browser.open("/ops/dead", withKey: try await quartet.makeKey("on-call", "act"))
            try await browser.see("the disk is full")
            try await browser.click("Retry now")
            try await browser.see("Retry it now?")
            try await browser.fill("Why", "there is room again")
            try await browser.click("Retry now")
            try await quartet.wait(
                for: "the retry", "SELECT count(*) FROM contacts.parked WHERE retry_at < now() + interval '1 hour'"
            ) { $0.hasPrefix("1") }
            try await browser.click("Discard")
            try await browser.see("Give it up?")
            try await browser.fill("Why", "nobody waits for it")
            try await browser.click("Discard")
            try await browser.notSee("Retry now")
            try await quartet.start(.contacts)
            try await browser.see("No message is parked.")
            try await browser.see("SetContactApproval")
            let audit = try await quartet.psql(
                """
                SELECT string_agg(act || ' ' || reason, ', ' ORDER BY number) FROM session_client.operator_acts
                 WHERE with_key IS NOT NULL
                """)
            #expect(audit == "retry_parked there is room again, discard_parked nobody waits for it")
            try await browser.expectNoErrors()
        }
    }

    @Test("a hidden page asks nothing, and metrics become rates and percentiles (T24)")
    func modules() async throws {
        try await Console.with(forOperators: true) { console in
            let browser = try await console.browser()
            try await browser.go("/ops")
            try await browser.see("Paste your API key")
            let asked = try await browser.runModules(
                ["feed.js"],
                """
                const { beginDrawing, watch } = m['feed.js'], timers = [];
                const later = window.setTimeout;
                window.setTimeout = (run) => timers.push(run);
                let count = 0, hidden = false;
                Object.defineProperty(document, 'hidden', { get: () => hidden });
                const step = async (isDrawn) => {
                    beginDrawing();
                    if (isDrawn) watch('one', async () => { count += 1 }, 0);
                    for (const run of timers.splice(0)) run();
                    await new Promise((done) => later(done));
                };
                await step(true); await step(true);
                const shown = count;
                hidden = true;
                await step(true); await step(true);
                const whileHidden = [count - shown, timers.length];
                hidden = false;
                await step(true);
                const again = count - shown;
                await step(false); await step(false);
                return [shown > 0, ...whileHidden, again > 0, count - shown - again, timers.length];
                """)
            #expect(asked == [true, 0, 0, true, 0, 0], "not while it is hidden, nor what isn't drawn")
            let metrics = try await browser.runModules(
                ["metrics.js"],
                #"""
                const { parse, sums, buckets, percentile } = m['metrics.js'];
                const text = (fast, slow) => [
                    '# TYPE t histogram', `t_bucket{a="x",le="0.1"} ${fast}`, `t_bucket{a="x",le="1"} ${slow}`,
                    `t_bucket{a="x",le="+Inf"} ${slow}`, 'rows{log="a \\" b"} 3', 'rows{log="c"} 4',
                ].join('\n');
                const read = (...counts) => buckets(parse(text(...counts)), 't');
                const rows = sums(parse(text(0, 0)), 'rows');
                return [Object.values(rows), percentile(read(5, 5), read(14, 15), 0.5), percentile(read(5, 5), read(14, 15), 0.99),
                    percentile(read(5, 5), read(5, 5), 0.5) ?? null];
                """#)
            #expect(metrics == [[7], .double(0.1), 1, .null])
        }
    }

    /// Pictures of a page on a desktop and a phone, dark and light, and whether it keeps axe's rules and fits.
    private static func look(_ browser: Browser, _ name: String) async throws {
        for (width, device) in [(1280, "desktop"), (320, "phone")] {
            for isDark in [false, true] {
                try await browser.look(width: width, isDark: isDark)
                let picture = "\(name)-\(device)-\(isDark ? "dark" : "light")"
                try await browser.screenshot(picture)
                #expect(try await browser.accessibilityProblems() == [], "\(picture)")
            }
            let overflow = try await browser.run("return document.documentElement.scrollWidth - innerWidth")
            #expect((overflow.int ?? 1) <= 0, "\(name) on a \(device) scrolls only in its tables")
        }
        try await browser.look(width: 1280)
    }
}

extension Quartet {
    /// Sets timers that are due in a month, until there are so many.
    fileprivate func addTimers(upTo count: Int) async throws {
        _ = try await psql(
            """
            INSERT INTO session.timer (key, name, due_at, type, version, body)
            SELECT 'account/' || gen_random_uuid(), 'Far', now() + interval '30 days', 'Far', 1, '{}'
              FROM generate_series(1, \(count) - (SELECT count(*) FROM session_client.all_timers))
            """)
    }
}
