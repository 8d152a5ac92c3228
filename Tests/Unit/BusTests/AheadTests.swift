import QuartetVocabulary
import Testing

@testable import Bus

@Suite("Going ahead")
struct AheadTests {
    @Test("what is rare goes ahead first, then the rest; if most of a stretch is urgent, the rest waits for the cursor")
    func order() {
        let help = (kind: "AlertRaised/", count: Int64(1))
        let misses = (kind: "CheckInMissed/", count: Int64(60))
        let checkIns = (kind: "CheckedIn/", count: Int64(4000))
        #expect(Ahead.next(of: [], among: 0) == [])
        #expect(Ahead.next(of: [checkIns, misses, help], among: 20_000) == [help.kind, misses.kind])
        #expect(Ahead.next(of: [checkIns], among: 20_000) == [checkIns.kind])
        #expect(Ahead.next(of: [checkIns], among: 5000) == [])
        #expect(Ahead.next(of: [(checkIns.kind, 18_000), help], among: 20_000) == [help.kind])
        #expect(Ahead.next(of: [(checkIns.kind, 18_000)], among: 20_000) == [])
    }

    @Test("a stretch is searched until nothing is left in it that goes ahead, and then the next one")
    func windows() {
        var ahead = Ahead()
        let first = ahead.window(from: Position(100), head: Position(50_000))
        #expect((first.after, first.upTo, first.except) == (Position(100), Position(20_100), []))
        ahead.passed(Position(15_000))
        // The cursor has moved on meanwhile.
        let again = ahead.window(from: Position(164), head: Position(50_000))
        #expect((again.after, again.upTo, again.except) == (Position(164), Position(20_164), [15_000]))
        ahead.searched(again)
        let second = ahead.window(from: Position(228), head: Position(30_000))
        #expect((second.after, second.upTo, second.except) == (Position(20_164), Position(30_000), []))
        // The cursor overtook what was searched.
        let third = ahead.window(from: Position(25_000), head: Position(25_000))
        #expect((third.after, third.upTo) == (Position(25_000), Position(25_000)))
    }

    @Test(
        "what was read and waits for its first turn stays for two seconds; after a turn, what is rarer and came since goes first"
    )
    func read() {
        let messages = (Int64(1)...3).map { number in
            RecordedMessage(
                partition: Partition(0), position: Position(number),
                message: Message(kind: .command, type: "Act", key: .account(.new()), account: nil, body: []),
                recordedAt: .now)
        }
        var (ahead, now) = (Ahead(), ContinuousClock.now)
        #expect(ahead.needsReading(at: now))
        ahead.found(messages, at: now)
        ahead.passed(Position(2))
        #expect(ahead.read.map(\.position) == [Position(1), Position(3)])
        #expect(!ahead.needsReading(at: now + .milliseconds(1999)) && ahead.needsReading(at: now + .seconds(2)))
        now += .seconds(2)
        ahead.found(messages, at: now)
        #expect(!ahead.needsReading(at: now))
        ahead.hadTurn()
        #expect(ahead.needsReading(at: now))
        ahead.found([], at: now)
        #expect(ahead.needsReading(at: now))
    }
}
