public import Foundation
import QuartetAPI
public import QuartetNotificationsContract
import QuartetSessionContract
public import QuartetVocabulary

/// A push as it arrives at a device: the JSON that the server gave to the system which sends pushes, as far as an app needs it.
public struct PushMessage: Codable, Hashable, Sendable {
    public let account: AccountID
    public let notification: QuartetNotification
    /// How many notifications were unread then, including this one: what an app's badge shows.
    public let unread: Int
    /// True for a test, which whoever runs the server sent: nobody was told anything by it. It shows what it carries, and
    /// ``NotificationsClient/handle(push:)`` does nothing with it.
    public let isTest: Bool?

    /// - Throws: ``QuartetError/unreadable(_:)``, also for a kind of notification that only a newer app knows.
    public init(json: Data) throws(QuartetError) {
        do { self = try JSONDecoder().decode(Self.self, from: json) } catch { throw .unreadable("\(error)") }
    }

    /// Of a notification's `userInfo` on Apple's systems, where the JSON is the member `quartet`.
    public init(userInfo: [AnyHashable: Any]) throws(QuartetError) {
        guard let message = userInfo["quartet"], JSONSerialization.isValidJSONObject(message),
            let json = try? JSONSerialization.data(withJSONObject: message)
        else { throw .unreadable("a push must have the member quartet") }
        try self.init(json: json)
    }
}
