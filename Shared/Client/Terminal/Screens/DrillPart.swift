import QuartetClient

/// One's own drill, on the screen of the check-in.
enum DrillPart {
    /// - Parameter report: What is known of who got the newest drill.
    static func lines(_ report: DrillReport?, _ shown: Shown) -> [Line] {
        guard let drill = shown.user.drill else {
            let isAlone = shown.contacts.responders.isEmpty
            return isAlone
                ? [] : [.empty, Line(Words.drill("none"), .dim), Line("D: run a drill.", .dim)] + limits(shown)
        }
        let lines = [.empty] + head(drill, shown) + limits(shown)
        guard let report, report.drill.id == drill.id else { return lines }
        // As it was when somebody asked: whoever wasn't notified by then may have been since.
        return lines
            + report.responders.map { Line("  \(Words.receipt($0, of: report.drill, shown.name(of: $0.account)))") }
    }

    /// What a drill doesn't say.
    private static func limits(_ shown: Shown) -> [Line] {
        shown.contacts.responderReach == .nobody && !shown.contacts.responders.isEmpty
            ? [Line(Words.drill("alertsOnly"), .dim)] : []
    }

    private static func head(_ drill: DrillState, _ shown: Shown) -> [Line] {
        if drill.isOn { return [Line("\(Words.drill("on", drill.ends)) It is no alarm. D: who got it.", .bold)] }
        let end =
            switch drill.end {
            case .alarm: [Line(Words.drill("alarm"), .dim)]
            case .deadline: [Line(Words.drill("deadline"), .dim)]
            case .over, nil: [Line]()
            }
        guard drill.next <= shown.now else {
            return end + [Line("Your last drill was \(Words.ago(drill.began, shown)). D: who got it.", .dim)]
        }
        let isLongAgo = drill.began + DrillRules.proposal <= shown.now
        let last = isLongAgo ? Words.drill("proposal") : "Your last drill was \(Words.ago(drill.began, shown))."
        return end + [Line(last, .dim), Line("D: run a drill.", .dim)]
    }

    static func open(_ shown: Shown, _ model: inout Model) -> Action? {
        if let drill = shown.user.drill, drill.isOn || drill.next > shown.now { return .readDrill }
        model.ask("A drill: all responders are told that it is no alarm", "Run the drill", .runDrill)
        return nil
    }
}
