import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: PhoneCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, row) = try asker(rows, context)
        return switch command {
        case .requestPhoneChange(let command): try requestPhoneChange(&rows, command, account, row, context.time)
        case .changePhone(let command): try changePhone(&rows, command, account, row, context.time)
        case .removePhone(let command): try removePhone(&rows, command, account, row, context.time)
        case .renamePhone(let command): renamePhone(&rows, command, account, row)
        }
    }

    static func requestPhoneChange(
        _ rows: inout SessionRows, _ command: RequestPhoneChange, _ account: AccountID, _ row: AccountRow,
        _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        // Only someone who enters the code learns that the phone is taken.
        let asker = try requireConfirmed(rows, account, by: command.by, time)
        let key = PhoneCodeKey(account, .phoneChange)
        if let last = rows.phoneCodes[key], last.phone?.number == row.phone?.number, let until = last.signsInFrom,
            until > time,
            !asker.isConfirmedByPassword
        {
            throw .tooSoon("The phone was changed", left: until - time)
        }
        // Codes for one phone cost its owner patience and the operator money, whichever accounts ask for them.
        try Attempts(of: account).countCode(&rows, to: AttemptKey(.phone(command.phoneID), AttemptKey.changes), time)
        var code = PhoneCodeRow(
            code: command.code, phoneID: command.phoneID, phone: command.phone, key: command.proof.key,
            hash: hash(of: command.proof.secret), issued: time, expires: time + PhoneCodeRules.lifetime)
        // A thief of the old phone must not get further before the owner can have noticed.
        if row.phone != nil, !asker.isConfirmedByPassword { code.signsInFrom = time + rows.limits.phoneRest }
        return [issue(&rows, code, at: key, time)]
    }

    static func changePhone(
        _ rows: inout SessionRows, _ command: ChangePhone, _ account: AccountID, _ row: AccountRow, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        let key = PhoneCodeKey(account, .phoneChange)
        let attempts = Attempts(of: account)
        try attempts.requireAdmitted(rows, "codes", field: "code", time)
        guard let code = rows.phoneCodes[key], isGood(code, command.code, time) else {
            throw PhoneCodeFailed.rejection
        }
        if isRight(command.proof, code.hash, madeUnder: code.key) {
            try requireFree(rows, code.phone, for: account)
            try requireRoomForChange(rows, account, time)
        }
        if let failed = redeem(&rows, command.proof, at: key, attempts, time) { return [failed] }
        record(&rows, .phone, account, by: command.by, time)
        // The used code stays: it says when the phone may first sign in.
        rows.phoneCodes[key]?.expires = time
        rows[account]?.phone = code.phone
        rows[account]?.phoneID = code.phoneID
        rows[account]?.phoneKey = code.key
        return [.phoneChanged(.init(account: account, phone: code.phone, at: time))]
    }

    static func removePhone(
        _ rows: inout SessionRows, _ command: RemovePhone, _ account: AccountID, _ row: AccountRow, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard row.phone != nil else { return [] }
        try requireConfirmed(rows, account, by: command.by, time)
        try requireRoomForChange(rows, account, time)
        record(&rows, .phone, account, by: command.by, time)
        rows[account]?.phone = nil
        rows[account]?.phoneID = nil
        rows[account]?.phoneKey = nil
        return [.phoneChanged(.init(account: account, at: time))]
    }

    /// Emits nothing: no one sees the name.
    static func renamePhone(
        _ rows: inout SessionRows, _ command: RenamePhone, _ account: AccountID, _ row: AccountRow
    ) -> [SessionEvent] {
        guard row.phoneID == command.phone else { return [] }
        rows[account]?.phoneID = command.next
        rows[account]?.phoneKey = command.key
        return []
    }

    private static func requireFree(
        _ rows: SessionRows, _ phone: Phone?, for account: AccountID
    ) throws(Rejection) {
        guard phone.flatMap({ rows.owner(of: $0) }) ?? account == account else {
            throw Rejection(
                .phoneTaken, "Another account uses this phone; remove it there first, or use another phone.",
                field: "phone")
        }
    }

}

extension SessionRows.Selection {
    mutating func add(_ command: PhoneCommand, of account: AccountID) {
        switch command {
        case .requestPhoneChange(let command):
            signing.insert(account)
            coding.insert(account)
            attempts.insert(AttemptKey(.account(account)))
            attempts.insert(AttemptKey(.phone(command.phoneID), AttemptKey.changes))
        case .changePhone:
            securing.insert(account)
            coding.insert(account)
            attempts.insert(AttemptKey(.account(account)))
            changingPhone.insert(account)
        case .removePhone: securing.insert(account)
        case .renamePhone: break
        }
    }
}
