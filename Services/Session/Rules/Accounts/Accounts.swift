import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: AccountCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        switch command {
        case .updateProfile(let command):
            let (account, row) = try asker(rows, context)
            return try updateProfile(&rows, command, account, row, context.time)
        case .closeAccount(let command):
            let (account, row) = try knownAsker(rows, context)
            return try close(&rows, command, account, row, context.time)
        case .freeHandle(let command): return try freeHandle(&rows, command, context.time)
        case .setCanary(let command): return try setCanary(&rows, command, context)
        }
    }

    private static func updateProfile(
        _ rows: inout SessionRows, _ command: UpdateProfile, _ account: AccountID, _ row: AccountRow, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard row.profileVersion == command.expectedVersion else {
            throw .staleVersion(expected: command.expectedVersion, current: row.profileVersion)
        }
        var changed = row
        if let name = command.name { changed.name = try PersonName(name).description }
        changed.emergencyNote = command.emergencyNote ?? row.emergencyNote
        guard changed != row else { return [] }
        changed.profileVersion += 1
        rows[account] = changed
        return [
            .profileUpdated(
                .init(
                    account: account, name: changed.name, emergencyNote: changed.emergencyNote,
                    version: changed.profileVersion, at: time))
        ] + (changed.name == row.name ? [] : updateParticipant(&rows, account, time))
    }

    /// Keeps the id, and for a while the handle, so that no one else gets it. Everything else is deleted, so this can't
    /// be undone.
    static func close(
        _ rows: inout SessionRows, _ command: CloseAccount, _ account: AccountID, _ row: AccountRow, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard row.closed == nil else { return [] }
        try requireConfirmed(rows, account, by: command.by, time)
        for (id, _) in rows.devices(of: account) { rows[account, id] = nil }
        rows.credentials[account] = nil
        rows.recoveries[account] = nil
        for change in rows.securityChanges(of: account) { rows.securityChanges[change.key] = nil }
        for key in rows.phoneCodes.keys.filter({ $0.account == account }) { rows.phoneCodes[key] = nil }
        rows[account] = AccountRow(handle: row.handle, opened: row.opened, closed: time)
        return [.accountClosed(.init(account: account, at: time))] + leaveAll(&rows, account, time)
    }

    /// Emits nothing: a closed account has no more events.
    static func freeHandle(
        _ rows: inout SessionRows, _ command: FreeHandle, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard let closed = rows[command.account]?.closed, rows[command.account]?.handle != nil else { return [] }
        try requireDue(closed + rows.limits.handleRest, time)
        rows[command.account]?.handle = nil
        return []
    }
}

extension SessionReducer {
    /// The only account without a handle, and the only one that may be missed so often.
    static func setCanary(
        _ rows: inout SessionRows, _ command: SetCanary, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        guard let account = context.account, account.canaryRole == .person else { throw .accountNotFound() }
        var row = rows[account] ?? AccountRow(opened: context.time)
        guard !row.checkIn.missed else { return [] }
        (row.checkIn.remindsTwoHours, row.checkIn.remindsThirtyMinutes) = (false, false)
        if let interval = command.interval, interval != row.checkIn.interval || row.checkIn.due == nil {
            row.checkIn.interval = interval
            row.checkIn.move(to: CheckInDeadline(due: context.time + command.delay), at: context.time)
        } else if command.interval == nil {
            row.checkIn.due = nil
        }
        rows[account] = row
        return []
    }
}

extension SessionRows.Selection {
    mutating func add(_ command: AccountCommand, of account: AccountID) {
        switch command {
        case .updateProfile: followed.insert(account)
        case .freeHandle, .setCanary: break
        case .closeAccount:
            followed.insert(account)
            uploaders.insert(account)
            securing.insert(account)
            coding.insert(account)
        }
    }
}
