import EdgeClient
import TestKit
import Testing
import WebDriver

/// The player that all tabs and windows of a person share.
@Suite("Console: player", .timeLimit(.minutes(60)))
struct ConsolePlayerTests {
    @Test(
        "one player in every tab and window: what one does the other shows, the bar and the sheet alike, no list is drawn for it, and others can listen along (M2, M3, M4, M5, M6, M7, M11)"
    )
    func player() async throws {
        try await Console.with { console in
            let (first, second) = try await console.quartet.signUp("anna", "bob")
            try await first.add(second, isMyResponder: true)
            let (one, other) = (try await console.person("anna"), try await console.person("anna"))
            try await other.look(width: 390, isDark: true)
            try await one.click("Listen")
            try await one.see("Not playing")
            try await one.screenshot("listen-nothing")
            try await other.notSee("Not playing")
            try await one.click("Play Morning Mood")
            try await one.see("Edvard Grieg")
            try await other.see("Morning Mood")
            try await other.click("Pause")
            try await one.click("Play")
            try await other.wait("it to play again", Self.button("Pause"))

            // Pressing play again and again, here and there, draws no list.
            for _ in 1...3 {
                try await one.click("Pause")
                try await other.click("Play")
                try await one.wait("it to play", Self.button("Pause"))
            }
            #expect(
                try await Self.counts(one) == [
                    "/listen: appeared once, list drawn once", "/search: appeared never, list drawn never",
                ])
            try await one.click("Search")
            try await one.fill("Title or composer", "dvorak")
            try await one.wait("what was found", "document.querySelectorAll('main li').length === 1")
            try await one.see("American Quartet")
            try await one.click("Pause")
            try await other.wait("the pause", Self.button("Play"))
            let drawn = try await Self.counts(one)
            try await one.click("Play")
            try await other.wait("it to play", Self.button("Pause"))
            #expect(try await Self.counts(one) == drawn)
            try await one.click("Listen")
            try await one.wait(
                "the second time",
                "document.querySelector('#count-listen')?.innerText === '/listen: appeared twice, list drawn twice'")

            // The queue, the sheet, and the end of an item.
            try await one.click("Queue Lullaby")
            try await one.click("Queue Clair de lune")
            try await other.click("Open the player: Morning Mood")
            try await other.see("Up next")
            try await other.wait("both", "document.querySelectorAll('dialog li').length === 2")
            try await other.screenshot("player-phone-dark")
            try await other.click("Remove Clair de lune")
            try await other.run(
                """
                const position = document.querySelector('#player-position');
                position.value = position.max;
                position.dispatchEvent(new Event('change', { bubbles: true }));
                """)
            try await one.see("Johannes Brahms")
            try await other.wait("the next one", "document.querySelector('#player-title').innerText === 'Lullaby'")
            try await other.back()
            try await other.wait("the sheet to be gone", "!document.querySelector('dialog')")
            try await other.go("/contacts#player")
            try await other.wait("the sheet", "document.querySelector('dialog #player-title')?.innerText === 'Lullaby'")

            // Others listen along, and what they do counts for all.
            try await other.toggle("My contacts may listen along")
            try await other.see("Nobody else is here yet")
            let bob = try await console.person("bob")
            try await bob.click("Together")
            try await bob.click("Join with 1 player")
            try await bob.see("Lullaby")
            try await other.see("With Bob")
            try await bob.click("Pause")
            try await one.wait("the pause", Self.button("Play"))
            try await bob.screenshot("listening-desktop-light")
            let group = try await bob.run("return location.pathname").string?.split(separator: "/").last.map(
                String.init)
            try await console.expectSameGroup(try #require(group), one, bob)
            try await bob.click("Leave")
            try await bob.see("Join with 1 player")
            try await bob.wait("no player", "document.querySelector('.player-bar') === null")
            try await bob.click("Join with 1 player")
            try await bob.wait("the player again", Self.button("Play"))
            for page in [one, other, bob] { try await page.expectNoErrors() }
        }
    }

    /// Whether the bar has a button.
    private static func button(_ name: String) -> String {
        "document.querySelector('.player-bar [aria-label=\(name)]') !== null"
    }

    /// How often each page appeared and drew its list, as the page says.
    private static func counts(_ page: Browser) async throws -> JSON {
        try await page.run("return [...document.querySelectorAll('.counts p')].map((one) => one.innerText)")
    }
}
