import Bus
import Postgres
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary

/// Where a partition's canary stands: a row of `session_client.canary`.
struct Canary: Sendable, Equatable {
    let partition: Partition
    /// How many partitions there are.
    let count: Int32
    /// Whether a process of each service has run that knows canaries' commands.
    var isKnown = true
    /// Nil if it was never opened.
    var interval: Interval?
    /// Nil while it rests.
    var due: Instant?
    /// The alarm that is on.
    var alarm: AlarmID?
    /// The newest alarm that arrived.
    var received: AlarmID?
    var receivedAt: Instant?
    /// What hasn't happened. Nil while nothing is due.
    var leg: String?
    /// For how long it is late. Nil while it rests.
    var late: Duration?

    /// Since when somebody could check in for it, or should have: while an alarm is on. Never in the future.
    var waitingSince: Instant? { received != nil && received == alarm ? receivedAt ?? due : due }

    var person: AccountID { .canary(.person, of: partition, among: count) }
    var responder: AccountID { .canary(.responder, of: partition, among: count) }
}

/// What a canary needs from session-client. Everything else follows from the rules that hold for everybody.
enum CanaryStep: Equatable, Sendable {
    /// The accounts, their relation and the push registration.
    case open
    /// How often it is missed; nil lets it rest.
    case set(Interval?)
    /// Ends the alarm, by a check-in. A later attempt follows when the one before has expired.
    case checkIn(AlarmID, attempt: Int64)

    /// An alarm that didn't arrive for this many intervals is given up, so that the next one begins. Until then its
    /// repetitions try again.
    private static let patienceLimit: Int64 = 12
    /// Longer than a command is valid.
    private static let attempt: Interval = .minutes(6)

    /// - Parameter interval: How often canaries are to be missed; nil if never.
    init?(for canary: Canary, every interval: Interval?, at now: Instant) {
        if canary.leg == "opened" {
            guard interval != nil, canary.isKnown else { return nil }
            self = .open
        } else if let alarm = canary.alarm, let due = canary.due {
            let length = canary.interval ?? interval ?? Interval(microseconds: 0)
            let isOver = now - due > Interval(microseconds: length.microseconds * Self.patienceLimit)
            let since = canary.waitingSince ?? due
            guard canary.received == alarm || isOver || interval == nil else { return nil }
            self = .checkIn(alarm, attempt: max((now - since).microseconds, 0) / Self.attempt.microseconds)
        } else if let interval {
            guard canary.due == nil || canary.interval != interval else { return nil }
            self = .set(interval)
        } else {
            guard canary.due != nil else { return nil }
            self = .set(nil)
        }
    }

    /// The commands, in their order. All replicas send the same under the same ids, so each is handled once.
    /// - Parameters:
    ///   - interval: As above.
    ///   - now: What isn't named after an alarm is named after the minute: it may be sent again, and then changes nothing.
    func commands(for canary: Canary, every interval: Interval?, at now: Instant) throws -> [(Domain, Message)] {
        let minute = Instant(microseconds: now.microseconds - now.microseconds % Interval.minutes(1).microseconds)
        func command(
            _ body: some CommandBody, of account: AccountID, at time: Instant? = nil, as name: String
        ) throws -> Message {
            let id: CommandID = .derived(at: time ?? minute, from: Array("canary/\(name)".utf8), account.bytes)
            return try Message(body, id: id, key: .account(account), account: account)
        }
        func set(_ interval: Interval?) throws -> (Domain, Message) {
            // They are missed one after the other. While an alarm is on, it changes nothing; by the next deadline, it is another.
            let length = (interval ?? .minutes(1)).microseconds
            let place = length * Int64(canary.partition.number + 1) / Int64(canary.count)
            let delay = max(Interval(microseconds: place), .seconds(1))
            return (
                .session,
                try command(
                    SetCanary(interval: interval, delay: delay), of: canary.person,
                    as: "set/\(interval?.microseconds ?? 0)/\(canary.due?.microseconds ?? 0)")
            )
        }
        switch self {
        case .open:
            let device = PushDeviceID(canary.responder)
            let register = RegisterPush(device: device, token: "canary/\(canary.responder)", platform: .other)
            let opening = QuartetNotificationsContract.OpenAccount()
            return [
                (
                    .contacts,
                    try command(OpenCanary(responder: canary.responder), of: canary.person, as: "contacts")
                ),
                (.notifications, try command(opening, of: canary.person, as: "notifications")),
                (.notifications, try command(opening, of: canary.responder, as: "notifications")),
                (.notifications, try command(register, of: canary.responder, as: "push")),
                try set(interval),
            ]
        case .set(let interval): return [try set(interval)]
        case .checkIn(let alarm, let attempt):
            // Neither too old for a command, however long the alarm has been on, nor in the future, however late it began.
            let since = canary.waitingSince ?? alarm.time
            let time = since.map { $0 + Interval(microseconds: Self.attempt.microseconds * attempt) }
            let checkIn = try command(CheckIn(), of: canary.person, at: time, as: "check-in/\(alarm)/\(attempt)")
            // Who rests from now on does so before the next alarm begins.
            return [(.session, checkIn)] + (interval == nil ? [try set(nil)] : [])
        }
    }
}

extension Database {
    func canaries() throws -> [Canary] {
        let rows = try query(
            """
            SELECT c.partition, c.every, c.due_at, c.alarm, c.received, c.received_at, c.leg, c.late,
                   EXISTS (SELECT FROM session.canary_support) AND EXISTS (SELECT FROM contacts.canary_support)
                   AND EXISTS (SELECT FROM notifications.canary_support)
              FROM session_client.canary AS c
             ORDER BY c.partition
            """)
        return try rows.map { row in
            let (partition, interval, due, alarm, received, receivedAt, leg, late, isKnown) = try row.decode(
                Int32.self, Interval?.self, Instant?.self, AlarmID?.self, AlarmID?.self, Instant?.self, String?.self,
                Interval?.self, Bool.self)
            return Canary(
                partition: Partition(partition), count: Int32(rows.count), isKnown: isKnown, interval: interval,
                due: due, alarm: alarm, received: received, receivedAt: receivedAt, leg: leg, late: late?.duration)
        }
    }
}
