import Foundation
import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import Testing

@Suite("The server's time at a client")
struct ServerClockTests {
    /// A sample by a clock that shows 0 when the server's shows 1,000 seconds.
    private func sample(at sent: Int64, there: Int64, back: Int64) -> ServerClock.Sample {
        let received = 1_000_000_000 + sent + there
        return .init(
            sent: Interval(microseconds: sent), received: Instant(microseconds: received),
            replied: Instant(microseconds: received + 7), arrived: Interval(microseconds: sent + there + 7 + back))
    }

    @Test("the estimate is exact where both ways take equally long, and off by half of the difference otherwise (M8)")
    func estimate() {
        var clock = ServerClock()
        #expect(clock.time(at: .seconds(1)) == nil)
        clock.take(sample(at: 0, there: 40_000, back: 40_000))
        #expect(clock.time(at: .seconds(5)) == Instant(microseconds: 1_005_000_000))
        var skewed = ServerClock()
        skewed.take(sample(at: 0, there: 10_000, back: 70_000))
        #expect(skewed.offset == Interval(microseconds: 1_000_000_000 - 30_000))
        // The quickest message of each way counts.
        skewed.take(sample(at: 1_000_000, there: 90_000, back: 12_000))
        #expect(skewed.offset == Interval(microseconds: 1_000_000_000 - 1_000))
    }

    @Test(
        "three samples follow each other quickly, then one comes a minute; the latest eight count; a restart forgets them (M8)"
    )
    func samples() {
        var clock = ServerClock()
        var pauses: [Interval] = []
        clock.take(sample(at: 0, there: 0, back: 0))
        for number in 1...8 {
            pauses.append(clock.pause)
            clock.take(sample(at: Int64(number) * 1_000_000, there: 30_000, back: 10_000))
        }
        #expect(pauses == [.seconds(1), .seconds(1)] + Array(repeating: .minutes(1), count: 6))
        #expect(clock.offset == Interval(microseconds: 1_000_000_000 + 10_000))
        clock.restart()
        #expect(clock.offset == nil && clock.pause == .seconds(1))
    }

    @Test("whatever a server answers, nothing overflows")
    func extremes() {
        for (near, far) in [(Int64.min, Int64.max), (.max, .min), (.min, .min), (.max, .max)] {
            var clock = ServerClock()
            clock.take(
                .init(
                    sent: Interval(microseconds: near), received: Instant(microseconds: far),
                    replied: Instant(microseconds: near), arrived: Interval(microseconds: far)))
            #expect(clock.time(at: Interval(microseconds: far)) != nil)
        }
    }

    @Test(
        "a client leaves less than 40 ms alone, plays at 5 % more or less up to 1.5 s, and seeks beyond, once in ten seconds (M8)",
        arguments: [
            (39_999, nil, .none), (-39_999, nil, .none), (40_000, nil, .rate(thousandths: 950)),
            (-1_500_000, nil, .rate(thousandths: 1050)), (1_500_001, nil, .seek), (.min, nil, .seek),
            (-1_500_001, .seconds(10), .seek),
            (-1_500_001, Interval(microseconds: 9_999_999), .rate(thousandths: 1050)),
        ] as [(Int64, Interval?, PlaybackCorrection)])
    func correction(lead: Int64, sinceSeek: Interval?, correction: PlaybackCorrection) {
        #expect(PlaybackCorrection(lead: Interval(microseconds: lead), sinceSeek: sinceSeek) == correction)
    }

    @Test("a rate is a number from 0.25 to 4 with three decimals at most")
    func rates() throws {
        for (text, thousandths) in [
            ("1", 1000), ("1.0", 1000), ("0.25", 250), ("4", 4000), ("1.1", 1100), ("0.333", 333),
        ] {
            let rate = try JSONDecoder().decode(PlaybackRate.self, from: Data(text.utf8))
            #expect(rate.rawValue == thousandths)
            let written = try JSONEncoder().encode(rate)
            #expect(try JSONDecoder().decode(PlaybackRate.self, from: written) == rate)
        }
        for text in ["0.249", "4.001", "0", "-1", "1.0001", "1e300", "\"1\"", "null"] {
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(PlaybackRate.self, from: Data(text.utf8)) }
        }
    }
}
