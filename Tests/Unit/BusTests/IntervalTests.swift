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

    @Test(
        "a time prints as ISO 8601 in UTC, whenever it is",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (1_800_000_000_000_000, "2027-01-15T08:00:00Z"),
            (1_800_000_000_250_000, "2027-01-15T08:00:00.25Z"), (1_709_208_000_000_001, "2024-02-29T12:00:00.000001Z"),
            (4_107_542_399_999_999, "2100-02-28T23:59:59.999999Z"), (-1, "1969-12-31T23:59:59.999999Z"),
            (-62_167_219_200_000_000, "0000-01-01T00:00:00Z"), (.max, "294247-01-10T04:00:54.775807Z"),
            (.min, "-290308-12-21T19:59:05.224192Z"),
        ] as [(Int64, String)])
    func times(microseconds: Int64, text: String) {
        #expect("\(Instant(microseconds: microseconds))" == text)
    }

    @Test(
        "a span of time prints as ISO 8601",
        arguments: [
            (0, "PT0S"), (250_000, "PT0.25S"), (-1, "-PT0.000001S"), (60_000_000, "PT1M"), (5_400_000_000, "PT1H30M"),
            (86_400_000_000, "P1D"), (93_784_500_000, "P1DT2H3M4.5S"), (.max, "P106751991DT4H54.775807S"),
            (.min, "-P106751991DT4H54.775808S"),
        ] as [(Int64, String)])
    func spans(microseconds: Int64, text: String) {
        #expect("\(Interval(microseconds: microseconds))" == text)
    }
}
