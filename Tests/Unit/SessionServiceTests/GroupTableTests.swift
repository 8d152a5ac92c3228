import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import Storage
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules
@testable import SessionService

@Suite("Session: the columns of group sessions")
struct GroupTableTests {
    private func time(_ n: Int64) -> Instant { Instant(microseconds: 1_700_000_000_000_000 + n) }

    @Test("every property of group sessions has its column, and comes back from it as it was")
    func columns() async throws {
        try await TestDatabase.with(DatabaseTemplate.session) { database in
            var (going, empty, over) = (Tables.groupSession.blank, Tables.groupSession.blank, Tables.groupSession.blank)
            for row in [0, 1, 2] {
                var session = Tables.groupSession.blank
                (session.creator, session.identifier, session.capacity) = (.new(), "chess", 4)
                (session.seats, session.isOpenToContacts, session.joins) = (3, true, 2)
                session.created = time(1)
                switch row {
                case 0:
                    session.host = .new()
                    going = session
                case 1:
                    (session.started, session.emptySince) = (time(2), time(3))
                    empty = session
                default:
                    (session.ended, session.endReason, session.endedBy) = (time(3), .ended, .new())
                    over = session
                }
            }
            let groups = [GroupID.new(), .new(), .new()]
            try await Tables.groupSession.expectRoundTrip(
                of: [(groups[0], going), (groups[1], empty), (groups[2], over)], in: database, as: "session")

            let film = GroupSessionActivity(
                identifier: "film", type: .watchTogether, title: "Film", subtitle: "Now", fallbackURL: "https://a.b",
                payload: ["a": [1, .number(2.5), .null, true, "x"]])
            try await Tables.groupActivity.expectRoundTrip(
                of: [(groups[0], film), (groups[1], Gathering.chess)], in: database, as: "session")

            var (here, gone) = (Tables.participant.blank, Tables.participant.blank)
            (here.identifier, here.status, here.since, here.ordinal) = ("chess", .joined, time(4), 1)
            (here.seat, here.droppedAt, here.isDropAnnounced, here.version) = (3, time(5), true, 2)
            here.isReady = true
            here.suspension = Suspension(reason: .interstitial, since: time(5), until: time(7), participantLimit: 4)
            (gone.identifier, gone.status, gone.since, gone.reason) = ("film", .invalidated, time(6), .removed)
            let (anna, ben) = (AccountID.new(), AccountID.new())
            (here.invitedBy, here.reconsideredAt) = (ben, time(8))
            try await Tables.participant.expectRoundTrip(
                of: [(ParticipantKey(groups[0], anna), here), (ParticipantKey(groups[0], ben), gone)],
                in: database, as: "session")

            try await Tables.withdrawal.expectRoundTrip(
                of: [
                    (WithdrawalKey(anna, ben), WithdrawalRow(at: time(11))),
                    (WithdrawalKey(ben, anna), WithdrawalRow(at: time(12))),
                ], in: database, as: "session")

            try await Tables.edge.expectRoundTrip(
                of: [
                    (.new(), EdgeRow(leaseUntil: time(7), ended: time(8))),
                    (.new(), EdgeRow(leaseUntil: time(9), reconsideredAt: time(10))),
                ], in: database, as: "session")
            let edges = [OwnerID.new(), .new()]
            for edge in edges {
                try await database.psql("INSERT INTO session.edge (edge, lease_until) VALUES ('\(edge)', now())")
            }
            try await Tables.connection.expectRoundTrip(
                of: [
                    (ConnectionKey(groups[0], .new()), ConnectionRow(account: anna, edge: edges[0])),
                    (ConnectionKey(groups[0], .new()), ConnectionRow(account: ben, edge: edges[1])),
                ], in: database, as: "session")

            var (history, finished) = (MessageHistoryRow(), MessageHistoryRow())
            (history.sent, history.bytes, history.firstKept) = (4, 400, 3)
            (finished.sent, finished.bytes, finished.isOver) = (1, 1, true)
            let histories = [(groups[0], history), (groups[1], finished)]
            try await Tables.messageHistory.expectRoundTrip(of: histories, in: database, as: "session")
            var (message, emptied) = (Tables.groupMessage.blank, Tables.groupMessage.blank)
            (message.sender, message.recipients, message.type) = (anna, [ben, anna], "text")
            (message.data, message.sent, message.offset) = (["text": "Hello"], time(15), 0)
            (emptied.sender, emptied.sent, emptied.offset) = (ben, time(16), 17)
            try await Tables.groupMessage.expectRoundTrip(
                of: [(MessageKey(groups[0], 1), message), (MessageKey(groups[0], 2), emptied)], in: database,
                as: "session")

            try await Tables.game.expectRoundTrip(
                of: [
                    (
                        groups[0],
                        Game(
                            number: 2, version: 7, author: anna, updated: time(10), starts: time(11),
                            turnField: "turn", state: ["turn": .string("\(anna)"), "n": .null], finished: time(12))
                    ),
                    (
                        groups[1],
                        Game(
                            number: 1, version: 1, author: ben, updated: time(13), starts: time(14),
                            state: .object([:]))
                    ),
                ], in: database, as: "session")
        }
    }
}
