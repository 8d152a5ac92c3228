import Foundation
import QuartetClient
import TestKit
import Testing

extension AppPackageTests {
    /// What an app has of group sessions by `QuartetClient`, against the real services.
    @Suite
    struct Groups {
        private static let four = CreateGroupSessionRequest(
            activity: GroupSessionActivity(identifier: "org.example.four", title: "Four in a row"), capacity: 4,
            seats: 2)

        /// Two apps whose people are contacts.
        private static func withFriends(
            _ body: @Sendable (_ anna: PackageApp, _ bob: PackageApp, _ bobsID: AccountID) async throws -> Void
        ) async throws {
            try await Quartet.with { quartet in
                try await quartet.waitLongForPeopleWhoAreAway()
                let url = try #require(URL(string: try quartet.url))
                try await PackageApp.with("anna", HTTPTransport(url)) { anna in
                    try await PackageApp.with("bob", HTTPTransport(url)) { bob in
                        let code = try #require(bob.clients.contacts.contacts.code)
                        try await anna.clients.contacts.add(
                            AddContactRequest(code: code, isMyResponder: true, iAmResponder: true))
                        try await PackageApp.wait("the contact", anna.clients.contacts.contacts.values(of: \.count)) {
                            $0 == 1
                        }
                        let id = try #require(bob.clients.session.session.account)
                        try await body(anna, bob, id)
                    }
                }
            }
        }

        @Test(
            """
            two apps play: invited, joined, a seat that only one gets, moves in turn, messages and signals, and the end; both show what \
            the server has (P1, P4, P5, P6, P8, P9, P10, P16, P18, P20, P21, P22, P24, P25, P26, P29, P31)
            """)
        func game() async throws {
            try await Self.withFriends { anna, bob, bobsID in
                let (annas, bobs) = (anna.clients.groups, bob.clients.groups)
                let id = try await annas.create(Self.four)
                let hers = try annas.open(id)
                try await PackageApp.wait("the session", hers.state.values(of: \.standing)) { $0 == .joined }
                #expect(hers.state.isHost)
                try await annas.invite(id, [bobsID])
                try await PackageApp.wait("the invitation", bobs.groups.values(of: \.invitations)) {
                    $0.map(\.group) == [id]
                }
                let his = try bobs.open(id)
                try await PackageApp.wait("the session", his.state.values(of: \.standing)) { $0 == .waiting }
                let (messages, signals) = (his.messages, his.signals)
                try await bobs.join(id)
                try await PackageApp.wait("joining", his.state.values(of: \.standing)) { $0 == .joined }
                try await PackageApp.wait("Bob", hers.state.values(of: \.others)) { $0.map(\.id) == [bobsID] }

                try await annas.claimSeat(id, 0)
                await #expect { try await bobs.claimSeat(id, 0) } throws: { error in
                    guard case .refused(let refusal)? = error as? QuartetError else { return false }
                    let host = hers.state.host.map { JSONValue.string("\($0)") }
                    return refusal.code == .seatTaken && refusal.details?["by"] == host
                }
                try await bobs.claimSeat(id, 1)
                try await PackageApp.wait("both seats", hers.state.values(of: \.freeSeats)) { $0.isEmpty }

                try await annas.startGame(
                    StartGame(group: id, state: .object(["stones": .integer(0)]), lead: .seconds(0)))
                try await PackageApp.wait("the start", his.state.values(of: \.game)) { $0?.version == 1 }
                try await bobs.updateGame(
                    UpdateGame(group: id, expectedVersion: 1, patch: .object(["stones": .integer(1)])))
                // A move on a version that isn't the newest any more changes nothing.
                await #expect {
                    try await annas.updateGame(
                        UpdateGame(group: id, expectedVersion: 1, patch: .object(["stones": .integer(9)])))
                } throws: {
                    ($0 as? QuartetError)?.code == .staleVersion
                }
                for app in [hers, his] {
                    try await PackageApp.wait("the move", app.state.values(of: \.game)) {
                        $0?.version == 2 && $0?.state == .object(["stones": .integer(1)])
                    }
                }

