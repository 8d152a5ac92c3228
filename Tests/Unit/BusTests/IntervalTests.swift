import QuartetVocabulary
import Testing

@Suite
struct IntervalTests {
    @Test(
        "an interval made of too long a duration is the longest one, never another",
        arguments: [
            (Duration.zero, 0), (.microseconds(-1), -1), (.milliseconds(1500), 1_500_000), (.nanoseconds(1999), 1),
            (.seconds(Int64.max), .max), (.seconds(Int64.min), .min), (.microseconds(Int64.max), .max),
        ] as [(Duration, Int64)])
    func durations(duration: Duration, microseconds: Int64) {
        #expect(Interval(duration).microseconds == microseconds)
    }
}
