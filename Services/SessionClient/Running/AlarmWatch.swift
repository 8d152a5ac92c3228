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

/// Times alarms on their way through the logs, and reports when one is stuck before notifications has delivered it: at its timer,
/// in a log, or parked.
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
    /// Longer than a statement may take.
    private static let answerPatience: Duration = .seconds(12)
    /// Where an alarm may wait, each with a gauge of its own.
    private static let places =
        Database.servicesWithAlarms.flatMap {
            ["session_client.\($0)_commands", "\($0).timer", "\($0).due", "\($0).parked"]
        }
        .filter { !["notifications.timer", "notifications.due"].contains($0) }
        + ["session.log", "contacts.log", "session_client.parked"]
    /// Of each partition, so many messages that wait are looked at. The services' `waiting_alarms` do the same.
    fileprivate static let looksAt = 500
    /// An alarm that isn't delivered for longer than this is reported.
    fileprivate static let patience: Duration = .seconds(5)

    private let state = Mutex(State())
    private let pool: Pool
    private let logger: Logger
    private let underWay: Health.Check
    private let given: Health.Check
    private let legs: [String: Metrics.Timer]
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
        let begins = Set(AlarmMessages.sessionEvents)
        observe(services.session.tail, where: { begins.contains($0.type) }, note: { $0.noteBeginning($1) })
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
            var logs = AlarmLook("the logs", isWhole: true)
            var services = Database.servicesWithAlarms.map { AlarmLook($0) }
            var letters = AlarmLook("the dead letters", isWhole: true)
            while true {
                await self.look(&logs) { database, _ in try database.waitingLongest() }
                self.report([logs] + services)
                for index in services.indices {
                    let service = services[index].subject
                    await self.look(&services[index]) { try $0.waitingLongest(in: service, within: $1) }
                    self.report([logs] + services)
                }
                await self.look(&letters) { [deadLetters = self.deadLetters, given = self.given] database, _ in
                    let dead = try database.alarmDeadLetters()
                    deadLetters.record(dead)
                    let many = dead == 1 ? "a message about an alarm was" : "\(dead) messages about alarms were"
                    given.report(dead == 0 ? .ready : .impaired("\(many) given up: see :dead_letters"))
                    return []
                }
                if let complaint = letters.complaint() { self.given.report(.impaired(complaint)) }
                try await Task.sleep(for: Self.interval)
            }
        }
    }

    /// Each in a transaction of its own: where one can't look, the others still do.
    private func look(
        _ look: inout AlarmLook, _ find: @escaping @Sendable (Database, Interval) throws -> [StuckAlarm]
    ) async {
        let begun = look.begin()
        do {
            let alarms = try await ask { try find($0, begun.age) }
            look.end(begun, with: alarms)
        } catch {
            look.fail(begun, error)
            logger.debug(
                "can't look for alarms that are stuck", metadata: ["in": "\(look.subject)", "error": "\(error)"])
        }
    }

    /// Waits for a connection no longer than an answer may take: others may have them all.
    private func ask(
        _ find: @escaping @Sendable (Database) throws -> [StuckAlarm]
    ) async throws -> [StuckAlarm] {
        try await withThrowingTaskGroup(of: [StuckAlarm].self) { group in
            group.addTask { [pool] in
                try await pool.withConnection { database in
                    try database.transaction(readOnly: true) { database in
                        // So that what waits is read along the logs' keys, and no further than the limits say. A bitmap scan would
                        // first read all of it, to sort it.
                        try database.execute("SET LOCAL enable_bitmapscan = off")
                        return try find(database)
                    }
                }
            }
            group.addTask {
                try await Task.sleep(for: Self.answerPatience)
                throw NoAnswer()
            }
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
    }

    struct NoAnswer: Error, CustomStringConvertible {
        var description: String { "the database doesn't answer, or all connections are in use" }
    }

    private func report(_ looks: [AlarmLook]) {
        let stuck = looks.flatMap(\.alarms)
        for place in Self.places {
            let age = stuck.filter { $0.place == place && $0.isAlarm }.map(\.age).max() ?? .zero
            Gauge(label: "quartet_alarm_waiting_seconds", dimensions: [("place", place)]).record(age / .seconds(1))
        }
        let complaints = StuckAlarm.complaints(of: stuck) + looks.compactMap { $0.complaint() }
        underWay.report(complaints.isEmpty ? .ready : .impaired(complaints.joined(separator: "; ")))
    }
}

