import QuartetClient

/// Those who look after the account, and those it looks after.
enum ContactsScreen {
    static func keys(_ shown: Shown, _ model: Model) -> String {
        let rows = rows(model, shown)
        var asking = "p ask"
        if !rows.isEmpty, case .contact(let listed) = rows[Rows.index(of: model.contact, in: rows.map(\.account))] {
            let contact = listed.contact
            if contact.outgoingPing != nil {
                asking = contact.canAskAgain(at: shown.now) ? "a ask again   p cancel" : "p cancel"
            }
            if contact.incomingRoleRequest != nil { asking = "y yes   N no   " + asking }
            if alarm(of: listed.person) != nil {
                return "o on it   s reached, safe   h help is needed   c can't   \(asking)   n add   q quit"
            }
        }
        return "\(asking)   r answer   A answer all   n add   y accept   l hears later   u alert   x remove   q quit"
    }

    static let tierLabel = "Hears after"

    private enum Row {
        case request(ContactRequest)
        case contact(ListedContact)

        var account: AccountID {
            switch self {
            case .request(let request): request.account
            case .contact(let listed): listed.id
            }
        }
    }

    /// Requests come first, then contacts in their groups.
    private static func groups(_ model: Model, _ shown: Shown) -> [(title: String?, rows: [Row])] {
        var groups: [(title: String?, rows: [Row])] = []
        let requests = shown.contacts.requests.byArrival.map { Row.request($0) }
        if !requests.isEmpty { groups.append((title: "Requests", rows: requests)) }
        for group in shown.contacts.grouped(by: model.contactSort, at: shown.now) {
            let rows = group.contacts.map { Row.contact($0) }
            groups.append((title: group.title.map { Words.title($0) }, rows: rows))
        }
        return groups
    }

    private static func rows(_ model: Model, _ shown: Shown) -> [Row] { groups(model, shown).flatMap { $0.rows } }

    static func lines(_ model: Model, _ shown: Shown, width: Int, height: Int) -> [Line] {
        let rows = rows(model, shown)
        var lines: [Line] = [[Span("Contacts (\(shown.contacts.count))", .bold)]]
        if let code = shown.contacts.code {
            lines[0] = lines[0].with(right: [Span("your code: \(code)", .dim)], width: width)
        }
        lines.append(Line("By: \(Words.sort(model.contactSort)) (S for another order)", .dim))
        guard !rows.isEmpty else { return lines + ["No contacts yet. Press n to add somebody by handle or code."] }
        let selected = rows[Rows.index(of: model.contact, in: rows.map(\.account))].account
        var (list, position): ([Line], Int) = ([], 0)
        for group in groups(model, shown) {
            if let title = group.title { list.append(Line("\(title) (\(group.rows.count))", .dim)) }
            for row in group.rows {
                let isSelected = row.account == selected
                if isSelected { position = list.count }
                list.append(line(row, shown).selected(isSelected))
                if isSelected { list += details(row, shown, width: width) }
            }
        }
        return lines + Rows.window(list, around: position, height: height - lines.count)
    }

    /// The cells before the status: the name and the role.
    private static let (nameWidth, roleWidth) = (24, 12)
    private static let statusColumn = nameWidth + roleWidth + 3

    private static func line(_ row: Row, _ shown: Shown) -> Line {
        let name = Rows.fitted(shown.name(of: row.account), nameWidth)
        switch row {
        case .request(let request):
            let text =
                request.direction == .incoming ? "wants to be your contact: y accepts" : "hasn't answered your request"
            return [Span(" \(name)  ", .bold), Span(text, .colored(.yellow))]
        case .contact(let listed):
            let role =
                switch (listed.contact.isMyResponder, listed.contact.iAmResponder) {
                case (true, true): "each other"
                case (true, false): "responder"
                default: "dependent"
                }
            return [Span(" \(name)  ", .bold), Span(Rows.fitted(role, roleWidth)), status(listed, shown)]
        }
    }

    /// All of what the row has no room for, and what somebody who is late from a trip wrote about it.
    private static func details(_ row: Row, _ shown: Shown, width: Int) -> [Line] {
        guard case .contact(let listed) = row else { return [] }
        let status = status(listed, shown)
        let isCut = Glyph.width(of: status.text) > width - statusColumn
        let texts = (isCut ? statements(listed, shown) : []) + [listed.person?.trip?.note].compactMap(\.self)
        let indent = "   "
        return texts.flatMap { Rows.wrapped($0, width - indent.count) }.map { Line(indent + $0, status.style) }
    }

    private static func status(_ listed: ListedContact, _ shown: Shown) -> Span {
        let color = Words.color(of: listed.level.tone)
        return Span(
            statements(listed, shown).joined(separator: " "), Style(color: color, isBold: listed.level == .alert))
    }

    /// How a contact is. What others do, or this person has to, comes first: the row may have no room for the rest.
    private static func statements(_ listed: ListedContact, _ shown: Shown) -> [String] {
        var statements: [String] = []
        let contact = listed.contact
        if listed.level.isAlarm, let answer = answer(to: alarm(of: listed.person), of: contact, shown) {
            statements.append(answer)
        }
        if listed.level == .pinged {
            if let due = contact.outgoingPingDue {
                if due > shown.now { statements.append("An alert at \(Words.clock(due)).") }
            } else if contact.isOutgoingPingLater == true {
                statements.append("An alert later.")
            }
        }
        let role = contact.incomingRoleRequest == nil ? [] : ["Wants to look after you: y yes, N no."]
        let status = [Words.status(listed, shown)]
        // An alarm, and a question that has a deadline, stand before it.
        return statements + (listed.level <= .pinged ? status + role : role + status)
    }

    /// What matters most of what was answered to an alarm. Nil for who doesn't hear of it, and so can't know.
    private static func answer(to alarm: AlarmID?, of contact: Contact, _ shown: Shown) -> String? {
        guard let alarm else { return nil }
        if let first = shown.contacts.answers(to: alarm).first { return Words.answer(first, shown) }
        let isAlert = shown.contacts.person(by: contact.account)?.alertAlarm == alarm
        // Whoever hears later than others wasn't told yet.
        let isTold = shown.notifications.history.contains { $0.details.alarm == alarm }
        return isAlert || contact.notifyOnMissedCheckIn && isTold ? "Nobody is on it." : nil
    }

    /// The alarm that is on, the worse of two.
    private static func alarm(of person: Person?) -> AlarmID? {
        person?.alertAlarm ?? (person?.checkIn?.missed == true ? person?.checkIn?.alarm : nil)
    }

    static func handle(_ key: Key, _ shown: Shown, _ model: inout Model) -> Action? {
        let rows = rows(model, shown)
        let ids = rows.map(\.account)
        switch key {
        case .character("S"):
            let sorts = ContactSort.allCases
            model.contactSort = sorts[((sorts.firstIndex(of: model.contactSort) ?? 0) + 1) % sorts.count]
            return nil
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
        case .contact(let listed): handle(key, listed.contact, shown, &model)
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
        case .character("y") where contact.incomingRoleRequest != nil:
            let name = shown.name(of: contact.account)
            model.ask(
                "Let \(name) look after you? They see your check-ins, alerts and emergency note.", "Yes",
                .acceptRole(contact.account))
        case .character("N") where contact.incomingRoleRequest != nil: return .declineRole(contact.account)
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
