import QuartetContractSupport
public import QuartetVocabulary

/// When a person checks in who does so at times of the day instead of at an interval.
public struct DailyTimes: Codable, Hashable, Sendable {
    /// Minutes of the day by the clock of ``zone``, from 0 to 1439, earliest first.
    public let times: [Int]
    /// Monday first.
    public let weekdays: [Weekday]
    /// The zone's name in IANA's database: `Europe/Berlin`.
    public let zone: String

    public init(times: [Int], weekdays: [Weekday], zone: String) {
        self.times = times.sorted()
        self.weekdays = Weekday.allCases.filter(weekdays.contains)
        self.zone = zone
    }

    public static let minutes = 0..<1440
    /// How many times a day has.
    public static let counts = 1...4
    /// How many minutes are between two times at least, round the clock.
    public static let shortestGap = 60
    public static let longestZone = 64

    /// The longest time between two that follow one another, by the clock on the wall.
    public var longestGap: Interval { gaps.max() ?? .days(7) }

    /// The shortest one.
    package var leastGap: Interval { gaps.min() ?? .days(7) }

    private var gaps: [Interval] {
        let week = 7 * Self.minutes.count
        let minutes = weekdays.flatMap { day in times.map { day.number * Self.minutes.count + $0 } }.sorted()
        let next = minutes.dropFirst() + (minutes.first.map { [$0 + week] } ?? [])
        return zip(minutes, next).map { .minutes(Int64($1 - $0)) }
    }
}

public enum Weekday: String, Codable, Hashable, Sendable, CaseIterable {
    case monday, tuesday, wednesday, thursday, friday, saturday, sunday

    /// From 0 for Monday.
    package var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

extension DailyTimes {
    /// What can be known without the zones.
    static func check(_ times: [Int], _ weekdays: [Weekday], _ zone: String) throws(Rejection) {
        guard counts.contains(times.count), times.allSatisfy(minutes.contains) else {
            throw Rejection(.invalidField, "Choose one to four times of the day.", field: "times")
        }
        let sorted = times.sorted()
        let next = sorted.dropFirst() + [sorted[0] + minutes.count]
        guard zip(sorted, next).allSatisfy({ $1 - $0 >= shortestGap }) else {
            throw Rejection(.invalidField, "Choose times that are at least an hour apart.", field: "times")
        }
        guard !weekdays.isEmpty, Set(weekdays).count == weekdays.count else {
            throw Rejection(.invalidField, "Choose at least one weekday, and each once.", field: "weekdays")
        }
        guard isName(zone) else { throw unknownZone }
    }

    /// Nearer than operators allow.
    package static var tooNear: Rejection {
        Rejection(
            .invalidField, "Choose times that are further apart: this server asks for longer intervals.", field: "times"
        )
    }

    package static var unknownZone: Rejection {
        Rejection(.invalidField, "Choose a time zone by its name, such as Europe/Berlin.", field: "zone")
    }

    /// Nobody has stored any.
    package static var noZones: Rejection {
        Rejection(
            .invalidField, "This server has no time zones, so nobody can choose times of the day. Choose an interval.",
            field: "zone")
    }

    /// Whether a text may be the name of a zone.
    package static func isName(_ text: String) -> Bool {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        return text.utf8.count <= longestZone
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.utf8.allSatisfy { byte in
                        switch byte {
                        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                            UInt8(ascii: "+"):
                            true
                        default: false
                        }
                    }
            }
    }
}
