import ContractSupport
package import SessionContract
package import Vocabulary

/// Where attempts are counted together: those at one handle or phone, from one source or from everywhere.
package struct AttemptPlace: Hashable, Comparable, Sendable {
    /// The key of the handle or phone, whether or not somebody has it; or of an account that asks for a code.
    package let subject: Key
    /// An address, or a device that was signed in before.
    package let source: SourceID

    /// All sources together.
    package static let everywhere = SourceID(high: 0, low: 0)

    /// Its parameters are the properties of the same names.
    package init(_ subject: Key, _ source: SourceID = everywhere) {
        self.subject = subject
        self.source = source
    }

    /// By subject, then by source.
    package static func < (left: Self, right: Self) -> Bool {
        (left.subject.description, left.source) < (right.subject.description, right.source)
    }
}

/// What was tried at one place, within a day of the first time.
package struct AttemptsRow: Equatable, Sendable {
    /// When the first was counted. A day later all are forgotten.
    package var since: Instant
    /// Wrong passwords or digits.
    package var guesses = GuessesRow()
    /// Codes that were asked for.
    package var codes: CodesRow?
}

/// Codes that were asked for within an hour.
package struct CodesRow: Equatable, Sendable {
    /// When the first was.
    package var since: Instant
    /// When the last was.
    package var last: Instant
    /// How many.
    package var count: Int
}

extension SessionRows {
    /// What counts at a place now.
    func attempts(at place: AttemptPlace, _ time: Instant) -> AttemptsRow {
        guard let row = attempts[place], row.since + limits.attemptsKept > time else { return AttemptsRow(since: time) }
        return row
    }
}

/// Where what somebody tries is counted, and how much is free there.
struct Attempts {
    /// By source: nobody else is held up by it.
    let own: AttemptPlace
    /// Of all sources together, so that guessing from many addresses is slow, too. Nil for a device that was signed in
    /// before: others' guesses don't hold it up.
    let all: AttemptPlace?

    /// - Parameters:
    ///   - subject: what somebody wants to sign in as.
    ///   - account: whose that is, if it is somebody's.
    ///   - known: what is said to be a device of that account.
    init(_ rows: SessionRows, _ subject: Key, of account: AccountID?, from source: SourceID, _ known: KnownDevice?) {
        if let account, let known, let device = rows[account, known.device],
            device.token == known.token || device.earlier.contains(known.token)
        {
            own = AttemptPlace(subject, SourceID(known.device))
            all = nil
        } else {
            own = AttemptPlace(subject, source)
            all = AttemptPlace(subject)
        }
    }

    /// Of an account that asks for itself.
    init(of account: AccountID) {
        own = AttemptPlace(.account(account))
        all = nil
    }

    /// - Throws: `tooManyAttempts` while nothing is looked at.
    func requireAdmitted(
        _ rows: SessionRows, _ what: String, field: String, _ time: Instant
    ) throws(Rejection) {
        let blocks = [own, all].compactMap { $0.flatMap { rows.attempts(at: $0, time).guesses.blockedUntil } }
        guard let until = blocks.max(), until > time else { return }
        throw .tooManyAttempts("Too many wrong \(what)", left: until - time, field: field)
    }

    /// Counts a wrong guess. Returns until when nothing more is looked at that comes from the same source.
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

    /// A right guess ends what was counted of its source. What came from elsewhere stays: its owner's sign-ins don't give
    /// an attacker more tries.
    func succeed(_ rows: inout SessionRows) {
        guard rows.attempts[own] != nil else { return }
        rows.attempts[own]?.guesses = GuessesRow()
        if rows.attempts[own]?.codes == nil { rows.attempts[own] = nil }
    }

    /// Counts a code that is asked for.
    /// - Throws: `tooSoon`, `tooManyAttempts`; then nothing is counted.
    func countCode(_ rows: inout SessionRows, _ time: Instant) throws(Rejection) {
        try requireAdmitted(rows, "codes", field: "phone", time)
        if let last = rows.attempts(at: own, time).codes?.last, last + rows.limits.phoneCodePause > time {
            throw .tooSoon("A code was requested", left: last + rows.limits.phoneCodePause - time)
        }
        let counted = [(own, rows.limits.phoneCodes)] + (all.map { [($0, rows.limits.phoneCodesFromEverywhere)] } ?? [])
        var changed: [(AttemptPlace, AttemptsRow)] = []
        for (place, limit) in counted {
            var row = rows.attempts(at: place, time)
            var codes = row.codes ?? CodesRow(since: time, last: time, count: 0)
            if codes.since + .hours(1) <= time { codes = CodesRow(since: time, last: time, count: 0) }
            guard codes.count < limit else {
                throw .tooManyAttempts(
                    "Too many codes were requested", left: codes.since + .hours(1) - time, field: "phone")
            }
            codes.count += 1
            codes.last = time
            row.codes = codes
            changed.append((place, row))
        }
        for (place, row) in changed { rows.attempts[place] = row }
    }
}

extension AttemptsRow {
    package static let blank = Self(since: .blank)
}

extension CodesRow {
    package static let blank = Self(since: .blank, last: .blank, count: 0)
}
