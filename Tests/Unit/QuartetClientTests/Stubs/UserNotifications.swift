// As much of Apple's UserNotifications as SystemSurroundings uses, so that it is type-checked where there is none. Nothing of it runs.
// Declarations follow https://developer.apple.com/documentation/usernotifications.

public final class UNNotificationSound {
    public static var `default`: UNNotificationSound { UNNotificationSound() }
}

open class UNNotificationContent {}

public class UNMutableNotificationContent: UNNotificationContent {
    public var body = ""
    public var sound: UNNotificationSound?
    public override init() {}
}

open class UNNotificationTrigger {}

public final class UNNotificationRequest {
    public init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {}
}

public final class UNUserNotificationCenter {
    public static func current() -> UNUserNotificationCenter { UNUserNotificationCenter() }
    public func add(_ request: UNNotificationRequest) async throws {}
}
