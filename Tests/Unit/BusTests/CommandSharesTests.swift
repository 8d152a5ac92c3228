import QuartetVocabulary
import Testing

@testable import Bus

@Suite
struct CommandSharesTests {
    private static let log = Log(name: LogName(schema: "edge", table: "commands"), partitionCount: 16)

    private static func command(_ key: Key, by account: AccountID?) -> Message {
        Message(kind: .command, type: "Do", key: key, account: account, body: Array("{}".utf8), commandID: .new())
    }

    /// - Returns: The place, or which limit is reached.
    private static func take(
        _ shares: inout CommandShares, _ key: Key, by account: AccountID?, isUrgent: Bool = false
    ) -> (place: CommandShares.Place?, limit: CommandLimit?) {
        do throws(CommandLimit) {
            return (try shares.take(command(key, by: account), isUrgent: isUrgent), nil)
        } catch {
            return (nil, error)
        }
    }

    @Test("an account has its share of a service's unanswered commands, whatever group sessions it writes to")
    func accounts() {
        var shares = CommandShares(Self.log, limit: 4096)
        let account = AccountID.new()
        var own: [CommandLimit?] = []
        for _ in 0..<70 { own.append(Self.take(&shares, .account(account), by: account).limit) }
        #expect(own == Array(repeating: nil, count: 64) + Array(repeating: .key(64), count: 6))
        let inGroup = Self.take(&shares, .group(.new()), by: account).limit
        #expect(inGroup == .account(64))
        let other = Self.take(&shares, .account(.new()), by: nil).limit
        #expect(other == nil)
    }

    @Test("the reserve for urgent commands is shared out, too: eight of an account, an equal part for each partition")
    func reserve() {
        var shares = CommandShares(Self.log, limit: 4096)
        let account = AccountID.new()
        var taken = 0
        for number in 0..<80 {
            let limit = Self.take(&shares, .account(account), by: account, isUrgent: number >= 64).limit
            if limit == nil { taken += 1 }
        }
        #expect(taken == 64 + 8)

        // A crowd that fills everything.
        for _ in 0..<20_000 { _ = Self.take(&shares, .account(.new()), by: nil) }
        let ordinary = Self.take(&shares, .account(.new()), by: nil).limit
        #expect(ordinary == .service(4096))
        var urgent = 0
        for _ in 0..<20_000 {
            let limit = Self.take(&shares, .account(.new()), by: nil, isUrgent: true).limit
            if limit == nil { urgent += 1 }
        }
        #expect(urgent == 2048 - 8)
    }

    @Test("four partitions that stand still don't close the others")
    func stuckPartitions() {
        var shares = CommandShares(Self.log, limit: 4096)
        func taken(_ count: Int, where isWanted: (Partition) -> Bool) -> Int {
            var taken = 0
            for _ in 0..<count {
                let account = AccountID.new()
                guard isWanted(Self.log.partition(of: .account(account))) else { continue }
                if Self.take(&shares, .account(account), by: account).place != nil { taken += 1 }
            }
            return taken
        }
        #expect(taken(40_000) { $0.number < 4 } == 4096)
        #expect(taken(40_000) { $0.number >= 4 } == 12 * 128)
    }

    @Test("what has its outcome makes room for others")
    func given() {
        var shares = CommandShares(Self.log, limit: 20)
        let account = AccountID.new()
        var places: [CommandShares.Place] = []
        for _ in 0..<20 {
            if let place = Self.take(&shares, .account(account), by: account).place { places.append(place) }
        }
        let limit = Self.take(&shares, .account(account), by: account).limit
        #expect(places.count == 8 && limit == .partition(8))
        for place in places { shares.give(place) }
        let later = Self.take(&shares, .account(account), by: account).limit
        #expect(later == nil)
    }
}
