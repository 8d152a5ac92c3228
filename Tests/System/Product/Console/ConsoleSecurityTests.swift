import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// What people can do when somebody else was in their account, and what keeps them out of it.
@Suite("Console: security", .timeLimit(.minutes(60)))
struct ConsoleSecurityTests {
    @Test(
        "a device that a stranger's new password signed out takes it back, and its owner signs in as before; a refusal is said there (S48, S41)"
    )
    func takingBack() async throws {
        try await Console.with { console in
            let quartet = console.quartet
            _ = try await quartet.signUp("anna")
            let page = try await console.person("anna")
            let thief = try await Device.signIn("anna", device: "thief", at: quartet.edge)
            let changed = try await quartet.edge.insist(
                "/v1/change-password",
                ["password": .string(Browser.password), "newPassword": "what the thief wanted"], token: thief.token)
            #expect(changed.isSuccess)
            try await page.see("You have to sign in again: your password changed.")
            for (width, isDark) in [(1440, false), (390, true)] {
                try await page.look(width: width, isDark: isDark)
                #expect(try await page.accessibilityProblems() == [])
                try await page.screenshot("welcome-undo-\(width)")
            }
            try await page.click("This wasn’t me")
            try await page.see("Take it back?")
            #expect(try await page.accessibilityProblems() == [])
            try await page.screenshot("dialog-undo-phone-dark")
            try await page.click("Cancel")
            #expect(
                try await quartet.psql("SELECT count(*) FROM session.log WHERE type = 'SecurityChangesUndone'") == "0")
            // The answer is lost; asked again, it is the same.
            try await page.run(
                """
                const real = window.fetch;
                window.fetch = async (path, options) => {
                    const answer = await real(path, options);
                    if (path !== '/v1/undo' || window.isLost) return answer;
                    window.isLost = true;
                    throw new TypeError('lost');
                };
                """)
            try await page.click("This wasn’t me")
            try await page.click("Undo the changes")
            try await page.see("The server can’t be reached.")
            try await page.click("This wasn’t me")
            try await page.click("Undo the changes")
            try await page.see("Undone: the password. Sign in with the password that you had before.")
            try await page.notSee("This wasn’t me")
            try await page.fill("Password", Browser.password)
            try await page.click("Sign in")
            try await page.see("Connected")
            let refused = try await quartet.edge.send("GET", "/v1/account", token: thief.token)
            #expect(refused.status == 401, "the thief is out")
            #expect(
                try await quartet.psql("SELECT count(*) FROM session.log WHERE type = 'SecurityChangesUndone'") == "1")

