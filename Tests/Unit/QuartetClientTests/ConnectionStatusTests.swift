import QuartetAPI
import QuartetClientTesting
import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import Testing

@testable import QuartetClient

@Suite("The connection and the group session in one label", .timeLimit(.minutes(10)))
struct ConnectionStatusTests {
    private struct Row: Sendable {
        let state: ConnectionState
        let tone: StatusTone
        /// Outside a session.
        let isNoteworthy: Bool
        let english: String
        let german: String
    }

    private static let rows = [
        Row(state: .connected, tone: .good, isNoteworthy: false, english: "Connected", german: "Verbunden"),
        Row(state: .connecting, tone: .warning, isNoteworthy: false, english: "Connecting…", german: "Verbindet …"),
        Row(
            state: .reconnecting(attempt: 2), tone: .warning, isNoteworthy: true, english: "Reconnecting (2)…",
            german: "Verbindet wieder (2) …"),
        Row(state: .disconnected, tone: .critical, isNoteworthy: true, english: "Disconnected", german: "Getrennt"),
        Row(state: .failed(.silent), tone: .critical, isNoteworthy: true, english: "Disconnected", german: "Getrennt"),
        Row(
            state: .needsAuthentication, tone: .critical, isNoteworthy: true, english: "Sign in again",
            german: "Melde dich erneut an"),
        Row(
            state: .notSignedIn, tone: .neutral, isNoteworthy: true, english: "Not signed in",
            german: "Nicht angemeldet"),
        Row(
            state: .notConfigured, tone: .neutral, isNoteworthy: true, english: "Not configured",
            german: "Nicht eingerichtet"),
    ]

    @Test(
        """
        each state has one label for the connection and the session, in each language; it is worth its room in a session, or when \
        something is wrong (P11)
        """)
    func labels() {
        let (english, german) = (Texts(languages: ["en"]), Texts(languages: ["de"]))
        for row in Self.rows {
            let alone = ConnectionStatus(row.state, isInSession: false)
            let together = ConnectionStatus(row.state, isInSession: true)
            #expect(english.sentence(alone) == row.english && german.sentence(alone) == row.german)
            let isConnected = row.state == .connected
            #expect(english.sentence(together) == row.english + (isConnected ? " • Session Active" : ""))
            #expect(german.sentence(together) == row.german + (isConnected ? " • in einer Gruppe" : ""))
            #expect(alone.isNoteworthy == row.isNoteworthy && together.isNoteworthy)
            #expect(alone.tone == row.tone && together.tone == row.tone)
        }
    }

    private static func offer(_ standing: GroupOffer.Standing, capacity: Int) -> GroupOffer {
        GroupOffer(
            group: .new(), standing: standing, host: Server.account,
            activity: GroupSessionActivity(identifier: "org.example.four", title: "Four"), participants: 1,
            capacity: capacity, isOpenToContacts: false, created: Instant(microseconds: 1))
    }

    @Test("somebody is in a session once they have joined one that others may be in (P11)")
    func membership() async throws {
        let server = Server()
        let connection = server.connection()
        let groups = Quartet.live(connection).groups.groups
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin()
            for (offers, isInSession) in [
                ([Self.offer(.invited, capacity: 4), Self.offer(.open, capacity: 4)], false),
                ([Self.offer(.joined, capacity: 1)], false), ([Self.offer(.joined, capacity: 4)], true), ([], false),
            ] as [([GroupOffer], Bool)] {
                stream.send(.groups(try Encoded(GroupsPage(groups: offers))))
                await groups.values.wait { $0.groups == offers }
                #expect(groups.isInSession == isInSession)
            }
        }
    }
}
