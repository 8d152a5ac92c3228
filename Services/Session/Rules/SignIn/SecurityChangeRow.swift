package import QuartetSessionContract
package import QuartetVocabulary

package struct SecurityChangeKey: Hashable, Comparable, Sendable {
    package let account: AccountID
    /// Numbers the changes of an account.
    package let number: Int32

    package init(_ account: AccountID, _ number: Int32) {
        self.account = account
        self.number = number
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.account, left.number) < (right.account, right.number)
    }
}

/// A security change that can still be undone.
package struct SecurityChangeRow: Equatable, Sendable {
    package var kind: SecurityChangeKind
    package var at: Instant
    /// The device that made the change.
    package var device: DeviceID?
    package var deviceSignedIn: Instant
    /// The state to restore.
    package var before: SecurityState
}

/// Everything that a security change can change. It is in no event, and no other service can read it.
package struct SecurityState: Equatable, Sendable {
    package var password: CredentialRow
    package var phone: Phone?
    /// The edge's name for the phone's number.
    package var phoneID: PhoneID?
    /// The server key that `phoneID` was made with.
    package var phoneKey: KeyVersion?
    package var isSingleDevice: Bool
    package var isConfirmationRequired: Bool
    /// Nil if no codes were ever made.
    package var recovery: RecoveryRow?
}

extension SecurityChangeRow {
    package static let blank = Self(
        kind: .settings, at: .blank, deviceSignedIn: .blank,
        before: SecurityState(
            password: CredentialRow(key: .blank, hash: []), isSingleDevice: false, isConfirmationRequired: false))
}
