import Postgres
import QuartetSessionContract
import QuartetVocabulary
import Storage
import StoreKit
import TestKit
import Testing

@testable import QuartetSessionRules
@testable import SessionService

@Suite("Session: what each table keeps")
struct SessionTableTests {
    private static let tables = DatabaseTemplate.session
    private let anna = AccountID.new()
    private let ben = AccountID.new()
    private let key = KeyVersion("0123abcd") ?? .blank
    private let phone = Phone(number: "+493012345678", region: "DE")

    /// The `n`th of a few times.
    private func time(_ n: Int64) -> Instant { Instant(microseconds: 1_700_000_000_000_000 + n) }
    private func hash(_ n: UInt8) -> [UInt8] { [UInt8](repeating: n, count: 32) }

    @Test("every property of an account has its column, and comes back from it unchanged")
    func accounts() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var (open, closed) = (Tables.account.blank, Tables.account.blank)
            open.handle = try Handle("Anna.1")
            (open.name, open.emergencyNote, open.profileVersion) = ("Anna", "none", 7)
            (open.phone, open.phoneID, open.phoneKey) = (phone, .new(), key)
            open.avatar = Avatar(hash: ContentHash(of: [1]), type: .png, size: 1, width: 64, height: 64)
            (open.isSingleDevice, open.isConfirmationRequired) = (true, true)
            open.checkIn.interval = .hours(36)
            (open.checkIn.remindsTwoHours, open.checkIn.remindsThirtyMinutes) = (false, false)
            (open.checkIn.last, open.checkIn.due, open.checkIn.alarm) = (time(1), time(2), .new())
            (open.checkIn.reminded, open.checkIn.lastAlarm, open.checkIn.repetitions) = (.twoHours, time(3), 4)
            (open.checkIn.grace, open.checkIn.gracedDeadline) = (.minutes(10), time(43))
            open.checkIn.graceEnds = time(44)
            (open.checkIn.pause.until, open.checkIn.pause.since) = (time(45), time(46))
            (open.checkIn.pause.used, open.checkIn.pause.countedSince) = (.seconds(47), time(48))
            open.checkIn.pause.count = 49
            open.checkIn.pause.isReminded = true
            let times = DailyTimes(times: [480, 1200], weekdays: [.monday, .sunday], zone: "Europe/Berlin")
            var daily = DailyRow(times, zones: 67, deadline: time(68), at: time(69))
            (daily.interval, daily.opens, daily.paused) = (.hours(36), time(70), time(71))
            daily.kept = [time(73), time(74)]
            open.checkIn.keptDaily = daily
            (open.checkIn.dailyChanges.since, open.checkIn.dailyChanges.changes) = (time(75), 76)
            open.checkIn.version = 77
            let shown = TripState(
                id: .new(), name: "To the lake", note: "The blue car", eta: time(51), grace: .minutes(5),
                graceEnds: time(52), alarm: .new(), isCalled: true)
            var trip = TripRow(shown, since: time(53))
            trip.reminded = trip.since + .minutes(1)
            trip.hold = AlarmHold(since: time(54), reconsideredAt: time(55))
            open.keptTrip = trip
            let ping = UnansweredPing(contact: .new(), sent: time(62))
            var unanswered = UnansweredRow()
            unanswered.shown = UnansweredPings(alarm: .new(), pings: [ping], isCalled: true)
            (unanswered.pending, unanswered.found) = ([ping], time(63))
            unanswered.hold = AlarmHold(since: time(64), reconsideredAt: time(65))
            (unanswered.over, unanswered.said) = ([ping], time(66))
            open.keptUnanswered = unanswered
            open.drill = DrillState(id: .new(), began: time(59), ends: time(60), ended: time(61), end: .alarm)
            (open.tripCount.since, open.tripCount.starts, open.tripCount.moves) = (time(56), 57, 58)
            open.checkIn.hold = AlarmHold(since: time(18), reconsideredAt: time(19))
            (open.checkIn.repetitionHold.alarm, open.checkIn.repetitionHold.since) = (.new(), time(31))
            (open.checkIn.repetitionHold.until, open.checkIn.repetitionHold.used) = (time(32), .seconds(33))
            (open.checkIn.repetitionHold.closes, open.checkIn.repetitionHold.safeUntil) = (time(34), time(39))
            (open.checkIn.repetitionHold.version, open.checkIn.repetitionHold.isClosing) = (40, true)
            (open.alert.repetitionHold.alarm, open.alert.repetitionHold.since) = (.new(), time(35))
            (open.alert.repetitionHold.until, open.alert.repetitionHold.used) = (time(36), .seconds(37))
            (open.alert.repetitionHold.closes, open.alert.repetitionHold.safeUntil) = (time(38), time(41))
            (open.alert.repetitionHold.version, open.alert.repetitionHold.isClosing) = (42, true)
            (open.alert.raised, open.alert.alarm, open.alert.lastAlarm) = (time(5), .new(), time(6))
            (open.alert.repetitions, open.alert.countedSince, open.alert.count) = (8, time(9), 10)
            (open.alert.pressed, open.alert.pressedAgain, open.alert.pressedAlarm) = (
                time(20), time(21), open.alert.alarm
            )
            open.alert.keptLateCall = KeptLateCall(
                try #require(LateCall(pressed: time(67), received: time(67) + LateCall.delay)), of: .new())
            (open.opened, open.oldestChange) = (time(11), time(12))
            (closed.opened, closed.closed, closed.checkIn.due) = (time(13), time(14), nil)
            var waiting = Tables.account.blank
            (waiting.handle, waiting.checkIn.due) = (try Handle("cleo"), time(15))
            (waiting.alert.raised, waiting.alert.alarm, waiting.alert.waitsUntil) = (time(16), .new(), time(17))
            try await Tables.account.expectRoundTrip(
                of: [(anna, open), (ben, closed), (.new(), waiting)], in: database, as: "session")
        }
    }

    @Test("every property of a secret row has its column, and comes back from it unchanged")
    func secrets() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var credential = Tables.credential.blank
            (credential.key, credential.hash) = (key, hash(1))
            try await Tables.credential.expectRoundTrip(of: [(anna, credential)], in: database, as: "session")

            var device = Tables.device.blank
            (device.name, device.signedIn, device.lastSeen) = ("phone", time(1), time(2))
            device.token = try #require(Secret(hash(2)))
            device.earlier = try [hash(3), hash(4)].map { try #require(Secret($0)) }
            (device.signedOut, device.reason, device.confirmedUntil) = (time(3), .revoked, time(4))
            (device.isConfirmedByPassword, device.guesses) = (true, GuessesRow(failures: 5, blockedUntil: time(5)))
            try await Tables.device.expectRoundTrip(
                of: [(DeviceKey(anna, .new()), device)], in: database, as: "session")

            var code = Tables.phoneCode.blank
            (code.code, code.phoneID, code.phone, code.key, code.hash) = (.new(), .new(), phone, key, hash(6))
            (code.attempts, code.issued, code.expires, code.signsInFrom) = (3, time(6), time(7), time(8))
            try await Tables.phoneCode.expectRoundTrip(
                of: [(PhoneCodeKey(anna, .phoneChange), code)], in: database, as: "session")

            var (own, bare) = (Tables.attempt.blank, Tables.attempt.blank)
            (own.since, own.guesses) = (time(9), GuessesRow(failures: 9, blockedUntil: time(10)))
            own.codes = CodesRow(since: time(11), last: time(12), count: 2)
            bare.since = time(13)
            try await Tables.attempt.expectRoundTrip(
                of: [(AttemptKey(.account(anna)), own), (AttemptKey(.account(anna), .new()), bare)], in: database,
                as: "session")
        }
    }

    @Test("an attempt is counted even if retention deleted its row since it was read")
    func deletedMeanwhile() async throws {
        try await TestDatabase.with(Self.tables) { database in
            let connection = try await Connection.connect(Configuration(try database.url(as: "session")))
            let key = AttemptKey(.account(anna))
            for failures in 1...2 {
                try await connection.run { database in
                    var rows = SessionRows()
                    var row = Tables.attempt.blank
                    rows.attempts.load(row, at: key)
                    row.guesses.failures = failures
                    rows.attempts[key] = row
                    try database.pipeline { [rows] pipeline in
                        try SessionStore().save(rows, in: pipeline)
                        try pipeline.flush()
                    }
                }
                // First it isn't there any more, then it is.
                let kept = try await database.psql("SELECT failures FROM session.sign_in_attempt")
                #expect(kept == "\(failures)")
            }
            await connection.close()
        }
    }

    @Test("every property of a security change has its column, and comes back from it unchanged")
    func security() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var (codes, none) = (Tables.recovery.blank, Tables.recovery.blank)
            (codes.hashes, codes.made, none.made) = ([hash(1), hash(2)], time(1), time(2))
            try await Tables.recovery.expectRoundTrip(of: [(anna, codes), (ben, none)], in: database, as: "session")

            var (change, bare) = (Tables.securityChange.blank, Tables.securityChange.blank)
            (change.kind, change.at, change.device, change.deviceSignedIn) = (.phone, time(4), .new(), time(3))
            change.before = SecurityState(
                password: CredentialRow(key: key, hash: hash(3)), phone: phone, phoneID: .new(), phoneKey: key,
                isSingleDevice: true, isConfirmationRequired: true, recovery: codes)
            (bare.at, bare.before.password.hash) = (time(5), hash(4))
            try await Tables.securityChange.expectRoundTrip(
                of: [(SecurityChangeKey(anna, 1), change), (SecurityChangeKey(anna, 2), bare)], in: database,
                as: "session")
        }
    }
}
