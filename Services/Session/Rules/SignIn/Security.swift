import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: SecurityCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, row) = try asker(rows, context)
        return switch command {
        case .changePassword(let command): try changePassword(&rows, command, account, context.time)
        case .resetPassword(let command): try resetPassword(&rows, command, account, context.time)
        case .confirmIdentity(let command): try confirm(&rows, command, account, context.time)
        case .updateSecurity(let command): try updateSecurity(&rows, command, account, row, context.time)
        }
    }

    static func confirm(
        _ rows: inout SessionRows, _ command: ConfirmIdentity, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        if let failed = try prove(&rows, account, command.verifier, by: command.device, time) { return [failed] }
        return [confirm(&rows, account, command.device, byPassword: true, time)]
    }

    static func confirm(
        _ rows: inout SessionRows, _ account: AccountID, _ device: DeviceID, byPassword: Bool, _ time: Instant
    ) -> SessionEvent {
        let until = time + rows.limits.confirmation
        rows[account, device]?.confirmedUntil = until
        rows[account, device]?.isConfirmedByPassword = byPassword
        return .identityConfirmed(.init(account: account, device: device, until: until, at: time))
    }

    /// Acts that could cost the owner the account need more than a token, which may be stolen.
    @discardableResult
    static func requireConfirmed(
        _ rows: SessionRows, _ account: AccountID, by device: DeviceID?, _ time: Instant
    ) throws(Rejection) -> DeviceRow {
        guard let device, let asker = rows[account, device], asker.signedOut == nil, let until = asker.confirmedUntil,
            until > time
        else {
            throw Rejection(
                .confirmationRequired,
                "Confirm with your password or a recovery code first; a confirmation lasts \(rows.limits.confirmation.inWords) on this device."
            )
        }
        return asker
    }

    static func updateSecurity(
        _ rows: inout SessionRows, _ command: UpdateSecurity, _ account: AccountID, _ row: AccountRow, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        try requireConfirmed(rows, account, by: command.by, time)
        var changed = row
        changed.isSingleDevice = command.isSingleDevice ?? row.isSingleDevice
        changed.isConfirmationRequired = command.isConfirmationRequired ?? row.isConfirmationRequired
        guard changed != row else { return [] }
        try requireRoomForChange(rows, account, time)
        record(&rows, .settings, account, by: command.by, time)
        rows[account]?.isSingleDevice = changed.isSingleDevice
        rows[account]?.isConfirmationRequired = changed.isConfirmationRequired
        return [
            .securityUpdated(
                .init(
                    account: account, isSingleDevice: changed.isSingleDevice,
                    isConfirmationRequired: changed.isConfirmationRequired, at: time))
        ]
    }

}

extension SessionRows.Selection {
    mutating func add(_ command: SecurityCommand, of account: AccountID) {
        switch command {
        case .changePassword, .resetPassword:
            securing.insert(account)
            coding.insert(account)
        case .updateSecurity: securing.insert(account)
        case .confirmIdentity:
            proving.insert(account)
            signing.insert(account)
        }
    }
}
