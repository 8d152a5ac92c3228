package import NotificationsContract
package import Vocabulary

/// A device's place: whose it is, and its id.
package struct PushPlace: Hashable, Comparable, Sendable {
    /// Whose.
    package let account: AccountID
    /// Its id.
    package let device: PushDeviceID

    /// - Parameters:
    ///   - account: Whose.
    ///   - device: Its id.
    package init(_ account: AccountID, _ device: PushDeviceID) {
        self.account = account
        self.device = device
    }

    /// By account, then by id.
    package static func < (left: Self, right: Self) -> Bool {
        (left.account, left.device) < (right.account, right.device)
    }
}

/// A device that is pushed to.
package struct PushDeviceRow: Equatable, Sendable {
    /// What the push service knows it by.
    package var token: String
    /// By which kind of push service it is reached.
    package var platform: PushPlatform
    /// Since when it is registered with this token.
    package var registered: Instant
    /// Whether it was signed out and only gets what waits for it already: why it was.
    package var isLeaving = false
}

/// A push that waits to be sent.
package struct WaitingPush: Equatable, Sendable {
    /// To which device.
    package let place: PushPlace
    /// What is pushed.
    package let body: PushBody
}

extension PushDeviceRow {
    package static let blank = Self(token: "", platform: .other, registered: .blank)
}
