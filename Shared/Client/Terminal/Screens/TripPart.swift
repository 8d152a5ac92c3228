import QuartetClient

/// One's own trip, on the screen of the check-in.
enum TripPart {
    static func lines(_ shown: Shown) -> [Line] {
        guard let trip = shown.user.trip else { return [] }
        let red = Style(color: .red, isBold: true)
        if trip.alarm != nil {
            let rest = trip.isItsAlert ? "an alert is on. t ends both." : "the alert's end ends the trip."
            return [.empty, Line("You haven't said that you arrived (\(trip.name)): \(rest)", red)]
        }
        let left = trip.eta > shown.now ? "\(Words.span(trip.eta - shown.now)) left" : "the time has passed"
        return [
            .empty, Line("Trip \(trip.name): \(left). t: you have arrived, T: another end.", .bold),
            "Otherwise an alert is raised at \(Words.clock(trip.othersHear)).", hearers(shown),
        ]
    }

    private static func hearers(_ shown: Shown) -> Line {
        let names = shown.contacts.responders.map { shown.name(of: $0.account) }
        return names.isEmpty
            ? Line("Nobody looks after you, so nobody would be told.", .colored(.yellow))
            : "It is sent to \(names.joined(separator: ", "))."
    }

    private static func question(_ trip: TripState) -> String {
        trip.alarm == nil ? "Have you arrived? Then no alert is raised." : "Have you arrived? Then your alert is over."
    }

    static func open(_ shown: Shown, _ model: inout Model) {
        if let trip = shown.user.trip {
            guard trip.isCalled != true else { return CheckInScreen.askForEnd(&model) }
            let end = EndTrip(trip: trip.id, end: .arrived)
            return model.ask(question(trip), "I have arrived", .endTrip(end))
        }
        let fields: [Form.Field] = [
            .init(label: "Where to", kind: .text), .init(label: "Arrive within", kind: .text),
            .init(label: "Alert after", kind: .text), .init(label: "Note", kind: .text),
            .init(label: "Start", kind: .button),
        ]
        // It has to fit into a line.
        let title =
            shown.contacts.responders.isEmpty
            ? "A trip. Nobody looks after you: nobody would be told if you don't arrive"
            : "A trip: an alert is raised unless you arrive within, such as 2h"
        model.dialog = .init(form: Form(title: title, fields: fields), purpose: .trip)
    }

    static func extend(_ shown: Shown, _ model: inout Model) {
        guard let trip = shown.user.trip, trip.alarm == nil else { return }
        let fields: [Form.Field] = [
            .init(label: "Arrive within", kind: .text), .init(label: "Save", kind: .button),
        ]
        model.dialog = .init(
            form: Form(title: "From now on, such as 30min", fields: fields), purpose: .extend(trip.id))
    }
}
