import Bus
import NotificationsContract
import NotificationsRules
import Postgres
import Storage
import Vocabulary

// The statements on notifications.push by which what waits there is sent.

/// A push that this process sends now, as long as its lease lasts.
struct ClaimedPush: Sendable {
    let account: AccountID
    let device: PushDeviceID
    let notification: NotificationID
    let body: JSON
    /// Which attempt this is, from 1. Another one is somebody else's.
    let attempt: Int32
    let token: String
    let platform: String
    /// Whether it has waited for so long that it isn't worth sending any more.
    let isOver: Bool
    /// Whether the same app registered again meanwhile, for whoever is signed in to it now.
    let isSuperseded: Bool

    /// What is to be sent.
    /// - Throws: when nobody here can read it.
    func push() throws -> Push {
        Push(
            try body.decode(as: PushBody.self), to: account, device: device, token: token,
            platform: PushPlatform(rawValue: platform) ?? .other)
    }
}

/// What became of an attempt to send a push.
struct PushAttempt: Sendable {
    /// How it ended.
    enum Result: String, CaseIterable {
        /// The receiver took it.
        case done
        /// It will be tried again.
        case retried
        /// The device isn't there any more.
        case gone
        /// It will never be taken.
        case refused
        /// It waited for so long that it was given up unsent.
        case expired
    }

    let claimed: ClaimedPush
    let result: Result
    /// What the receiver answered, or why none was asked.
    let answer: String
    /// How long that took.
    var took: Duration = .zero
}

extension Database {
    /// Takes what is due and nobody else has in hand, the longest due first, and puts off for the time of the lease
    /// when somebody else may.
    /// - Parameters:
    ///   - limit: How many at most.
    ///   - age: How far back to search: see ``QueueSearch``.
    ///   - lease: For how long they are this process's own.
    ///   - patience: After how long of waiting a push is over.
    func claimPushes(limit: Int, age: Interval, lease: Interval, patience: Interval) throws -> [ClaimedPush] {
        // now() is when this transaction began: unlike clock_timestamp(), an index can be searched for it.
        try query(
            """
            WITH due AS MATERIALIZED (
                SELECT p.account, p.device, p.notification
                  FROM notifications.push AS p
                 WHERE p.next_attempt_at <= now()
                   AND p.next_attempt_at >= now() - \(age.microseconds) * interval '1 microsecond'
                 ORDER BY p.next_attempt_at
                 LIMIT \(Int64(limit)) FOR UPDATE SKIP LOCKED
            ), claimed AS (
                UPDATE notifications.push AS p
                   SET attempts = p.attempts + 1,
                       next_attempt_at = clock_timestamp() + \(lease.microseconds) * interval '1 microsecond'
                  FROM due AS d
                 WHERE p.account = d.account AND p.device = d.device AND p.notification = d.notification
                RETURNING p.account, p.device, p.notification, p.body, p.attempts, p.created_at
            )
            SELECT c.account, c.device, c.notification, c.body, c.attempts, r.token, r.platform,
                   c.created_at < now() - \(patience.microseconds) * interval '1 microsecond',
                   EXISTS (SELECT FROM notifications.push_device AS o
                            WHERE md5(o.token) = md5(r.token) AND o.token = r.token
                              AND (o.registered_at, o.account, o.device) > (r.registered_at, r.account, r.device))
              FROM claimed AS c
              JOIN notifications.push_device AS r ON r.account = c.account AND r.device = c.device
            """
        ).map { row in
            let (account, device, notification, body, attempt, token, platform, isOver) = try row.decode(
                AccountID.self, PushDeviceID.self, NotificationID.self, JSON.self, Int32.self, String.self, String.self,
                Bool.self)
            return ClaimedPush(
                account: account, device: device, notification: notification, body: body, attempt: attempt,
                token: token, platform: platform, isOver: isOver, isSuperseded: try row.decode(8, as: Bool.self))
        }
    }

    /// Whether a push that was claimed a while ago is still to be sent to the token that it was claimed for: the device may
    /// have been signed out since.
    func isWanted(_ push: ClaimedPush) throws -> Bool {
        try query(
            """
            SELECT true FROM notifications.push AS p
              JOIN notifications.push_device AS d ON d.account = p.account AND d.device = p.device
             WHERE p.account = \(push.account) AND p.device = \(push.device) AND p.notification = \(push.notification)
               AND p.attempts = \(push.attempt) AND d.token = \(push.token)
            """
        ).only != nil
    }

    /// Deletes a push that need not be sent any more. Returns whether it was still there.
    @discardableResult
    func remove(_ push: ClaimedPush) throws -> Bool {
        try execute(
            """
            DELETE FROM notifications.push AS p
             WHERE p.account = \(push.account) AND p.device = \(push.device) AND p.notification = \(push.notification)
            """) > 0
    }

    /// Writes down what became of an attempt, as long as its notification is in the history.
    func record(_ attempt: PushAttempt) throws {
        let claimed = attempt.claimed
        let took = Int64(attempt.took / .microseconds(1))
        let answer = String(attempt.answer.replacing("\u{0}", with: "").unicodeScalars.prefix(500))
        try execute(
            """
            INSERT INTO notifications.push_attempt
                   (account, notification, device, attempt, began_at, took, result, answer)
            SELECT n.account, n.id, \(claimed.device), \(claimed.attempt),
                   clock_timestamp() - \(took) * interval '1 microsecond', \(took) * interval '1 microsecond',
                   \(attempt.result.rawValue), \(answer)
              FROM notifications.notification AS n
             WHERE n.account = \(claimed.account) AND n.id = \(claimed.notification)
            ON CONFLICT ON CONSTRAINT attempt_is_made_once DO NOTHING
            """)
    }

    /// Has a push sent again after a pause, unless somebody else has it in hand by now.
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

    /// Lets others send at once what was claimed and not begun.
    func giveBack(_ pushes: [ClaimedPush]) throws {
        try execute(
            """
            UPDATE notifications.push AS p
               SET next_attempt_at = clock_timestamp(), attempts = p.attempts - 1
              FROM unnest(\(pushes.map(\.account)), \(pushes.map(\.device)), \(pushes.map(\.notification)),
                          \(pushes.map(\.attempt))) AS u(account, device, notification, attempt)
             WHERE p.account = u.account AND p.device = u.device AND p.notification = u.notification
               AND p.attempts = u.attempt
            """)
    }

    /// Forgets devices that were signed out and to which nothing is sent any more.
    func forgetDevicesThatLeft() throws {
        try execute(
            """
            DELETE FROM notifications.push_device AS d
             WHERE d.is_leaving
               AND NOT EXISTS (SELECT FROM notifications.push AS p WHERE p.account = d.account AND p.device = d.device)
            """)
    }

    /// How many pushes wait; of more than `limit` only so many are counted.
    func waitingPushes(limit: Int) throws -> Int {
        try query(
            "SELECT count(*) FROM (SELECT FROM notifications.push AS p LIMIT \(Int64(limit))) AS counted"
        ).only?.decode(0, as: Int.self) ?? 0
    }

    /// Deletes a push and has its device forgotten, in one transaction: so it is asked for once. When the device has another
    /// token by now, the push is sent to that one instead.
    /// - Parameter due: The log in which the service asks itself.
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
        // Behind the commit, and unheard it costs a second: see Log.ring(for:).
        if isAsked { _ = try? query(due.ring(for: [message])) }
    }
}
