import EdgeClient
import TestKit
import Testing
import WebDriver

/// The history of notifications, which is longer than what the stream has, and where a person is in it.
@Suite("Console: history", .timeLimit(.minutes(60)))
struct ConsoleHistoryTests {
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
