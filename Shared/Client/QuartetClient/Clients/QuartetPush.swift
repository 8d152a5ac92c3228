public import Foundation
public import QuartetVocabulary

/// A push as it arrives at a device, by whichever service. ``NotificationsClient/handle(_:)`` does what follows from it.
public enum QuartetPush: Hashable, Sendable {
    /// It carries its notification.
    case notification(PushMessage)
    /// It tells of a notification that it doesn't carry, because that had no room, or because browsers are told less. Its own title and
    /// text stay as they are.
    case news(AccountID)
    /// A test, which whoever runs the server sent: nobody was told anything by it. Its own title and text say so.
    case test(AccountID)

    /// Whom it is for. An app with several accounts says so: it may be another one than the one that is shown.
    public var account: AccountID {
        switch self {
        case .notification(let message): message.account
        case .news(let account), .test(let account): account
        }
    }

    /// What a webhook was given, or what a browser decrypts.
    /// - Throws: ``QuartetError/unreadable(_:)``, also for a kind of notification that only a newer app knows.
    public init(json: Data) throws(QuartetError) {
        do {
            let outline = try JSONDecoder().decode(Outline.self, from: json)
            if outline.isTest == true {
                self = .test(outline.account)
            } else if outline.carriesNotification {
                self = .notification(try PushMessage(json: json))
            } else {
                self = .news(outline.account)
            }
        } catch let error as QuartetError {
            throw error
        } catch {
            throw .unreadable("\(error)")
        }
    }

    /// A notification's `userInfo` on Apple's systems, where the JSON is the member `quartet`.
    /// - Throws: as ``init(json:)``, and where there is no such member: it is no push of Quartet's.
    public init(userInfo: [AnyHashable: Any]) throws(QuartetError) {
        try self.init(json: PushMessage.json(in: userInfo))
    }

    /// The `data` of a message of Firebase Cloud Messaging, in which everything is text.
    /// - Throws: as ``init(json:)``, and where it is no push of Quartet's.
    public init(data: [String: String]) throws(QuartetError) {
        var members: [String: Any] = data
        members["isTest"] = data["isTest"].map { $0 == "true" }
        members["unread"] = data["unread"].flatMap(Int.init)
        if let notification = data["notification"] {
            guard let object = try? JSONSerialization.jsonObject(with: Data(notification.utf8)) else {
                throw .unreadable("the notification of a push is no JSON")
            }
            members["notification"] = object
        }
        guard let json = try? JSONSerialization.data(withJSONObject: members) else {
            throw .unreadable("a push can't be written as JSON")
        }
        try self.init(json: json)
    }

    /// What says which of them it is.
    private struct Outline: Decodable {
        let account: AccountID
        let isTest: Bool?
        /// Browsers get its id alone.
        let carriesNotification: Bool

        private enum CodingKeys: CodingKey {
            case account, isTest, notification
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            account = try container.decode(AccountID.self, forKey: .account)
            isTest = try container.decodeIfPresent(Bool.self, forKey: .isTest)
            carriesNotification =
                try container.contains(.notification) && !container.decodeNil(forKey: .notification)
                && (try? container.decode(String.self, forKey: .notification)) == nil
        }
    }
}
