import QuartetContractSupport
package import QuartetSessionContract
package import QuartetVocabulary

/// A stranger's code doesn't void the one that the owner asked for, so codes are also told apart by who asked.
package struct PhoneCodeKey: Hashable, Comparable, Sendable {
    package let account: AccountID
    package let purpose: PhoneCodePurpose
    /// Where a sign-in code was asked for.
    package let source: SourceID

    package init(_ account: AccountID, _ purpose: PhoneCodePurpose, from source: SourceID = AttemptKey.everywhere) {
        self.account = account
        self.purpose = purpose
        self.source = source
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.account, left.purpose.rawValue, left.source) < (right.account, right.purpose.rawValue, right.source)
    }
}

/// The latest code sent to a phone under one key. It is in no event, and no other service can read it.
package struct PhoneCodeRow: Equatable, Sendable {
    package var code: PhoneCodeID
    package var phoneID: PhoneID
    /// The account's new phone; nil for a sign-in code.
    package var phone: Phone?
    /// The server key that the proof and `phoneID` were made with.
    package var key: KeyVersion
    /// SHA-256 of the proof.
    package var hash: [UInt8]
    package var attempts = 0
    package var issued: Instant
    /// Using the code moves this to the time of use.
    package var expires: Instant
    /// When the new phone may first be used to sign in; nil if at once.
    package var signsInFrom: Instant?
}

extension PhoneCodeRow {
    package static let blank = Self(
        code: .blank, phoneID: .blank, key: .blank, hash: [], issued: .blank, expires: .blank)
}

extension SessionReducer {
    /// Replaces the code under its key.
    static func issue(
        _ rows: inout SessionRows, _ code: PhoneCodeRow, at key: PhoneCodeKey, _ time: Instant
    ) -> SessionEvent {
        rows.phoneCodes[key] = code
        return .phoneCodeIssued(
            .init(account: key.account, code: code.code, purpose: key.purpose, expires: code.expires, at: time))
    }

    /// Whether the digits may still be entered.
    static func isGood(_ row: PhoneCodeRow, _ code: PhoneCodeID, _ time: Instant) -> Bool {
        row.code == code && row.expires > time && row.attempts < PhoneCodeRules.attempts
    }

    /// Checks a code's digits. Returns nil if they are right; the caller must then void the code. Otherwise counts the
    /// failure and returns its event.
    static func redeem(
        _ rows: inout SessionRows, _ proof: [Proof], at key: PhoneCodeKey, _ attempts: Attempts, _ time: Instant
    ) -> SessionEvent? {
        guard var row = rows.phoneCodes[key], !isRight(proof, row.hash, madeUnder: row.key) else {
            attempts.succeed(&rows)
            return nil
        }
        row.attempts += 1
        rows.phoneCodes[key] = row
        attempts.fail(&rows, time)
        return .phoneCodeFailed(
            .init(
                account: key.account, code: row.code, attemptsLeft: PhoneCodeRules.attempts - row.attempts, at: time))
    }
}
