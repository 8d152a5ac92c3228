import QuartetClient

/// All rows of a frame: the tabs and the connection, the tab's screen, the mini player, a notice and the keys.
enum Frame {
    /// How many rows a tab's screen has in a terminal of this height.
    static func room(height: Int) -> Int { max(1, height - 5) }

    static func lines(_ model: Model, _ shown: Shown, width: Int, height: Int) -> [Line] {
        let room = room(height: height)
        var content: [Line]
        let keys: String
        if shown.connection == .notConfigured {
            content = [
                "There is no server to connect to.", .empty,
                "Start it as  quartet-tui --server https://…  or set QUARTET_SERVER.",
            ]
            keys = "q quit"
        } else if let dialog = model.dialog, dialog.isAboutAccounts {
            content = dialog.form.lines(width: width, height: room)
            keys = AccountsPart.keys
        } else if shown.needsSignIn {
            content = SignInScreen.lines(model, shown, width: width, height: room)
            keys = "Tab next   Enter go on   Ctrl-C quit"
        } else if let dialog = model.dialog {
            content = dialog.form.lines(width: width, height: room)
            keys = "Tab next   Space choose   Enter go on   Esc cancel"
        } else {
            switch model.tab {
            case .checkIn:
                content = CheckInScreen.lines(shown, width: width, drill: model.drill)
                keys = CheckInScreen.keys
            case .contacts:
                content = ContactsScreen.lines(model, shown, width: width, height: room)
                keys = ContactsScreen.keys(shown, model)
            case .notifications:
                content = NotificationsScreen.lines(model, shown, width: width, height: room)
                keys = NotificationsScreen.keys
            case .together:
                content = TogetherScreen.lines(model, shown, width: width, height: room)
                keys = TogetherScreen.keys(model)
            }
        }
        content = Array(content.prefix(room))
        content += Array(repeating: .empty, count: room - content.count)
        return [header(model, shown, width: width), Line(String(repeating: "─", count: width), .dim)] + content + [
            player(shown, width: width), notice(model, shown, width: width), Line(keys, .dim),
        ]
    }

    private static func header(_ model: Model, _ shown: Shown, width: Int) -> Line {
        let (words, color) = Words.connection(shown)
        let state: Line = [Span(color == nil ? "○" : "●", Style(color: color)), Span(" \(words)")]
        guard shown.connection != .notConfigured, !shown.needsSignIn else {
            return Line("Quartet", .bold).with(right: state, width: width)
        }
        let long = tabs(model, shown) { _, _ in true }
        if long.width + state.width < width { return long.with(right: state, width: width) }
        // Where there is too little room, the titles of tabs say more than that everything works.
        let dot = Line([state.spans[0]])
        if !shown.status.isNoteworthy, long.width + dot.width < width { return long.with(right: dot, width: width) }
        return tabs(model, shown) { $0 == $1 }.with(right: state, width: width)
    }

    /// - Parameter isNamed: Whether a tab's title shows, besides its number.
    private static func tabs(_ model: Model, _ shown: Shown, _ isNamed: (Model.Tab, _ current: Model.Tab) -> Bool)
        -> Line
    {
        let badges = shown.badges
        return Line(
            Model.Tab.allCases.flatMap { tab -> [Span] in
                let title: String
                let badge: AppBadges.Badge
                switch tab {
                case .checkIn: (title, badge) = ("Check-in", badges.checkIn)
                case .contacts: (title, badge) = ("Contacts", badges.contacts)
                case .notifications: (title, badge) = ("Notifications", badges.notifications)
                case .together: (title, badge) = ("Together", badges.together)
                }
                let label = isNamed(tab, model.tab) ? " \(tab.rawValue + 1) \(title)" : " \(tab.rawValue + 1)"
                let text = label + (badge.count > 0 ? " (\(badge.count)) " : " ")
                let isCurrent = tab == model.tab
                return [Span(text, Style(color: badge.isAlarm ? .red : nil, isBold: isCurrent, isReversed: isCurrent))]
            })
    }

    /// The mini player, the same under every tab.
    private static func player(_ shown: Shown, width: Int) -> Line {
        guard !shown.needsSignIn, shown.connection != .notConfigured else { return .empty }
        guard let playback = shown.playback, let item = playback.item else {
            return Line("♪ Nothing plays   m play something\(shown.music == nil ? "" : "   M leave")", .dim)
        }
        let sign = playback.isWaiting ? "…" : playback.isPlaying ? "▶" : "‖"
        var spans = [
            Span("♪ \(sign) ", Style(color: .cyan)),
            Span(Rows.fitted(item.title, min(24, Glyph.width(of: item.title))), .bold),
        ]
        if let position = shown.position {
            spans.append("  \(Words.position(position))")
            if let duration = item.duration {
                let share = Double(position.microseconds) / Double(max(1, duration.microseconds))
                spans.append(" \(Rows.bar(share, width: 12)) \(Words.position(duration))")
            }
        }
        let keys: Line = [Span("Space \(playback.isPlaying ? "pause" : "play")  > next  m other  M leave", .dim)]
        return Line(spans).with(right: keys, width: width)
    }

    private static func notice(_ model: Model, _ shown: Shown, width: Int) -> Line {
        if let notice = model.notice { return Line(notice.text, notice.isError ? .colored(.red) : .colored(.green)) }
        let owner = shown.unsentOwner.map { "\($0): " } ?? ""
        // Whom the owner calls what, the account that is shown doesn't know.
        let card = shown.unsent.first.map { change in
            owner + Words.unsent(change, owner.isEmpty ? shown.name(of: change.contact) : "somebody")
        }
        if let text = card ?? (shown.hasSetAside ? Words.setAside : Words.dropped(shown.dropped)) {
            let key = shown.needsSignIn ? "  Esc read" : "  d read"
            let room = max(0, width - Glyph.width(of: key))
            return [
                Span(Rows.fitted(text, min(room, Glyph.width(of: text))), .colored(.red)), Span(key, .dim),
            ]
        }
        if shown.waiting > 0, shown.connection != .connected {
            return Line(
                "\(shown.waiting) \(shown.waiting == 1 ? "change waits" : "changes wait") for a connection.",
                .colored(.yellow))
        }
        if !shown.needsSignIn, shown.connection != .connected, let error = shown.error {
            // Later tries may have ended without saying anything of the network.
            let seen = shown.unreachable.map { " Last seen unreachable \(Words.clock($0))." } ?? ""
            return Line(Words.lost(error) + seen, .dim)
        }
        return .empty
    }
}
