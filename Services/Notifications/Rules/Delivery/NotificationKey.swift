package import QuartetNotificationsContract
package import QuartetVocabulary

package struct NotificationKey: Hashable, Comparable, Sendable {
    package let account: AccountID
    package let id: NotificationID

    package init(_ account: AccountID, _ id: NotificationID) {
        self.account = account
        self.id = id
    }

    package static func < (left: Self, right: Self) -> Bool { (left.account, left.id) < (right.account, right.id) }
}
