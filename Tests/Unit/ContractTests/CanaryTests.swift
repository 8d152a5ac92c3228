import Foundation
import QuartetVocabulary
import Testing

/// Synthetic accounts are known by their ids alone.
@Suite("Canaries' ids")
struct CanaryTests {
    @Test(
        "the ids of each partition's canaries are the same on every machine (A1)",
        arguments: [
            (CanaryRole.person, Int32(0), Int32(1), "ca9a4900-0000-8001-8000-000000000000"),
            (.person, 0, 8, "ca9a4900-0000-8001-8000-000000000000"),
            (.person, 3, 8, "ca9a4900-0000-8001-8000-00000000000c"),
            (.person, 15, 16, "ca9a4900-0000-8001-8000-00000000000a"),
            (.responder, 0, 8, "ca9a4900-0000-8002-8000-000000000004"),
            (.responder, 3, 8, "ca9a4900-0000-8002-8000-000000000001"),
            (.responder, 15, 16, "ca9a4900-0000-8002-8000-000000000015"),
        ])
    func vectors(role: CanaryRole, partition: Int32, count: Int32, id: String) throws {
        let account = AccountID.canary(role, of: Partition(partition), among: count)
        #expect(account.description == id && account.isCanary && account.canaryRole == role)
        #expect(Partition(of: .account(account), among: count) == Partition(partition))
    }

    @Test("nobody who signs up gets such an id, however wrong a clock is (A1)")
    func people() {
        for days in stride(from: Int64(-40_000), through: 1_000_000, by: 10_000) {
            let time = Instant.now + .days(days)
            #expect(!AccountID.new(at: time).isCanary)
            #expect(!AccountID.derived(at: time, from: Array("account".utf8)).isCanary)
        }
        #expect(!AccountID(high: 0, low: 0).isCanary && !AccountID(high: .max, low: .max).isCanary)
    }
}
