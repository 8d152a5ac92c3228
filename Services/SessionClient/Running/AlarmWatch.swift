import Bus
import Logging
import Metrics
import Postgres
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary
import ServiceKit
import ServiceLifecycle
import Synchronization

/// Times alarms on their way through the logs, and reports when one is stuck before notifications has delivered it.
///
/// The times are those in the rows, by the database's clock: the histogram `quartet_alarm_seconds`, by `leg`.
///
/// | leg | from | to |
/// |---|---|---|
/// | `due` | the deadline, or the end of the grace after it | when session's rules were given the missed check-in |
/// | `decided` | that, or when an alert was raised | when the event was recorded in session's log |
/// | `relayed` | that | when contacts recorded that the first responder is alerted |
/// | `notified` | when contacts recorded that a responder is alerted | when notifications recorded the delivery to them |
/// | `pushed` | the delivery | the push service's answer; measured by notifications |
///
/// Every process sees, and so times, all alarms of people. ``CanaryKeeper`` looks after the others.
final class AlarmWatch: Service {
    /// An alarm, or its repetition.
    private struct Occasion: Hashable, Sendable {
        let alarm: AlarmID
        let repetition: Int
    }

    private struct State: Sendable {
        /// When session's events were recorded, until contacts alerts the first responder.
        var decided: [Occasion: Instant] = [:]
        /// When responders were alerted, until they are notified.
        var relayed: [AccountID: [Occasion: Instant]] = [:]
        var relayedCount = 0
    }

    /// How many alarms are remembered in each of the two. With more under way, some aren't timed.
    private static let limit = 10_000
    private static let interval: Duration = .seconds(2)
    /// Of each partition, so many messages that wait are looked at.
    fileprivate static let looksAt = 500
    /// An alarm that isn't delivered for longer than this is reported.
    private static let patience: Duration = .seconds(5)

    private let state = Mutex(State())
    private let pool: Pool
    private let logger: Logger
    private let underWay: Health.Check
    private let given: Health.Check
    private let legs: [String: Metrics.Timer]
    private let waiting = Gauge(label: "quartet_alarm_waiting_seconds")
    private let deadLetters = Gauge(label: "quartet_alarm_dead_letters")
    /// Alarms of which it was said that nobody is on them.
    private let unanswered = Counter(label: "quartet_alarms_unanswered")

    init(pool: Pool, health: Health, logger: Logger) {
        self.pool = pool
        self.logger = logger
        underWay = health.check("alarms")
        given = health.check("dead letters of alarms")
        for check in [underWay, given] { check.report(.ready) }
        legs = Dictionary(
            uniqueKeysWithValues: ["due", "decided", "relayed", "notified"].map {
                ($0, Metrics.Timer(label: "quartet_alarm_seconds", dimensions: [("leg", $0)]))
            })
    }

    // MARK: Timing

    /// Times the alarms in the services' logs. Call it before the tails run.
    func observe(_ services: ServiceConnections) {
        observe(services.session.tail, where: { Self.begins.contains($0.type) }, note: { $0.noteBeginning($1) })
        observe(services.contacts.tail, where: { $0.type == ResponderAlerted.type }, note: { $0.noteAlerting($1) })
        observe(
            services.contacts.tail, where: { $0.type == AlarmUnanswered.type },
            note: { watch, _ in
                watch.unanswered.increment()
            })
        observe(services.notifications.tail, where: isAwaited, note: { $0.noteDelivery($1) })
    }

    /// Few of all notifications are decoded: those of responders who are being alerted.
    private func isAwaited(_ heading: RowHeading) -> Bool {
        guard heading.type == NotificationDelivered.type, let account = heading.key.account else { return false }
        return state.withLock { $0.relayed[account] != nil }
    }

    private static let begins: Set<String> = [
        CheckInMissed.type, AlertRaised.type, AlertAnnounced.type, AlarmRepeated.type,
    ]

    private func observe(
        _ tail: Tail, where isWanted: @escaping @Sendable (RowHeading) -> Bool,
        note: @escaping @Sendable (AlarmWatch, RecordedMessage) -> Void
    ) {
        @Sendable func isAlarm(_ heading: RowHeading) -> Bool {
            heading.kind == .event && heading.isReadable && isWanted(heading) && heading.key.account?.isCanary != true
        }
        tail.observe(where: isAlarm) { [self] observation in
            switch observation {
            case .row(let row): note(self, row)
            case .reconnected(let hasMissedRows): if hasMissedRows { state.withLock { $0 = State() } }
            }
        }
    }

