import QuartetClient

/// Shared state at one moment: all that views show.
struct Shown: Sendable {
    /// Nil if none was named.
    var server: String?
    var connection: ConnectionState
    /// Why the connection was lost.
    var error: ConnectionError?
    /// When the network was last seen not to reach the server; nil if it did.
    var unreachable: Instant?
    var session: ReadOnlySessionState
    var user: ReadOnlyUserState
    var phase: Phase
    var contacts: ReadOnlyContactsState
    var notifications: ReadOnlyNotificationsState
    var groups: ReadOnlyGroupsState
    var isInSession: Bool
    /// Of a group session by this device.
    var start: ReadOnlyStartState
    /// The group session that is open.
    var group: ReadOnlyGroupState?
    /// The session whose music plays, and what it plays.
    var music: GroupID?
    var playback: ReadOnlyPlaybackState?
    var position: Interval?
    /// How many changes the server hasn't decided.
    var waiting = 0
    /// Urgent changes that weren't sent, the oldest first, as long as nobody has read of them.
    var unsent: [UnsentChange] = []
    /// What the account of the first one is called, if it isn't the one that is shown.
    var unsentOwner: String?
    /// Those who are signed in on this computer.
    var accounts: [DeviceAccount] = []
    /// What signing out dropped, as long as nobody has read of it.
    var dropped: [String] = []
    /// Whether what the device kept was damaged, as long as nobody has read of it.
    var hasSetAside = false
    /// By the server's clock, as far as it is known.
    var now: Instant

    init(_ quartet: Quartet, _ connection: ConnectionState, server: String? = nil, now: Instant) {
        self.server = server
        self.connection = connection
        session = quartet.session.session.value
        user = quartet.user.user.value
        phase = quartet.user.user.phase
        contacts = quartet.contacts.contacts.value
        notifications = quartet.notifications.notifications.value
        groups = quartet.groups.groups.value
        isInSession = groups.isInSession
        start = quartet.groups.starting.value
        self.now = now
    }

    var me: AccountID? { session.account }
    /// Whether somebody has to sign in before anything else.
    var needsSignIn: Bool { !session.isSignedIn || connection.needsSignIn }

    var status: ConnectionStatus { ConnectionStatus(connection, isInSession: isInSession) }

    /// The numbers on the tabs.
    var badges: AppBadges {
        AppBadges(user: user, contacts: contacts, notifications: notifications, groups: groups, at: now)
    }

    /// Whether something can be done together with others.
    var eligibility: GroupEligibility {
        GroupEligibility(session: session, connection: connection, contacts: contacts)
    }

    /// The session in which everybody listens, if this account is in one.
    var listening: GroupID? { groups.listening }
    /// Sessions other than the one for music.
    var offers: [GroupOffer] { groups.groups.filter { $0.activity.identifier != GroupSessionActivity.listening } }

    /// What the account calls somebody.
    func name(of account: AccountID?) -> String {
        guard let account else { return "nobody" }
        if account == me { return "you" }
        if let nickname = contacts.contact(by: account)?.nickname, !nickname.isEmpty { return nickname }
        let person = contacts.person(by: account)
        return person?.name ?? person?.handle.map { "@\($0)" } ?? "somebody"
    }
}

extension ReadOnlyGroupsState {
    /// The session in which everybody listens, if this account is in one.
    var listening: GroupID? { joined.first { $0.activity.identifier == GroupSessionActivity.listening }?.group }
}

extension GroupSessionActivity {
    /// The console's identifiers: whichever app somebody uses, it is the same session.
    static let listening = "quartet.listen"
    static let fourInARow = "quartet.four-in-a-row"
}
