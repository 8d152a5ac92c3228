import ContactsService
import Postgres
import QuartetContactsContract
import QuartetContactsRules
import QuartetVocabulary
import Storage
import StoreKit
import TestKit
import Testing

@Suite("Contacts: what each table keeps")
struct ContactsTableTests {
    private static let tables = DatabaseTemplate.tables(of: "contacts", in: "Contacts")
    private let anna = AccountID.new()
    private let ben = AccountID.new()
    private let cleo = AccountID.new()

    /// The `n`th of a few times.
    private func time(_ n: Int64) -> Instant { Instant(microseconds: 1_700_000_000_000_000 + n) }

    @Test("every property of every row has its column, and comes back from it unchanged")
    func roundTrips() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var (open, closed) = (Tables.account.blank, Tables.account.blank)
            open.code = .new()
            open.isApprovalRequired = true
            closed.closed = time(1)
            (open.reachableUntil, open.isReachable, open.returns) = (time(8), false, time(12))
            open.responderReach = .unreachable
            (open.settledReach, open.unsettled) = (.reachable, time(9))
            (closed.reachableUntil, closed.responderReach, closed.unsettled) = (time(10), .reachable, time(11))
            open.responderTiers = [ResponderTier(after: .minutes(15), responders: [ben])]
            open.responderTiersVersion = 3
            (open.nextTier, open.nextRenewal, open.nextPing) = (time(26), time(31), time(36))
            open.pingEscalation = PingEscalation(after: .minutes(15), quietHours: QuietHours(from: 1, to: 2))
            var earlier = Tables.account.blank
            (earlier.closed, earlier.responderReach, earlier.settledReach) = (time(13), nil, nil)
            try await Tables.account.expectRoundTrip(
                of: [(anna, open), (ben, closed), (cleo, earlier)], in: database, as: "contacts")

            var (asked, blocked) = (Tables.request.blank, Tables.block.blank)
            (asked.isMyResponder, asked.iAmResponder, asked.isStranger) = (true, true, true)
            (asked.nickname, asked.requested, blocked.at) = ("Ben", time(2), time(3))
            let (there, back) = (Ends(from: anna, to: ben), Ends(from: ben, to: anna))
            try await Tables.request.expectRoundTrip(of: [(there, asked), (back, asked)], in: database, as: "contacts")
            try await Tables.block.expectRoundTrip(of: [(there, blocked)], in: database, as: "contacts")