    private func noteBeginning(_ row: RecordedMessage) {
        let body = row.message.body
        switch row.message.type {
        case CheckInMissed.type:
            guard let event = try? CheckInMissed.decoded(from: body) else { return }
            record("due", from: event.graceEnded ?? event.deadline, to: event.at)
            record("decided", from: event.at, to: row.recordedAt)
            begin(event.alarm, row)
        case AlertRaised.type:
            guard let event = try? AlertRaised.decoded(from: body), event.waitsUntil == nil else { return }
            record("decided", from: event.at, to: row.recordedAt)
            begin(event.alarm, row)
        case AlertAnnounced.type:
            guard let event = try? AlertAnnounced.decoded(from: body) else { return }
            record("decided", from: event.at, to: row.recordedAt)
            begin(event.alarm, row)
        default:
            guard let event = try? AlarmRepeated.decoded(from: body) else { return }
            record("decided", from: event.at, to: row.recordedAt)
            begin(event.alarm, repetition: event.repetition, row)
        }
    }

    private func begin(_ alarm: AlarmID, repetition: Int = 0, _ row: RecordedMessage) {
        state.withLock { state in
            if state.decided.count >= Self.limit { state.decided = [:] }
            state.decided[Occasion(alarm: alarm, repetition: repetition)] = row.recordedAt
        }
    }

    private func noteAlerting(_ row: RecordedMessage) {
        guard let event = try? ResponderAlerted.decoded(from: row.message.body), let alarm = event.alarm,
            [.alertRaised, .checkInMissed].contains(event.kind)
        else { return }
        let occasion = Occasion(alarm: alarm, repetition: event.repetition)
        let decided = state.withLock { state in
            if state.relayedCount >= Self.limit { (state.relayed, state.relayedCount) = ([:], 0) }
            if state.relayed[event.account, default: [:]].updateValue(row.recordedAt, forKey: occasion) == nil {
                state.relayedCount += 1
            }
            return state.decided.removeValue(forKey: occasion)
        }
        if let decided { record("relayed", from: decided, to: row.recordedAt) }
    }

    private func noteDelivery(_ row: RecordedMessage) {
        guard let event = try? NotificationDelivered.decoded(from: row.message.body),
            event.notification.kind.priority == .critical, let alarm = event.notification.details.alarm
        else { return }
        let occasion = Occasion(alarm: alarm, repetition: event.notification.details.count ?? 0)
        let relayed = state.withLock { state -> Instant? in
            guard let time = state.relayed[event.account]?.removeValue(forKey: occasion) else { return nil }
            state.relayedCount -= 1
            if state.relayed[event.account]?.isEmpty == true { state.relayed[event.account] = nil }
            return time
        }
        if let relayed { record("notified", from: relayed, to: row.recordedAt) }
    }

    private func record(_ leg: String, from: Instant, to: Instant) {
        // Two replicas' batches may be given times that differ a little from when they are recorded.
        legs[leg]?.recordNanoseconds(max((to - from).microseconds, 0) * 1000)
    }

    // MARK: What is stuck

    /// Looks every two seconds until stopped.
    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while true {
                await self.look()
                try await Task.sleep(for: Self.interval)
            }
        }
    }

    private func look() async {
        do {
            let (stuck, dead) = try await pool.withConnection { database in
                (try database.waitingLongest(), try database.alarmDeadLetters())
            }
            let alarm = stuck.first { $0.isAlarm }
            waiting.record(alarm.map { $0.age / .seconds(1) } ?? 0)
            deadLetters.record(dead)
            if let alarm, alarm.age > Self.patience {
                underWay.report(
                    .impaired(
                        "an alarm has waited for \(alarm.age.components.seconds) s in \(alarm.log): see :lag and :parked"
                    ))
            } else if let many = stuck.first(where: { !$0.isAlarm }), many.age > Self.patience {
                underWay.report(
                    .impaired(
                        """
                        more than \(Self.looksAt) messages of a partition wait in \(many.log), and have for \
                        \(many.age.components.seconds) s; an alarm may be among those behind them: see :lag
                        """))
            } else {
                underWay.report(.ready)
            }
            let many = dead == 1 ? "a message about an alarm was" : "\(dead) messages about alarms were"
            given.report(dead == 0 ? .ready : .impaired("\(many) given up: see :dead_letters"))
        } catch {
            // The check of the bus says when the database is away.
            logger.debug("can't look for alarms that are stuck", metadata: ["error": "\(error)"])
        }
    }
}

/// An alarm that isn't delivered yet, or messages among which there may be one.
private struct StuckAlarm: Sendable {
    /// The log whose reader hasn't handled it.
    let log: String
    let age: Duration
    /// False if so many messages wait that not all were looked at.
    let isAlarm: Bool
}

