import Bus
import Postgres
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import Storage

// The statements by which waiting pushes are sent. The rules' own are in Tables/Push.swift.

/// A push that this process may send until its lease ends.
struct ClaimedPush: Sendable {
    let account: AccountID
    let device: PushDeviceID
    let notification: NotificationID
    let body: JSON
    /// The number of this attempt, from 1. A row with another number has been claimed by another process.
    let attempt: Int32
    /// 0 is critical, 4 a canary's.
    let priority: Int32
    /// When it was due, by which its turn is decided.
    let due: Instant
    /// When it must have been started, so that it is sent before the claim ends.
    let startBy: ContinuousClock.Instant
    let token: String
    let platform: PushPlatform
    /// When its device got this token.
    let registered: Instant
    /// Whether it waited so long that it isn't worth sending any more.
    let isOver: Bool
    /// Whether the same app has since registered again, possibly for another account.
    let isSuperseded: Bool
    /// Whether it is an operator's test, of which nothing counts but its result.
    var isTest = false

    /// How the reasons begin of those that are tried again although they were refused.
    static let refusal = "refused: "

    /// - Throws: if the stored body can't be decoded.
    func push() throws -> Push {
        var body = try body.decode(as: PushBody.self)
        // Stored as low, so that it waits for all others. It is to show what the device does with a message.
        if isTest { body.notification.priority = .normal }
        return Push(body, to: account, device: device, token: token, platform: platform)
    }
}

/// How an attempt to send a push ended.
struct PushAttempt: Sendable {
    enum Result: String, CaseIterable {
        /// A push service took it, or it ended where a canary's do.
        case done
        /// It was logged, and went nowhere.
        case logged
        /// It will be tried again.
        case retried
        /// The device no longer exists.
        case gone
        /// No one will ever take it.
        case refused
        /// It waited too long, or until the opposite was told, and was never sent.
        case expired
    }

    let claimed: ClaimedPush
    let result: Result
    /// The receiver's answer, or the reason why it wasn't asked.
    let answer: String
    var took: Duration = .zero
    /// Whether a push service took it.
    var reachedDevice = false
}

/// Whether a claimed push is still to be sent.
enum PushTimeliness {
    case wanted
    /// Not to this token, or no more by this process.
    case unwanted
    /// The account was told the opposite of the same alarm since.
    case outOfDate
    /// The drill that it is about is over, or an alarm has ended it.
    case drillIsOver
}

/// Due pushes that a process claimed.
struct Claim: Sendable {
    let pushes: [ClaimedPush]
    /// Whether nothing else is due.
    let isAll: Bool
}

