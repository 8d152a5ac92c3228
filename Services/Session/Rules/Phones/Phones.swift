import ContractSupport
import SessionContract
import Vocabulary

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

    // MARK: Signing in

    static func requestSignInCode(
        _ rows: inout SessionRows, _ command: RequestSignInCode, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        let account = signer(rows, [command.phone] + (command.earlier ?? []), time)
        let attempts = Attempts(rows, .phone(command.phone), of: account, from: command.source, command.known)
        try attempts.countCode(&rows, time)
        // A phone with which nobody signs in is counted like any other, and there is nobody to tell.
        guard let account else { return [] }
        for place in rows.phoneCodes.keys.filter({ $0.account == account && $0.purpose == .signIn }) {
            if let code = rows.phoneCodes[place], code.expires <= time { rows.phoneCodes[place] = nil }
        }
        let code = PhoneCodeRow(
            code: command.code, phoneID: command.phone, phone: nil, key: command.proof.key,
            hash: hash(of: command.proof.secret), issued: time, expires: time + PhoneCodeRules.lifetime)
        return [issue(&rows, code, at: PhoneCodePlace(account, .signIn, from: attempts.own.source), time)]
    }

    static func signInByPhone(
        _ rows: inout SessionRows, _ command: SignInByPhone, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        let phones = [command.phone] + (command.earlier ?? [])
        let account = signer(rows, phones, time)
        let attempts = Attempts(rows, .phone(command.phone), of: account, from: command.source, command.known)
        if let account { try requireNew(command.device, rows, account) }
        try attempts.requireAdmitted(rows, "codes", field: "code", time)
        // By its id, which only whoever asked for it was given: a phone may have another address by the time of the digits.
        let place = rows.phoneCodes.keys.first {
            $0.account == account && $0.purpose == .signIn && rows.phoneCodes[$0]?.code == command.code
        }
        // A code that was sent to a number which the account has given up meanwhile proves nothing. One that is void is as
        // wrong as one that never was.
        guard let account, let row = rows[account], let place, let code = rows.phoneCodes[place],
            phones.contains(code.phoneID), isGood(code, command.code, time)
        else {
            attempts.fail(&rows, time)
            return []
        }
        if let failed = redeem(&rows, command.proof, at: place, attempts, time) { return [failed] }
        rows.phoneCodes[place] = nil
        return begin(&rows, command.device, account, row, time, byPassword: false)
    }

    /// Who signs in by a phone now.
    /// - Parameter phones: the names that each of the server's keys makes of the number.
    private static func signer(_ rows: SessionRows, _ phones: [PhoneID], _ time: Instant) -> AccountID? {
        for phone in phones {
            guard let account = rows.owner(of: phone), let row = rows[account] else { continue }
            return row.closed == nil && signsIn(rows, row.phone, of: account, time) ? account : nil
        }
        return nil
    }

    // MARK: The account's phone

    static func requestPhoneChange(
        _ rows: inout SessionRows, _ command: RequestPhoneChange, _ account: AccountID, _ row: AccountRow,
        _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        // Whether it is somebody else's is told to who has the phone alone: when its code is given.
        let asker = try requireConfirmed(rows, account, by: command.by, time)
        let place = PhoneCodePlace(account, .phoneChange)
        if let last = rows.phoneCodes[place], last.phone?.number == row.phone?.number, let until = last.signsInFrom,
            until > time,
            !asker.isConfirmedByPassword
        {
            throw .tooSoon("The phone was changed", left: until - time)
        }
        try Attempts(of: account).countCode(&rows, time)
        var code = PhoneCodeRow(
            code: command.code, phoneID: command.phoneID, phone: command.phone, key: command.proof.key,
            hash: hash(of: command.proof.secret), issued: time, expires: time + PhoneCodeRules.lifetime)
        // Whoever took the old phone must not go on with the account before its person can have noticed.
        if row.phone != nil, !asker.isConfirmedByPassword { code.signsInFrom = time + rows.limits.phoneRest }
        return [issue(&rows, code, at: place, time)]
    }

    /// Whether a phone's rest is over.
    private static func signsIn(
        _ rows: SessionRows, _ phone: Phone?, of account: AccountID, _ time: Instant
    ) -> Bool {
        guard let change = rows.phoneCodes[PhoneCodePlace(account, .phoneChange)],
            change.phone?.number == phone?.number, let from = change.signsInFrom
        else { return true }
        return from <= time
    }

    static func changePhone(
        _ rows: inout SessionRows, _ command: ChangePhone, _ account: AccountID, _ row: AccountRow, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        let place = PhoneCodePlace(account, .phoneChange)
        let attempts = Attempts(of: account)
        try attempts.requireAdmitted(rows, "codes", field: "code", time)
        guard let code = rows.phoneCodes[place], isGood(code, command.code, time) else {
            throw PhoneCodeFailed.rejection
        }
        if isRight(command.proof, code.hash, madeUnder: code.key) {
            try requireFree(rows, code.phone, for: account)
            try requireRoomForChange(rows, account, time)
        }
        if let failed = redeem(&rows, command.proof, at: place, attempts, time) { return [failed] }
        record(&rows, .phone, account, by: command.by, time)
        // It stays, used, because it says from when on the phone may sign in.
        rows.phoneCodes[place]?.expires = time
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

    /// Says nothing: nobody sees the name.
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

    // MARK: Codes

    /// Makes a code the good one of its place.
    private static func issue(
        _ rows: inout SessionRows, _ code: PhoneCodeRow, at place: PhoneCodePlace, _ time: Instant
    ) -> SessionEvent {
        rows.phoneCodes[place] = code
        return .phoneCodeIssued(
            .init(account: place.account, code: code.code, purpose: place.purpose, expires: code.expires, at: time))
    }

    /// Whether digits may be given for a code.
    private static func isGood(_ row: PhoneCodeRow, _ code: PhoneCodeID, _ time: Instant) -> Bool {
        row.code == code && row.expires > time && row.attempts < PhoneCodeRules.attempts
    }

    /// Nil when the digits are right: then the code must be voided by using it. What to say when they are wrong, which is
    /// counted.
    private static func redeem(
        _ rows: inout SessionRows, _ proof: [Proof], at place: PhoneCodePlace, _ attempts: Attempts, _ time: Instant
    ) -> SessionEvent? {
        guard var row = rows.phoneCodes[place], !isRight(proof, row.hash, madeUnder: row.key) else {
            attempts.succeed(&rows)
            return nil
        }
        row.attempts += 1
        rows.phoneCodes[place] = row
        attempts.fail(&rows, time)
        return .phoneCodeFailed(
            .init(
                account: place.account, code: row.code, attemptsLeft: PhoneCodeRules.attempts - row.attempts, at: time))
    }
}

extension SessionRows.Selection {
    mutating func add(_ command: PhoneCommand, of account: AccountID) {
        switch command {
        case .requestPhoneChange:
            signing.insert(account)
            coding.insert(account)
            attempts.insert(AttemptPlace(.account(account)))
        case .changePhone:
            securing.insert(account)
            coding.insert(account)
            attempts.insert(AttemptPlace(.account(account)))
            changingPhone.insert(account)
        case .removePhone: securing.insert(account)
        case .renamePhone: break
        }
    }
}
