import Foundation
import QuartetClient

/// What the app says about times, states and notifications.
enum Words {
    /// The package's sentences. The app itself speaks English alone.
    static let texts = Texts(languages: ["en"])

    /// Why something didn't happen, or hasn't yet.
    static func problem(_ error: QuartetError) -> String { texts.sentence(error) }

    /// Why there is no connection.
    static func lost(_ error: ConnectionError) -> String { texts.sentence(lost: error) }

    /// A state of the connection and the colour of its dot.
    static func connection(_ shown: Shown) -> (text: String, color: Style.Color?) {
        (texts.sentence(shown.status), color(of: shown.status.tone))
    }

    static func color(of tone: StatusTone) -> Style.Color? {
        switch tone {
        case .good: .green
        case .neutral: nil
        case .warning: .yellow
        case .critical: .red
        }
    }

    /// How a contact is.
    static func status(_ listed: ListedContact, _ shown: Shown) -> String {
        let times = Texts.ListTimes(
            moment: { clock($0) }, ago: { ago($0, shown) }, ahead: { "in \(span($0))" })
        return texts.sentence(listed, at: shown.now, times)
    }

    static func title(_ title: ContactGroup.Title) -> String { texts.sentence(title) }
    static func sort(_ sort: ContactSort) -> String { texts.sentence(sort) }
    static func onboarding(_ onboarding: Onboarding) -> String? { texts.sentence(onboarding) }
    static func prompt(_ prompt: GroupActivationPrompt) -> String { texts.sentence(prompt) }
    static func choice(_ choice: GroupActivation) -> String { texts.sentence(choice) }
    static func obstacle(_ obstacle: GroupEligibility.Obstacle) -> String { texts.sentence(obstacle) }

    /// A span of time in its two largest units: `2 h 5 min`.
    static func span(_ interval: Interval) -> String {
        let seconds = max(0, interval.microseconds / 1_000_000)
        let units: [(Int64, String)] = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")]
        guard let first = units.firstIndex(where: { seconds >= $0.0 }) else { return "0 s" }
        let parts = units[first...].prefix(2).enumerated().compactMap { place, unit -> String? in
            let count = place == 0 ? seconds / unit.0 : seconds % units[first].0 / unit.0
            return count > 0 ? "\(count) \(unit.1)" : nil
        }
        return parts.joined(separator: " ")
    }

    static func ago(_ time: Instant, _ shown: Shown) -> String {
        let passed = shown.now - time
        return passed < .seconds(5) ? "just now" : "\(span(passed)) ago"
    }

    /// When somebody made a call for help that came late, and when the server had it.
    static func late(_ call: LateCall, _ shown: Shown) -> String {
        "called \(ago(call.pressed, shown)), received \(clock(call.received))"
    }

    /// A time by the clock of this device's time zone: `Mon 14:05`.
    static func clock(_ time: Instant) -> String {
        var seconds = time_t(time.microseconds / 1_000_000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "" }
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let day = days.indices.contains(Int(parts.tm_wday)) ? days[Int(parts.tm_wday)] : ""
        return "\(day) \(twoDigits(parts.tm_hour)):\(twoDigits(parts.tm_min))"
    }

    /// The same of a time to come, with its date if its weekday is not the next one: `Mon 14:05`, `Mon 2027-03-01 14:05`.
    static func clock(_ time: Instant, from now: Instant) -> String {
        let words = clock(time)
        guard time > now + .days(6), let date = date(of: time) else { return words }
        return "\(words.prefix(3)) \(date)\(words.dropFirst(3))"
    }

    private static func date(of time: Instant) -> String? {
        var seconds = time_t(time.microseconds / 1_000_000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return nil }
        return "\(parts.tm_year + 1900)-\(twoDigits(parts.tm_mon + 1))-\(twoDigits(parts.tm_mday))"
    }

    /// A position in what plays: `3:07`.
    static func position(_ interval: Interval) -> String {
        let seconds = max(0, interval.microseconds / 1_000_000)
        return "\(seconds / 60):\(twoDigits(seconds % 60))"
    }

    private static func twoDigits(_ number: some BinaryInteger) -> String { (number < 10 ? "0" : "") + "\(number)" }

    /// An interval as somebody types it, such as `8h` or `90 min`; nil if it is none.
    static func interval(_ text: String) -> Interval? {
        let number = text.prefix { $0.isASCII && $0.isNumber }
        guard let count = Int64(number), (1...100_000).contains(count) else { return nil }
        return switch text.dropFirst(number.count).trimmingCharacters(in: .whitespaces).lowercased() {
        case "d", "day", "days": .days(count)
        case "h", "hour", "hours": .hours(count)
        case "m", "min", "minute", "minutes": .minutes(count)
        case "s", "second", "seconds": .seconds(count)
        default: nil
        }
    }

    /// Why a group session is over for this account.
    static func end(_ reason: GroupStreamEnded.Reason) -> String {
        switch reason {
        case .left: "You left it."
        case .removed: "The host removed you."
        case .dropped: "You were away for too long."
        case .withdrawn: "The invitation was withdrawn."
        case .ended: "It was ended."
        case .expired: "Nobody was in it any more."
        case .groupNotFound: "It isn't open to you."
        }
    }

    /// Why nobody would be told of an alarm; nil if somebody would be.
    static func warning(of reach: ResponderReach, _ responders: [String]) -> String? {
        texts.sentence(reach, responders: responders)
    }

    /// What somebody reads who is about to become a responder. Short, because it must fit into a line.
    static let consent = "They see it when no responder of theirs could be reached for 30 days."

    /// What a responder answered to an alarm.
    static func answer(_ given: GivenAlarmAnswer, _ shown: Shown) -> String {
        let name = given.responder == shown.me ? texts["alarm.you"] : shown.contacts.person(by: given.responder)?.name
        return texts.sentence(given, name: name, now: shown.now, moment: { clock($0) })
    }

    /// What a card says about an urgent change that wasn't sent.
    /// - Parameter name: What the account calls the person it is about.
    static func unsent(_ change: UnsentChange, _ name: String) -> String {
        texts.sentence(change, name: name, moment: { clock($0) })
    }

    /// Short, because it must fit into a line.
    static let setAside = "Stored changes were damaged. Repeat what isn't shown, even an alert."

    static func dropped(_ commands: [String]) -> String? { texts.sentence(dropped: commands) }

    /// What a notification says.
    /// - Parameter name: What the account calls the person it is about.
    static func notification(_ kind: NotificationKind, _ details: NotificationDetails, _ name: String) -> String {
        texts.sentence(kind, details, name: name, moment: { clock($0) }, span: { span($0) })
    }

    static func drill(_ key: String, _ time: Instant? = nil) -> String {
        texts["drill.\(key)"].replacing("{time}", with: time.map { clock($0) } ?? "")
    }

    static func receipt(_ receipt: DrillReceipt, of drill: DrillState, _ name: String) -> String {
        texts.sentence(receipt, of: drill, name: name)
    }
}
