package import QuartetNotificationsContract
package import QuartetNotificationsRules
package import QuartetVocabulary

/// A notification sent to one device.
package struct Push: Hashable, Sendable {
    /// The same for every attempt.
    package let id: PushID
    package let account: AccountID
    package let device: PushDeviceID
    /// Issued by the push service. Must not be logged.
    package let token: String
    package let platform: PushPlatform
    package let notification: PushedNotification
    /// How many notifications were unread, including this one. Nil for a test: it may be sent after an alarm that was counted later, and
    /// an app whose badge goes to zero loses the alarms that iOS shows.
    package let unread: Int?
    /// True for a test, which nobody was told by: its notification is in no history.
    package let isTest: Bool?

    init(_ body: PushBody, to account: AccountID, device: PushDeviceID, token: String, platform: PushPlatform) {
        id = body.id
        self.account = account
        self.device = device
        self.token = token
        self.platform = platform
        notification = body.notification
        unread = body.isTest == true ? nil : body.unread
        isTest = body.isTest
    }
}

/// Hands pushes to something that delivers them to devices.
package protocol PushSender: Sendable {
    /// Sends one push. May be called again with the same one.
    /// - Throws: ``PushFailure``, which says whether to try again.
    func send(_ push: Push) async throws(PushFailure) -> PushAnswer
}

/// What became of a push that was sent, with the receiver's words for the record.
package enum PushAnswer: Hashable, Sendable {
    /// A push service took it. It may reach the device, sooner or later.
    case taken(String)
    /// It was logged, and went nowhere.
    case logged(String)
    /// It ended where a canary's pushes end.
    case noted(String)
}

/// Why a push wasn't sent.
package enum PushFailure: Error, Hashable, Sendable {
    /// The device no longer exists; nothing more should be sent to it.
    /// - Parameter since: Since when, if the push service says it. A device that registered later is there again.
    case gone(since: Instant? = nil)
    /// The receiver says that it will never take it.
    case refused(String)
    /// Nobody will ever take it, because of what it is: too large, or it can't be written.
    case unfit(String)
    /// The receiver may take it later.
    /// - Parameter retryAfter: How long it wants to be left alone, if it says so.
    case unavailable(String, retryAfter: Duration? = nil)
}

/// Which sender pushes to which devices.
package struct PushSenders: Sendable {
    private let others: any PushSender
    private let own: [PushPlatform: any PushSender]

    /// - Parameters:
    ///   - others: Gets what is for a platform without a sender of its own.
    ///   - own: A platform's own sender.
    package init(_ others: any PushSender, own: [PushPlatform: any PushSender] = [:]) {
        (self.others, self.own) = (others, own)
    }

    subscript(platform: PushPlatform) -> any PushSender { own[platform] ?? others }

    /// All platforms whose pushes go through the same sender as this one's.
    func platforms(beside platform: PushPlatform) -> Set<PushPlatform> {
        own[platform] != nil ? [platform] : Set(PushPlatform.allCases).subtracting(own.keys)
    }

    /// Whether a platform's pushes go to many services, of which one says nothing about another.
    func isOfManyServices(_ platform: PushPlatform) -> Bool { platform == .web && own[.web] != nil }

    /// The platforms of each sender. Pushes of one sender wait for none of another's.
    var outlets: Set<Set<PushPlatform>> { Set(PushPlatform.allCases.map(platforms(beside:))) }
}
