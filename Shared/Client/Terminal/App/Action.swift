import QuartetClient

/// What somebody asks the app to do by a key.
enum Action: Hashable, Sendable {
    case quit, redraw, suspend
    case signIn(handle: String, password: String)
    case signUp(handle: String, name: String, password: String)
    case signOut
    /// Another account, or nobody's: to sign in to one more.
    case show(AccountID?)

    /// Of a change that wasn't sent.
    case dismiss(UnsentChange.ID)
    case dismissDropped
    case dismissSetAside

    case setName(String)
    case checkIn
    /// For the version that was shown.
    case setInterval(Interval, version: Int64)
    case setDaily(DailyTimes, version: Int64)
    case setGrace(Interval)
    case pause(until: Instant)
    case resume
    case startTrip(StartTrip)
    case extendTrip(ExtendTrip)
    case endTrip(EndTrip)
    case raiseAlert, clearAlert
    case runDrill, readDrill

    case add(AddContactRequest)
    case approve(ContactRequest)
    case decline(AccountID)
    case withdraw(AccountID)
    case remove(AccountID)
    /// Of somebody who asks to become this account's responder.
    case acceptRole(AccountID)
    case declineRole(AccountID)
    case ping(AccountID)
    case cancelPing(AccountID)
    case respond(AccountID)
    case respondToAll
    case acknowledge(AcknowledgeAlarm)
    case setTiers([ResponderTier], version: Int64)
    case setPingEscalation(SetPingEscalation)
    case setQuietHours(QuietHours?)

    case markRead(NotificationID)
    case answerDrill(NotificationID)
    case remind(ScheduleReminder)
    case takeBack([NotificationID])
    case markAllRead
    case clear([NotificationID])

    case newGame
    case join(GroupID)
    case leave(GroupID)
    case end(GroupID)
    case invite(GroupID, [AccountID])
    case claimSeat(GroupID, Int)
    case releaseSeat(GroupID)
    case startGame(GroupID, first: AccountID, second: AccountID)
    case drop(GroupID, column: Int)

    /// In the session in which the person listened when they were asked, or else in a new one.
    case play(title: String, withOthers: Bool, session: GroupID?)
    case setPlaying(GroupID, Bool)
    case next(GroupID)

    /// What is said when it is done.
    var done: String? {
        switch self {
        case .signOut: "Signed out."
        case .setInterval(let interval, _): "You check in every \(Words.span(interval)) from now on."
        case .setDaily: "Set. What is due within twelve hours stays."
        case .setGrace(let grace):
            grace > .seconds(0) ? "Others hear \(Words.span(grace)) after a deadline." : "Others hear at once."
        case .pause(let until): "Paused until \(Words.clock(until))."
        case .resume: "The pause is over."
        case .startTrip(let trip):
            "An alert is raised unless you arrive by \(Words.clock(trip.eta + (trip.grace ?? .seconds(0))))."
        case .extendTrip(let trip): "The trip ends at \(Words.clock(trip.eta))."
        case .endTrip: "The trip is over."
        case .raiseAlert: "The alert is raised."
        case .clearAlert: "The alert is over."
        case .runDrill: "The drill has begun."
        case .add: "Added or asked."
        case .acceptRole: "They look after you from now on."
        case .ping: "Asked."
        case .acknowledge: "Answered: the others see it."
        case .setTiers: "Set: it applies to the next alarm."
        case .setPingEscalation, .setQuietHours: "Set: it applies to pings from now on."
        case .respond, .respondToAll: "Answered: all right."
        case .remind(let reminder): "You will be reminded: \(Words.clock(reminder.due, from: .now))."
        case .invite: "Invited."
        default: nil
        }
    }
}
