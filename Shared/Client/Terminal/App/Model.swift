import QuartetClient

/// What the app remembers besides shared state: where somebody is in it.
struct Model: Hashable, Sendable {
    enum Tab: Int, CaseIterable, Sendable {
        case checkIn, contacts, notifications, together
    }

    /// A form above a tab, or a question.
    struct Dialog: Hashable, Sendable {
        enum Purpose: Hashable, Sendable {
            /// Which of them to show.
            case accounts([AccountID])
            case add, name, grace, pause, trip
            /// In the session in which the person listened when they were asked.
            case play(GroupID?)
            case activate(title: String, GroupID?)
            /// For the version of check-ins that was there when the form was opened.
            case interval(seen: Int64)
            case daily(seen: Int64)
            case extend(TripID)
            case tier(AccountID)
            /// Of one responder, or of all.
            case pingEscalation(AccountID?)
            case quietHours
            case invite(GroupID, [AccountID])
            case remind
            case takeBack([NotificationID])
            case confirm(Action)
        }

        var form: Form
        let purpose: Purpose

        /// Whether it is about no account's own.
        var isAboutAccounts: Bool { if case .accounts = purpose { true } else { false } }
    }

    struct Notice: Hashable, Sendable {
        var text: String
        var isError = false
    }

    var tab = Tab.checkIn
    var signIn = SignInScreen.signIn
    var dialog: Dialog?
    var contact: AccountID?
    var contactSort = ContactSort.status
    var notification: NotificationID?
    var offer: GroupID?
    /// The group session that is open.
    var group: GroupID?
    /// Of the board.
    var column = FourInARowView.middle
    /// Who got the newest drill, as it was when somebody asked.
    var drill: DrillReport?
    var notice: Notice?

    /// Whether what is typed must not show.
    func isSecret(_ shown: Shown) -> Bool { shown.needsSignIn ? signIn.isSecret : dialog?.form.isSecret ?? false }

    /// Takes a key in.
    /// - Returns: What it asks for.
    mutating func handle(_ key: Key, _ shown: Shown) -> Action? {
        switch key {
        case .interrupt: return .quit
        case .redraw: return .redraw
        case .suspend: return .suspend
        default: notice = nil
        }
        if shown.connection == .notConfigured { return key == .character("q") ? .quit : nil }
        if let dialog, dialog.isAboutAccounts { return handleDialog(key, shown) }
        if shown.needsSignIn {
            // What is open is of whoever was signed in before.
            let form = signIn
            self = Model()
            signIn = form
            if key == .escape, let dismissal = Self.dismissal(shown) { return dismissal }
            if key == .escape, !shown.accounts.isEmpty {
                dialog = AccountsPart.dialog(shown)
                return nil
            }
            return SignInScreen.handle(key, &self)
        }
        if dialog != nil { return handleDialog(key, shown) }
        switch key {
        case .character("d") where Self.dismissal(shown) != nil: return Self.dismissal(shown)
        case .character("q"): return .quit
        case .character("@"): dialog = AccountsPart.dialog(shown)
        case .character(let digit) where Tab(digit: digit) != nil: tab = Tab(digit: digit) ?? tab
        case .tab: tab = tab.moved(by: 1)
        case .backTab: tab = tab.moved(by: -1)
        case .character(" "):
            if let music = shown.music, let playback = shown.playback, playback.item != nil {
                return .setPlaying(music, !playback.isPlaying)
            }
        case .character(">"): return shown.music.map { .next($0) }
        case .character("m"): PlayPart.open(shown, &self)
        case .character("M"): return shown.music.map { .leave($0) }
        default:
            switch tab {
            case .checkIn: return CheckInScreen.handle(key, shown, &self)
            case .contacts: return ContactsScreen.handle(key, shown, &self)
            case .notifications: return NotificationsScreen.handle(key, shown, &self)
            case .together: return TogetherScreen.handle(key, shown, &self)
            }
        }
        return nil
    }

    /// What says that somebody has read what the notice says.
    private static func dismissal(_ shown: Shown) -> Action? {
        if let card = shown.unsent.first { return .dismiss(card.id) }
        if shown.hasSetAside { return .dismissSetAside }
        return shown.dropped.isEmpty ? nil : .dismissDropped
    }

    /// Asks before an action.
    mutating func ask(_ question: String, _ yes: String, _ action: Action) {
        let fields: [Form.Field] = [.init(label: "No", kind: .button), .init(label: yes, kind: .button)]
        dialog = Dialog(form: Form(title: question, fields: fields), purpose: .confirm(action))
    }