extension Database {
    /// Claims due pushes of a lane that no one else has claimed, and postpones them by the lease: the longest due first, but
    /// critical ones that were never tried before all that were.
    /// - Parameters:
    ///   - outlet: The platforms of the devices whose pushes are meant. Others' aren't among what is due.
    ///   - limit: The most of each priority and platform, of those that were never tried and of the others.
    ///   - claimed: How many each device has claimed already. None gets more than ``PushPlaces/deviceClaims``, and no account
    ///     more than ``PushLane/accountClaims``.
    ///   - age: How far back to search; see ``QueueSearch``.
    ///   - lease: How long they belong to this process.
    ///   - sending: The longest that sending one may take. It must be started this long before the lease ends.
    ///   - patience: How long a push may wait before it is given up.
    ///   - testPatience: How long a test may.
    func claimPushes(
        _ lane: PushLane, to outlet: Set<PushPlatform>, limit: Int, besides claimed: [PushDeviceKey: Int64],
        age: Interval, lease: Interval,
        sending: Interval, patience: Interval, testPatience: Interval
    ) throws -> Claim {
        let claimed = claimed.sorted { $0.key < $1.key }
        let accounts = claimed.reduce(into: [AccountID: Int64]()) { $0[$1.key.account, default: 0] += $1.value }
        let full = accounts.filter { $0.value >= lane.accountClaims }.map(\.key).sorted()
        let busy = claimed.filter { $0.value >= PushPlaces.deviceClaims }.map(\.key.device)
        let startBy = ContinuousClock.now + (lease.duration - sending.duration)
        // now() is the transaction's start: unlike clock_timestamp(), it can be compared by an index.
        let rows = try query(
            """
            WITH due AS MATERIALIZED (
                SELECT p.*
                  FROM unnest(\(outlet.map(\.rawValue).sorted())) AS v(platform)
                 CROSS JOIN unnest(\(lane.priorities)) AS w(priority)
                 CROSS JOIN unnest(ARRAY[false, true]) AS t(is_tried)
                 CROSS JOIN LATERAL (SELECT o.account, o.device, o.notification, o.platform, o.priority, o.next_attempt_at,
                                            t.is_tried, o.priority = 0 AND t.is_tried AS is_later
                                       FROM notifications.push AS o
                                      WHERE o.platform = v.platform AND o.priority = w.priority
                                        AND (o.attempts > 0) = t.is_tried
                                        AND o.next_attempt_at <= now()
                                        AND o.next_attempt_at >= now() - \(age.microseconds) * interval '1 microsecond'
                                        AND o.account <> ALL (\(full))
                                        AND o.device <> ALL (\(busy))
                                      ORDER BY o.next_attempt_at
                                      LIMIT \(Int64(limit)) FOR UPDATE SKIP LOCKED) AS p
            ), in_device AS MATERIALIZED (
                SELECT d.*, row_number() OVER (PARTITION BY d.account, d.device
                                               ORDER BY d.priority, d.is_later, d.next_attempt_at)
                            + coalesce(h.count, 0) <= \(PushPlaces.deviceClaims) AS is_in_device,
                       count(*) OVER (PARTITION BY d.platform, d.priority, d.is_tried) >= \(Int64(limit)) AS is_full
                  FROM due AS d
                  LEFT JOIN unnest(\(claimed.map(\.key.account)), \(claimed.map(\.key.device)), \(claimed.map(\.value)))
                            AS h(account, device, count) ON h.account = d.account AND h.device = d.device
            ), in_account AS MATERIALIZED (
                SELECT d.*, d.is_in_device
                            AND count(*) FILTER (WHERE d.is_in_device)
                                         OVER (PARTITION BY d.account ORDER BY d.priority, d.is_later, d.next_attempt_at
                                               ROWS UNBOUNDED PRECEDING)
                                + coalesce(h.count, 0) <= \(lane.accountClaims) AS is_in_share
                  FROM in_device AS d
                  LEFT JOIN unnest(\(accounts.map(\.key)), \(accounts.map(\.value))) AS h(account, count)
                    ON h.account = d.account
            ), ranked AS MATERIALIZED (
                SELECT d.*, d.is_in_share
                            AND count(*) FILTER (WHERE d.is_in_share)
                                         OVER (ORDER BY d.priority, d.is_later, d.next_attempt_at ROWS UNBOUNDED PRECEDING)
                                <= \(Int64(limit * lane.priorities.count)) AS is_claimed
                  FROM in_account AS d
            ), claimed AS (
                UPDATE notifications.push AS p
                   SET attempts = p.attempts + 1, last_error = NULL,
                       next_attempt_at = clock_timestamp() + \(lease.microseconds) * interval '1 microsecond'
                  FROM ranked AS d
                 WHERE d.is_claimed
                   AND p.account = d.account AND p.device = d.device AND p.notification = d.notification
                RETURNING p.account, p.device, p.notification, p.body, p.attempts, p.created_at, d.priority,
                          d.next_attempt_at AS due_at, p.is_test
            )
            SELECT c.account, c.device, c.notification, c.body, c.attempts, r.token, r.platform,
                   c.created_at < now() - CASE WHEN c.is_test THEN \(testPatience.microseconds)
                                               ELSE \(patience.microseconds) END * interval '1 microsecond',
                   EXISTS (SELECT FROM notifications.push_device AS o
                            WHERE md5(o.token) = md5(r.token) AND o.token = r.token
                              AND (o.registered_at, o.account, o.device) > (r.registered_at, r.account, r.device)),
                   c.priority, c.due_at, (SELECT bool_and(d.is_claimed AND NOT d.is_full) FROM ranked AS d),
                   r.registered_at, c.is_test
              FROM claimed AS c
              JOIN notifications.push_device AS r ON r.account = c.account AND r.device = c.device
            """)
        var isAll = busy.isEmpty && full.isEmpty
        let pushes = try rows.map { row in
            let (account, device, notification, body, attempt, token, platform, isOver) = try row.decode(
                AccountID.self, PushDeviceID.self, NotificationID.self, JSON.self, Int32.self, String.self, String.self,
                Bool.self)
            if try !row.decode(11, as: Bool.self) { isAll = false }
            return ClaimedPush(
                account: account, device: device, notification: notification, body: body, attempt: attempt,
                priority: try row.decode(9, as: Int32.self), due: try row.decode(10, as: Instant.self),
                startBy: startBy, token: token, platform: PushPlatform(rawValue: platform) ?? .other,
                registered: try row.decode(12, as: Instant.self), isOver: isOver,
                isSuperseded: try row.decode(8, as: Bool.self), isTest: try row.decode(13, as: Bool.self))
        }
        return Claim(pushes: pushes, isAll: isAll)
    }