            // Too late, or nothing to take back: the server's word is shown where it was asked for.
            let other = try await Device.signIn("anna", device: "tablet", at: quartet.edge)
            let again = try await quartet.edge.insist(
                "/v1/change-password",
                ["password": .string(Browser.password), "newPassword": "another long password"], token: other.token)
            #expect(again.isSuccess)
            try await page.see("You have to sign in again: your password changed.")
            _ = try await quartet.psql(
                "UPDATE session.device SET signed_out_at = signed_out_at - interval '80 hours' WHERE signed_out_at IS NOT NULL"
            )
            try await page.click("This wasn’t me")
            try await page.click("Undo the changes")
            try await page.wait("why not", "document.querySelector('main form > .problem')?.innerText.length > 10")
            try await page.expectNoErrors()
        }
    }

    @Test("what may have been a stranger's doing asks so, and leads to the devices and to a new password (S48, S36)")
    func notMe() async throws {
        try await Console.with { console in
            let quartet = console.quartet
            let anna = try await quartet.signUp("anna")
            let page = try await console.person("anna")
            try await page.click("Notifications")
            try await page.see("A new device signed in")
            for (width, isDark) in [(1440, false), (390, true)] {
                try await page.look(width: width, isDark: isDark)
                #expect(try await page.accessibilityProblems() == [])
                try await page.screenshot("notifications-not-me-\(width)")
            }
            try await page.run("document.querySelector('.row a.row-text').click()")
            try await page.wait("the devices in sight", Self.devicesAreInSight)
            try await page.back()
            try await page.run(Self.asks)
            try await page.see("This wasn’t you?")
            try await page.screenshot("dialog-not-me-phone-dark")
            try await page.click("Look at my devices")
            try await page.wait("the devices in sight", Self.devicesAreInSight)
            try await page.back()
            try await page.run(Self.asks)
            try await page.click("Change the password")
            try await page.fill("Current password", Browser.password)
            try await page.fill("New password", "another long password")
            try await page.click("Change")
            try await page.see("Password changed")
            try await quartet.waitUntilQuiet()
            #expect(try await quartet.edge.send("GET", "/v1/account", token: anna.token).status == 401)
            try await page.expectNoErrors()
        }
    }

    @Test(
        "recovery codes aren't lost by Escape or by a lost answer; they stand in one column, and can be copied and saved (S41, C7)"
    )
    func recoveryCodes() async throws {
        try await Console.with { console in
            _ = try await console.quartet.signUp("anna")
            let page = try await console.person("anna")
            try await page.prepare(Self.watchesCodes)
            try await page.go("/me")
            try await page.see("Connected")
            try await page.click("Make new codes")
            try await page.see("The server can’t be reached.")
            try await page.click("Make new codes")
            try await page.see("Your recovery codes")
            let codes = try await page.run(
                "return [...document.querySelectorAll('.codes code')].map((one) => one.innerText)")
            #expect(codes.array.count == 10)
            #expect(
                try await console.quartet.psql("SELECT count(*) FROM session.log WHERE type = 'RecoveryCodesMade'")
                    == "1",
                "the lost answer was asked for again")
            for (width, isDark) in [(1440, false), (390, true), (320, false)] {
                try await page.look(width: width, isDark: isDark)
                try await page.wait(
                    "one below the other, each in one line",
                    """
                    (() => {
                        const all = [...document.querySelectorAll('.codes code')].map((one) => one.getClientRects());
                        const dialog = document.querySelector('dialog');
                        return all.every((one) => one.length === 1) && new Set(all.map(([one]) => Math.round(one.left))).size === 1
                            && dialog.scrollWidth <= dialog.clientWidth;
                    })()
                    """)
                #expect(try await page.accessibilityProblems() == [])
                try await page.screenshot("dialog-codes-\(width)")
            }
            // Escape, more often than a page may hold it back.
            for _ in 0..<4 {
                try await page.press("\u{E00C}")
                try await page.see("Have you kept them?")
                // Either dialog may be the first in the page.
                try await page.run(
                    "[...document.querySelectorAll('dialog[open] button')].find((one) => one.innerText === 'Cancel').click()"
                )
                try await page.notSee("Have you kept them?")
                try await page.see("Your recovery codes")
            }
            try await page.click("Copy")
            let text = JSON.string(codes.array.compactMap(\.string).joined(separator: "\n"))
            try await page.wait("them on the clipboard", "window.copied === arguments[0]", text)
            try await page.click("Download")
            let saved = try await page.runAsync("return window.saved.text()")
            #expect(saved.string?.contains(text.string ?? "?") == true && saved.string?.contains("@anna") == true)
            #expect(
                try await page.run("return !dispatchEvent(new Event('beforeunload', { cancelable: true }))") == true)
            try await page.click("I kept them")
            try await page.notSee("Your recovery codes")
            #expect(
                try await page.run("return !dispatchEvent(new Event('beforeunload', { cancelable: true }))") == false)
            try await page.see("10 left")
            try await page.expectNoErrors()
        }
    }

    private static let devicesAreInSight = """
        (() => {
            const title = document.querySelector('#devices-title')?.getBoundingClientRect();
            return location.pathname === '/me' && title.top >= 0 && title.bottom <= innerHeight;
        })()
        """

    private static let asks = """
        const look = () => {
            const button = [...document.querySelectorAll('.row button')].find((one) => one.innerText === 'This wasn’t me');
            button ? button.click() : setTimeout(look, 50);
        };
        look();
        """

    /// Loses the first answer with codes, and takes what is copied and saved.
    private static let watchesCodes = """
        const real = window.fetch;
        window.fetch = async (path, options) => {
            const answer = await real(path, options);
            if (path !== '/v1/recovery-codes' || window.isLost) return answer;
            window.isLost = true;
            throw new TypeError('lost');
        };
        navigator.clipboard.writeText = async (text) => { window.copied = text; };
        const address = URL.createObjectURL.bind(URL);
        URL.createObjectURL = (blob) => { window.saved = blob; return address(blob); };
        """
}
