import Foundation
import QuartetSessionRules
import QuartetVocabulary
import Testing

/// Time zones for tests.
enum Zones {
    /// Where clocks change in every way that occurs: by half an hour, by two, at midnight, by the moon, in the other direction, and never.
    static let twelve = [
        "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Pacific/Chatham", "Africa/Casablanca",
        "Europe/Dublin", "America/Santiago", "Asia/Gaza", "America/Nuuk", "Africa/Cairo", "America/St_Johns",
        "Antarctica/Troll",
    ]

    static func file(_ name: String) throws -> [UInt8] {
        [UInt8](try #require(compiled[name].flatMap { Data(base64Encoded: $0) }))
    }

    static func rules(_ name: String) throws -> ZoneRules { try ZoneRules(tzif: try file(name)) }

    static func rules(posix text: String, first: Int64) throws -> ZoneRules {
        ZoneRules(first: first, rule: try ZoneRule(posix: Array(text.utf8)))
    }

    /// Those of people in tests. They have rules and no history.
    static let some = [
        "Europe/Berlin": "CET-1CEST,M3.5.0,M10.5.0/3", "Pacific/Auckland": "NZST-12NZDT,M9.5.0,M4.1.0/3", "UTC": "UTC0",
    ].mapValues { file(posix: $0) }

    /// What `zic` compiles of a rule.
    static func file(posix rule: String) -> [UInt8] {
        func counts(_ values: [UInt8]) -> [UInt8] { values.flatMap { [0, 0, 0, $0] } }
        let header = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15) + counts([0, 0, 0, 0, 1, 4])
        let data: [UInt8] = [0, 0, 0, 0, 0, 0] + Array("UTC".utf8) + [0]
        return header + data + header + data + Array("\n\(rule)\n".utf8)
    }

    /// 2025-01-01 and 2031-01-01.
    static let years: Range<Int64> = 1_735_689_600..<1_924_992_000
}

/// What somebody else says of a zone, from 2024 to 2032.
struct ZoneOracle {
    private let first: Int64
    private let all: [(at: Int64, offset: Int64)]

    init?(_ name: String) {
        guard let words = Zones.known[name]?.split(separator: " "), let first = words.first.flatMap({ Int64($0) })
        else { return nil }
        self.first = first
        all = words.dropFirst().compactMap { word in
            let numbers = word.split(separator: ":").compactMap { Int64($0) }
            return numbers.count == 2 ? (numbers[0], numbers[1]) : nil
        }
    }

    func offset(at time: Int64) -> Int64 { all.last { $0.at <= time }?.offset ?? first }

    /// The first minute at which clocks show a time or a later one.
    func time(local: Int64) -> Int64 {
        let furthest = [-36, 0, 36].map { offset(at: local + $0 * 3600) }.max() ?? 0
        var time = local - furthest
        while time + offset(at: time) < local { time += 60 }
        return time
    }

    /// When clocks change.
    var changes: [Int64] { all.map(\.at).filter(Zones.years.contains) }
}
