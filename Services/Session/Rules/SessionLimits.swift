package import QuartetVocabulary

/// The numbers that session's rules use.
package struct SessionLimits: Equatable, Sendable {
    /// Signed in to an account at the same time.
    package var devices = 20
    /// Remembered with the reason for the sign-out.
    package var signedOutDevices = 20
    /// Remembered for each device, to detect copied tokens.
    package var earlierTokens = 8
    /// Wrong passwords or digits from one source before it is blocked.
    package var freeFailures = 4
    /// Wrong passwords or digits from all sources together before they are blocked.
    package var freeFailuresFromEverywhere = 100
    /// Doubled with each further failure.
    package var firstBlock: Interval = .minutes(1)
    package var longestBlock: Interval = .hours(1)
    /// Counted from the first attempt.
    package var attemptsKept: Interval = .days(1)
    /// Between two phone codes for the same source.
    package var phoneCodePause: Interval = .seconds(30)
    /// Per hour and source.
    package var phoneCodes = 5
    /// Per hour and phone.
    package var phoneCodesFromEverywhere = 20
    /// How long a confirmation lasts.
    package var confirmation: Interval = .minutes(5)
    /// How long a phone that replaced another can't sign in, unless the password confirmed the change.
    package var phoneRest: Interval = .days(1)
    /// How long a signed-out device may undo a security change.
    package var undoWindow: Interval = .hours(72)
    /// Security changes within `undoWindow`. Each needs a confirmation, so people make few.
    package var securityChanges = 50
    /// Between two check-ins.
    package var checkInCooldown: Interval = .minutes(5)
    /// How long a check-in, or what ends or moves a trip, that was recorded in time and isn't handled yet holds back the alarm.
    package var longestHold: Interval = .minutes(1)
    /// How often that is looked at.
    package var holdPause: Interval = .seconds(1)
    package var leastCheckInInterval: Interval = .hours(1)
    /// How long check-ins may be paused without one, all together.
    package var longestPause: Interval = .days(30)
    /// Beginnings and changes of pauses.
    package var pausesADay = 6
    /// Changes of daily times, each of which may leave deadlines of before.
    package var dailyChangesADay = 10
    /// The data of the time zones that all replicas use.
    package var zones = ZoneVersion()
    /// How far ahead a trip's end is at least.
    package var leastTrip: Interval = .minutes(5)
    /// Starts of trips, and as many moves.
    package var tripsADay = 30
    /// How often an alarm is repeated soon.
    package var repetitions = 3
    /// Between two of these, and before the first that isn't.
    package var repetitionInterval: Interval = .minutes(30)
    /// Between two of those that follow, unless `repetitionInterval` is longer.
    package var slowRepetitionInterval: Interval = .hours(6)
    /// How long those who are on it may hold an alarm's repetitions back, all together.
    package var longestRepetitionHold: Interval = .hours(4)
    /// For how long contacts' decision to close an alarm holds: less than contacts takes no answers for.
    package var decisionLife: Interval = .minutes(8)
    /// How long an alarm may be on.
    package var longestAlarm: Interval = .days(30)
    /// Alerts announced at once within `alertWindow`.
    package var alertBurst = 3
    package var alertWindow: Interval = .minutes(10)
    /// How long a further alert waits. Responders never learn of one that is cleared before.
    package var alertPause: Interval = .seconds(60)
    /// How long others can't get the handle of a closed account.
    package var handleRest: Interval = .days(30)
    /// Group sessions that an account is in.
    package var groups = 20
    /// People who are invited to a group session and not in it.
    package var invitations = 200
    /// How long the host waits before they invite someone again whom they put out or whose invitation they took back.
    package var invitationRest: Interval = .minutes(1)
    /// How long it is remembered that somebody's invitations to a former contact were withdrawn: longer than a request takes from
    /// the edge's look at their contacts until session decides it.
    package var withdrawalsKept: Interval = .minutes(10)
    /// Accounts that are in a group session, were in it or invited to it.
    package var groupAccounts = 1000
    /// Connections by which a participant follows a group session.
    package var connections = 32
    /// How long a participant is without a connection before the others learn of it.
    package var dropNotice: Interval = .seconds(5)
    /// How long a participant can be without a connection and stay in.
    package var dropGrace: Interval = .seconds(30)
    /// How long an edge process counts as alive after each renewal.
    package var edgeLease: Interval = .seconds(15)
    /// How long a group session goes on with nobody in it.
    package var emptyGroupRest: Interval = .minutes(10)
    /// Messages that a group session keeps.
    package var messages: Int64 = 10_000
    /// Bytes of messages that a group session keeps.
    package var messageBytes: Int64 = 64 << 20
    /// Attachments of a group session, those that are being uploaded too.
    package var attachments = 100
    /// Bytes in all attachments of a group session.
    package var attachmentsOfGroup = 1 << 30
    /// Bytes in all attachments that an account has in its group sessions.
    package var attachmentsOfAccount = 200 << 20

    package init() {}
}

/// Which data of the time zones are in use.
package struct ZoneVersion: Equatable, Sendable {
    /// Counts up; 0 before there are any.
    package var number = 0
    package var since = Instant(microseconds: 0)
    /// For how long accounts are looked at, a few at a time: what else is due then doesn't wait for all of them.
    package var reviewing: Interval = .seconds(0)

    package init() {}

    /// When an account's daily times are looked at.
    package func review(of account: AccountID) -> Instant {
        // Random bits.
        let place = Int64(account.low & 0xFFFF)
        let (whole, rest) = reviewing.microseconds.quotientAndRemainder(dividingBy: 0x1_0000)
        return since + Interval(microseconds: whole * place + rest * place / 0x1_0000)
    }
}
