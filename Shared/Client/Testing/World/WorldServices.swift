import Foundation
import QuartetAPI
import QuartetContactsContract
import QuartetContactsRules
import QuartetContractSupport
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary

/// The services in one value: their rules on one set of rows, the policies between them, their timers, and the streams that
/// follow. Nothing here decides anything that the services don't decide in the same way, because it is their code that does.
struct WorldServices: Sendable {
    /// One stream of one owner.
    struct StreamKey: Hashable, Sendable {
        let domain: Domain
        let key: Key
    }

    private(set) var session = SessionRows()
    private var contacts = ContactsRows()
    private var notifications = NotificationsRows()
    /// What each owner said, in its order, by stream. An event's position is its index and one.
    private(set) var streams: [StreamKey: [RecordedMessage]] = [:]
    /// The streams as readers fold them.
    private(set) var accounts: [AccountID: AccountState] = [:]
    private(set) var contactStates: [AccountID: ContactsState] = [:]
    private(set) var notificationStates: [AccountID: NotificationsState] = [:]
    private(set) var groups: [GroupID: HashedGroupState] = [:]
    private var outcomes: [CommandID: (body: [UInt8], outcome: Outcome)] = [:]
    /// Commands that wait for their service, in the order in which they were sent, and until when.
    private var waiting: [(due: Instant, command: WorldCommand)] = []
    /// What became of apps' commands, in the order in which that was decided.
    private(set) var decisions: [WorldDecision] = []
    private var unheard: [Heard] = []
    private var fired: Set<Timer> = []
    private var random: WorldRandom
    /// The time at the services.
    private(set) var time: Instant

    private enum Heard: Sendable {
        case session(SessionEvent, RecordedMessage)
        case contacts(ContactsEvent, RecordedMessage)
        case notifications(NotificationsEvent, RecordedMessage)
    }

    private struct Timer: Hashable, Sendable {
        let name: String
        let key: Key
        let due: Instant
    }

    init(random: WorldRandom, time: Instant) {
        self.random = random
        self.time = time
        // One can wait for seconds in a test of hours; nobody is kept from anything by how fast a test is.
        contacts.limits.pingCooldown = .seconds(0)
    }

    mutating func id<Subject>() -> ID<Subject> { .derived(at: time, from: Array("\(random.next())".utf8)) }

    mutating func draw() -> UInt64 { random.next() }

    // MARK: Asking

    /// What a service decides. The same id has the same outcome.
    mutating func ask(
        _ domain: Domain, _ body: any CommandBody, id: CommandID, account: AccountID?
    ) -> Outcome {
        let outcome = decide(domain, body, id, account)
        while !unheard.isEmpty { tell(unheard.removeFirst()) }
        return outcome
    }

    /// What a service decides of an app's command. The same id has the same outcome.
    /// - Parameter pause: For how long the service is stopped, unless it is longer already.
    /// - Returns: Nil if it isn't decided yet.
    mutating func ask(_ command: WorldCommand, after pause: Interval?) -> Outcome? {
        guard outcomes[command.id] == nil else {
            return ask(command.domain, command.body, id: command.id, account: command.account)
        }
        guard !waiting.contains(where: { $0.command.id == command.id }) else { return nil }
        // Those of an account keep their order.
        let before = waiting.last { $0.command.isInOrder(with: command) }?.due
        if let due = [before, pause.map { time + $0 }].compactMap(\.self).max() {
            waiting.append((due, command))
            return nil
        }
        return handle(command)
    }

    /// Whether apps' commands wait for a service.
    var isUndecided: Bool { !waiting.isEmpty }

    private mutating func handle(_ command: WorldCommand) -> Outcome {
        if command.recordedAt + type(of: command.body).validity < time {
            let rejection = Rejection(.expired, "The command expired before it was handled; send it again.")
            outcomes[command.id] = ((try? command.body.encoded()) ?? [], .rejected(rejection))
        }
        let outcome = ask(command.domain, command.body, id: command.id, account: command.account)
        decisions.append(WorldDecision(command, outcome, at: time))
        return outcome
    }

    /// A service gives a command up, unless it has decided it.
    mutating func giveUp(_ command: WorldCommand) {
        let isKnown = outcomes[command.id] != nil || waiting.contains { $0.command.id == command.id }
        guard !isKnown else { return }
        let outcome = Outcome.failed(code: "it was given up")
        outcomes[command.id] = ((try? command.body.encoded()) ?? [], outcome)
        decisions.append(WorldDecision(command, outcome, at: time))
    }

    private mutating func decide(
        _ domain: Domain, _ body: any CommandBody, _ id: CommandID, _ account: AccountID?
    ) -> Outcome {
        let encoded = (try? body.encoded()) ?? []
        if let known = outcomes[id] {
            return known.body == encoded || known.outcome.isUndone
                ? known.outcome : .rejected(Rejection(.idReused, "Use another id."))
        }
        let outcome: Outcome
        do {
            outcome = .accepted(event: try reduce(domain, body, encoded, id, account))
        } catch let rejection as Rejection {
            outcome = .rejected(rejection)
        } catch {
            outcome = .failed(code: "\(error)")
        }
        outcomes[id] = (encoded, outcome)
        return outcome
    }

