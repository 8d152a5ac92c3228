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
        case .expireCheckIn(let command): return try expire(&rows, command, context)
        case .remindCheckIn(let command): return try remind(&rows, command, time)
        case .repeatAlarm(let command): return try repeatAlarm(&rows, command, time)
        case .announceAlert(let command): return try announceAlert(&rows, command, time)
        case .requestSignInCode(let command): return try requestSignInCode(&rows, command, time)
        case .signInByPhone(let command): return try signInByPhone(&rows, command, time)
        case .freeHandle(let command): return try freeHandle(&rows, command, time)
        case .signInByRecoveryCode(let command): return try signInByRecoveryCode(&rows, command, time)
        case .forgetSecurityChanges(let command): return try forgetSecurityChanges(&rows, command, time)
        default: break
        }
        guard let account = context.account else { throw .accountRequired }
        guard let row = rows[account] else { throw .accountNotFound() }
        if case .closeAccount(let command) = command { return try close(&rows, command, account, row, time) }
        guard row.closed == nil else { throw .accountClosed() }
        return switch command {
        case .signUp, .signIn, .requestSignInCode, .signInByPhone, .expireCheckIn, .remindCheckIn, .repeatAlarm,
            .announceAlert, .closeAccount, .freeHandle, .signInByRecoveryCode, .forgetSecurityChanges:
            []
        case .refreshDevice(let command): try refresh(&rows, command, account, time)
        case .signOut(let command): try signOut(&rows, command, account, row, time)
        case .changePassword(let command): try changePassword(&rows, command, account, time)
        case .resetPassword(let command): try resetPassword(&rows, command, account, time)
        case .confirmIdentity(let command): try confirm(&rows, command, account, time)
        case .updateSecurity(let command): try updateSecurity(&rows, command, account, row, time)
        case .requestPhoneChange(let command): try requestPhoneChange(&rows, command, account, row, time)
        case .changePhone(let command): try changePhone(&rows, command, account, row, time)
        case .removePhone(let command): try removePhone(&rows, command, account, row, time)
        case .makeRecoveryCodes(let command): try makeRecoveryCodes(&rows, command, account, time)
        case .confirmByRecoveryCode(let command): try confirmByRecoveryCode(&rows, command, account, time)
        case .undoSecurityChanges(let command): try undo(&rows, command, account, row, time)
        case .renamePhone(let command): renamePhone(&rows, command, account, row)
        case .setAvatar(let command): try setAvatar(&rows, command, account, row, time)
        case .removeAvatar: removeAvatar(&rows, account, row, time)
        case .updateProfile(let command): try updateProfile(&rows, command, account, row, time)
        case .checkIn: try checkIn(&rows, account, row, time)
        case .setCheckInInterval(let command): try setInterval(&rows, command, account, row, time)
        case .setCheckInReminders(let command): setReminders(&rows, command, account, row, time)
        case .raiseAlert: raiseAlert(&rows, account, row, context)
        case .clearAlert: clearAlert(&rows, account, row, time)
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
        ]
    }
}
