public import QuartetNotificationsContract

/// `GET /v1/reminders`: what the caller will be reminded of, the soonest first.
public struct RemindersReply: Codable, Hashable, Sendable {
    public let reminders: [ScheduledNotification]

    public init(reminders: [ScheduledNotification]) {
        self.reminders = reminders
    }
}