/// What somebody's alarm waits for: types, or kinds of a type as in `RelayAlert/alertRaised`.
enum AlarmMessages {
    /// Commands that session sends itself when they are due; a policy sends the last as well. A service's functions `is_alarm_timer`
    /// and `is_alarm` name the same ones.
    static let sessionTimers = [
        MissCheckIn.type, MissTrip.type, AnnounceAlert.type, RepeatAlarm.type, RaiseUnansweredAlert.type,
    ]
    static let session = sessionTimers + [RaiseAlert.type]
    static let contactsTimers = [BeginNextTier.type, JudgePings.type]
    static let contacts = contactsTimers + relayed.map { "\(RelayAlert.type)/\($0)" }
    static let notifications = NotificationKind.allCases.filter { $0.priority == .critical }.map {
        "\(DeliverNotification.type)/\($0.rawValue)"
    }
    static let sessionEvents = [CheckInMissed.type, AlertRaised.type, AlertAnnounced.type, AlarmRepeated.type]
    static let contactsEvents = [PingsUnanswered.type] + relayed.map { "\(ResponderAlerted.type)/\($0)" }

    private static let relayed = [AlertKind.alertRaised, .checkInMissed].map(\.rawValue)

    static func types(of names: [String]) -> [String] {
        Set(names.map { name in String(name.prefix { $0 != "/" }) }).sorted()
    }
}

/// An alarm that isn't delivered yet, or messages among which there may be one.
struct StuckAlarm: Sendable {
    /// The log whose reader hasn't handled it, or the table in which it waits.
    let place: String
    let age: Duration
    /// False if so many messages wait that not all were looked at.
    let isAlarm: Bool

    /// What there is to say of several, those of alarms first. Of a place in which one is known nothing is said of what may be behind.
    static func complaints(of stuck: [StuckAlarm]) -> [String] {
        var oldest: [String: StuckAlarm] = [:]
        for one in stuck {
            guard let other = oldest[one.place] else {
                oldest[one.place] = one
                continue
            }
            if one.comesBefore(other) { oldest[one.place] = one }
        }
        return oldest.values.sorted { $0.comesBefore($1) }.compactMap(\.complaint)
    }

    private func comesBefore(_ other: Self) -> Bool {
        isAlarm == other.isAlarm ? age > other.age : isAlarm
    }

    func aged(by time: Duration) -> Self { Self(place: place, age: age + time, isAlarm: isAlarm) }

    /// What there is to say of it, if it has waited for too long.
    var complaint: String? {
        guard age > AlarmWatch.patience else { return nil }
        let seconds = age.components.seconds
        guard isAlarm else {
            return """
                more than \(AlarmWatch.looksAt) messages of a partition wait in \(place), and have for \(seconds) s; an alarm may \
                be among those behind them: see :lag
                """
        }
        return "an alarm has waited for \(seconds) s in \(place): see \(query)"
    }

    /// The named query that shows more.
    private var query: String {
        if place.hasSuffix(".parked") { return ":parked" }
        return place.hasSuffix(".timer") ? ":timers, and whether the service runs" : ":lag"
    }
}

extension Database {
    /// The services that have `waiting_alarms`.
    fileprivate static let servicesWithAlarms = ["session", "contacts", "notifications"]

    /// In each log on the way to notifications the alarm that has waited longest, and the oldest message behind which not all were looked
    /// at. Neither if nothing waits.
    fileprivate func waitingLongest() throws -> [StuckAlarm] {
        func policy(_ log: String) -> Query {
            """
            coalesce((SELECT b.position FROM session_client.batch AS b
                       WHERE b.source = \(log) AND b.partition = p.partition
                       ORDER BY b.number DESC LIMIT 1), 0)
            """
        }
        func commands(to service: String, _ names: [String]) -> Query {
            Self.waiting(
                in: "session_client.\(service)_commands",
                after: "session_client.\(unescaped: service)_commands_handled(p.partition)",
                handledBy: Self.outcome(in: service), names)
        }
        let events = AlarmMessages.types(of: AlarmMessages.sessionEvents + AlarmMessages.contactsEvents)
        return try stuckAlarms(
            """
            SELECT DISTINCT ON (w.place, w.is_alarm) w.place, greatest(clock_timestamp() - w.since, interval '0'), w.is_alarm
              FROM (\(commands(to: "session", AlarmMessages.session))
                     UNION ALL
                    \(Self.waiting(
                        in: "session.log", after: policy("session.log"), handledBy: Self.followed,
                        AlarmMessages.sessionEvents))
                     UNION ALL
                    \(commands(to: "contacts", AlarmMessages.contacts))
                     UNION ALL
                    \(Self.waiting(
                        in: "contacts.log", after: policy("contacts.log"), handledBy: Self.followed,
                        AlarmMessages.contactsEvents))
                     UNION ALL
                    \(commands(to: "notifications", AlarmMessages.notifications))
                     UNION ALL
                    SELECT 'session_client.parked', p.recorded_at, true
                      FROM unnest(\(events)) AS t(type)
                     CROSS JOIN LATERAL (SELECT q.recorded_at FROM session_client.parked AS q
                                          WHERE q.type = t.type AND (q.body::text <> '{}' OR q.error <> '')
                                            AND NOT session_client.is_canary(q.key)
                                          ORDER BY q.recorded_at LIMIT 1) AS p) AS w(place, since, is_alarm)
             ORDER BY w.place, w.is_alarm, w.since
            """)
    }

