import QuartetClient

/// What happened, newest first.
enum NotificationsScreen {
    static let keys = "Enter read  g got a drill  a all read  x clear read ones  r remind me  b take back  q quit"
    static let (reminderLabel, spanLabel) = ("Remind me of", "In")

    static func lines(_ model: Model, _ shown: Shown, width: Int, height: Int) -> [Line] {
        let list = visible(model, shown, height: height)
        let selected = selected(model, shown)
        let title: [Line] = [Line("Notifications (\(shown.notifications.unreadCount) unread)", .bold), next(shown)]
        guard selected != nil else { return title + ["Nothing happened yet."] }
        let rows = list.map { one -> Line in
            let color: Style.Color? = one.kind.priority == .critical ? .red : nil
            let name = shown.name(of: one.subject)
            // A message about somebody else doesn't name them, unless it is about a pause, a question or a drill.
            let about =
                one.kind == .system && one.details.deadline == nil && one.details.onItUntil == nil
                    && one.details.drillNews == nil
                    && one.subject != nil && one.subject != shown.me
                ? "\(name): " : ""
            let text = about + Words.notification(one.kind, one.details, name)
            let line: Line = [
                Span(one.isUnread ? " ● " : "   ", .colored(.cyan)),
                Span(Rows.fitted(Words.ago(one.created, shown), 15), .dim),
                Span(text.prefix(1).uppercased() + text.dropFirst(), Style(color: color, isBold: one.isUnread)),
            ]
            return line.selected(one.id == selected)
        }
        return title + rows
    }

    /// What somebody is reminded of next.
    private static func next(_ shown: Shown) -> Line {
        let reminders = shown.notifications.reminders
        guard let next = reminders.first else { return .empty }
        let rest = reminders.count > 1 ? " (\(reminders.count - 1) more: b)" : ""
        return Line("\(Words.clock(next.due, from: shown.now)): \(next.details.reminder ?? "")\(rest)", .dim)
    }

    /// What is said of those that somebody chose: the server says which of them were still open, whatever the clock does meanwhile.
    static func takenBack(_ count: Int, of chosen: Int, _ problem: QuartetError? = nil) -> String {
        guard count < chosen else { return "Taken back." }
        if let problem { return "Taken back: \(count) of \(chosen). \(Words.problem(problem))" }
        let rest = "has come, or was taken back elsewhere."
        guard count == 0 else { return "Taken back: \(count) of \(chosen). Each other one \(rest)" }
        return "\(chosen == 1 ? "It" : "Each of them") \(rest)"
    }

    private static func selected(_ model: Model, _ shown: Shown) -> NotificationID? {
        let ids = shown.notifications.notifications.map(\.id)
        return ids.isEmpty ? nil : ids[Rows.index(of: model.notification, in: ids)]
    }

    /// Those whose rows fit below the title.
    /// - Parameter height: Of the tab's screen.
    static func visible(_ model: Model, _ shown: Shown, height: Int) -> [QuartetNotification] {
        let list = shown.notifications.notifications
        return Rows.window(list, around: Rows.index(of: model.notification, in: list.map(\.id)), height: height - 2)
    }

    static func handle(_ key: Key, _ shown: Shown, _ model: inout Model) -> Action? {
        let list = shown.notifications.notifications
        switch key {
        case .enter:
            guard !list.isEmpty else { return nil }
            let one = list[Rows.index(of: model.notification, in: list.map(\.id))]
            model.notification = one.id
            // There they say whether they are still on it.
            if one.details.onItUntil != nil, let subject = one.subject {
                (model.tab, model.contact) = (.contacts, subject)
            }
            return one.isUnread ? .markRead(one.id) : nil
        case .character("g"):
            guard !list.isEmpty else { return nil }
            let one = list[Rows.index(of: model.notification, in: list.map(\.id))]
            let isOpen =
                one.details.isOfDrill && one.answered == nil && one.details.drillEnds.map { $0 > shown.now } ?? false
            return isOpen ? .answerDrill(one.id) : nil
        case .character("r"):
            let fields: [Form.Field] = [
                .init(label: reminderLabel, kind: .text), .init(label: spanLabel, kind: .text),
                .init(label: "Remind me", kind: .button),
            ]
            model.dialog = .init(
                form: Form(title: "A reminder, in a time such as 2h", fields: fields), purpose: .remind)
            return nil
        case .character("b"):
            let reminders = shown.notifications.reminders
            guard !reminders.isEmpty else {
                model.notice = .init(text: "No reminders are open.")
                return nil
            }
            let fields = reminders.map {
                Form.Field(
                    label: "\(Words.clock($0.due, from: shown.now)) \($0.details.reminder ?? "")", kind: .toggle)
            }
            model.dialog = .init(
                form: Form(title: "Take back", fields: fields + [.init(label: "Take back", kind: .button)]),
                purpose: .takeBack(reminders.map(\.id)))
            return nil
        case .character("a"): return .markAllRead
        case .character("x"):
            let read = list.filter { !$0.isUnread }.map(\.id)
            return read.isEmpty ? nil : .clear(Array(read.prefix(500)))
        default:
            model.notification = Rows.moved(model.notification, in: list.map(\.id), by: key)
            return nil
        }
    }
}