    private mutating func reduce(
        _ domain: Domain, _ body: any CommandBody, _ encoded: [UInt8], _ id: CommandID, _ account: AccountID?
    ) throws -> CausedEvent? {
        try body.validate()
        let own = (body as? any OwnCommandBody)?.account
        let key =
            (body as? any GroupCommandBody).map { Key.group($0.group) }
            ?? (account ?? own).map { Key.account($0) } ?? .account(self.id())
        let context = CommandContext(commandID: id, account: account, key: key, time: time)
        let (type, version) = (type(of: body).type, type(of: body).version)
        var first: CausedEvent?
        switch domain {
        case .session:
            let command = try SessionCommand(type: type, version: version, body: encoded)
            if let zone = (body as? SetDailyCheckIns)?.zone {
                session.limits.zones.number = 1
                if let rules = ZoneRules(of: zone) { session.zones.add(rules, zone, version: 1) }
            }
            for emission in try SessionReducer.reduce(&session, command, context) {
                let recorded = try record(emission, domain, context, &first)
                unheard.append(.session(emission.event, recorded))
                fold(emission.event)
            }
        case .contacts:
            let command = try ContactsCommand(type: type, version: version, body: encoded)
            for emission in try ContactsReducer.reduce(&contacts, command, context) {
                let (event, recorded) = (emission.event, try record(emission, domain, context, &first))
                unheard.append(.contacts(event, recorded))
                contactStates[event.account, default: ContactsState(account: event.account)].apply(event)
            }
        case .notifications:
            let command = try NotificationsCommand(type: type, version: version, body: encoded)
            for emission in try NotificationsReducer.reduce(&notifications, command, context) {
                let (event, recorded) = (emission.event, try record(emission, domain, context, &first))
                unheard.append(.notifications(event, recorded))
                notificationStates[event.account, default: NotificationsState(account: event.account)].apply(event)
            }
        }
        return first
    }

    /// Puts an event into its stream.
    /// - Parameter first: The command's first event, or the one that is its result.
    private mutating func record<Event: MessageSet<any EventBody>>(
        _ emission: Emission<Event>, _ domain: Domain, _ context: CommandContext, _ first: inout CausedEvent?
    ) throws -> RecordedMessage {
        let body = emission.event.body
        let stream = StreamKey(domain: domain, key: emission.key)
        let recorded = RecordedMessage(
            partition: Partition(0), position: Position(Int64(streams[stream]?.count ?? 0) + 1),
            message: Message(
                kind: .event, id: id(), type: type(of: body).type, version: type(of: body).version,
                key: emission.key, account: body.account, body: try body.encoded(), commandID: context.commandID),
            recordedAt: time)
        streams[stream, default: []].append(recorded)
        if first == nil || emission.isResult {
            first = CausedEvent(
                partition: recorded.partition, position: recorded.position, type: recorded.message.type,
                body: recorded.message.body)
        }
        return recorded
    }

    private mutating func fold(_ event: SessionEvent) {
        let stream = event.body.stream
        if let group = stream.group {
            groups[group, default: HashedGroupState(GroupState(group: group))].apply(event)
        } else {
            accounts[event.account, default: AccountState(account: event.account)].apply(event)
        }
    }

    private mutating func tell(_ heard: Heard) {
        let (commands, message) =
            switch heard {
            case .session(let event, let message):
                (SessionPolicy { id, time in Self.code(for: id, at: time) }.commands(for: event, in: message), message)
            case .contacts(let event, let message): (ContactsPolicy().commands(for: event, in: message), message)
            case .notifications(let event, let message):
                (NotificationsPolicy().commands(for: event, in: message), message)
            }
        for (index, command) in commands.enumerated() {
            guard let domain = Domain.allCases.first(where: { $0.commands == command.log }) else { continue }
            let id = CommandID.derived(
                at: message.recordedAt, from: Array("policy".utf8), message.message.id.bytes, Array("\(index)".utf8))
            _ = decide(domain, command.body, id, command.account)
        }
    }

    static func code(for id: ID<some Any>, at time: Instant) -> ContactCode { .derived(at: time, from: id.bytes) }

    // MARK: Time

    /// Lets time pass; what falls due on the way is done when it is due.
    mutating func advance(to end: Instant) {
        while true {
            let timer = next(before: end)
            if let first = waiting.indices.min(by: { (waiting[$0].due, $0) < (waiting[$1].due, $1) }),
                waiting[first].due <= timer?.0.due ?? end
            {
                let (due, command) = waiting.remove(at: first)
                time = max(time, due)
                _ = handle(command)
            } else if let (timer, domain, command) = timer {
                time = max(time, timer.due)
                fired.insert(timer)
                _ = ask(domain, command, id: id(), account: nil)
            } else {
                break
            }
        }
        time = max(time, end)
    }

    /// When the next thing falls due; nil if nothing will.
    var nextDue: Instant? { (timers.map(\.0.due) + waiting.map(\.due)).min() }

    private func next(before end: Instant) -> (Timer, Domain, any CommandBody)? {
        timers.filter { $0.0.due <= end }.min {
            ($0.0.due, $0.0.name, "\($0.0.key)") < ($1.0.due, $1.0.name, "\($1.0.key)")
        }
    }

    /// Those that haven't fired.
    private var timers: [(Timer, Domain, any CommandBody)] {
        var all: [(Timer, Domain, any CommandBody)] = []
        let keys = accounts.keys.map { Key.account($0) } + groups.keys.map { Key.group($0) }
        for key in keys {
            all += session.wantedTimers(of: key).map {
                (Timer(name: $0.name, key: key, due: $0.due), .session, $0.command.body)
            }
            guard let account = key.account else { continue }
            all += contacts.wantedTimers(of: account).map {
                (Timer(name: "contacts/\($0.name)", key: key, due: $0.due), .contacts, $0.command.body)
            }
            all += notifications.wantedTimers(of: account).map {
                (Timer(name: "notifications/\($0.name)", key: key, due: $0.due), .notifications, $0.command.body)
            }
        }
        return all.filter { !fired.contains($0.0) }
    }
}
