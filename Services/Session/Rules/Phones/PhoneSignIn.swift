import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary

extension SessionReducer {
    static func requestSignInCode(
        _ rows: inout SessionRows, _ command: RequestSignInCode, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        let account = signer(rows, [command.phone] + (command.earlier ?? []), time)
        let attempts = Attempts(rows, .phone(command.phone), of: account, from: command.source, command.known)
        try attempts.countCode(&rows, time)
        // A phone of no account is counted like any other; there is no one to notify.
        guard let account else { return [] }
        for key in rows.phoneCodes.keys.filter({ $0.account == account && $0.purpose == .signIn }) {
            if let code = rows.phoneCodes[key], code.expires <= time { rows.phoneCodes[key] = nil }
        }
        let code = PhoneCodeRow(
            code: command.code, phoneID: command.phone, phone: nil, key: command.proof.key,
            hash: hash(of: command.proof.secret), issued: time, expires: time + PhoneCodeRules.lifetime)
        return [issue(&rows, code, at: PhoneCodeKey(account, .signIn, from: attempts.own.source), time)]
    }

    static func signInByPhone(
        _ rows: inout SessionRows, _ command: SignInByPhone, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        let phones = [command.phone] + (command.earlier ?? [])
        let account = signer(rows, phones, time)
        let attempts = Attempts(rows, .phone(command.phone), of: account, from: command.source, command.known)
        if let account { try requireNew(command.device, rows, account) }
        try attempts.requireAdmitted(rows, "codes", field: "code", time)
        // Found by the code's id, which only its requester knows: the phone may have another address by the time the
        // digits come.
        let key = rows.phoneCodes.keys.first {
            $0.account == account && $0.purpose == .signIn && rows.phoneCodes[$0]?.code == command.code
        }
        // A code sent to a number that the account has since given up proves nothing. A void code is as wrong as one
        // that never existed.
        guard let account, let row = rows[account], let key, let code = rows.phoneCodes[key],
            phones.contains(code.phoneID), isGood(code, command.code, time)
        else {
            attempts.fail(&rows, time)
            return []
        }
        if let failed = redeem(&rows, command.proof, at: key, attempts, time) { return [failed] }
        rows.phoneCodes[key] = nil
        return begin(&rows, command.device, account, row, time, byPassword: false)
    }

    /// The account that may sign in by a phone now.
    /// - Parameter phones: The number's names under each of the server keys.
    private static func signer(_ rows: SessionRows, _ phones: [PhoneID], _ time: Instant) -> AccountID? {
        for phone in phones {
            guard let account = rows.owner(of: phone), let row = rows[account] else { continue }
            return row.closed == nil && signsIn(rows, row.phone, of: account, time) ? account : nil
        }
        return nil
    }

    /// Whether the waiting time of a new phone is over.
    private static func signsIn(
        _ rows: SessionRows, _ phone: Phone?, of account: AccountID, _ time: Instant
    ) -> Bool {
        guard let change = rows.phoneCodes[PhoneCodeKey(account, .phoneChange)],
            change.phone?.number == phone?.number, let from = change.signsInFrom
        else { return true }
        return from <= time
    }
}