    /// Whether a claimed push should still go to the token it was claimed for. The device may have been signed out meanwhile, and a
    /// push that was retried may come after one that says the opposite of the same alarm, whose place it would take on the device.
    func timeliness(of push: ClaimedPush) throws -> PushTimeliness {
        // What was cleared when it was delivered told nobody. Ids begin with the time of their cause in milliseconds; the time of
        // delivery is one for a whole batch, and late for what failed before. The kinds are written out, as in the index of ends.
        let row = try query(
            """
            SELECT EXISTS (SELECT FROM notifications.notification AS n
                            WHERE n.account = p.account AND n.id = p.notification AND n.alarm IS NULL
                              AND (least((n.details ->> 'graceEnds')::bigint, (n.details ->> 'onItUntil')::bigint)
                                       <= notifications.microseconds(clock_timestamp())
                                   OR coalesce(n.details ->> 'trip', n.details ->> 'onItUntil', n.details ->> 'pinged') IS NOT NULL
                                      AND (n.cleared_at IS NOT NULL
                                           OR n.kind = 'checkInReminder'
                                              AND (n.details ->> 'deadline')::bigint
                                                  <= notifications.microseconds(clock_timestamp()))))
                OR EXISTS (SELECT FROM notifications.notification AS n
                             JOIN notifications.notification AS l
                               ON l.alarm = n.alarm AND l.account = n.account
                              AND substr(l.id::text, 1, 13) COLLATE "C" > substr(n.id::text, 1, 13)
                            WHERE n.account = p.account AND n.id = p.notification
                              AND (l.cleared_at IS NULL OR l.cleared_at > l.created_at)
                              -- What responders answer isn't a beginning, and may come late.
                              AND NOT (l.kind IN ('alertRaised', 'checkInMissed') AND l.details ->> 'text' IS NOT NULL)
                              AND (n.kind IN ('alertCleared', 'dependentAlertCleared', 'dependentCheckedInLate',
                                              'dependentAlarmEnded'))
                               <> (l.kind IN ('alertCleared', 'dependentAlertCleared', 'dependentCheckedInLate',
                                              'dependentAlarmEnded'))),
                   EXISTS (SELECT FROM notifications.notification AS n
                            WHERE n.account = p.account AND n.id = p.notification AND n.alarm IS NULL
                              AND n.details ->> 'drill' IS NOT NULL
                              AND (n.cleared_at IS NOT NULL
                                   OR (n.details ->> 'drillEnds')::bigint <= notifications.microseconds(clock_timestamp())
                                   OR n.details ->> 'drillEnds' IS NOT NULL AND n.subject IS NOT NULL
                                      AND n.created_at
                                          <= clock_timestamp() - \(PushedNotification.drillLife.microseconds) * interval '1 microsecond'))
              FROM notifications.push AS p
              JOIN notifications.push_device AS d ON d.account = p.account AND d.device = p.device
             WHERE p.account = \(push.account) AND p.device = \(push.device) AND p.notification = \(push.notification)
               AND p.attempts = \(push.attempt) AND d.token = \(push.token)
            """
        ).only
        guard let row else { return .unwanted }
        let (isOutOfDate, isOfPastDrill) = try row.decode(Bool.self, Bool.self)
        return isOutOfDate ? .outOfDate : isOfPastDrill ? .drillIsOver : .wanted
    }

