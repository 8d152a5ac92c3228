package import QuartetVocabulary

extension Instant {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Reads a date of HTTP (RFC 9110, section 5.6.7) in the form that servers send: `Sun, 06 Nov 1994 08:49:37 GMT`.
    package init?(httpDate: String) {
        let words = httpDate.split(separator: " ")
        guard words.count == 6, words[5] == "GMT", let day = Int64(words[1]), (1...31).contains(day),
            let month = Self.months.firstIndex(of: String(words[2])), let year = Int64(words[3]),
            (1970...9999).contains(year)
        else { return nil }
        let time = words[4].split(separator: ":").compactMap { Int64($0) }
        guard time.count == 3, (0...23).contains(time[0]), (0...59).contains(time[1]), (0...60).contains(time[2]) else {
            return nil
        }
        let days = Self.days(year: year, month: Int64(month) + 1, day: day)
        self.init(microseconds: (days * 86_400 + time[0] * 3600 + time[1] * 60 + time[2]) * 1_000_000)
    }

    /// The same form, of a time since 1970.
    package var httpDate: String {
        let time = max(self, Instant(microseconds: 0))
        let (year, month, day, microsecond) = time.utc
        func padded(_ number: Int64, to count: Int = 2) -> String {
            String(repeating: "0", count: max(0, count - "\(number)".count)) + "\(number)"
        }
        let date = [
            "\(Self.weekdays[Int(time.microseconds / 86_400_000_000 % 7)]),", padded(day), Self.months[Int(month - 1)],
            padded(year, to: 4),
        ]
        let seconds = microsecond / 1_000_000
        let clock = [seconds / 3600, seconds / 60 % 60, seconds % 60].map { padded($0) }.joined(separator: ":")
        return (date + [clock, "GMT"]).joined(separator: " ")
    }

    /// 1970-01-01 was a Thursday.
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// Days since 1970-01-01 in the Gregorian calendar. Years begin in March here, so that a leap day is the last.
    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = (year / 400, year % 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