    private mutating func handleDialog(_ key: Key, _ shown: Shown) -> Action? {
        guard let outcome = dialog?.form.handle(key), let dialog else { return nil }
        guard case .pressed(let button) = outcome, button != "No" else {
            self.dialog = nil
            return nil
        }
        let form = dialog.form
        switch dialog.purpose {
        case .accounts(let accounts):
            self.dialog = nil
            return .show(accounts.dropFirst(form.focus).first)
        case .confirm(let action):
            self.dialog = nil
            return action
        case .play(let session):
            return PlayPart.play(form, session, shown, &self)
        case .activate(let title, let session):
            return PlayPart.activate(title, button, session, shown, &self)
        case .name:
            let name = form.text("Name")
            guard !name.isEmpty else { return nil }
            self.dialog = nil
            return .setName(name)
        case .interval(let seen):
            guard let interval = Words.interval(form.text("Check in every")) else {
                notice = Notice(text: "Write a number and its unit, such as 8h or 30min.", isError: true)
                return nil
            }
            self.dialog = nil
            return .setInterval(interval, version: seen)
        case .daily(let seen):
            guard let daily = DailyPart.daily(form) else {
                notice = Notice(text: "Write times such as 8:00, 20:00, and days such as mon-fri.", isError: true)
                return nil
            }
            self.dialog = nil
            return .setDaily(daily, version: seen)
        case .grace:
            let text = form.text("Others hear after")
            guard let grace = text == "0" ? .seconds(0) : Words.interval(text) else {
                notice = Notice(text: "Write a number and its unit, such as 10min, or 0.", isError: true)
                return nil
            }
            self.dialog = nil
            return .setGrace(grace)
        case .tier(let responder):
            let text = form.text(ContactsScreen.tierLabel)
            guard let after = text == "0" ? .seconds(0) : Words.interval(text) else {
                notice = Notice(text: "Write a number and its unit, such as 15min, or 0.", isError: true)
                return nil
            }
            self.dialog = nil
            return .setTiers(
                shown.contacts.responderTiers.moving(responder, to: after),
                version: shown.contacts.responderTiersVersion)
        case .pingEscalation(let responder):
            let text = form.text(PingPart.label)
            let isReset = text.isEmpty && responder != nil
            guard let after = text == "0" ? .seconds(0) : Words.interval(text) ?? (isReset ? .seconds(0) : nil) else {
                notice = Notice(text: "Write a number and its unit, such as 30min, or 0.", isError: true)
                return nil
            }
            self.dialog = nil
            return .setPingEscalation(SetPingEscalation(contact: responder, after: isReset ? nil : after))
        case .quietHours:
            let text = form.text(PingPart.quietLabel)
            guard text.isEmpty || PingPart.hours(text) != nil else {
                notice = Notice(text: "Write two times in UTC, such as 22:00-07:00, or nothing.", isError: true)
                return nil
            }
            self.dialog = nil
            return .setQuietHours(PingPart.hours(text))
        case .pause:
            guard let span = Words.interval(form.text("Pause for")) else {
                notice = Notice(text: "Write a number and its unit, such as 3d.", isError: true)
                return nil
            }
            self.dialog = nil
            return .pause(until: shown.now + span)
        case .trip:
            let (after, grace) = (form.text("Alert after"), Words.interval(form.text("Alert after")))
            guard let span = Words.interval(form.text("Arrive within")), !form.text("Where to").isEmpty,
                grace != nil || after.isEmpty || after == "0"
            else {
                notice = Notice(text: "Write where to, and numbers with their units, such as 2h.", isError: true)
                return nil
            }
            let note = form.text("Note")
            self.dialog = nil
            return .startTrip(
                StartTrip(
                    name: form.text("Where to"), eta: shown.now + span, note: note.isEmpty ? nil : note,
                    grace: grace))
        case .extend(let trip):
            guard let span = Words.interval(form.text("Arrive within")) else {
                notice = Notice(text: "Write a number and its unit, such as 30min.", isError: true)
                return nil
            }
            self.dialog = nil
            return .extendTrip(ExtendTrip(trip: trip, eta: shown.now + span))
        case .add:
            guard let request = ContactsScreen.request(form) else { return nil }
            self.dialog = nil
            return .add(request)
        case .remind:
            let text = form.text(NotificationsScreen.reminderLabel)
            guard let span = Words.interval(form.text(NotificationsScreen.spanLabel)), !text.isEmpty else {
                notice = Notice(text: "Write what of, and a number with its unit, such as 2h or 3d.", isError: true)
                return nil
            }
            self.dialog = nil
            return .remind(ScheduleReminder(text: text, due: shown.now + span))
        case .takeBack(let ids):
            let chosen = zip(ids, form.fields).filter { $0.1.isOn }.map { $0.0 }
            self.dialog = nil
            return chosen.isEmpty ? nil : .takeBack(chosen)
        case .invite(let group, let accounts):
            let chosen = zip(accounts, form.fields).filter { $0.1.isOn }.map { $0.0 }
            self.dialog = nil
            return chosen.isEmpty ? nil : .invite(group, chosen)
        }
    }
}

extension Model.Tab {
    init?(digit: Character) {
        guard let number = digit.wholeNumberValue else { return nil }
        self.init(rawValue: number - 1)
    }

    func moved(by count: Int) -> Self {
        let all = Self.allCases.count
        return Self(rawValue: (rawValue + count + all) % all) ?? self
    }
}