    /// For how long a push has been refused: since the first refusal. Nil if it never was.
    func refused(_ push: ClaimedPush) throws -> Duration? {
        try query(
            """
            SELECT clock_timestamp() - min(a.began_at)
              FROM notifications.push_attempt AS a
             WHERE a.account = \(push.account) AND a.notification = \(push.notification) AND a.device = \(push.device)
               AND a.result = 'retried' AND a.answer LIKE \(ClaimedPush.refusal + "%")
            HAVING count(*) > 0
            """
        ).only?.decode(0, as: Interval.self).duration
    }

    /// Deletes a push. Returns whether it was still there.
    @discardableResult
    func remove(_ push: ClaimedPush) throws -> Bool {
        try execute(
            """
            DELETE FROM notifications.push AS p
             WHERE p.account = \(push.account) AND p.device = \(push.device) AND p.notification = \(push.notification)
            """) > 0
    }

    /// Records an attempt, as long as its notification is in the history. If a push service took the push, also notes that for the
    /// account, once a day, unless the device was signed out or has another token by now.
    /// - Returns: how long after the notification's delivery the attempt ended; nil if it wasn't recorded.
    func record(_ attempt: PushAttempt) throws -> Duration? {
        let claimed = attempt.claimed
        let took = Int64(attempt.took / .microseconds(1))
        let answer = String(attempt.answer.replacing("\u{0}", with: "").unicodeScalars.prefix(500))
        if claimed.isTest {
            try recordTest(attempt, took: took, answer: answer)
            return nil
        }
        return try query(
            """
            WITH notification AS MATERIALIZED (
                SELECT n.account, n.id, n.created_at FROM notifications.notification AS n
                 WHERE n.account = \(claimed.account) AND n.id = \(claimed.notification)
            ), recorded AS (
            INSERT INTO notifications.push_attempt
                   (account, notification, device, attempt, began_at, took, result, answer)
            SELECT n.account, n.id, \(claimed.device), \(claimed.attempt),
                   clock_timestamp() - \(took) * interval '1 microsecond', \(took) * interval '1 microsecond',
                   \(attempt.result.rawValue), \(answer)
              FROM notification AS n
            ON CONFLICT ON CONSTRAINT attempt_is_made_once DO NOTHING
            RETURNING began_at + took AS ended_at
            ), taken AS (
            INSERT INTO notifications.push_taken AS t (account, taken_at)
            SELECT d.account, clock_timestamp() FROM notifications.push_device AS d
             WHERE \(attempt.reachedDevice) AND d.account = \(claimed.account) AND d.device = \(claimed.device)
               AND d.token = \(claimed.token) AND NOT d.is_leaving
               AND NOT EXISTS (SELECT FROM notifications.push_taken AS n
                                WHERE n.account = d.account
                                  AND (NOT n.is_recorded OR n.taken_at > clock_timestamp() - interval '1 day'))
            ON CONFLICT ON CONSTRAINT push_is_taken_once_a_day
            DO UPDATE SET taken_at = excluded.taken_at, is_recorded = false
             WHERE t.is_recorded AND t.taken_at <= excluded.taken_at - interval '1 day'
            )
            SELECT greatest(r.ended_at - n.created_at, interval '0') FROM recorded AS r CROSS JOIN notification AS n
            """
        ).only?.decode(0, as: Interval.self).duration
    }

