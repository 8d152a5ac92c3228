import Crypto
import Grammar
import SessionContract
import Vocabulary
import WorkingSet

extension SessionReducer {
    // MARK: Signing in

    static func requestSignInCode(
        _ rows: inout SessionRows, _ command: RequestSignInCode, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard let account = rows.owner(of: command.phone), let row = rows[account], row.closed == nil,
            signsIn(rows, command.phone, of: account, time)
        else {
            throw Rejection(.notFound, "Nobody signs in by this phone.", field: "phone")
        }
        let code = PhoneCodeRow(
            code: command.code, phoneID: command.phone, phone: nil, hash: hash(of: command.proof), issued: time,
            expires: time + PhoneCodeRules.lifetime, countedSince: time, count: 1)
        return [try issue(&rows, code, at: PhoneCodePlace(account, .signIn), time)]
    }

    static func signInByPhone(
        _ rows: inout SessionRows, _ command: SignInByPhone, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard let account = rows.owner(of: command.phone), let row = rows[account], row.closed == nil else {
            throw PhoneCodeFailed.rejection
        }
        guard signsIn(rows, command.phone, of: account, time) else { throw PhoneCodeFailed.rejection }
        try requireNew(command.device, rows, account)
        let place = PhoneCodePlace(account, .signIn)
        switch try redeem(&rows, command.code, command.proof, at: place, time) {
        case .failed(let event): return [event]
        case .redeemed(let code):
            // A code that was sent to a number which the account has given up meanwhile proves nothing.
            guard code.phoneID == command.phone else { throw PhoneCodeFailed.rejection }
            let events = begin(&rows, command.device, account, row, time, byPassword: false)
            rows.phoneCodes[place]?.expires = time
            rows.phoneCodes[place]?.failures = 0
            return events
        }
    }

    // MARK: The account's phone

    static func requestPhoneChange(
        _ rows: inout SessionRows, _ command: RequestPhoneChange, _ account: AccountID, _ row: AccountRow,
        _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        // Whether it is somebody else's is told to who has the phone alone: when its code is given.
        let asker = try requireConfirmed(rows, account, by: command.by, time)
        let place = PhoneCodePlace(account, .phoneChange)
        if let last = rows.phoneCodes[place], last.phoneID == row.phoneID, let until = last.signsInFrom, until > time,
            !asker.isConfirmedByPassword
        {
            throw .tooSoon("The phone was changed", left: until - time)
        }
        var code = PhoneCodeRow(
            code: command.code, phoneID: command.phoneID, phone: command.phone, hash: hash(of: command.proof),
            issued: time, expires: time + PhoneCodeRules.lifetime, countedSince: time, count: 1)
        // Whoever took the old phone must not go on with the account before its person can have noticed.
        if row.phone != nil, !asker.isConfirmedByPassword { code.signsInFrom = time + rows.limits.phoneRest }
        return [try issue(&rows, code, at: place, time)]
    }

    /// Whether a phone's rest is over.
    private static func signsIn(
        _ rows: SessionRows, _ phone: PhoneID, of account: AccountID, _ time: Instant
    ) -> Bool {
        guard let change = rows.phoneCodes[PhoneCodePlace(account, .phoneChange)], change.phoneID == phone,
            let from = change.signsInFrom
        else { return true }
        return from <= time
    }

    static func changePhone(
        _ rows: inout SessionRows, _ command: ChangePhone, _ account: AccountID, _ row: AccountRow, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        let place = PhoneCodePlace(account, .phoneChange)
        switch try redeem(&rows, command.code, command.proof, at: place, time) {
        case .failed(let event): return [event]
        case .redeemed(let code):
            try requireFree(rows, code.phoneID, for: account)
            try requireRoomForChange(rows, account, time)
            record(&rows, .phone, account, by: command.by, time)
            rows.phoneCodes[place]?.expires = time
            rows.phoneCodes[place]?.failures = 0
            rows[account]?.phone = code.phone
            rows[account]?.phoneID = code.phoneID
            return [.phoneChanged(.init(account: account, phone: code.phone, at: time))]
        }
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
        return [.phoneChanged(.init(account: account, at: time))]
    }

    private static func requireFree(
        _ rows: SessionRows, _ phone: PhoneID, for account: AccountID
    ) throws(Rejection) {
        guard rows.owner(of: phone) ?? account == account else {
            throw Rejection(
                .phoneTaken, "Another account signs in by this phone; remove it there first, or give another one.",
                field: "phone")
        }
    }

    // MARK: Codes

    /// Makes a code the good one of its purpose, unless too many were asked for.
    private static func issue(
        _ rows: inout SessionRows, _ next: PhoneCodeRow, at place: PhoneCodePlace, _ time: Instant
    ) throws(Rejection) -> SessionEvent {
        var next = next
        if let last = rows.phoneCodes[place] {
            // Whoever guesses at code after code waits longer and longer.
            let pause = min(
                Interval(
                    microseconds: rows.limits.phoneCodePause.microseconds
                        << max(0, min(last.failures - PhoneCodeRules.attempts, 20))), rows.limits.longestCodePause)
            guard last.issued + pause <= time else {
                throw .tooSoon("A code was sent", left: last.issued + pause - time)
            }
            next.failures = last.failures
            if last.countedSince + .hours(1) > time {
                guard last.count < rows.limits.phoneCodes else {
                    throw .tooManyAttempts(
                        "Too many codes were asked for", left: last.countedSince + .hours(1) - time, field: "phone")
                }
                next.countedSince = last.countedSince
                next.count = last.count + 1
            }
        }
        rows.phoneCodes[place] = next
        return .phoneCodeIssued(
            .init(
                account: place.account, code: next.code, purpose: place.purpose, expires: next.expires, at: time))
    }

    private enum Redemption {
        case redeemed(PhoneCodeRow)
        case failed(SessionEvent)
    }

    /// Whether the digits were right. Wrong ones are counted; who has right ones must void the code by using it.
    private static func redeem(
        _ rows: inout SessionRows, _ code: PhoneCodeID, _ proof: Secret, at place: PhoneCodePlace, _ time: Instant
    ) throws(Rejection) -> Redemption {
        guard let row = rows.phoneCodes[place], row.code == code, row.expires > time,
            row.attempts < PhoneCodeRules.attempts
        else { throw PhoneCodeFailed.rejection }
        // Comparing a digest takes the same time wherever it differs.
        guard SHA256.hash(data: proof.bytes) == row.hash else {
            rows.phoneCodes[place]?.attempts += 1
            rows.phoneCodes[place]?.failures += 1
            return .failed(
                .phoneCodeFailed(
                    .init(
                        account: place.account, code: code, attemptsLeft: PhoneCodeRules.attempts - row.attempts - 1,
                        at: time)))
        }
        return .redeemed(row)
    }
}
