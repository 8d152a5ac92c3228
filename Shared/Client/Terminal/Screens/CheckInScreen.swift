import QuartetClient

/// One's own check-in: how much time is left, and the alert.
enum CheckInScreen {
    static let keys =
        "c check in   a alert   i interval   d daily   g grace   p pause   t trip   u pings   U quiet   D drill   s sign out   @ accounts   1-4 Tab screens   q quit"

    /// - Parameter drill: What is known of who got the newest drill.
    static func lines(_ shown: Shown, width: Int, drill: DrillReport? = nil) -> [Line] {
        guard shown.user.account != nil, let checkIn = shown.user.checkIn else {
            return [Line(shown.phase == .loading ? "Loading…" : "Nothing to show.", .dim)]
        }
        let handle = shown.user.handle.map { "@\($0)" } ?? ""
        var lines: [Line] = [[Span(shown.user.name ?? handle, .bold), Span("  \(handle)", .dim)], .empty]
        if let left = shown.user.onboarding.flatMap(Words.onboarding) {
            lines += [Line("\(left) n names you.", .colored(.yellow)), .empty]
        }
        if let raised = shown.user.alertRaised {
            lines += [
                Line(
                    "ALERT: \(reason(shown)) \(Words.ago(raised, shown)). \(ending(shown))",
                    Style(color: .red, isBold: true))
            ]
            if let call = shown.user.lateCall { lines.append(Line("You \(Words.late(call, shown)).")) }
            lines.append(.empty)
        }
        for alarm in [shown.user.alertAlarm, checkIn.alarm].compactMap({ $0 }) {
            let answers = shown.contacts.answers(to: alarm)
            lines += answers.isEmpty ? ["Nobody is on it yet."] : answers.map { Line(Words.answer($0, shown), .bold) }
        }
        if let due = checkIn.due {
            lines += deadline(checkIn, due, shown)
        }
        if let until = checkIn.pausedUntil, until > shown.now {
            lines += [.empty, Line("Paused until \(Words.clock(until)). p ends the pause.", .bold)]
        }
        lines += TripPart.lines(shown)
        let pings = PingPart.lines(shown)
        if !pings.isEmpty { lines += [.empty] + pings }
        lines += [.empty] + DailyPart.lines(checkIn, shown)
        if let last = checkIn.last { lines.append("The last time was \(Words.ago(last, shown)).") }
        lines += [.empty] + hearing(checkIn, shown) + DrillPart.lines(drill, shown)
        if case .stale(let since) = shown.phase {
            lines += [.empty, Line("This is what was known \(Words.ago(since, shown)).", .colored(.yellow))]
        }
        return lines
    }

    private static func reason(_ shown: Shown) -> String {
        PingPart.reason(shown)
            ?? (shown.user.trip?.isItsAlert == true
                ? "raised, as you haven't said that you arrived," : "you asked for help")
    }

    /// What ends the alert.
    private static func ending(_ shown: Shown) -> String {
        let isUnanswered = shown.user.unanswered?.isItsAlert == true
        if isLate(shown) { return isUnanswered ? "c and t end it. a: you need help." : "a: you need help." }
        return isUnanswered ? "c or a ends it." : "a ends it."
    }

    /// Whether an alert is on because of a trip, and the person hasn't called for help.
    private static func isLate(_ shown: Shown) -> Bool { shown.user.trip?.isItsAlert == true }

    static func askForEnd(_ model: inout Model) { model.ask("End the alert?", "I'm all right", .clearAlert) }

    /// Who hears if the person does nothing, and when.
    private static func hearing(_ checkIn: CheckInState, _ shown: Shown) -> [Line] {
        let order = shown.contacts.hearingOrder
        func names(_ tier: ResponderTier) -> String {
            tier.responders.map { shown.name(of: $0) }.joined(separator: ", ")
        }
        let responders = shown.contacts.responders.map { shown.name(of: $0.account) }
        if let warning = warning(shown, responders) { return [warning] }
        guard let first = order.first else { return [] }
        let line = Line("If you don't, they are notified\(othersHear(checkIn, shown)): \(names(first)).")
        return [line] + order.dropFirst().map { Line("\(Words.span($0.after)) later: \(names($0)).") }
    }

