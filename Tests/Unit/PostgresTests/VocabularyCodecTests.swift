import Postgres
import QuartetVocabulary
import Testing

@Suite("Words of the vocabulary in columns")
struct VocabularyCodecTests {
    private enum Light: String, PostgresEncodable, PostgresDecodable {
        case red, green
    }

    @Test(
        "spans of time come back as they were, whatever parts the server keeps them in",
        arguments: [
            0, 1, -1, 86_400_000_000, 90_061_000_001, Int64.max, Int64.min,
        ])
    func intervals(microseconds: Int64) async throws {
        let interval = Interval(microseconds: microseconds)
        try await withDatabase { database in
            let row = try #require(
                try database.query(
                    """
                    SELECT \(interval), \([interval, interval])::interval[],
                           extract(epoch FROM \(interval)) * 1000000 = \(microseconds),
                           interval '1 day 2 hours', \(nil as Interval?)
                    """
                ).only)
            #expect(try row.decode(0, as: Interval.self) == interval)
            #expect(try row.decode(1, as: [Interval].self) == [interval, interval])
            #expect(try row.decode(2, as: Bool.self))
            #expect(try row.decode(3, as: Interval.self) == .hours(26))
            #expect(try row.decode(4, as: Interval?.self) == nil)
        }
    }

    @Test(
        "a span without a length in microseconds is an error, never another span",
        arguments: [
            "1 month", "1 year", "-1 month 30 days", "200000000 days",
        ])
    func endlessIntervals(text: String) async throws {
        try await withDatabase { database in
            let row = try #require(try database.query("SELECT \(text)::interval AS span").only)
            #expect(throws: PostgresError.self) { try row.decode(0, as: Interval.self) }
        }
    }

    @Test("an enumeration is kept as its raw value; one that nobody here knows is an error that names the column")
    func rawValues() async throws {
        try await withDatabase { database in
            let row = try #require(
                try database.query(
                    """
                    SELECT \(Light.green), \([Light.red, nil] as [Light?]), 'blue' AS light, \(Light.red) = 'red'
                    """
                ).only)
            #expect(try row.decode(0, as: Light.self) == .green)
            #expect(try row.decode(1, as: [Light?].self) == [.red, nil])
            #expect(try row.decode(3, as: Bool.self))
            for read in [
                { _ = try row.decode(2, as: Light.self) }, { _ = try row.decode(2, as: Light?.self) },
            ] as [() throws -> Void] {
                do {
                    try read()
                    Issue.record("it was read")
                } catch PostgresError.decoding(let column, let reason) {
                    #expect(column == "light" && reason.contains("blue"))
                }
            }
        }
    }
}
