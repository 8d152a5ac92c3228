package import NotificationsContract
package import NotificationsRules
package import Vocabulary

/// A notification sent to one device. A webhook gets it as JSON.
package struct Push: Codable, Hashable, Sendable {
    /// The same for every attempt.
    package let id: PushID
    package let account: AccountID
    package let device: PushDeviceID
    /// Issued by the push service. Must not be logged.
    package let token: String
    package let platform: PushPlatform
    package let notification: PushedNotification
    /// How many notifications were unread, including this one.
    package let unread: Int

    init(_ body: PushBody, to account: AccountID, device: PushDeviceID, token: String, platform: PushPlatform) {
        id = body.id
        self.account = account
        self.device = device
        self.token = token
        self.platform = platform
        notification = body.notification
        unread = body.unread
    }
}

/// Hands pushes to something that delivers them to devices.
package protocol PushSender: Sendable {
    /// Sends one push. May be called again with the same one.
    /// - Returns: the receiver's answer, for the record.
    /// - Throws: ``PushFailure``, which says whether to try again.
    func send(_ push: Push) async throws(PushFailure) -> String

    /// Whether what it takes goes to people's devices. Yes by default.
    var reachesDevices: Bool { get }
}

extension PushSender {
    package var reachesDevices: Bool { true }
}

/// Why a push wasn't sent.
package enum PushFailure: Error, Hashable, Sendable {
    /// The device no longer exists; nothing more should be sent to it.
    case gone
    /// The receiver will never take it.
    case refused(String)
    /// The receiver may take it later.
    case unavailable(String)
}