    /// What waits in each place of one service.
    /// - Parameter age: How far back to look at timers.
    fileprivate func waitingLongest(in service: String, within age: Interval) throws -> [StuckAlarm] {
        try stuckAlarms(
            """
            SELECT w.place, greatest(clock_timestamp() - w.since, interval '0'), w.is_alarm
              FROM \(unescaped: service).waiting_alarms(\(age.microseconds) * interval '1 microsecond') AS w
            """)
    }

    /// What waits in each place of the services themselves. Operators may ask, too.
    func alarmsInServices() throws -> [StuckAlarm] {
        try stuckAlarms(
            """
            SELECT w.place, greatest(clock_timestamp() - w.since, interval '0'), w.is_alarm
              FROM (SELECT * FROM session.waiting_alarms()
                     UNION ALL SELECT * FROM contacts.waiting_alarms()
                     UNION ALL SELECT * FROM notifications.waiting_alarms()) AS w
             ORDER BY w.since
            """)
    }

    private func stuckAlarms(_ query: Query) throws -> [StuckAlarm] {
        try self.query(query).map { row in
            let (place, age, isAlarm) = try row.decode(String.self, Interval.self, Bool.self)
            return StuckAlarm(place: place, age: age.duration, isAlarm: isAlarm)
        }
    }

    /// What follows from an event `m` that the policies handled, perhaps ahead of others.
    private static let followed: Query = """
        SELECT FROM session_client.session_commands AS c
         WHERE c.correlation_id = m.correlation_id AND c.causation_id = m.message_id
         UNION ALL
        SELECT FROM session_client.contacts_commands AS c
         WHERE c.correlation_id = m.correlation_id AND c.causation_id = m.message_id
         UNION ALL
        SELECT FROM session_client.notifications_commands AS c
         WHERE c.correlation_id = m.correlation_id AND c.causation_id = m.message_id
        """

    /// What there is once a command `m` was handled, perhaps ahead of others. With OFFSET, each is looked up by its key: the server
    /// would else read all outcomes of a small table.
    private static func outcome(in schema: String) -> Query {
        "SELECT FROM \(unescaped: schema).outcome AS o WHERE o.command_id = m.command_id OFFSET 0"
    }

    /// - Parameters:
    ///   - handled: The position up to which a partition `p` is handled.
    ///   - effect: What a message `m` leaves once it is handled.
    ///   - names: As in ``AlarmMessages``.
    private static func waiting(
        in log: String, after handled: Query, handledBy effect: Query, _ names: [String]
    ) -> Query {
        """
        SELECT \(log)::text, m.recorded_at, w.waits
          FROM (SELECT p.partition, \(handled) AS position
                  FROM \(unescaped: log)_partition AS p
                OFFSET 0) AS h
         CROSS JOIN LATERAL (SELECT l.message_id, l.command_id, l.correlation_id, l.recorded_at,
                                    row_number() OVER (ORDER BY l.position) AS number,
                                    l.type = ANY (\(AlarmMessages.types(of: names)))
                                    AND (l.type = ANY (\(names))
                                         OR l.type || '/' || coalesce(l.body ->> 'kind', '') = ANY (\(names)))
                                    AND NOT session_client.is_canary(l.key) AS is_alarm
                               FROM \(unescaped: log) AS l
                              WHERE l.partition = h.partition AND l.position > h.position
                              ORDER BY l.position LIMIT \(Int64(AlarmWatch.looksAt))) AS m
         CROSS JOIN LATERAL (SELECT m.is_alarm AND NOT EXISTS (\(effect)) AS waits) AS w
         WHERE w.waits OR m.number = \(Int64(AlarmWatch.looksAt))
        """
    }

    /// How many messages that would have alarmed somebody were given up, and no one has decided about.
    func alarmDeadLetters() throws -> Int {
        let names = AlarmMessages.session + AlarmMessages.contacts + AlarmMessages.notifications
        return try query("SELECT session_client.alarm_dead_letters(\(names))").only?.decode(0, as: Int.self) ?? 0
    }
}
