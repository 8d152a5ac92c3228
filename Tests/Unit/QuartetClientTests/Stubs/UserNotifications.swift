// As much of Apple's UserNotifications as SystemSurroundings uses, so that it is type-checked where there is none. Nothing of it runs.
// Declarations follow https://developer.apple.com/documentation/usernotifications.

public import Foundation

public final class UNNotificationSound {
    public static var `default`: UNNotificationSound { UNNotificationSound() }
}

open class UNNotificationContent {}

public class UNMutableNotificationContent: UNNotificationContent {
    public var body = ""
    public var threadIdentifier = ""
    public var sound: UNNotificationSound?
    public override init() {}
}

open class UNNotificationTrigger {}

public class UNTimeIntervalNotificationTrigger: UNNotificationTrigger {
    public convenience init(timeInterval: TimeInterval, repeats: Bool) { self.init() }
}

public final class UNNotificationRequest {
    public var identifier: String { "" }
    public init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {}
}

public final class UNNotification {
    public var request: UNNotificationRequest {
        UNNotificationRequest(identifier: "", content: UNNotificationContent(), trigger: nil)
    }
}

public final class UNUserNotificationCenter {
    public static func current() -> UNUserNotificationCenter { UNUserNotificationCenter() }
    public func add(_ request: UNNotificationRequest) async throws {}
    public func pendingNotificationRequests() async -> [UNNotificationRequest] { [] }
    public func deliveredNotifications() async -> [UNNotification] { [] }
    public func removePendingNotificationRequests(withIdentifiers identifiers: [String]) {}
    public func removeDeliveredNotifications(withIdentifiers identifiers: [String]) {}
}