            var (alarm, recipient) = (Tables.alarm.blank, Tables.alarmRecipient.blank)
            (alarm.alarm, alarm.occurred, alarm.deadline, recipient.at) = (.new(), time(4), time(5), time(6))
            (alarm.kept.alarm, alarm.kept.unanswered, alarm.kept.firstSafe) = (alarm.alarm, time(14), time(20))
            alarm.kept.calledAgain = time(25)
            alarm.keptLateCall = KeptLateCall(
                try #require(LateCall(pressed: time(38), received: time(38) + LateCall.delay)), of: .new())
            alarm.pinged = time(37)
            (alarm.kept.toldAgain, alarm.kept.holdVersion, alarm.kept.closing) = (time(21), 22, time(23))
            alarm.kept.tiers.later = [ResponderTier(after: .minutes(15), responders: [ben])]
            (alarm.kept.tiers.begun, alarm.kept.tiers.since) = (1, time(27))
            (alarm.kept.tiers.held.before, alarm.kept.held.before) = (.seconds(28), .seconds(32))
            (alarm.kept.tiers.held.since, alarm.kept.tiers.held.until) = (time(29), time(30))
            (alarm.kept.held.since, alarm.kept.held.until) = (time(33), time(34))
            (recipient.isOutOfReach, recipient.asked) = (true, time(35))
            (recipient.answer, recipient.answered, recipient.until) = (.onIt, time(15), time(16))
            (recipient.used, recipient.pressed, recipient.answers) = (.seconds(17), time(18), 19)
            (recipient.isResponder, recipient.hidden) = (false, [cleo])
            var safe = recipient
            (safe.answer, safe.until, safe.saidSafe) = (.safe, nil, time(24))
            try await Tables.alarm.expectRoundTrip(
                of: [(AlarmKey(anna, .missedCheckIn), alarm), (AlarmKey(anna, .alert), alarm)], in: database,
                as: "contacts")
            var ended = Tables.endedAlarm.blank
            (ended.alarm, ended.at) = (.new(), time(7))
            try await Tables.endedAlarm.expectRoundTrip(
                of: [(AlarmKey(anna, .missedCheckIn), ended)], in: database, as: "contacts")
            try await Tables.alarmRecipient.expectRoundTrip(
                of: [(RecipientKey(anna, alarm.alarm, ben), recipient), (RecipientKey(anna, alarm.alarm, cleo), safe)],
                in: database, as: "contacts")
        }
    }

    @Test("a relation's columns keep each side's properties on its own side")
    func relation() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var (one, other) = (Tables.relation.blank, Tables.relation.blank)
            // Only a responder pings, and only someone who isn't one asks to become one.
            one.low = side(10) {
                $0.iAmResponder = true
                $0.showsReach = true
                $0.pinged = time(11)
            }
            one.high = side(20) { $0.roleRequested = time(21) }
            other.low = side(30) { $0.roleRequested = time(31) }
            other.high = side(40) {
                $0.iAmResponder = true
                $0.showsReach = true
                $0.pinged = time(41)
            }
            (one.added, other.added) = (time(1), time(2))
            try await Tables.relation.expectRoundTrip(
                of: [(Pair(anna, ben), one), (Pair(ben, cleo), other)], in: database, as: "contacts")
            // Names and properties belong together: SQL sees what Swift wrote.
            let connection = try await Connection.connect(Configuration(try database.url(as: "contacts")))
            let pair = Pair(anna, ben)
            let seen = try await connection.run { [one] database in
                try database.pipeline { pipeline in
                    try pipeline.insert([(pair, one)], into: Tables.relation)
                    let seen = pipeline.query(
                        """
                        SELECT r.low_nickname, r.low_notes, r.high_nickname, r.high_notes, r.low_version, r.high_version,
                               r.low_pinged_at, r.high_role_requested_at
                          FROM contacts.relation AS r WHERE r.low = \(pair.low)
                        """)
                    try pipeline.flush()
                    return try seen.rows().only?.decode(
                        String.self, String.self, String.self, String.self, Int64.self, Int64.self, Instant.self,
                        Instant.self)
                }
            }
            await connection.close()
            let row = try #require(seen)
            #expect((row.0, row.1, row.2, row.3) == ("nickname 10", "notes 10", "nickname 20", "notes 20"))
            #expect((row.4, row.5, row.6, row.7) == (10, 20, time(11), time(21)))
        }
    }

    private func side(_ n: Int64, _ change: (inout RelationRow.Side) -> Void) -> RelationRow.Side {
        var side = Tables.relation.blank.low
        (side.nickname, side.notes, side.version) = ("nickname \(n)", "notes \(n)", n)
        (side.sendPings, side.receivePings, side.notifyOnCheckIn, side.notifyOnMissedCheckIn) = (true, true, true, true)
        (side.lastPing, side.updated) = (time(n + 2), time(n + 3))
        side.pingEscalation = .minutes(n)
        var watch = PingWatch()
        (watch.sent, watch.due, watch.warned, watch.found) = (time(n + 4), time(n + 5), time(n + 6), time(n + 7))
        (watch.isOver, watch.isQuiet, watch.raised, watch.recorded) = (true, true, time(n + 8), time(n))
        (watch.after, watch.warning, watch.added, watch.addedTo) = (.minutes(n), time(n + 11), time(n + 12), .new())
        watch.missed = UnansweredPing(contact: .new(), sent: time(n + 13), recorded: time(n + 14))
        watch.hold = AlarmHold(since: time(n + 9), reconsideredAt: time(n + 10))
        side.watch = watch
        change(&side)
        return side
    }
}
