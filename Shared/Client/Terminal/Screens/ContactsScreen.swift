import QuartetClient

/// Those who look after the account, and those it looks after.
enum ContactsScreen {
    static func keys(_ shown: Shown, _ model: Model) -> String {
        let rows = rows(shown)
        var asking = "p ask"
        if !rows.isEmpty, case .contact(let contact) = rows[Rows.index(of: model.contact, in: rows.map(\.account))] {
            if contact.outgoingPing != nil {
                asking = contact.canAskAgain(at: shown.now) ? "a ask again   p cancel" : "p cancel"
            }
            if alarm(of: shown.contacts.person(by: contact.account)) != nil {
                return "o on it   s reached, safe   h help is needed   c can't   \(asking)   n add   q quit"
            }
        }
        return "\(asking)   r answer   A answer all   n add   y accept   l hears later   u alert   x remove   q quit"
    }

    static let tierLabel = "Hears after"

    private enum Row {
        case request(ContactRequest)
        case contact(Contact)

        var account: AccountID {
            switch self {
            case .request(let request): request.account
            case .contact(let contact): contact.account
            }
        }
    }

    /// Who waits or needs help comes first.
    private static func rows(_ shown: Shown) -> [Row] {
        func urgency(_ contact: Contact) -> Int {
            let person = shown.contacts.person(by: contact.account)
            if person?.alertRaised != nil { return 0 }
            if person?.checkIn?.missed == true { return 1 }
            if contact.incomingPing != nil { return 2 }
            return contact.outgoingPing != nil ? 3 : 4
        }
        let contacts = shown.contacts.contacts.map { ($0, urgency($0), shown.name(of: $0.account).lowercased()) }
            .sorted { ($0.1, $0.2, $0.0.account) < ($1.1, $1.2, $1.0.account) }
        return shown.contacts.requests.byArrival.map { Row.request($0) } + contacts.map { Row.contact($0.0) }
    }

    static func lines(_ model: Model, _ shown: Shown, width: Int, height: Int) -> [Line] {
        let rows = rows(shown)
        let index = Rows.index(of: model.contact, in: rows.map(\.account))
        var lines: [Line] = [[Span("Contacts (\(shown.contacts.count))", .bold)]]
        if let code = shown.contacts.code {
            lines[0] = lines[0].with(right: [Span("your code: \(code)", .dim)], width: width)
        }
        lines.append(.empty)
        guard !rows.isEmpty else { return lines + ["No contacts yet. Press n to add somebody by handle or code."] }
        var list = rows.enumerated().map { number, row in line(row, shown).selected(number == index) }
        list.insert(contentsOf: trip(rows[index], shown), at: index + 1)
        return lines + Rows.window(list, around: index, height: height - lines.count)
    }

    private static func line(_ row: Row, _ shown: Shown) -> Line {
        let name = Rows.fitted(shown.name(of: row.account), 24)
        switch row {
        case .request(let request):
            let text =
                request.direction == .incoming ? "wants to be your contact: y accepts" : "hasn't answered your request"
            return [Span(" \(name)  ", .bold), Span(text, .colored(.yellow))]
        case .contact(let contact):
            let role =
                switch (contact.isMyResponder, contact.iAmResponder) {
                case (true, true): "each other"
                case (true, false): "responder"
                default: "dependent"
                }
            return [Span(" \(name)  ", .bold), Span(Rows.fitted(role, 12)), status(contact, shown)]
        }
    }

    /// Where somebody who is late wanted to be, and when.
    private static func trip(_ row: Row, _ shown: Shown) -> [Line] {
        guard case .contact(let contact) = row, let trip = shown.contacts.person(by: contact.account)?.trip
        else { return [] }
        let lines = ["Trip: \(trip.name), expected by \(Words.clock(trip.eta))", trip.note]
        return lines.compactMap(\.self).map { Line("   \($0)", .colored(.red)) }
    }

    private static func status(_ contact: Contact, _ shown: Shown) -> Span {
        let person = shown.contacts.person(by: contact.account)
        if let raised = person?.alertRaised {
            let late = person?.lateCall.map { ", \(Words.late($0, shown))" } ?? ""
            let trip = person?.trip.map { $0.isCalled == true ? ", was on a trip" : ", late from a trip" } ?? ""
            let ping = person?.unanswered.map { ", hasn't answered a ping of \(Words.clock($0.pinged))" } ?? ""
            let text =
                "ALERT \(Words.ago(raised, shown))\(late)"
                + "\(answers(to: person?.alertAlarm, of: contact, shown))\(trip)\(ping)"
            return Span(text, Style(color: .red, isBold: true))
        }
        if let checkIn = person?.checkIn, checkIn.missed, let due = checkIn.due {
            let text = "missed the check-in \(Words.ago(due, shown))\(answers(to: checkIn.alarm, of: contact, shown))"
            return Span(text, .colored(.red))
        }
        if let ping = contact.incomingPing {
            return Span("asks: are you all right? (\(Words.ago(ping, shown)))", .colored(.yellow))
        }
        if let ping = contact.outgoingPing {
            let later = contact.isOutgoingPingLater == true ? ", an alert later" : ""
            let alert =
                contact.outgoingPingDue.map { $0 > shown.now ? ", an alert at \(Words.clock($0))" : "" } ?? later
            return Span("asked \(Words.ago(ping, shown))\(alert)", .colored(.cyan))
        }
        if let due = person?.checkIn?.due, due <= shown.now {
            return Span("due since \(Words.clock(due))", .colored(.yellow))
        }
        if let until = person?.checkIn?.pausedUntil, until > shown.now {
            return Span("paused until \(Words.clock(until))", .colored(.cyan))
        }
        if let due = person?.checkIn?.due {
            return Span("checks in within \(Words.span(due - shown.now))", .colored(.green))
        }
        return Span("")
    }

