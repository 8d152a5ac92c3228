import EdgeClient
import TestKit
import Testing
import WebDriver

/// The history of notifications, which is longer than what the stream has, and where a person is in it.
@Suite("Console: history", .timeLimit(.minutes(60)))
struct ConsoleHistoryTests {
    @Test("a reminder is set, seen, taken back, and read when it has come, in both languages (S39, S27)")
    func reminders() async throws {
        try await Console.with { console in
            let anna = try await console.quartet.signUp("anna")
            let page = try await console.person("anna")
            try await page.go("/notifications")
            try await page.see("Be reminded of something")
            try await page.run(
                """
                document.querySelector('.reminders details').open = true;
                const type = (selector, value) => {
                    const field = document.querySelector(selector);
                    field.value = value;
                    field.dispatchEvent(new Event('input', { bubbles: true }));
                };
                const date = new Date(Date.now() + 3600000);
                type('#reminder-text', 'Water the bonsai');
                type('#reminder-due', new Date(date - date.getTimezoneOffset() * 60000).toISOString().slice(0, 16));
                """)
            try await page.click("Remind me")
            try await page.wait(
                "it to be listed",
                "document.querySelector('.reminders li')?.innerText.includes('Water the bonsai')")
            let open = try await anna.read("/v1/reminders")["reminders"].array
            #expect(open.map { $0["details"]["reminder"] } == ["Water the bonsai"])
            try await page.click("Take back: Water the bonsai")
            try await page.wait("it to be gone", "!document.querySelector('.reminders li')")
            try await page.see("Taken back")
            // Whoever goes on by the keyboard isn't thrown back to the beginning.
            try await page.wait("the focus", "document.activeElement.matches('.reminders summary')")
            try await console.quartet.waitUntilQuiet()
            let left = try await anna.read("/v1/reminders")
            #expect(left == ["reminders": []])
            // One that comes while the page is open: its text is from what was scheduled.
            try await anna.act("ScheduleReminder", try await anna.reminder("Feed the parrot", inHours: 2))
            try await anna.act("ScheduleReminder", try await anna.reminder("Cut the bonsai", inHours: 3))
            try await page.wait("both", "document.querySelectorAll('.reminders li').length === 2")
            try await console.quartet.kill(.notifications)
            try await console.quartet.moveReminders("Feed the parrot")
            try await console.quartet.start(.notifications)
            try await page.see("Reminder: Feed the parrot")
            try await page.wait("one to be open", "document.querySelectorAll('.reminders li').length === 1")
            try await page.click("Take back: Cut the bonsai")
            try await page.wait("none to be open", "!document.querySelector('.reminders li')")
            try await page.reload()
            try await page.see("Reminder: Feed the parrot")
            try await page.run("localStorage.language = 'de'")
            try await page.reload()
            try await page.see("Erinnerung: Feed the parrot")
            try await page.see("Lass dich an etwas erinnern")
            try await page.expectNoErrors()
        }
    }

