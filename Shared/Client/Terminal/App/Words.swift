import Foundation
import QuartetClient

/// What the app says about times, states and notifications.
enum Words {
    /// A state of the connection and the colour of its dot.
    static func connection(_ shown: Shown) -> (text: String, color: Style.Color?) {
        switch shown.connection {
        case .notConfigured: ("Not configured", nil)
        case .disconnected, .failed: ("Disconnected", .red)
        case .connecting: ("Connecting…", .yellow)
        case .connected: ("Connected", .green)
        case .reconnecting(let attempt): ("Reconnecting (\(attempt))…", .yellow)
        case .needsAuthentication: shown.session.isSignedIn ? ("Sign in again", .red) : ("Not signed in", nil)
        }
    }

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

    /// A time by the clock of this device's time zone: `Mon 14:05`.
    static func clock(_ time: Instant) -> String {
        var seconds = time_t(time.microseconds / 1_000_000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return "" }
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let day = days.indices.contains(Int(parts.tm_wday)) ? days[Int(parts.tm_wday)] : ""
        return "\(day) \(twoDigits(parts.tm_hour)):\(twoDigits(parts.tm_min))"
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

    /// What a notification says.
    /// - Parameter name: What the account calls the person it is about.
    static func notification(_ kind: NotificationKind, _ details: NotificationDetails, _ name: String) -> String {
        let repeated = details.count.map { " (reminder \($0))" } ?? ""
        let deadline = details.deadline.map { " of \(clock($0))" } ?? ""
        return switch kind {
        case .alertRaised: "You raised an alert. Your responders are notified."
        case .alertCleared: "You ended your alert."
        case .dependentAlertRaised: "\(name) raised an alert\(repeated)"
        case .dependentAlertCleared: "\(name) ended the alert"
        case .checkInMissed: "You missed your check-in\(deadline)\(repeated)"
        case .dependentCheckInMissed: "\(name) missed the check-in\(deadline)\(repeated)"
        case .dependentCheckedIn: "\(name) checked in"
        case .dependentCheckedInLate: "All clear: \(name) checked in"
        case .dependentAlarmEnded: "The alarm about \(name) is over: you are no longer told about them"
        case .checkInReminder: "Check in soon\(details.lead.map { ": less than \(span($0)) left" } ?? "")"
        case .contactAdded: "\(name) is a contact now: \(roles(details))"
        case .contactRemoved: "\(name) is no longer a contact"
        case .contactRoleChanged: "Roles with \(name) changed: \(roles(details))"
        case .roleChangeRequested: "\(name) asks to look after you"
        case .roleChangeAccepted: "\(name) agreed that you look after them"
        case .roleChangeDeclined: "\(name) declined that you look after them"
        case .roleChangeWithdrawn: "\(name) no longer asks to look after you"
        case .contactRequested: "\(name) wants to be your contact"
        case .contactRequestAccepted: "\(name) accepted your request"
        case .contactRequestDeclined: "\(name) declined your request"
        case .contactRequestWithdrawn: "\(name) withdrew the request"
        case .contactRequestExpired: "The request with \(name) expired"
        case .pingSent: "You asked \(name): are you all right?"
        case .pingReceived: "\(name) asks: are you all right?"
        case .pingCancelled: "\(name) no longer asks"
        case .pingAnswered: "\(name) answered: all right"
        case .pingsCleared: "You answered all pings"
        case .groupInvitation: "\(name) invites you to a group session"
        case .groupStarted: "A group session started"
        case .groupEnded: "A group session ended"
        case .newDevice: "A new device signed in\(details.text.map { ": \($0)" } ?? "")"
        case .passwordChanged: "Your password was changed"
        case .phoneChanged: "Your phone was changed"
        case .securityChanged: "Your security settings were changed"
        case .recoveryCodesMade: "New recovery codes were made"
        case .recoveryCodeUsed: "A recovery code was used; \(details.count.map { "\($0)" } ?? "some") left"
        case .securityUndone: "Changes to your account's security were undone"
        case .system: details.text ?? "A message from Quartet"
        }
    }

    private static func roles(_ details: NotificationDetails) -> String {
        let roles = [
            details.isMyResponder == true ? "they look after you" : nil,
            details.iAmResponder == true ? "you look after them" : nil,
        ]
        let named = roles.compactMap(\.self)
        return named.isEmpty ? "no role" : named.joined(separator: " and ")
    }
}
