package import NotificationsContract
package import NotificationsRules
package import Vocabulary

/// What is sent to one device about one notification. Its JSON is what a webhook gets.
package struct Push: Codable, Hashable, Sendable {
    /// The same each time it is sent.
    package let id: PushID
    /// Who is told.
    package let account: AccountID
    /// Which of their devices.
    package let device: PushDeviceID
    /// What the push service knows the device by. Never to be logged.
    package let token: String
    /// By which kind of push service it is reached.
    package let platform: PushPlatform
    /// What they are told.
    package let notification: PushedNotification
    /// How many notifications were unread after it.
    package let unread: Int

    /// - Parameters:
    ///   - body: What is pushed.
    ///   - account: Who is told.
    ///   - device: Which of their devices.
    ///   - token: What the push service knows it by.
    ///   - platform: Which kind of push service that is.
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

/// Hands pushes on to devices, by whichever way.
package protocol PushSender: Sendable {
    /// Sends one push, or finds out why that can't be done. The same one may be sent several times.
    /// - Returns: What the receiver answered, for the record.
    /// - Throws: ``PushFailure``, which says whether to try again.
    func send(_ push: Push) async throws(PushFailure) -> String
}

/// Why a push was not sent.
package enum PushFailure: Error, Hashable, Sendable {
    /// The device isn't there any more, so nothing need ever be sent to it again.
    case gone
    /// It will never be taken; why.
    case refused(String)
    /// It may be taken later; why it wasn't now.
    case unavailable(String)
}
