import Foundation
import QuartetClient

/// Check-ins at times of the day.
enum DailyPart {
    private static let times = "At"
    private static let weekdays = "On"
    private static let zone = "Time zone"

    /// How often somebody checks in.
    static func lines(_ checkIn: CheckInState, _ shown: Shown) -> [Line] {
        guard let daily = checkIn.daily else { return [Line("You check in every \(Words.span(checkIn.interval)).")] }
        let line = Line(
            "You check in at \(text(of: daily.times)), \(text(of: daily.weekdays)), by the clocks of \(daily.zone).")
        guard checkIn.isEarly(at: shown.now), let opens = checkIn.opens else { return [line] }
        return [line, Line("A check-in counts from \(Words.clock(opens)) on.")]
    }

    /// What is said of a check-in. Too early, it is shown and counts for nothing.
    static func done(_ checkedIn: CheckedIn?) -> String {
        guard let checkedIn, checkedIn.isEarly == true, let opens = checkedIn.opens else { return "Checked in." }
        return "Shown, but too early for \(Words.clock(checkedIn.due)): again from \(Words.clock(opens))."
    }

    /// The device's zone is proposed until one is chosen.
    static func open(_ shown: Shown, _ model: inout Model) {
        let daily = shown.user.checkIn?.daily
        let fields: [Form.Field] = [
            .init(label: times, kind: .text, text: daily.map { text(of: $0.times) } ?? ""),
            .init(label: weekdays, kind: .text, text: daily.map { text(of: $0.weekdays) } ?? "every day"),
            .init(label: zone, kind: .text, text: daily?.zone ?? TimeZone.current.identifier),
            .init(label: "Save", kind: .button),
        ]
        let title = "At which times, such as 8:00, 20:00, on which days, such as mon-fri"
        let seen = shown.user.checkIn?.version ?? 0
        model.dialog = .init(form: Form(title: title, fields: fields), purpose: .daily(seen: seen))
    }

    /// What was typed; nil if it can't be.
    static func daily(_ form: Form) -> DailyTimes? {
        let minutes = form.text(times).split(separator: ",").map { PingPart.minute($0.filter { $0 != " " }[...]) }
        let zone = form.text(zone).filter { $0 != " " }
        guard let days = days(form.text(weekdays)), !zone.isEmpty, !minutes.isEmpty, !minutes.contains(nil) else {
            return nil
        }
        return DailyTimes(times: minutes.compactMap(\.self), weekdays: days, zone: zone)
    }

    /// Such as `mon-wed, sun`; nothing is every day.
    static func days(_ text: String) -> [Weekday]? {
        let parts = text.lowercased().filter { $0 != " " }
        guard !parts.isEmpty, parts != "everyday" else { return Weekday.allCases }
        var found: Set<Weekday> = []
        for part in parts.split(separator: ",") {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { name in
                name.count < 2 ? nil : Weekday.allCases.firstIndex { $0.rawValue.hasPrefix(name) }
            }
            guard let first = ends.first ?? nil, let last = ends.last ?? nil, ends.count <= 2, first <= last else {
                return nil
            }
            found.formUnion(Weekday.allCases[first...last])
        }
        return Weekday.allCases.filter(found.contains)
    }

    private static func text(of minutes: [Int]) -> String { minutes.map(PingPart.text).joined(separator: ", ") }

    private static func text(of days: [Weekday]) -> String {
        days.count == Weekday.allCases.count
            ? "every day" : days.map { $0.rawValue.prefix(3).capitalized }.joined(separator: ", ")
    }
}