    /// Records an attempt to send a test, and nothing else: that one was taken says nothing of whether its account can be reached.
    private func recordTest(_ attempt: PushAttempt, took: Int64, answer: String) throws {
        let claimed = attempt.claimed
        try execute(
            """
            UPDATE notifications.test_push AS t
               SET attempt = \(claimed.attempt), ended_at = clock_timestamp(), took = \(took) * interval '1 microsecond',
                   result = \(attempt.result.rawValue),
                   -- Why it was given up is what the last attempt was answered.
                   answer = left(concat_ws(': ', \(answer), CASE WHEN \(attempt.result == .expired) THEN t.answer END), 500)
             WHERE t.id = \(claimed.notification) AND t.account = \(claimed.account) AND t.device = \(claimed.device)
               AND coalesce(t.attempt, 0) < \(claimed.attempt)
               -- A process that was killed before it removed the push has it sent again.
               AND t.result IS DISTINCT FROM \(PushAttempt.Result.done.rawValue)
            """)
    }

    /// Schedules the next attempt, unless another process has claimed the push meanwhile.
    func postpone(_ push: ClaimedPush, for pause: Duration, because reason: String) throws {
        let pause = Interval(pause).microseconds
        let reason = String(reason.replacing("\u{0}", with: "").unicodeScalars.prefix(500))
        try execute(
            """
            UPDATE notifications.push AS p
               SET next_attempt_at = clock_timestamp() + \(pause) * interval '1 microsecond', last_error = \(reason)
             WHERE p.account = \(push.account) AND p.device = \(push.device) AND p.notification = \(push.notification)
               AND p.attempts = \(push.attempt)
            """)
    }

    /// Lets others send claimed pushes at once, each when it was its turn before.
    func giveBack(_ pushes: [ClaimedPush]) throws {
        try execute(
            """
            UPDATE notifications.push AS p
               SET next_attempt_at = u.due, attempts = p.attempts - 1
              FROM unnest(\(pushes.map(\.account)), \(pushes.map(\.device)), \(pushes.map(\.notification)),
                          \(pushes.map(\.attempt)), \(pushes.map(\.due))) AS u(account, device, notification, attempt, due)
             WHERE p.account = u.account AND p.device = u.device AND p.notification = u.notification
               AND p.attempts = u.attempt
            """)
    }

    /// Makes pushes due that wait only because they failed, critical ones first, unless half of `limit` of them are due already. What
    /// was refused isn't meant: that others are taken says nothing about it.
    /// One that failed 60 times waits as long as it has to: a device that never takes anything isn't tried more often because
    /// others do.
    /// - Parameters:
    ///   - platforms: Of the devices whose sender is back.
    ///   - limit: The most at a time.
    /// - Returns: how many, and whether more may wait.
    func hurryFailedPushes(to platforms: Set<PushPlatform>, limit: Int) throws -> (count: Int, isMore: Bool) {
        let platforms = platforms.map(\.rawValue).sorted()
        let due =
            try query(
                """
                SELECT count(*)
                  FROM (SELECT
                          FROM unnest(\(platforms)) AS v(platform)
                         CROSS JOIN unnest(ARRAY[0, 1, 2, 3]) AS w(priority)
                         CROSS JOIN LATERAL (SELECT FROM notifications.push AS p
                                              WHERE p.platform = v.platform AND p.priority = w.priority
                                                AND p.last_error IS NOT NULL AND p.attempts <= 60
                                        AND p.last_error NOT LIKE \(ClaimedPush.refusal + "%")
                                                AND p.next_attempt_at <= now()
                                              ORDER BY p.next_attempt_at
                                              LIMIT \(Int64(limit / 2))) AS o
                         LIMIT \(Int64(limit / 2))) AS counted
                """
            ).only?.decode(0, as: Int.self) ?? 0
        guard due < limit / 2 else { return (0, true) }
        // Each platform and priority by itself, so that the index is read from now on and not from the longest due.
        let count =
            try query(
                """
                WITH failed AS MATERIALIZED (
                    SELECT o.*
                      FROM unnest(\(platforms)) AS v(platform)
                     CROSS JOIN unnest(ARRAY[0, 1, 2, 3]) AS w(priority)
                     CROSS JOIN LATERAL (SELECT p.account, p.device, p.notification, p.priority, p.next_attempt_at
                                           FROM notifications.push AS p
                                          WHERE p.platform = v.platform AND p.priority = w.priority
                                            AND p.last_error IS NOT NULL AND p.attempts <= 60
                                        AND p.last_error NOT LIKE \(ClaimedPush.refusal + "%")
                                            AND p.next_attempt_at > now()
                                          ORDER BY p.next_attempt_at
                                          LIMIT \(Int64(limit)) FOR UPDATE SKIP LOCKED) AS o
                ), hurried AS (
                    UPDATE notifications.push AS p
                       SET next_attempt_at = now() + f.number * interval '1 microsecond'
                      FROM (SELECT f.*, row_number() OVER (ORDER BY f.priority, f.next_attempt_at) AS number
                              FROM failed AS f) AS f
                     WHERE f.number <= \(Int64(limit))
                       AND p.account = f.account AND p.device = f.device AND p.notification = f.notification
                    RETURNING 1
                )
                SELECT count(*) FROM hurried
                """
            ).only?.decode(0, as: Int.self) ?? 0
        return (count, count == limit)
    }

