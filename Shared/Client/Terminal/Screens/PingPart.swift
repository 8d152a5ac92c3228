import QuartetClient

/// Pings that raise an alert when they aren't answered.
enum PingPart {
    static let label = "Alert after"
    static let quietLabel = "Quiet hours"

    /// By when somebody has to be answered, and what is chosen.
    static func lines(_ shown: Shown) -> [Line] {
        let asking = shown.contacts.contacts.compactMap { contact in contact.incomingPingDue.map { (contact, $0) } }
            .filter { $0.1 > shown.now }.sorted { $0.1 < $1.1 }
        let warnings = asking.map { contact, due in
            let name = shown.name(of: contact.account)
            return Line(
                "\(name) asked. If you don't answer by \(Words.clock(due)), your responders are told.",
                .colored(.yellow))
        }
        let chosen = shown.contacts.pingEscalation
        guard let after = chosen.after else { return warnings }
        let quiet = chosen.quietHours.map { ", but not from \(text($0)) UTC" } ?? ""
        let silent = shown.contacts.contacts.filter { $0.isMyResponder && $0.pingEscalation == .seconds(0) }
            .map { shown.name(of: $0.account) }.joined(separator: ", ")
        return warnings + [Line("A ping unanswered for \(Words.span(after)) raises an alert\(quiet).")]
            + (silent.isEmpty ? [] : [Line("Never one of \(silent): choose it with u among the contacts.")])
    }

    /// Why an alert is on; nil unless pings alone have raised it.
    static func reason(_ shown: Shown) -> String? {
        guard let unanswered = shown.user.unanswered, unanswered.isItsAlert else { return nil }
        let names = unanswered.pings.map { shown.name(of: $0.contact) }.joined(separator: ", ")
        return "raised, as you haven't answered \(names),"
    }

    /// - Parameter contact: Nil for all responders.
    static func open(_ contact: Contact?, _ shown: Shown, _ model: inout Model) {
        let title =
            contact.map { contact in
                let chosen = contact.pingEscalation.map { $0 > .seconds(0) ? Words.span($0) : "never" } ?? "as for all"
                let name = shown.name(of: contact.account)
                return "An alert if you don't answer \(name) (now \(chosen)), such as 30min; 0 for never"
            }
            ?? "An alert if you don't answer a ping, such as 30min; 0 for never"
        let fields: [Form.Field] = [.init(label: label, kind: .text), .init(label: "Save", kind: .button)]
        model.dialog = .init(form: Form(title: title, fields: fields), purpose: .pingEscalation(contact?.account))
    }

    static func openQuietHours(_ model: inout Model) {
        let fields: [Form.Field] = [.init(label: quietLabel, kind: .text), .init(label: "Save", kind: .button)]
        let title = "When no ping raises an alert, in UTC, such as 22:00-07:00; nothing for never"
        model.dialog = .init(form: Form(title: title, fields: fields), purpose: .quietHours)
    }

    /// Two times of the day; nil if it isn't that.
    static func hours(_ text: String) -> QuietHours? {
        let minutes = text.filter { $0 != " " }.split(separator: "-", omittingEmptySubsequences: false).map(minute)
        guard minutes.count == 2, let from = minutes[0], let to = minutes[1], from != to else { return nil }
        return QuietHours(from: from, to: to)
    }

    static func minute(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let hour = parts[0], let minute = parts[1], 0..<24 ~= hour, 0..<60 ~= minute else {
            return nil
        }
        return hour * 60 + minute
    }

    private static func text(_ hours: QuietHours) -> String {
        [hours.from, hours.to].map(text).joined(separator: " to ")
    }

    /// A minute of the day: `22:05`.
    static func text(_ minute: Int) -> String {
        [minute / 60, minute % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    }
}