    @Test(
        """
        a reminder whose answer was lost is one, also if its button is pressed again, and doesn't come back into the form; \
        and one that has come isn't taken back (S39, S27)
        """)
    func remindedOnce() async throws {
        try await Console.with { console in
            let anna = try await console.quartet.signUp("anna")
            let page = try await console.person("anna")
            try await page.prepare(
                """
                const send = window.fetch;
                window.fetch = async (url, options) => {
                    const answer = await send(url, options);
                    if (!window.losesAnswers || !String(url).includes('/v1/commands/')) return answer;
                    throw new TypeError('lost');
                };
                """)
            try await page.go("/notifications")
            try await page.see("Be reminded of something")
            let fill = """
                document.querySelector('.reminders details').open = true;
                const type = (selector, value) => {
                    const field = document.querySelector(selector);
                    field.value = value;
                    field.dispatchEvent(new Event('input', { bubbles: true }));
                };
                const date = new Date(Date.now() + 3600000);
                type('#reminder-text', arguments[0]);
                type('#reminder-due', new Date(date - date.getTimezoneOffset() * 60000).toISOString().slice(0, 16));
                """
            try await page.run("window.losesAnswers = true; \(fill)", "Water the bonsai")
            try await page.click("Remind me")
            try await page.wait("it to be there", "document.querySelectorAll('.reminders li').length === 1")
            // Nothing is left in the form of which another could be made.
            try await page.wait("an empty form", "document.querySelector('#reminder-text').value === ''")
            try await page.run("window.losesAnswers = false")
            try await page.wait("the button", "!document.querySelector('.reminders form button').disabled")
            let open = try await anna.read("/v1/reminders")["reminders"].array
            #expect(open.count == 1)
            try await page.click("Take back: Water the bonsai")
            try await page.wait("it to be gone", "!document.querySelector('.reminders li')")
            let text = try await page.run("return document.querySelector('#reminder-text').value")
            #expect(text == "", "it isn't what she typed")
            // Nobody knows what became of it, and she gives it up; then she presses again.
            try await console.quartet.kill(.notifications)
            let sent =
                "SELECT count(DISTINCT command_id) FROM session_client.notifications_commands WHERE type = 'ScheduleReminder'"
            try await page.run(fill, "Feed the parrot")
            for count in ["2", "3"] {
                try await page.wait("the button", "!document.querySelector('.reminders form button').disabled")
                try await page.click("Remind me")
                try await console.quartet.wait(for: "it to be sent", sent) { $0 == count }
                guard count == "2" else { continue }
                try await page.runModules(
                    ["core/model.js", "net/outbox.js"],
                    "for (const { id } of [...m['core/model.js'].model.outbox]) await m['net/outbox.js'].drop(id);")
            }
            try await console.quartet.start(.notifications)
            try await page.wait("it to be there", "document.querySelectorAll('.reminders li').length === 1")
            try await console.quartet.waitUntilQuiet()
            let once = try await anna.read("/v1/reminders")["reminders"].array
            #expect(once.count == 1, "it is the same one")
            // The same request once more, as a page does that hasn't heard of it.
            let outcomes = try await page.runModules(
                ["core/actions.js", "core/time.js"],
                """
                const [id, due] = [m['core/time.js'].newKey(), m['core/time.js'].now() + 15e6];
                const ask = () => m['core/actions.js'].command('ScheduleReminder', { id, text: 'Tea', due });
                return [await ask(), await ask()].map((reply) => reply.event ?? null);
                """)
            #expect(outcomes == ["NotificationScheduled", .null])
            try await page.wait("two to be there", "document.querySelectorAll('.reminders li').length === 2")
            // Whatever became of the answer, it has happened where the reminder is.
            let deeds = try await page.runModules(
                ["state/deeds.js"],
                """
                const entry = { path: '/v1/commands/ScheduleReminder', fields: { id: 'a' }, created: 0 };
                return [[['a'], []], [[], ['a']], [['b'], ['c']]].map((ids) => ids.map((some) => some.map((id) => ({ id }))))
                    .map(([scheduled, notifications]) => m['state/deeds.js'].isDone(entry, { notifications: { scheduled, notifications } }, true));
                """)
            #expect(deeds == [true, true, false])
            // Its time comes, and this page hasn't heard that it isn't open any more.
            try await console.quartet.kill(.notifications)
            let due = try await console.quartet.psql(
                """
                DELETE FROM notifications.timer WHERE name LIKE 'DeliverScheduled%' AND due_at < clock_timestamp() + interval '1 minute';
                DELETE FROM notifications.scheduled WHERE details ->> 'reminder' = 'Tea'
                RETURNING notifications.microseconds(due_at)
                """)
            try await console.quartet.start(.notifications)
            try await page.wait("its time", "Date.now() > arguments[0]", .int(try #require(Int64(due)) / 1000 + 1000))
            try await page.click("Take back: Tea")
            try await page.see("It has come already")
            try await page.expectNoErrors()
        }
    }

    @Test(
        "the history is read back to its beginning, and what is read of it counts as read; place and focus in it survive a restart of the server (S37, S13, C3)"
    )
    func history() async throws {
        try await Console.with { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            try await anna.add(bob)
            // Notifications is done with both accounts, so nobody else counts them now.
            try await console.quartet.waitUntilQuiet()
            try await console.quartet.addHistory(450, of: anna, about: bob, unread: [3, 401, 402])
            let page = try await console.person("anna")
            try await console.quartet.waitUntilQuiet()
            let unread = try #require(try await anna.unread())
            try await page.go("/notifications")
            try await page.wait("what is unread", "document.title === `(${arguments[0]}) Quartet`", .int(unread))
            // The rows, and a title above those that are unread and above the rest.
            try await page.wait("the newest", "\(Self.count) === 202")
            try await page.click("Show earlier ones")
            try await page.wait("200 more", "\(Self.count) === 402")
            // As far as the next ones that are wanted.
            try await page.toggle("Only unread")
            try await page.click("Show earlier ones")
            try await page.see("Message 402")
            try await page.notSee("Show earlier ones")
            try await page.toggle("Only unread")
            try await page.wait("all of them", "\(Self.count) === arguments[0] + 2", .int(try await anna.total()))
            try await page.notSee("Show earlier ones")

            // The unread ones are first, however old they are.
            try await page.run("scrollTo(0, 0)")
            try await page.see("Message 401")
            try await page.click("Mark as read: Bob: Message 402")
            try await page.wait("it to be read", "!\(Self.isUnread("Bob: Message 402"))")
            try await page.wait("the other one", Self.isUnread("Bob: Message 401"))
            try await page.click("Mark all as read")
            try await page.wait(
                "all to be read", "!document.querySelector('.row.unread') && !document.querySelector('.count')")
            try await console.quartet.waitUntilQuiet()
            #expect(try await anna.unread() == 0)

            try await page.run("window.isTheSame = true; scrollTo(0, document.body.scrollHeight)")
            try await page.see("Message 450")
            try await page.run(
                """
                [...document.querySelectorAll('a.row-text')].find((one) => one.querySelector('strong').innerText === 'Bob: Message 445')
                    .focus({ preventScroll: true })
                """)
            let before = try await Self.place(page)
            #expect(before[1] == "Bob: Message 445" && (before[0].int ?? 0) > 20_000)
            try await console.restartEdge { try await page.see("Reconnecting (") }
            try await page.see("Connected")
            #expect(try await Self.place(page) == before)

            // The page goes on: what comes now is at the top.
            try await bob.act("RaiseAlert")
            try await page.wait("the alert", "document.title === '(!) Bob: alert · Quartet'")
            try await page.run("scrollTo(0, 0)")
            try await page.see("Bob raised an alert")
            #expect(try await page.run("return window.isTheSame") == true, "nobody had to reload")
            try await page.expectNoErrors()
        }
    }

    @Test(
        "no filter hides an alarm that is on, how much one hides is said, and it is gone when one comes back (S37, S47)"
    )
    func filter() async throws {
        try await Console.with { console in
            let (anna, bob) = try await console.quartet.signUp("anna", "bob")
            try await anna.add(bob)
            try await console.quartet.waitUntilQuiet()
            let page = try await console.person("anna")
            try await page.go("/notifications")
            try await page.see("Bob is a contact now")
            try await page.click("Pings")
            try await page.see("Nothing here")
            try await page.wait(
                "how much it hides", "document.querySelector('[role=status].hint')?.innerText.startsWith('0 of ')")
            try await bob.act("RaiseAlert")
            try await page.see("Bob raised an alert")
            try await page.wait(
                "the one that shows", "document.querySelector('[role=status].hint').innerText.startsWith('1 of ')")
            try await page.toggle("Only unread")
            try await page.click("Mark all as read")
            try await page.wait("all to be read", "!document.querySelector('.row.unread')")
            for (width, isDark) in [(1440, false), (390, true)] {
                try await page.look(width: width, isDark: isDark)
                try await page.screenshot("notifications-filter-\(width)")
                #expect(try await page.accessibilityProblems() == [])
            }
            #expect(
                try await page.run("return [...document.querySelectorAll('.row strong')].map((one) => one.innerText)")
                    == ["Bob raised an alert"])
            try await bob.act("ClearAlert")
            try await page.see("Nothing here")
            try await page.click("Home")
            try await page.see("Are you all right")
            try await page.click("Notifications")
            try await page.see("Bob is a contact now")
            try await page.see("Bob ended the alert")
            #expect(try await page.run("return document.querySelectorAll('[role=status].hint').length") == 0)
            try await page.expectNoErrors()
        }
    }

    /// How many rows and titles the list has; few of them are drawn.
    private static let count = "Number(document.querySelector('.row-place')?.getAttribute('aria-setsize'))"

    /// Whether a row is drawn as unread.
    private static func isUnread(_ text: String) -> String {
        "[...document.querySelectorAll('.row.unread strong')].some((one) => one.innerText === '\(text)')"
    }

    /// How far the page is scrolled, and which row has the focus.
    private static func place(_ page: Browser) async throws -> JSON {
        try await page.run(
            "return [Math.round(scrollY), document.activeElement.querySelector('strong')?.innerText ?? null]")
    }
}

extension Device {
    /// How many notifications there are.
    fileprivate func total() async throws -> Int64 {
        var (total, before) = (0, String?.none)
        repeat {
            let page = try await read("/v1/notifications?limit=200" + (before.map { "&before=\($0)" } ?? ""))
            total += page["notifications"].array.count
            before = page["next"].string
        } while before != nil
        return Int64(total)
    }
}

extension Quartet {
    /// Adds notifications of the last hours by SQL: `Message 1`, which is the newest, and so on.
    fileprivate func addHistory(_ count: Int, of anna: Device, about bob: Device, unread: [Int]) async throws {
        _ = try await psql(
            """
            WITH made AS (
                INSERT INTO notifications.notification (account, id, kind, category, subject, details, created_at, read_at)
                SELECT '\(anna.account)'::uuid, gen_random_uuid(), 'system', 'system', '\(bob.account)'::uuid,
                       json_build_object('text', 'Message ' || n), now() - n * interval '1 minute',
                       CASE WHEN n NOT IN (\(unread.map(String.init).joined(separator: ", "))) THEN now() END
                  FROM generate_series(1, \(count)) AS n
                RETURNING read_at
            )
            UPDATE notifications.account AS a SET unread = a.unread + m.unread, total = a.total + m.total
              FROM (SELECT count(*) FILTER (WHERE read_at IS NULL) AS unread, count(*) AS total FROM made) AS m
             WHERE a.account = '\(anna.account)'
            """)
    }
}
