import LedgerContract
import LedgerRules
import LedgerService
import QuartetVocabulary
import Storage
import StoreKit
import TestKit
import Testing

@Suite("The ledger's tables")
struct LedgerTableTests {
    @Test("every property of every row has its column, and comes back from it unchanged")
    func roundTrips() async throws {
        try await TestDatabase.with(.ledger) { database in
            let (anna, ben) = (AccountID.new(), AccountID.new())
            try await Tables.balance.expectRoundTrip(
                of: [(anna, BalanceRow(amount: 3)), (ben, BalanceRow(amount: .max))], in: database, as: "ledger")
            try await Tables.entry.expectRoundTrip(
                of: [
                    (.new(), EntryRow(PostEntry(client: "a", n: 1, amount: -2), account: anna)),
                    (.new(), EntryRow(PostEntry(client: "b", n: 2, amount: 5), account: ben)),
                ], in: database, as: "ledger")
        }
    }
}
