import QuartetContactsContract
import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import Testing

@testable import QuartetClient

@Suite("The order in which things came")
struct ArrivalTests {
    private static let start = Instant(microseconds: 1_800_000_000_000_000)
    private static func account(_ number: UInt64) -> AccountID { AccountID(high: 1, low: number) }

    private static func participant(_ number: UInt64, _ ordinal: Int) -> GroupParticipant {
        GroupParticipant(id: account(number), ordinal: ordinal, joined: start)
    }

    @Test(
        """
        a list that is kept by ids is also read in the order in which its elements came in: one that changes keeps its place, one that \
        comes back is the last (R3)
        """
    )
    func participants() {
        var list = Ordered([Self.participant(3, 1), Self.participant(1, 2), Self.participant(2, 3)])
        func order() -> [UInt64] { list.byArrival.map(\.id.low) }
        #expect(list.map(\.id.low) == [1, 2, 3] && order() == [3, 1, 2])
        list[Self.account(3)]?.seat = 4
        #expect(order() == [3, 1, 2] && list.byArrival.first?.seat == 4)
        list[Self.account(3)] = nil
        list[Self.account(3)] = Self.participant(3, 4)
        #expect(order() == [1, 2, 3])
    }

    @Test("those that came at the same time stand in the order of their ids (R3)")
    func ties() {
        let times: [(UInt64, Int64)] = [(4, 0), (2, 1), (3, 0), (1, 1)]
        let requests = times.map { number, minute in
            ContactRequest(
                account: Self.account(number), direction: .incoming, isMyResponder: true, iAmResponder: false,
                requested: Self.start + .minutes(minute))
        }
        #expect(Ordered(requests).byArrival.map(\.account.low) == [3, 4, 1, 2])
        let invitations = requests.map { Invitation(id: $0.account, at: $0.requested) }
        #expect(Ordered(invitations).byArrival.map(\.id.low) == [3, 4, 1, 2])
    }
}
