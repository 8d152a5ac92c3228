import Foundation
import Games
import QuartetClient
import TestKit
import Testing

extension TerminalAppTests {
    @Suite
    struct Together {
        /// Anna in a terminal, Bob with the package, contacts of each other by Bob's code.
        static func withFriends(
            _ body: @Sendable (_ terminal: PseudoTerminal, _ bob: PackageApp, _ quartet: Quartet) async throws -> Void
        ) async throws {
            try await Quartet.with { quartet in
                let transport = MovingTransport { try quartet.url }
                try await PackageApp.with("bob", transport) { bob in
                    try await TerminalAppTests.withAnna(quartet) { terminal in
                        let code = try #require(bob.clients.contacts.contacts.code)
                        terminal.type("2n")
                        try await terminal.see("Handle or code")
                        terminal.type("\(code)")
                        terminal.press(.tab, .tab, .tab, .enter)
                        try await terminal.see("each other")
                        try await PackageApp.wait("Anna", bob.clients.contacts.contacts.values(of: \.count)) { $0 == 1 }
                        try await body(terminal, bob, quartet)
                    }
                }
            }
        }

        @Test(
            """
            pings go both ways and are answered; what happened stands in the notifications until it is read; a lost connection is \
            said in words, and what was done meanwhile is sent afterwards (S25, S42, T10, T13)
            """)
        func contacts() async throws {
            try await Self.withFriends { terminal, bob, quartet in
                let bobs = bob.clients.contacts
                try await terminal.see("Bob")
                #expect(terminal.screen.value.isSelected("each other"))
                terminal.type("p")
                try await terminal.see("asked ")
                try await PackageApp.wait("the ping", bobs.contacts.values(of: \.incomingPings)) { $0.count == 1 }
                let anna = try #require(bobs.contacts.ids.first)
                try await bobs.respondToPing(anna)
                try await terminal.see("First check-in due ")
                terminal.type("3")
                try await terminal.see("Bob answered: all right")
                terminal.type("a")
                try await terminal.see("(0 unread)")

                try await bobs.sendPing(anna)
                try await terminal.see("2 Contacts (1)")
                terminal.type("2")
                try await terminal.see("whether you are all right")
                terminal.type("r")
                try await terminal.see("Answered: all right.")
                try await PackageApp.wait("the answer", bobs.contacts.values(of: \.outgoingPings)) { $0.isEmpty }

                // The next one doesn't come too soon.
                let past = "clock_timestamp() - interval '1 minute'"
                _ = try await quartet.psql(
                    "UPDATE contacts.relation SET low_last_ping_at = \(past), high_last_ping_at = \(past)")
                let port = try await quartet.edgePort()
                try await quartet.kill(.sessionClient)
                try await terminal.see("● Reconnecting (")
                terminal.type("p")
                try await terminal.see("asked ")
                try await terminal.see("for a connection.")
                terminal.type("1")
                try await terminal.see("You check in every")
                try await terminal.see("for a connection.")
                try await quartet.start(.sessionClient, port: port)
                try await terminal.see("● Connected")
                try await PackageApp.wait("the second ping", bobs.contacts.values(of: \.incomingPings)) {
                    $0.count == 1
                }
                try await terminal.seeNo("for a connection.")
            }
        }

        @Test(
            """
            a game from the invitation to four in a row: seats, turns, the winner and the end; what plays stands under every tab \
            (P5, P9, P16, P18, P20, P21, P31, M1, P2)
            """)
        func game() async throws {
            try await Self.withFriends { terminal, bob, _ in
                let groups = bob.clients.groups
                terminal.type("4")
                try await terminal.see("No sessions yet.")
                terminal.type("n")
                try await terminal.see("No game yet.")
                terminal.type("i")
                try await terminal.see("[ ] Bob")
                terminal.type(" \t\r")
                try await terminal.see("Bob (invited)")
                try await PackageApp.wait("the invitation", groups.groups.values(of: \.count)) { $0 == 1 }
                let id = try #require(groups.groups.groups.first?.group)
                try await groups.join(id)
                let group = try groups.open(id)
                try await PackageApp.wait("joining", group.state.values(of: \.standing)) { $0 == .joined }
                terminal.type("s")
                try await terminal.see("[1 you]")
                try await groups.claimSeat(id, 1)
                try await terminal.see("[2 Bob]")
                terminal.type("g")
                for move in 0..<4 {
                    try await terminal.see("Your turn")
                    terminal.press(.enter)
                    guard move < 3 else { break }
                    try await terminal.see("Bob to move")
                    let his = try await Self.turn(of: bob, in: group)
                    let next = try #require(his.board.playing(0))
                    try await groups.updateGame(
                        UpdateGame(group: id, expectedVersion: his.version, patch: try Self.json(next.move)))
                }
                try await terminal.see("You won!")
                #expect(terminal.screen.value.row(with: "│ O · · X · · · │") != nil)
                try await PackageApp.wait("the end of the game", group.state.values(of: \.game)) { $0?.finished != nil }

                terminal.type("m")
                try await terminal.see("Play something")
                terminal.type("Notturno\r")
                try await terminal.see("join “Notturno”?")
                terminal.press(.enter)
                try await terminal.see("♪ ▶ Notturno")
                terminal.type("1")
                try await terminal.see("Time left:")
                try await terminal.see("♪ ▶ Notturno")
                terminal.type(" ")
                try await terminal.see("♪ ‖ Notturno")
                terminal.type("4e")
                try await terminal.see("[ End for all ]")
                terminal.press(.down, .enter)
                try await terminal.see("This session is over")
                try await PackageApp.wait("the end", group.state.values(of: \.standing)) { $0 == .invalidated(.ended) }
                #expect(terminal.screen.value.unknown == [])
            }
        }

        /// Waits until it is Bob's turn.
        private static func turn(
            of bob: PackageApp, in group: RemoteGroup
        ) async throws -> (board: FourInARow, version: Int64) {
            try await PackageApp.wait("Bob's turn", group.state.values(of: \.isMyTurn)) { $0 }
            let game = try #require(group.state.game)
            let board = try JSONDecoder().decode(FourInARow.self, from: JSONEncoder().encode(game.state))
            return (board, game.version)
        }

        private static func json(_ value: some Encodable) throws -> JSONValue {
            try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
        }
    }
}
