import Crypto
import QuartetContractSupport
import QuartetSessionContract
package import QuartetVocabulary

/// The unused recovery codes. They are in no event, and no other service can read them.
package struct RecoveryRow: Equatable, Sendable {
    /// SHA-256 of each code's proof.
    package var hashes: [[UInt8]]
    package var made: Instant
}

extension RecoveryRow {
    package static let blank = Self(hashes: [], made: .blank)
}

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: RecoveryCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        switch command {
        case .makeRecoveryCodes(let command):
            let (account, _) = try asker(rows, context)
            return try makeRecoveryCodes(&rows, command, account, context.time)
        case .confirmByRecoveryCode(let command):
            let (account, _) = try asker(rows, context)
            return try confirmByRecoveryCode(&rows, command, account, context.time)
        case .undoSecurityChanges(let command):
            let (account, row) = try asker(rows, context)
            return try undo(&rows, command, account, row, context.time)
        case .forgetSecurityChanges(let command): return try forgetSecurityChanges(&rows, command, context.time)
        }
    }

    static func makeRecoveryCodes(
        _ rows: inout SessionRows, _ command: MakeRecoveryCodes, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        try requireConfirmed(rows, account, by: command.by, time)
        try requireRoomForChange(rows, account, time)
        record(&rows, .recoveryCodes, account, by: command.by, time)
        rows.recoveries[account] = RecoveryRow(hashes: command.proofs.map(hash(of:)), made: time)
        return [.recoveryCodesMade(.init(account: account, count: command.proofs.count, at: time))]
    }

    static func signInByRecoveryCode(
        _ rows: inout SessionRows, _ command: SignInByRecoveryCode, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard let handle = try? Handle(command.handle), let account = rows.owner(of: handle), let row = rows[account],
            row.closed == nil, row.handle == handle, let code = goodCode(rows, command.proof, of: account)
        else { throw SignInByRecoveryCode.rejection }
        try requireNew(command.device, rows, account)
        var events = begin(&rows, command.device, account, row, time, byPassword: false)
        // The sign-in stays first: it is the command's result.
        events.insert(use(&rows, code, of: account, on: command.device.id, time), at: 1)
        return events
    }

    static func confirmByRecoveryCode(
        _ rows: inout SessionRows, _ command: ConfirmByRecoveryCode, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard var device = rows[account, command.device], device.signedOut == nil else {
            throw Rejection(.deviceSignedOut, "This device isn't signed in; sign in again.", field: "device")
        }
        if let until = device.guesses.blockedUntil, until > time {
            throw .tooManyAttempts("Too many wrong passwords or codes", left: until - time, field: "recoveryCode")
        }
        guard let code = goodCode(rows, command.proof, of: account) else {
            device.guesses.fail(at: time, free: rows.limits.freeFailures, rows.limits)
            rows[account, command.device] = device
            return [.signInFailed(.init(account: account, blockedUntil: device.guesses.blockedUntil, at: time))]
        }
        rows[account, command.device]?.guesses = GuessesRow()
        return [
            confirm(&rows, account, command.device, byPassword: false, time),
            use(&rows, code, of: account, on: command.device, time),
        ]
    }

    /// The hash of an unused code that the proof matches.
    private static func goodCode(_ rows: SessionRows, _ proof: Secret, of account: AccountID) -> [UInt8]? {
        let digest = SHA256.hash(data: proof.bytes)
        // Comparing digests takes the same time wherever they differ.
        return rows.recoveries[account]?.hashes.first { digest == $0 }
    }

    /// Removes a code, also from states that an undo would restore: each can be used once.
    private static func use(
        _ rows: inout SessionRows, _ code: [UInt8], of account: AccountID, on device: DeviceID, _ time: Instant
    ) -> SessionEvent {
        rows.recoveries[account]?.hashes.removeAll { $0 == code }
        for change in rows.securityChanges(of: account) {
            rows.securityChanges[change.key]?.before.recovery?.hashes.removeAll { $0 == code }
        }
        return .recoveryCodeUsed(
            .init(
                account: account, device: device, left: rows.recoveries[account]?.hashes.count ?? 0, at: time))
    }
}

extension SessionRows.Selection {
    mutating func add(_ command: RecoveryCommand, of account: AccountID) {
        switch command {
        case .makeRecoveryCodes, .confirmByRecoveryCode, .forgetSecurityChanges: securing.insert(account)
        case .undoSecurityChanges:
            securing.insert(account)
            undoing.insert(account)
        }
    }
}