                for text in ["one", "two"] {
                    try await annas.send(
                        SendGroupMessage(group: id, type: "text", data: .object(["text": .string(text)])))
                }
                var texts: [JSONValue?] = []
                for await message in messages {
                    texts.append(message.data)
                    if texts.count == 2 { break }
                }
                #expect(texts == ["one", "two"].map { .object(["text": .string($0)]) })
                #expect(try await bobs.messages(id, MessagesQuery()).messages.count == 2)
                try await annas.signal(id, SignalRequest(topic: "org.example.wave"))
                let signal = try await withDeadline(.patience, "the signal") { await signals.first { _ in true } }
                #expect(signal?.topic == "org.example.wave" && signal?.account == hers.state.host)

                try await annas.finishGame(id)
                try await annas.end(id)
                for app in [hers, his] {
                    try await PackageApp.wait("the end", app.state.values(of: \.standing)) {
                        $0 == .invalidated(.ended)
                    }
                }
            }
        }

        @Test(
            "two apps show the same position of what a group plays, to 50 milliseconds, and pause together (M3, M5, M8)"
        )
        func playback() async throws {
            try await Self.withFriends { anna, bob, bobsID in
                let id = try await anna.clients.groups.create(Self.four)
                try await anna.clients.groups.invite(id, [bobsID])
                try await PackageApp.wait("the invitation", bob.clients.groups.groups.values(of: \.count)) { $0 == 1 }
                try await bob.clients.groups.join(id)
                let players = try [anna, bob].map { try $0.clients.playback.open(id) }
                let song = PlaybackItem(id: .new(), title: "Song", duration: .minutes(3))
                try await anna.clients.playback.play(id, song)
                for player in players {
                    try await PackageApp.wait("the song", player.state.values(of: \.isPlaying)) { $0 }
                    #expect(player.state.title == "Song")
                }
                for player in players {
                    try await withDeadline(.patience, "the time") { try await player.ready() }
                }
                // The two can't be asked in one moment: one is between two positions of the other, and counts if these are close.
                let end = ContinuousClock.now + .patience
                func apart() async throws -> Int64 {
                    while ContinuousClock.now < end {
                        try await Task.sleep(for: .milliseconds(100))
                        let before = try #require(players[0].position).microseconds
                        let other = try #require(players[1].position).microseconds
                        let after = try #require(players[0].position).microseconds
                        if after - before < 10_000 { return abs((before + after) / 2 - other) }
                    }
                    throw TimedOut("waited two minutes for two apps to show the same position")
                }
                // A question for the time that a busy machine answers late counts until one comes that it answers at once. Once
                // they agree, they go on agreeing.
                while try await apart() >= 50_000 {}
                for _ in 0..<10 {
                    let apart = try await apart()
                    #expect(apart < 50_000)
                }
                try await bob.clients.playback.setPlaying(id, false)
                #expect(!players[1].state.isPlaying)
                try await PackageApp.wait("the pause", players[0].state.values(of: \.isPlaying)) { !$0 }
                try await PackageApp.wait("the same version", players[1].state.values(of: \.version)) {
                    $0 == players[0].state.version
                }
                #expect(players[0].position == players[1].position)
            }
        }

        @Test(
            "a cut leaves nobody behind: what happened in the session meanwhile is there when the app is back (P29, T13)"
        )
        func cut() async throws {
            try await Self.withFriends { anna, bob, bobsID in
                let (annas, bobs) = (anna.clients.groups, bob.clients.groups)
                let id = try await annas.create(Self.four)
                try await annas.invite(id, [bobsID])
                try await PackageApp.wait("the invitation", bobs.groups.values(of: \.count)) { $0 == 1 }
                try await bobs.join(id)
                let his = try bobs.open(id)
                try await PackageApp.wait("joining", his.state.values(of: \.standing)) { $0 == .joined }
                let messages = his.messages
                bob.connection.disconnect()
                for text in ["one", "two", "three"] {
                    try await annas.send(
                        SendGroupMessage(group: id, type: "text", data: .object(["text": .string(text)])))
                }
                try await annas.claimSeat(id, 1)
                bob.connection.connect()
                try await PackageApp.wait("the seat", his.state.values(of: \.freeSeats)) { $0 == [0] }
                var numbers: [Int64] = []
                for await message in messages {
                    numbers.append(message.number)
                    if numbers.count == 3 { break }
                }
                try await bob.connection.ready()
                #expect(numbers == [1, 2, 3] && his.state.phase == .ready)
            }
        }
    }
}
