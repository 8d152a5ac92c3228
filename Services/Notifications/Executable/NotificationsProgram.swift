import NotificationsService
import ServiceKit

@main
struct NotificationsProgram: DomainProgram {
    static let name = "notifications"
    static let summary = "What each person was told, and how much of it is unread."
    static let target = "NotificationsService"

    static func store(_ settings: Settings) -> NotificationsStore { NotificationsStore() }
}
