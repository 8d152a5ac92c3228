import ContractSupport
import SessionContract
import Vocabulary

// A thief who takes an account over changes its password, which signs the owner's devices out. For a few days those devices
// may take that back with the refresh token that they had.

extension SessionReducer {
    /// Refuses more changes than are remembered: forgetting the first one would let a thief get rid of it.
    static func requireRoomForChange(
        _ rows: SessionRows, _ account: AccountID, _ time: Instant
    ) throws(Rejection) {
        let recent = rows.securityChanges(of: account).filter { $0.row.at + rows.limits.undoWindow > time }
        guard recent.count >= rows.limits.securityChanges, let first = recent.first else { return }
        throw .tooManyAttempts(
            "The account's security was changed too often", left: first.row.at + rows.limits.undoWindow - time)
    }

    /// Writes down what a change is about to replace.
    static func record(
        _ rows: inout SessionRows, _ kind: SecurityChangeKind, _ account: AccountID, by device: DeviceID?,
        _ time: Instant
    ) {
        guard let row = rows[account], let credential = rows.credentials[account] else { return }
        let before = SecurityState(
            password: credential, phone: row.phone, phoneID: row.phoneID, phoneKey: row.phoneKey,
            isSingleDevice: row.isSingleDevice,
            isConfirmationRequired: row.isConfirmationRequired, recovery: rows.recoveries[account])
        let number = (rows.securityChanges(of: account).last?.place.number ?? 0) + 1
        rows.securityChanges[SecurityChangePlace(account, number)] = SecurityChangeRow(
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
        let undone = changes.filter { $0.place >= first.place }
        restore(&rows, first.row.before, account, row, time)
        for change in undone { rows.securityChanges[change.place] = nil }
        forget(&rows, account, time)
        // Once.
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
                // What was confirmed by what is taken back is confirmed no more.
                rows[account, id]?.confirmedUntil = nil
            }
        }
        return events
    }

    /// Drops changes that can't be undone any more; says nothing, since nobody saw them.
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
        for (place, row) in rows.securityChanges(of: account) {
            if row.at + rows.limits.undoWindow <= time {
                rows.securityChanges[place] = nil
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

    /// The first change that is taken back: unless a time is given, the first one of the device that made the change by
    /// which the asker was signed out, or the first one after it.
    private static func first(
        of changes: [(place: SecurityChangePlace, row: SecurityChangeRow)], since: Instant?, for asker: DeviceRow
    ) -> (place: SecurityChangePlace, row: SecurityChangeRow)? {
        if let since { return changes.first { $0.row.at >= since } }
        let after = changes.first { change in asker.signedOut.map { change.row.at >= $0 } ?? false }
        guard let cause = after ?? changes.last else { return nil }
        return changes.first { $0.row.device == cause.row.device }
    }

    private static func restore(
        _ rows: inout SessionRows, _ before: SecurityState, _ account: AccountID, _ row: AccountRow, _ time: Instant
    ) {
        // Somebody else may have proved meanwhile that the phone is theirs.
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
        // Codes that are on their way were asked for by whoever made the changes.
        for place in rows.phoneCodes.keys.filter({ $0.account == account }) {
            if let code = rows.phoneCodes[place], code.expires > time { rows.phoneCodes[place]?.expires = time }
        }
    }
}
