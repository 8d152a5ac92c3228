import QuartetClient

/// One's own drill, on the screen of the check-in.
enum DrillPart {
    /// - Parameter report: What is known of whom the newest drill reached.
    static func lines(_ report: DrillReport?, _ shown: Shown) -> [Line] {
        guard let drill = shown.user.drill else {
            let isAlone = shown.contacts.responders.isEmpty
            return isAlone ? [] : [.empty, Line("\(Words.drill("none")) D: run a drill.", .dim)]
        }
        let receipts = report.flatMap { $0.drill.id == drill.id ? $0.responders : nil } ?? []
        return [.empty] + head(drill, shown)
            + receipts.map { Line("  \(Words.receipt($0, of: drill, shown.name(of: $0.account)))") }
    }

    private static func head(_ drill: DrillState, _ shown: Shown) -> [Line] {
        if drill.isOn { return [Line("\(Words.drill("on", drill.ends)) It is no alarm. D: whom it reached.", .bold)] }
        let end = drill.end == .alarm ? [Line(Words.drill("alarm"), .dim)] : []
        guard drill.next <= shown.now else {
            return end + [Line("Your last drill was \(Words.ago(drill.began, shown)). D: whom it reached.", .dim)]
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