    /// What matters most of what was answered to an alarm. Empty for who doesn't hear of it, and so can't know.
    private static func answers(to alarm: AlarmID?, of contact: Contact, _ shown: Shown) -> String {
        guard let alarm else { return "" }
        if let first = shown.contacts.answers(to: alarm).first { return ": " + Words.answer(first, shown) }
        let isAlert = shown.contacts.person(by: contact.account)?.alertAlarm == alarm
        // Whoever hears later than others wasn't told yet.
        let isTold = shown.notifications.history.contains { $0.details.alarm == alarm }
        return isAlert || contact.notifyOnMissedCheckIn && isTold ? ": nobody is on it" : ""
    }

    /// The alarm that is on, the worse of two.
    private static func alarm(of person: Person?) -> AlarmID? {
        person?.alertAlarm ?? (person?.checkIn?.missed == true ? person?.checkIn?.alarm : nil)
    }

    static func handle(_ key: Key, _ shown: Shown, _ model: inout Model) -> Action? {
        let rows = rows(shown)
        let ids = rows.map(\.account)
        switch key {
        case .character("n"):
            model.dialog = .init(
                form: Form(
                    title: "Add a contact. Dependents see it when none could be reached for 30 days",
                    fields: [
                        .init(label: "Handle or code", kind: .text),
                        .init(label: "They look after me", kind: .toggle, isOn: true),
                        .init(label: "I look after them", kind: .toggle, isOn: true),
                        .init(label: "Add", kind: .button),
                    ]), purpose: .add)
            return nil
        case .character("A"):
            model.ask("Answer everybody who asks that you are all right?", "Answer all", .respondToAll)
            return nil
        case .up, .down, .pageUp, .pageDown, .home, .end, .character("j"), .character("k"):
            model.contact = Rows.moved(model.contact, in: ids, by: key)
            return nil
        default: break
        }
        guard !rows.isEmpty else { return nil }
        let row = rows[Rows.index(of: model.contact, in: ids)]
        // From here on this person is meant, whoever comes before them in the list.
        model.contact = row.account
        return switch row {
        case .request(let request): handle(key, request, &model)
        case .contact(let contact): handle(key, contact, shown, &model)
        }
    }

    private static func handle(_ key: Key, _ request: ContactRequest, _ model: inout Model) -> Action? {
        switch key {
        case .character("y") where request.direction == .incoming:
            guard request.iAmResponder else { return .approve(request) }
            model.ask(Words.consent, "Accept", .approve(request))
            return nil
        case .character("x"):
            return request.direction == .incoming ? .decline(request.account) : .withdraw(request.account)
        default: return nil
        }
    }

    private static func handle(_ key: Key, _ contact: Contact, _ shown: Shown, _ model: inout Model) -> Action? {
        let alarm = alarm(of: shown.contacts.person(by: contact.account))
        func answer(_ answer: AlarmAnswer) -> Action? {
            alarm.map { .acknowledge(AcknowledgeAlarm(contact: contact.account, alarm: $0, answer: answer)) }
        }
        switch key {
        case .character("o"): return answer(.onIt)
        case .character("h"): return answer(.needsHelp)
        case .character("c"): return answer(.cannot)
        case .character("s"):
            guard let action = answer(.safe) else { return nil }
            model.ask("Did you reach \(shown.name(of: contact.account)), and are they safe?", "Reached, safe", action)
        case .character("p"), .enter:
            return contact.outgoingPing == nil ? .ping(contact.account) : .cancelPing(contact.account)
        case .character("a") where contact.canAskAgain(at: shown.now): return .ping(contact.account)
        case .character("r"): return contact.incomingPing == nil ? nil : .respond(contact.account)
        case .character("l") where contact.isMyResponder:
            let fields: [Form.Field] = [
                .init(label: tierLabel, kind: .text), .init(label: "Save", kind: .button),
            ]
            let name = shown.name(of: contact.account)
            model.dialog = .init(
                form: Form(
                    title:
                        "How long after the others \(name) hears of a missed check-in, such as 15min; 0 for with them",
                    fields: fields), purpose: .tier(contact.account))
        case .character("u") where contact.isMyResponder: PingPart.open(contact, shown, &model)
        case .character("x"):
            model.ask(
                "Remove \(shown.name(of: contact.account)) from your contacts?", "Remove", .remove(contact.account))
        default: break
        }
        return nil
    }

    /// What somebody wrote into the form; nil if there is nothing yet.
    static func request(_ form: Form) -> AddContactRequest? {
        let text = form.text("Handle or code").filter { $0 != " " }
        guard !text.isEmpty else { return nil }
        let code = ContactCode(text)
        let handle = text.hasPrefix("@") ? String(text.dropFirst()) : text
        return AddContactRequest(
            code: code, handle: code == nil ? handle : nil, isMyResponder: form["They look after me"]?.isOn,
            iAmResponder: form["I look after them"]?.isOn)
    }
}
