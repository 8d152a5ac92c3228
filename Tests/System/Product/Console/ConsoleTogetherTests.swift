import EdgeClient
import Foundation
import TestKit
import Testing
import WebDriver

/// Group sessions in two browsers.
@Suite("Console: together", .timeLimit(.minutes(60)))
struct ConsoleTogetherTests {
    @Test(
        "two people join, take seats, play four in a row to its end over a killed edge, and leave (P3, P5, P11, P18, P21, P37, T29)"
    )
    func game() async throws {
        try await Console.with { console in
            let (first, second) = try await console.quartet.signUp("anna", "bob")
            try await first.add(second, isMyResponder: true)
            let (anna, bob) = (try await console.person("anna"), try await console.person("bob"))
            try await bob.look(width: 390, isDark: true)
            try await anna.click("Together")
            try await bob.click("Together")
            try await anna.see("No sessions yet")
            let id = JSON.string(try await console.begin(anna))
            try await anna.see("Connected • Session Active")
            try await anna.screenshot("state-session-active")
            try await anna.wait(
                "no start without seats",
                "[...document.querySelectorAll('button')].find((one) => one.innerText === 'Start').disabled")

            try await bob.see("Join with 1 player")
            try await bob.screenshot("together-phone-dark")
            try await bob.click("Join with 1 player")
            try await bob.see("Participants (2)")
            try await anna.click("Seat 1")
            try await bob.wait("who has it", "document.querySelector('.seats li').innerText.includes('Anna')")

            // Bob's claim is on its way when Anna, on another device, was faster.
            console.quartet.send(.stop, to: .session)
            async let claim = first.ask("MoveSeat", ["group": id, "seat": 1])
            try await console.quartet.wait(
                for: "Anna's command",
                "SELECT count(DISTINCT command_id) FROM session_client.session_commands WHERE type = 'MoveSeat'"
            ) { $0 == "1" }
            try await bob.click("Seat 2")
            try await bob.see("claiming…")
            try await bob.screenshot("group-claiming-phone-dark")
            console.quartet.send(.resume, to: .session)
            let answer = try await claim
            #expect(answer.isSuccess)
            try await bob.see("Somebody has this seat")
            try await bob.wait("Anna there", "document.querySelectorAll('.seats li')[1].innerText.includes('Anna')")
            try await bob.click("Seat 3")
            try await anna.see("Ready.")
            try await bob.see("Anna can start the game.")

            try await anna.click("Start")
            try await bob.see("Anna to move")
            #expect(try await bob.run("return document.querySelectorAll('.seats li').length") == 2, "no empty seats")
            try await anna.run(
                """
                const board = document.querySelector('.board'), { left, top } = board.getBoundingClientRect();
                board.dispatchEvent(new PointerEvent('pointermove', { clientX: left + 40, clientY: top + 40, bubbles: true }));
                """)
            try await bob.wait("where Anna points", "document.querySelector('.cursor')?.innerText === 'Anna'")
            for round in 0..<4 {
                try await drop(anna, into: 3)
                if round == 1 {
                    // A move that the server doesn't have yet may be too late when it is back.
                    try await bob.wait("his turn", "document.querySelector('#game-title')?.innerText === 'Your turn'")
                    try await console.restartEdge { try await bob.see("Reconnecting (") }
                }
                if round < 3 { try await drop(bob, into: 4) }
                if round == 2 { try await bob.screenshot("game-phone-dark") }
            }
            try await anna.see("You won")
            try await bob.see("Anna won")
            try await bob.see("1 point")
            try await console.expectSameGroup(try #require(id.string), anna, bob)
            try await anna.screenshot("game-desktop-light")
            try await anna.see("Play again")

            // Another app's game in the same session.
            try await first.act("StartGame", ["group": id, "state": ["board": "its own"], "lead": 0])
            try await anna.see("Another game")
            try await bob.see("Another game")

            try await bob.click("Leave")
            try await anna.see("Participants (1)")
            try await anna.confirm("End for all")
            try await anna.see("No sessions yet")
            try await bob.see("No sessions yet")
            try await anna.expectNoErrors()
            try await bob.expectNoErrors()
        }
    }

    @Test(
        "at the board one sees who has lost the connection, and that one's own move isn't there yet, or came too late; the board fits the window (P15, P37, C10)"
    )
    func lostConnection() async throws {
        try await Console.with { console in
            let (first, second) = try await console.quartet.signUp("anna", "bob")
            try await first.add(second, isMyResponder: true)
            let (anna, bob) = (try await console.person("anna"), try await console.person("bob"))
            try await bob.look(width: 390, isDark: true)
            let id = JSON.string(try await console.begin(anna))
            try await console.join(bob)
            try await anna.click("Seat 1")
            try await bob.click("Seat 2")
            try await anna.see("Ready.")
            try await anna.click("Start")
            try await bob.see("Anna to move")
            try await drop(anna, into: 3)
            try await bob.see("Your turn")
            try await anna.look(width: 1440, height: 900)
            for page in [anna, bob] {
                try await page.wait(
                    "the whole board in sight",
                    """
                    (() => {
                        document.querySelector('[aria-labelledby=game-title]').scrollIntoView({ block: 'nearest' });
                        const { top, bottom } = document.querySelector('.board').getBoundingClientRect();
                        return top >= 0 && bottom <= innerHeight;
                    })()
                    """)
                #expect(try await page.accessibilityProblems() == [])
            }
            try await anna.run("scrollTo(0, 0)")
            try await anna.wait(
                "the board and messages without scrolling",
                """
                ['.board', '#messages-title'].every((one) => document.querySelector(one).getBoundingClientRect().bottom <= innerHeight)
                """)
            try await anna.screenshot("game-running-1440")

            try await bob.setOffline(true)
            try await bob.run("dispatchEvent(new Event('offline'))")
            try await bob.run("document.querySelectorAll('.board-column')[4].click()")
            try await bob.see("Your move isn’t sent yet")
            #expect(try await bob.run("return document.querySelectorAll('.cell.o.unsent').length") == 1)
            #expect(try await bob.accessibilityProblems() == [])
            try await bob.screenshot("game-unsent-390")
            // Ten seconds are over.
            try await bob.run("const real = Date.now.bind(Date); Date.now = () => real() + 11000")
            try await bob.see("Your move: ")
            try await bob.wait("no disc", "document.querySelectorAll('.cell.o').length === 1")
            try await bob.click("OK")
            try await bob.notSee("Your move: ")
            try await bob.run("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
            try await bob.setOffline(false)
            try await anna.see("Bob has lost the connection")
            try await anna.screenshot("game-away-1440")
            let state = try await first.read("/v1/groups/\(id.string ?? "")")
            #expect(state["game"]["state"]["turn"] == .string(second.account), "what was too late wasn't done")
            try await anna.expectNoErrors()
            try await bob.expectNoErrors()
        }
    }

    @Test("the dialog that invites fits a name of fifty letters, and stays until it is done (P4, C7)")
    func invitation() async throws {
        try await Console.with { console in
            let name = String(repeating: "W", count: 50)
            let bob = try await Device.signUp("bob", name: name, at: console.quartet.edge)
            let anna = try await console.quartet.signUp("anna")
            try await anna.add(bob, isMyResponder: true)
            let page = try await console.person("anna")
            _ = try await console.begin(page)
            for (width, isDark) in [(1440, false), (390, true)] {
                try await page.look(width: width, isDark: isDark)
                try await page.click("Invite")
                try await page.see(name)
                try await page.wait(
                    "all of it inside",
                    """
                    (() => {
                        const dialog = document.querySelector('dialog'), { left, right } = dialog.getBoundingClientRect();
                        return dialog.scrollWidth <= dialog.clientWidth && [...dialog.querySelectorAll('*')].every((one) => {
                            const place = one.getBoundingClientRect();
                            return place.left >= left && place.right <= right;
                        });
                    })()
                    """)
                #expect(try await page.accessibilityProblems() == [])
                try await page.screenshot("dialog-invite-\(width)")
                try await page.click("Cancel")
            }
            try await page.click("Invite")
            try await page.toggle(name)
            try await page.click("Send invitations")
            try await page.see("invited")
            try await page.wait("the dialog to close", "!document.querySelector('dialog')")
            try await page.expectNoErrors()
        }
    }

    /// Waits for its turn, and drops a piece.
    private func drop(_ page: Browser, into column: Int) async throws {
        try await page.wait(
            "the turn",
            "document.querySelector('#game-title')?.innerText === 'Your turn' && !document.querySelectorAll('.board-column')[arguments[0]].disabled",
            .int(Int64(column)))
        try await page.run("document.querySelectorAll('.board-column')[arguments[0]].click()", .int(Int64(column)))
        try await page.wait("the move", "document.querySelector('#game-title').innerText !== 'Your turn'")
    }
}
