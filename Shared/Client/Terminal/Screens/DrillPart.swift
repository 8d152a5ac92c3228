import QuartetClient

/// One's own drill, on the screen of the check-in.
enum DrillPart {
    static func lines(_ report: DrillReport?, _ shown: Shown) -> [Line] {
        guard let drill = shown.user.drill else {
            let isAlone = shown.contacts.responders.isEmpty
            return isAlone ? [] : [.empty, Line("\(Words.drill("none")) D: run a drill.", .dim)]
        }
        let isLongAgo = drill.began + DrillRules.proposal <= shown.now
        let head =
            drill.isOn
            ? Line("\(Words.drill("on", drill.ends)) It is no alarm. D: whom it reached.", .bold)
            : isLongAgo
                ? Line("\(Words.drill("proposal")) D: run one.", .dim)
                : Line("Your last drill was \(Words.ago(drill.began, shown)). D: whom it reached.", .dim)
        let end = drill.end == .alarm ? [Line(Words.drill("alarm"), .dim)] : []
        let receipts = report.flatMap { $0.drill.id == drill.id ? $0.responders : nil } ?? []
        return [.empty, head] + end
            + receipts.map { Line("  \(Words.receipt($0, of: drill, shown.name(of: $0.account)))") }
    }

    static func open(_ shown: Shown, _ model: inout Model) -> Action? {
        if let drill = shown.user.drill, drill.isOn || drill.next > shown.now { return .readDrill }
        model.ask("A drill: all responders are told that it is no alarm", "Run the drill", .runDrill)
        return nil
    }
}
