import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary

// A thief who takes over an account changes its password, which signs out the owner's devices. For a few days those
// devices can undo that with their last refresh token.

extension SessionReducer {
    /// Rejects more changes than are remembered: a thief must not be able to push out the first one.
    static func requireRoomForChange(
        _ rows: SessionRows, _ account: AccountID, _ time: Instant
    ) throws(Rejection) {
        let recent = rows.securityChanges(of: account).filter { $0.row.at + rows.limits.undoWindow > time }
        guard recent.count >= rows.limits.securityChanges, let first = recent.first else { return }
        throw .tooManyAttempts(
            "The account's security was changed too often", left: first.row.at + rows.limits.undoWindow - time)
    }

    /// Records the state that a change is about to replace.
    static func record(
        _ rows: inout SessionRows, _ kind: SecurityChangeKind, _ account: AccountID, by device: DeviceID?,
        _ time: Instant
    ) {
        guard let row = rows[account], let credential = rows.credentials[account] else { return }
        let before = SecurityState(
            password: credential, phone: row.phone, phoneID: row.phoneID, phoneKey: row.phoneKey,
            isSingleDevice: row.isSingleDevice,
            isConfirmationRequired: row.isConfirmationRequired, recovery: rows.recoveries[account])
        let number = (rows.securityChanges(of: account).last?.key.number ?? 0) + 1
        rows.securityChanges[SecurityChangeKey(account, number)] = SecurityChangeRow(
            kind: kind, at: time, device: device,
            deviceSignedIn: device.flatMap { rows[account, $0]?.signedIn } ?? time, before: before)
        forget(&rows, account, time)
    }

    static func undo(
        _ rows: inout SessionRows, _ command: UndoSecurityChanges, _ account: AccountID, _ row: AccountRow,
        _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        let asker = try requireSignedOutByChange(rows, command, account, time)
        let changes = rows.securityChanges(of: account)
        let mine = changes.filter { change in
            change.row.at + rows.limits.undoWindow > time && change.row.deviceSignedIn >= asker.signedIn
        }
        guard let first = first(of: mine, since: command.since, for: asker) else {
            throw Rejection(.nothingToUndo, "There is no recent change that this device may undo.")
        }
        let undone = changes.filter { $0.key >= first.key }
        restore(&rows, first.row.before, account, row, time)
        for change in undone { rows.securityChanges[change.key] = nil }
        forget(&rows, account, time)
        // A device can undo only once.
        rows[account, command.device]?.reason = .undone

        let actors = Set(undone.compactMap(\.row.device))
        let event = SecurityChangesUndone(
            account: account, device: command.device, changes: undone.map(\.row.kind), since: first.row.at,
            phone: rows[account]?.phone, isSingleDevice: first.row.before.isSingleDevice,
            isConfirmationRequired: first.row.before.isConfirmationRequired,
            recoveryCodes: rows.recoveries[account]?.hashes.count ?? 0, at: time)
        var events: [SessionEvent] = [.securityChangesUndone(event)]
        for (id, device) in rows.signedIn(account) {
            if actors.contains(id) || device.signedIn >= first.row.at {
                events.append(signOut(&rows, id, .undone, account, time))
            } else {
                // A confirmation may be based on what was just undone.
                rows[account, id]?.confirmedUntil = nil
            }
        }
        return events
    }

    /// Deletes changes that can no longer be undone. Emits nothing, since no one saw them.
    static func forgetSecurityChanges(
        _ rows: inout SessionRows, _ command: ForgetSecurityChanges, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard let oldest = rows[command.account]?.oldestChange else { return [] }
        try requireDue(oldest + rows.limits.undoWindow, time)
        forget(&rows, command.account, time)
        return []
    }

    private static func forget(_ rows: inout SessionRows, _ account: AccountID, _ time: Instant) {
        var oldest: Instant?
        for (key, row) in rows.securityChanges(of: account) {
            if row.at + rows.limits.undoWindow <= time {
                rows.securityChanges[key] = nil
            } else {
                oldest = min(oldest ?? row.at, row.at)
            }
        }
        rows[account]?.oldestChange = oldest
    }

    private static func requireSignedOutByChange(
        _ rows: SessionRows, _ command: UndoSecurityChanges, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> DeviceRow {
        guard let device = rows[account, command.device] else {
            throw Rejection(.deviceSignedOut, "This device is unknown; sign in again.", field: "device")
        }
        guard device.token == command.token else {
            throw Rejection(.invalidToken, "This isn't the device's last token.", field: "token")
        }
        guard let reason = device.reason else {
            throw Rejection(
                .nothingToUndo, "This device is still signed in; confirm and change things back instead.")
        }
        guard device.mayUndo(at: time, rows.limits) else {
            throw Rejection(.deviceSignedOut, "Sign in again: \(reason.explanation).", field: "device")
        }
        return device
    }

    /// The first change to undo: the first one since a given time or, without one, the first by the device whose change
    /// signed the asking device out.
    private static func first(
        of changes: [(key: SecurityChangeKey, row: SecurityChangeRow)], since: Instant?, for asker: DeviceRow
    ) -> (key: SecurityChangeKey, row: SecurityChangeRow)? {
        if let since { return changes.first { $0.row.at >= since } }
        let after = changes.first { change in asker.signedOut.map { change.row.at >= $0 } ?? false }
        guard let cause = after ?? changes.last else { return nil }
        return changes.first { $0.row.device == cause.row.device }
    }

    private static func restore(
        _ rows: inout SessionRows, _ before: SecurityState, _ account: AccountID, _ row: AccountRow, _ time: Instant
    ) {
        // Someone else may have claimed the phone meanwhile.
        let isFree = before.phone.map { rows.owner(of: $0) ?? account == account } ?? true
        var restored = row
        restored.phone = isFree ? before.phone : nil
        restored.phoneID = isFree ? before.phoneID : nil
        restored.phoneKey = isFree ? before.phoneKey : nil
        restored.isSingleDevice = before.isSingleDevice
        restored.isConfirmationRequired = before.isConfirmationRequired
        rows[account] = restored
        rows.credentials[account] = before.password
        rows.recoveries[account] = before.recovery
        // Codes on their way were requested by the same person as the changes.
        for key in rows.phoneCodes.keys.filter({ $0.account == account }) {
            if let code = rows.phoneCodes[key], code.expires > time { rows.phoneCodes[key]?.expires = time }
        }
    }
}
