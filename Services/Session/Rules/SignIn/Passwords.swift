import Crypto
import QuartetContractSupport
package import QuartetSessionContract
import QuartetVocabulary

/// A password. It is in no event, and no other service can read it.
package struct CredentialRow: Equatable, Sendable {
    /// The server key that the verifier was made with.
    package var key: KeyVersion
    /// SHA-256 of the verifier.
    package var hash: [UInt8]

    package init(key: KeyVersion, hash: [UInt8]) {
        self.key = key
        self.hash = hash
    }
}

extension SessionReducer {
    static func changePassword(
        _ rows: inout SessionRows, _ command: ChangePassword, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard !command.verifier.contains(command.next) else {
            throw Rejection(.samePassword, "The new password must differ from the current one.", field: "next")
        }
        try requireRoomForChange(rows, account, time)
        if let failed = try prove(&rows, account, command.verifier, by: command.by, time) { return [failed] }
        return setPassword(&rows, command.next, account, by: command.by, time)
    }

    static func resetPassword(
        _ rows: inout SessionRows, _ command: ResetPassword, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        try requireConfirmed(rows, account, by: command.by, time)
        try requireRoomForChange(rows, account, time)
        return setPassword(&rows, command.next, account, by: command.by, time)
    }

    /// Sets the password and signs out every device but the asking one.
    ///
    /// Signing in confirms what follows in the next minutes, so that a new person needn't enter their password twice. A thief of
    /// that device's access token could use it, too. So what was done without another confirmation ends with the old password: the
    /// phone that was added, the code on its way to one, and the confirmation itself.
    static func setPassword(
        _ rows: inout SessionRows, _ next: Proof, _ account: AccountID, by device: DeviceID?, _ time: Instant
    ) -> [SessionEvent] {
        let isPhoneUnproven = isPhoneUnproven(rows, account, time)
        record(&rows, .password, account, by: device, time)
        rows.credentials[account] = CredentialRow(next)
        var events: [SessionEvent] = [.passwordChanged(.init(account: account, at: time))]
        let code = PhoneCodeKey(account, .phoneChange)
        if let pending = rows.phoneCodes[code], pending.expires > time { rows.phoneCodes[code]?.expires = time }
        if let device, let asker = rows[account, device], asker.isConfirmedBySigningIn(rows.limits) {
            rows[account, device]?.confirmedUntil = nil
        }
        if isPhoneUnproven {
            record(&rows, .phone, account, by: device, time)
            rows[account]?.phone = nil
            rows[account]?.phoneID = nil
            rows[account]?.phoneKey = nil
            events.append(.phoneChanged(.init(account: account, at: time)))
        }
        for (id, _) in rows.signedIn(account) where id != device {
            events.append(signOut(&rows, id, .passwordChanged, account, time))
        }
        return events
    }

    /// Whether the phone was changed lately by a device that had just signed in: then nothing else may have confirmed it.
    private static func isPhoneUnproven(_ rows: SessionRows, _ account: AccountID, _ time: Instant) -> Bool {
        guard rows[account]?.phone != nil,
            let change = rows.securityChanges(of: account).last(where: { $0.row.kind == .phone })?.row
        else { return false }
        return change.at + rows.limits.undoWindow > time
            && change.at <= change.deviceSignedIn + rows.limits.confirmation + PhoneCodeRules.lifetime
    }

    /// Checks the password. Returns nil if it is right. Otherwise counts the failure for the signed-in device alone, so
    /// that strangers' guesses don't lock its owner out, and returns the event.
    static func prove(
        _ rows: inout SessionRows, _ account: AccountID, _ verifier: [Proof], by device: DeviceID?, _ time: Instant
    ) throws(Rejection) -> SessionEvent? {
        guard let device, let asker = rows[account, device], asker.signedOut == nil else {
            throw Rejection(.deviceSignedOut, "This device isn't signed in; sign in again.", field: "device")
        }
        var guesses = asker.guesses
        if let until = guesses.blockedUntil, until > time {
            throw .tooManyAttempts("Too many wrong passwords", left: until - time, field: "password")
        }
        let isRight = isRight(verifier, rows, account)
        if isRight {
            guesses = GuessesRow()
        } else {
            guesses.fail(at: time, free: rows.limits.freeFailures, rows.limits)
        }
        rows[account, device]?.guesses = guesses
        if isRight { renew(&rows, verifier, account) }
        return isRight
            ? nil : .signInFailed(.init(account: account, blockedUntil: guesses.blockedUntil, at: time))
    }

    static func isRight(_ verifier: [Proof], _ rows: SessionRows, _ account: AccountID) -> Bool {
        guard let credential = rows.credentials[account] else { return false }
        return isRight(verifier, credential.hash, madeUnder: credential.key)
    }

    /// Whether one of the proofs matches a stored hash. None does if its server key is no longer in use.
    static func isRight(_ proofs: [Proof], _ hash: [UInt8], madeUnder key: KeyVersion) -> Bool {
        guard let proof = proofs.first(where: { $0.key == key }) else { return false }
        // Comparing digests takes the same time wherever they differ.
        return SHA256.hash(data: proof.secret.bytes) == hash
    }

    /// Replaces a hash made with an old server key.
    static func renew(_ rows: inout SessionRows, _ verifier: [Proof], _ account: AccountID) {
        guard let current = verifier.first, rows.credentials[account]?.key != current.key else { return }
        rows.credentials[account] = CredentialRow(current)
    }

    static func hash(of secret: Secret) -> [UInt8] { Array(SHA256.hash(data: secret.bytes)) }
}

extension CredentialRow {
    init(_ verifier: Proof) {
        self.init(key: verifier.key, hash: SessionReducer.hash(of: verifier.secret))
    }
}
