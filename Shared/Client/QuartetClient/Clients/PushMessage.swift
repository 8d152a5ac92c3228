public import Foundation
import QuartetAPI
public import QuartetNotificationsContract
import QuartetSessionContract
public import QuartetVocabulary

/// A push that carries its notification whole, as far as an app needs it. ``QuartetPush`` reads the others, too.
public struct PushMessage: Codable, Hashable, Sendable {
    public let account: AccountID
    public let notification: QuartetNotification
    /// How many notifications were unread then, including this one: what an app's badge shows.
    public let unread: Int

    /// - Throws: ``QuartetError/unreadable(_:)``, also for a kind of notification that only a newer app knows.
    public init(json: Data) throws(QuartetError) {
        do { self = try JSONDecoder().decode(Self.self, from: json) } catch { throw .unreadable("\(error)") }
    }

    /// Of a notification's `userInfo` on Apple's systems, where the JSON is the member `quartet`.
    public init(userInfo: [AnyHashable: Any]) throws(QuartetError) {
        try self.init(json: Self.json(in: userInfo))
    }

    static func json(in userInfo: [AnyHashable: Any]) throws(QuartetError) -> Data {
        guard let message = userInfo["quartet"], JSONSerialization.isValidJSONObject(message),
            let json = try? JSONSerialization.data(withJSONObject: message)
        else { throw .unreadable("a push must have the member quartet") }
        return json
    }
}
