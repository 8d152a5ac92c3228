import Grammar
public import SessionContract
public import Vocabulary
import WorkingSet

/// The rules of session: accounts and their devices, profiles, check-ins and alerts.
public enum SessionReducer: Reducer {
    /// The tables.
    public typealias State = SessionRows
    /// What can be asked.
    public typealias Command = SessionCommand
    /// What then happened.
    public typealias Event = SessionEvent

    /// Decides a command. A rejected one leaves the rows as they were.
    public static func reduce(
        _ rows: inout SessionRows, _ command: SessionCommand, _ context: CommandContext
    ) throws(Rejection) -> [Emission<SessionEvent>] {
        try command.command.validate()
        return try decide(&rows, command, context).map { Emission($0, key: .account($0.account)) }
    }

    private static func decide(
        _ rows: inout SessionRows, _ command: SessionCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let time = context.time
        switch command {
        case .signUp(let command): return try signUp(&rows, command, time)
        case .signIn(let command): return try signIn(&rows, command, time)
        case .expireCheckIn(let command): return try expire(&rows, command, time)
        case .remindCheckIn(let command): return try remind(&rows, command, time)
        case .repeatAlarm(let command): return try repeatAlarm(&rows, command, time)
        default: break
        }
        guard let account = context.account else { throw .accountRequired }
        guard let row = rows[account] else { throw .accountNotFound() }
        if case .closeAccount = command { return close(&rows, account, row, time) }
        guard row.closed == nil else { throw .accountClosed() }
        return switch command {
        case .signUp, .signIn, .expireCheckIn, .remindCheckIn, .repeatAlarm, .closeAccount: []
        case .refreshDevice(let command): try refresh(&rows, command, account, time)
        case .signOut(let command): try signOut(&rows, command, account, time)
        case .changePassword(let command): try changePassword(&rows, command, account, time)
        case .updateSecurity(let command): updateSecurity(&rows, command, account, row, time)
        case .updateProfile(let command): try updateProfile(&rows, command, account, row, time)
        case .checkIn: try checkIn(&rows, account, row, time)
        case .setCheckInInterval(let command): setInterval(&rows, command, account, row, time)
        case .setCheckInReminders(let command): setReminders(&rows, command, account, row, time)
        case .raiseAlert: raiseAlert(&rows, account, row, time)
        case .clearAlert: clearAlert(&rows, account, row, time)
        }
    }

    private static func updateSecurity(
        _ rows: inout SessionRows, _ command: UpdateSecurity, _ account: AccountID, _ row: AccountRow, _ time: Instant
    ) -> [SessionEvent] {
        var changed = row
        changed.isSingleDevice = command.isSingleDevice ?? row.isSingleDevice
        changed.isConfirmationRequired = command.isConfirmationRequired ?? row.isConfirmationRequired
        guard changed != row else { return [] }
        rows[account] = changed
        return [
            .securityUpdated(
                .init(
                    account: account, isSingleDevice: changed.isSingleDevice,
                    isConfirmationRequired: changed.isConfirmationRequired, at: time))
        ]
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
        ]
    }

    /// Keeps the id, and the handle out of others' reach for a while; nothing of the person stays.
    private static func close(
        _ rows: inout SessionRows, _ account: AccountID, _ row: AccountRow, _ time: Instant
    ) -> [SessionEvent] {
        guard row.closed == nil else { return [] }
        for (id, _) in rows.devices(of: account) { rows[account, id] = nil }
        rows.credentials[account] = nil
        rows[account] = AccountRow(handle: row.handle, opened: row.opened, closed: time)
        return [.accountClosed(.init(account: account, at: time))]
    }
}
