import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary

extension SessionRows {
    /// The attempts that still count.
    func attempts(at key: AttemptKey, _ time: Instant) -> AttemptsRow {
        guard let row = attempts[key], row.since + limits.attemptsKept > time else { return AttemptsRow(since: time) }
        return row
    }
}

/// Where an attempt is counted, and how many are free there.
struct Attempts {
    /// Counts one source, so that it holds up no one else.
    let own: AttemptKey
    /// Counts all sources, so that guessing from many addresses is slow, too. Nil for a device that was signed in
    /// before: others' failures don't hold it up.
    let all: AttemptKey?

    /// - Parameters:
    ///   - subject: The handle or phone to sign in with.
    ///   - account: Its account, if it has one.
    ///   - known: The device that the caller claims to be.
    init(_ rows: SessionRows, _ subject: Key, of account: AccountID?, from source: SourceID, _ known: KnownDevice?) {
        if let account, let known, let device = rows[account, known.device],
            device.token == known.token || device.earlier.contains(known.token)
        {
            own = AttemptKey(subject, SourceID(known.device))
            all = nil
        } else {
            own = AttemptKey(subject, source)
            all = AttemptKey(subject)
        }
    }

    /// For an account that asks for itself.
    init(of account: AccountID) {
        own = AttemptKey(.account(account))
        all = nil
    }

    /// - Throws: `tooManyAttempts` while blocked.
    func requireAdmitted(
        _ rows: SessionRows, _ what: String, field: String, _ time: Instant
    ) throws(Rejection) {
        let blocks = [own, all].compactMap { $0.flatMap { rows.attempts(at: $0, time).guesses.blockedUntil } }
        guard let until = blocks.max(), until > time else { return }
        throw .tooManyAttempts("Too many wrong \(what)", left: until - time, field: field)
    }

    /// Counts a wrong guess. Returns until when the same source is blocked.
    @discardableResult
    func fail(_ rows: inout SessionRows, _ time: Instant) -> Instant? {
        var row = rows.attempts(at: own, time)
        row.guesses.fail(at: time, free: rows.limits.freeFailures, rows.limits)
        rows.attempts[own] = row
        if let all {
            var total = rows.attempts(at: all, time)
            total.guesses.fail(at: time, free: rows.limits.freeFailuresFromEverywhere, rows.limits)
            rows.attempts[all] = total
        }
        return row.guesses.blockedUntil
    }

    /// A right guess resets the count of its own source alone, so the owner's sign-ins give an attacker no more tries.
    func succeed(_ rows: inout SessionRows) {
        guard rows.attempts[own] != nil else { return }
        rows.attempts[own]?.guesses = GuessesRow()
        if rows.attempts[own]?.codes == nil { rows.attempts[own] = nil }
    }

    /// Counts a request for a code.
    /// - Parameter phone: The phone that gets it, if that isn't what is counted here anyway.
    /// - Throws: `tooSoon` or `tooManyAttempts`, having counted nothing.
    func countCode(
        _ rows: inout SessionRows, to phone: AttemptKey? = nil, _ time: Instant
    ) throws(Rejection) {
        try requireAdmitted(rows, "codes", field: "phone", time)
        if let last = rows.attempts(at: own, time).codes?.last, last + rows.limits.phoneCodePause > time {
            throw .tooSoon("A code was requested", left: last + rows.limits.phoneCodePause - time)
        }
        let counted =
            [(own, rows.limits.phoneCodes)]
            + [all, phone].compactMap { key in
                key.map { ($0, rows.limits.phoneCodesFromEverywhere) }
            }
        var changed: [(AttemptKey, AttemptsRow)] = []
        for (key, limit) in counted {
            var row = rows.attempts(at: key, time)
            var codes = row.codes ?? CodesRow(since: time, last: time, count: 0)
            if codes.since + .hours(1) <= time { codes = CodesRow(since: time, last: time, count: 0) }
            guard codes.count < limit else {
                throw .tooManyAttempts(
                    "Too many codes were requested", left: codes.since + .hours(1) - time, field: "phone")
            }
            codes.count += 1
            codes.last = time
            row.codes = codes
            changed.append((key, row))
        }
        for (key, row) in changed { rows.attempts[key] = row }
    }
}
