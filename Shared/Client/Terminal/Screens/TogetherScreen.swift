import Games
import QuartetClient

/// Group sessions, and the one that is open.
enum TogetherScreen {
    static func keys(_ model: Model) -> String {
        model.group == nil
            ? "Enter open or join   n new game   1-4 Tab screens   q quit"
            : "←→ Enter play  s seat  g start  i invite  l leave  e end  Esc back  q quit"
    }

    static func lines(_ model: Model, _ shown: Shown, width: Int, height: Int) -> [Line] {
        if model.group != nil { return group(model, shown) }
        let offers = shown.offers
        let index = Rows.index(of: model.offer, in: offers.map(\.group))
        let title = [Line("Together", .bold), starting(shown)]
        guard !offers.isEmpty else {
            return title + ["No sessions yet. Press n to start a game, or wait to be invited."]
        }
        let rows = offers.enumerated().map { number, offer in
            let standing =
                switch offer.standing {
                case .joined: Span("you are in it", .colored(.green))
                case .invited: Span("you are invited", .colored(.yellow))
                case .open: Span("open to you")
                }
            let line: Line = [
                Span(" \(Rows.fitted(offer.activity.title, 28))  ", .bold),
                Span(Rows.fitted("\(offer.participants) of \(offer.capacity)", 10)), standing,
                Span("   host: \(shown.name(of: offer.host))", .dim),
            ]
            return line.selected(number == index)
        }
        return title + Rows.window(rows, around: index, height: height - title.count)
    }

    /// Whether one is being started, or why that failed.
    private static func starting(_ shown: Shown) -> Line {
        if shown.start.isStarting { return Line("Starting a session…", .dim) }
        guard let error = shown.start.error else { return .empty }
        return Line(failure(error), .colored(.red))
    }

    /// What is said of a start that failed, which may have happened all the same where the answer is missing.
    static func failure(_ error: QuartetError) -> String {
        switch error {
        case .unknown, .unreadable: Words.problem(error)
        default: "It wasn't started: \(Words.problem(error))"
        }
    }

    private static func group(_ model: Model, _ shown: Shown) -> [Line] {
        guard let group = shown.group else { return [Line("Loading…", .dim)] }
        let title = group.activity?.title ?? "Group session"
        switch group.standing {
        case .unknown: return [Line("Loading…", .dim)]
        case .waiting: return [Line(title, .bold), .empty, "Joining…"]
        case .invalidated(let reason):
            return [Line("This session is over", .bold), .empty, Line(Words.end(reason)), .empty, "Esc goes back."]
        case .joined: break
        }
        var people = group.participants.byArrival.map { one in
            let away = one.awaySince.map { " (away for \(Words.span(shown.now - $0)))" } ?? ""
            return "\(shown.name(of: one.id))\(one.id == group.host ? " (host)" : "")\(away)"
        }
        people += group.invited.map { "\(shown.name(of: $0)) (invited)" }
        let seats = group.seats.map { seat in
            switch group.seat(seat) {
            case .free: Span("[\(seat + 1) free] ", .dim)
            case .claimed: Span("[\(seat + 1) you…] ", .colored(.yellow))
            case .taken(let owner):
                Span(
                    "[\(seat + 1) \(shown.name(of: owner))] ",
                    Style(color: owner == shown.me ? .green : nil, isBold: true))
            }
        }
        let head = Line([Span(title, .bold), Span("   \(people.joined(separator: ", "))")])
        return [head, Line([Span("Seats: ")] + seats), .empty]
            + FourInARowView.lines(group, shown, column: model.column)
    }

    static func handle(_ key: Key, _ shown: Shown, _ model: inout Model) -> Action? {
        if let id = model.group { return handle(key, id, shown, &model) }
        let offers = shown.offers
        switch key {
        case .character("n"):
            guard !shown.start.isStarting else { return nil }
            guard let obstacle = shown.eligibility.obstacles.first else { return .newGame }
            model.notice = .init(text: Words.obstacle(obstacle), isError: true)
            return nil
        case .enter:
            guard !offers.isEmpty else { return nil }
            let offer = offers[Rows.index(of: model.offer, in: offers.map(\.group))]
            model.group = offer.group
            return offer.standing == .joined ? nil : .join(offer.group)
        default:
            model.offer = Rows.moved(model.offer, in: offers.map(\.group), by: key)
            return nil
        }
    }

    private static func handle(_ key: Key, _ id: GroupID, _ shown: Shown, _ model: inout Model) -> Action? {
        if key == .escape || key == .backspace {
            model.group = nil
            return nil
        }
        guard let group = shown.group, group.hasJoined else { return nil }
        switch key {
        case .left: model.column = max(0, model.column - 1)
        case .right: model.column = min(FourInARow.columns - 1, model.column + 1)
        case .enter, .down:
            guard group.isMyTurn, group.game.flatMap({ FourInARow($0) })?.isOver == false else { return nil }
            return .drop(id, column: model.column)
        case .character("s"):
            if group.localParticipant?.seat != nil { return .releaseSeat(id) }
            return group.freeSeats.first.map { .claimSeat(id, $0) }
        case .character("g"): return start(id, group, &model)
        case .character("i"): invite(id, group, shown, &model)
        case .character("l"): return .leave(id)
        case .character("e"):
            guard group.isHost else {
                model.notice = .init(text: "Only the host can end it for everybody.", isError: true)
                return nil
            }
            model.ask("End it for everybody?", "End for all", .end(id))
        default: break
        }
        return nil
    }

    private static func start(_ id: GroupID, _ group: ReadOnlyGroupState, _ model: inout Model) -> Action? {
        let seated = group.participants.filter { $0.seat != nil }.sorted { ($0.seat ?? 0) < ($1.seat ?? 0) }
        guard group.isHost else {
            model.notice = .init(text: "The host starts the game.", isError: true)
            return nil
        }
        guard let first = seated.first, let second = seated.dropFirst().first else {
            model.notice = .init(text: "Two have to take a seat first.", isError: true)
            return nil
        }
        return .startGame(id, first: first.id, second: second.id)
    }

    private static func invite(_ id: GroupID, _ group: ReadOnlyGroupState, _ shown: Shown, _ model: inout Model) {
        let known = Set(group.participants.map(\.id) + group.invited)
        let accounts = shown.contacts.ids.filter { !known.contains($0) }
        guard !accounts.isEmpty else {
            model.notice = .init(text: "All your contacts are here or invited.")
            return
        }
        let fields = accounts.map { Form.Field(label: shown.name(of: $0), kind: .toggle) }
        model.dialog = .init(
            form: Form(title: "Invite", fields: fields + [.init(label: "Invite", kind: .button)]),
            purpose: .invite(id, accounts))
    }
}