extension Database {
    /// The alarm that has waited longest in one of the logs between session and notifications, and the oldest message behind
    /// which not all were looked at. Neither if nothing waits.
    fileprivate func waitingLongest() throws -> [StuckAlarm] {
        func policy(_ log: String) -> Query {
            """
            coalesce((SELECT b.position FROM session_client.batch AS b
                       WHERE b.source = \(log) AND b.partition = p.partition
                       ORDER BY b.number DESC LIMIT 1), 0)
            """
        }
        let notifications = NotificationKind.allCases.filter { $0.priority == .critical }.map(\.rawValue)
        let relayed = [AlertKind.alertRaised, .checkInMissed].map(\.rawValue)
        let begins = [CheckInMissed.type, AlertRaised.type, AlertAnnounced.type, AlarmRepeated.type]
        return try query(
            """
            SELECT DISTINCT ON (w.is_alarm) w.log, greatest(clock_timestamp() - w.since, interval '0'), w.is_alarm
              FROM (\(Self.waiting(
                        in: "session.log", after: policy("session.log"), handledBy: Self.relayed, begins))
                     UNION ALL
                    \(Self.waiting(
                        in: "session_client.contacts_commands",
                        after: "session_client.contacts_commands_handled(p.partition)",
                        handledBy: Self.outcome(in: "contacts"), [RelayAlert.type], relayed))
                     UNION ALL
                    \(Self.waiting(
                        in: "contacts.log", after: policy("contacts.log"), handledBy: Self.relayed,
                        [ResponderAlerted.type], relayed))
                     UNION ALL
                    \(Self.waiting(
                        in: "session_client.notifications_commands",
                        after: "session_client.notifications_commands_handled(p.partition)",
                        handledBy: Self.outcome(in: "notifications"), [DeliverNotification.type], notifications))
                     UNION ALL
                    SELECT p.source, p.recorded_at, true
                      FROM unnest(\(begins + [ResponderAlerted.type])) AS t(type)
                     CROSS JOIN LATERAL (SELECT q.source, q.recorded_at FROM session_client.parked AS q
                                          WHERE q.type = t.type AND (q.body::text <> '{}' OR q.error <> '')
                                            AND NOT session_client.is_canary(q.key)
                                          ORDER BY q.recorded_at LIMIT 1) AS p) AS w(log, since, is_alarm)
             ORDER BY w.is_alarm, w.since
            """
        ).map { row in
            let (log, age, isAlarm) = try row.decode(String.self, Interval.self, Bool.self)
            return StuckAlarm(log: log, age: age.duration, isAlarm: isAlarm)
        }
    }

    /// What follows from an event `m` that the policies handled, perhaps ahead of others.
    private static let relayed: Query = """
        SELECT FROM session_client.contacts_commands AS c
         WHERE c.correlation_id = m.correlation_id AND c.causation_id = m.message_id
         UNION ALL
        SELECT FROM session_client.notifications_commands AS c
         WHERE c.correlation_id = m.correlation_id AND c.causation_id = m.message_id
        """

    /// What there is once a command `m` was handled, perhaps ahead of others.
    private static func outcome(in schema: String) -> Query {
        "SELECT FROM \(unescaped: schema).outcome AS o WHERE o.command_id = m.command_id"
    }

    /// - Parameters:
    ///   - handled: The position up to which a partition `p` is handled.
    ///   - effect: What a message `m` leaves once it is handled.
    ///   - kinds: Those that matter, for types that have a kind.
    private static func waiting(
        in log: String, after handled: Query, handledBy effect: Query, _ types: [String], _ kinds: [String] = []
    ) -> Query {
        """
        SELECT \(log)::text, m.recorded_at, m.is_alarm
          FROM (SELECT p.partition, \(handled) AS position
                  FROM \(unescaped: log)_partition AS p
                OFFSET 0) AS h
         CROSS JOIN LATERAL (SELECT l.message_id, l.command_id, l.correlation_id, l.recorded_at,
                                    row_number() OVER (ORDER BY l.position) AS number,
                                    l.type = ANY (\(types))
                                    AND (\(kinds.isEmpty) OR l.body ->> 'kind' = ANY (\(kinds)))
                                    AND NOT session_client.is_canary(l.key) AS is_alarm
                               FROM \(unescaped: log) AS l
                              WHERE l.partition = h.partition AND l.position > h.position
                              ORDER BY l.position LIMIT \(Int64(AlarmWatch.looksAt))) AS m
         WHERE CASE WHEN m.is_alarm THEN NOT EXISTS (\(effect)) ELSE m.number = \(Int64(AlarmWatch.looksAt)) END
        """
    }

    /// How many messages that would have alarmed somebody were given up, and no one has decided about.
    func alarmDeadLetters() throws -> Int {
        let names =
            [MissCheckIn.type, RepeatAlarm.type, RaiseAlert.type, AnnounceAlert.type, BeginNextTier.type]
            + [AlertKind.alertRaised, .checkInMissed].map { "\(RelayAlert.type)/\($0.rawValue)" }
            + NotificationKind.allCases.filter { $0.priority == .critical }
            .map { "\(DeliverNotification.type)/\($0.rawValue)" }
        return try query("SELECT session_client.alarm_dead_letters(\(names))").only?.decode(0, as: Int.self) ?? 0
    }
}