    /// For how long the oldest critical push has waited. Nil if none waits.
    func oldestCriticalPush() throws -> Duration? {
        try query(
            """
            SELECT greatest(clock_timestamp() - p.created_at, interval '0')
              FROM notifications.push AS p
             WHERE p.priority = 0
             ORDER BY p.created_at
             LIMIT 1
            """
        ).only?.decode(0, as: Interval.self).duration
    }

    /// Deletes devices that were signed out and have nothing left to wait for.
    func forgetDevicesThatLeft() throws {
        try execute(
            """
            DELETE FROM notifications.push_device AS d
             WHERE d.is_leaving
               AND NOT EXISTS (SELECT FROM notifications.push AS p WHERE p.account = d.account AND p.device = d.device)
            """)
    }

    /// The platforms of people's devices.
    func platformsOfDevices() throws -> Set<PushPlatform> {
        let rows = try query(
            """
            SELECT w.platform
              FROM unnest(\(PushPlatform.allCases.map(\.rawValue))) AS w(platform)
             WHERE EXISTS (SELECT FROM notifications.push_device AS d
                            WHERE d.platform = w.platform AND NOT notifications.is_canary(d.account))
            """)
        return Set(try rows.compactMap { PushPlatform(rawValue: try $0.decode(0, as: String.self)) })
    }

    /// Counts people's waiting pushes, up to a limit, without operators' tests.
    func waitingPushes(limit: Int) throws -> Int {
        try query(
            "SELECT count(*) FROM (SELECT FROM notifications.push AS p WHERE p.priority < 4 AND NOT p.is_test LIMIT \(Int64(limit))) AS counted"
        ).only?.decode(0, as: Int.self) ?? 0
    }

    /// Deletes a push and asks for its device to be forgotten, in one transaction, so it is asked once. If the device
    /// has another token by now, the push is sent to that one instead.
    /// - Parameter due: The log of commands that the service sends itself.
    func forget(_ push: ClaimedPush, by due: Log) throws {
        let command = ForgetPush(account: push.account, device: push.device, token: push.token)
        let message = Message(
            kind: .command, type: ForgetPush.type, version: ForgetPush.version, key: .account(push.account),
            body: try command.encoded(), commandID: .new(), correlationID: .new())
        let isAsked = try transaction { database in
            let isThatToken =
                try database.query(
                    """
                    SELECT true FROM notifications.push_device AS d
                     WHERE d.account = \(push.account) AND d.device = \(push.device) AND d.token = \(push.token)
                    """
                ).only != nil
            guard isThatToken else {
                try database.postpone(push, for: .zero, because: "the device has another token now")
                return false
            }
            guard try database.remove(push) else { return false }
            _ = try database.query(due.append([message]))
            return true
        }
        // After the commit. If no one hears it, that costs a second: see Log.ring(for:).
        if isAsked { _ = try? query(due.ring(for: [message])) }
    }
}
