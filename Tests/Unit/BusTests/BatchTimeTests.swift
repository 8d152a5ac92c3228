import QuartetVocabulary
import Testing

@testable import Bus

@Suite("The times of a batch")
struct BatchTimeTests {
    private let noon = Instant(microseconds: 1_800_000_000_000_000)
    private let moment = ContinuousClock.now

    private func time(
        clock: Instant, after given: Instant?, ago passed: Duration = .zero, recorded: [Instant] = []
    ) -> BatchTime {
        BatchTime(
            clock: clock, after: [Cursor(number: 1, givenTime: given, givenAt: moment - passed)],
            handling: recorded.enumerated().map { number, time in
                RecordedMessage(
                    partition: Partition(0), position: Position(Int64(number + 1)),
                    message: Message(kind: .command, type: "T", key: .account(.new()), body: []), recordedAt: time)
            }, at: moment)
    }

    @Test("rules are given the database's time")
    func clock() {
        let time = time(clock: noon, after: noon - .seconds(3), ago: .seconds(3), recorded: [noon - .seconds(1)])
        #expect(time == BatchTime(clock: noon, given: noon))
    }

    @Test(
        "the given time never goes back, nor before the recording of what is handled; the clock is reported as it is")
    func neverBack() {
        let ahead = noon + .hours(1)
        #expect(time(clock: noon, after: ahead) == BatchTime(clock: noon, given: ahead))
        #expect(time(clock: noon, after: noon, recorded: [ahead]) == BatchTime(clock: noon, given: ahead))
    }

    @Test("a given time that is ahead runs at half speed until the clock has caught up")
    func heals() {
        var (clock, given) = (noon, noon + .hours(1))
        var minutes = 0
        while given > clock, minutes < 1000 {
            clock = clock + .minutes(1)
            let next = time(clock: clock, after: given, ago: .seconds(60)).given
            #expect(next > given)
            given = next
            minutes += 1
        }
        #expect(minutes == 120 && given == clock)
    }
}
