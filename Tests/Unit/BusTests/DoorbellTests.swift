import QuartetVocabulary
import Testing

@testable import Bus

@Suite
struct DoorbellTests {
    private let log = Log(name: LogName(schema: "ledger", table: "log"), partitionCount: 8)

    @Test("names the partitions of its log", arguments: ["0": [0], "7": [7], "0,3": [0, 3], "3,3": [3]])
    func partitions(payload: String, numbers: [Int32]) {
        #expect(Doorbells.partitions(from: payload, of: log) == Set(numbers.map(Partition.init)))
    }

    @Test(
        "means every partition when it says anything else",
        arguments: [
            "", ",", "0,", ",0", "8", "-1", "0,8", "0 ", "2147483647", "2147483648", "-2147483648", "1e3", "٣", "🛎️",
            String(repeating: "9", count: 7999),
        ])
    func everything(payload: String) {
        #expect(Doorbells.partitions(from: payload, of: log) == nil)
    }
}
