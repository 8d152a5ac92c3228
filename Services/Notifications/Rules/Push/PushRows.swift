package import QuartetNotificationsContract
package import QuartetVocabulary

package struct PushDeviceKey: Hashable, Comparable, Sendable {
    package let account: AccountID
    package let device: PushDeviceID

    package init(_ account: AccountID, _ device: PushDeviceID) {
        self.account = account
        self.device = device
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.account, left.device) < (right.account, right.device)
    }
}

/// A device that notifications are pushed to.
package struct PushDeviceRow: Equatable, Sendable {
    /// Issued by the push service.
    package var token: String
    package var platform: PushPlatform
    /// When the device got this token.
    package var registered: Instant
    /// Set when it was signed out but a warning that says so still waits for it.
    package var isLeaving = false
}

/// A device that was signed out lately. A registration that was under way is refused.
package struct SignedOutDeviceRow: Equatable, Sendable {
    package var at: Instant

    package static let blank = Self(at: .blank)
}

package struct WaitingPush: Equatable, Identifiable, Sendable {
    /// A notification waits once for each device.
    package struct ID: Hashable, Sendable {
        let device: PushDeviceKey
        let notification: NotificationID
    }

    package let key: PushDeviceKey
    package let body: PushBody
    /// Whether its device was signed out after this was added. Then what waited before the batch still waited when it was.
    package var isBeforeSignOut = false

    package var id: ID { ID(device: key, notification: body.notification.id) }

    /// Whether it warns of something about the account itself.
    package var isWarning: Bool {
        let notification = body.notification
        return notification.category == .system && notification.subject == nil && !notification.details.isReminder
    }
}

extension PushDeviceRow {
    package static let blank = Self(token: "", platform: .other, registered: .blank)
}