    private static func othersHear(_ checkIn: CheckInState, _ shown: Shown) -> String {
        checkIn.othersHear(at: shown.now).map { " at \(Words.clock($0))" } ?? ""
    }

    private static func warning(_ shown: Shown, _ responders: [String]) -> Line? {
        let reach = shown.contacts.responderReach ?? (responders.isEmpty ? .nobody : .reachable)
        return Words.warning(of: reach, responders).map { Line($0, .colored(.yellow)) }
    }

    private static func deadline(_ checkIn: CheckInState, _ due: Instant, _ shown: Shown) -> [Line] {
        if !checkIn.missed, due <= shown.now {
            let end = checkIn.othersHear(at: shown.now).map { ": missed at \(Words.clock($0))" } ?? ""
            return [
                Line("Due since \(Words.clock(due))\(end).", Style(color: .red, isBold: true)),
                "Check in now: press c.",
            ]
        }
        guard !checkIn.missed else {
            let text = "You missed your check-in of \(Words.clock(due)), \(Words.ago(due, shown))."
            return [Line(text, Style(color: .red, isBold: true)), "Check in now: press c."]
        }
        let left = due - shown.now
        let share = Double(left.microseconds) / Double(max(1, checkIn.interval.microseconds))
        let color: Style.Color = share < 0.1 ? .red : share < 0.25 ? .yellow : .green
        return [
            [
                "Time left: ", Span(Words.span(left), Style(color: color, isBold: true)),
                "  (until \(Words.clock(due)))",
            ],
            Line(Rows.bar(share, width: 40), .colored(color)),
        ]
    }

    static func handle(_ key: Key, _ shown: Shown, _ model: inout Model) -> Action? {
        switch key {
        case .character("c"), .enter: return .checkIn
        case .character("a"):
            if shown.user.alertRaised != nil, !isLate(shown) {
                askForEnd(&model)
            } else {
                model.ask("Notify all your responders that you need help?", "Raise the alert", .raiseAlert)
            }
        case .character("i"):
            let fields: [Form.Field] = [
                .init(label: "Check in every", kind: .text), .init(label: "Save", kind: .button),
            ]
            model.dialog = .init(
                form: Form(title: "How often, such as 8h, 2d or 30min", fields: fields),
                purpose: .interval(seen: shown.user.checkIn?.version ?? 0))
        case .character("n") where shown.user.needsOnboarding:
            model.dialog = .init(
                form: Form(
                    title: "Your name",
                    fields: [.init(label: "Name", kind: .text), .init(label: "Save", kind: .button)]), purpose: .name)
        case .character("d"): DailyPart.open(shown, &model)
        case .character("g"):
            let fields: [Form.Field] = [
                .init(label: "Others hear after", kind: .text), .init(label: "Save", kind: .button),
            ]
            model.dialog = .init(
                form: Form(title: "How long after a missed check-in, such as 10min; 0 for at once", fields: fields),
                purpose: .grace)
        case .character("p"):
            if let until = shown.user.checkIn?.pausedUntil, until > shown.now {
                model.ask("End the pause? Your next check-in counts from now.", "End the pause", .resume)
            } else {
                let fields: [Form.Field] = [
                    .init(label: "Pause for", kind: .text), .init(label: "Pause", kind: .button),
                ]
                model.dialog = .init(
                    form: Form(title: "For how long, such as 3d; at most 30d. Responders are told", fields: fields),
                    purpose: .pause)
            }
        case .character("t"): TripPart.open(shown, &model)
        case .character("T"): TripPart.extend(shown, &model)
        case .character("u"): PingPart.open(nil, shown, &model)
        case .character("U"): PingPart.openQuietHours(&model)
        case .character("D"): return DrillPart.open(shown, &model)
        case .character("s"):
            model.ask("Sign out? Changes that weren't sent are lost.", "Sign out", .signOut)
        default: break
        }
        return nil
    }
}
