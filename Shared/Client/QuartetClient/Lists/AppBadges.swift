import QuartetContactsContract
public import QuartetVocabulary

/// How much waits for a person in each part of an app, for the numbers on its tabs.
public struct AppBadges: Hashable, Sendable {
    public struct Badge: Hashable, Sendable {
        public let count: Int
        /// Whether somebody needs help, or may.
        public let isAlarm: Bool
    }

    /// A check-in that is due or was missed, and an alert of one's own that is on.
    public let checkIn: Badge
    /// Pings and requests that wait for an answer, and people whose alarm is on.
    public let contacts: Badge
    /// Unread ones.
    public let notifications: Badge
    /// Invitations to group sessions.
    public let together: Badge

    public init(
        user: ReadOnlyUserState, contacts: ReadOnlyContactsState, notifications: ReadOnlyNotificationsState,
        groups: ReadOnlyGroupsState, at now: Instant
    ) {
        let isMissed = user.checkIn?.missed == true
        let isDue = user.checkIn?.due.map { $0 <= now } == true
        let isCalling = user.alertRaised != nil
        checkIn = Badge(
            count: (isMissed || isDue ? 1 : 0) + (isCalling ? 1 : 0), isAlarm: isMissed || isDue || isCalling)
        let alarms = contacts.contacts.count(where: { contact in
            ContactLevel(contact, contacts.person(by: contact.account), at: now).isAlarm
        })
        let requests = contacts.requests.count(where: { $0.direction == .incoming })
        let roles = contacts.contacts.count(where: { $0.incomingRoleRequest != nil })
        let count = contacts.incomingPings.count + requests + roles + alarms
        self.contacts = Badge(count: count, isAlarm: alarms > 0)
        self.notifications = Badge(count: notifications.unreadCount, isAlarm: false)
        together = Badge(count: groups.invitations.count, isAlarm: false)
    }
}
