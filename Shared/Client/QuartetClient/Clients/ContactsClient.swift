import Foundation
import QuartetAPI
public import QuartetContactsContract
public import QuartetContractSupport
public import QuartetVocabulary

// This file alone holds an app's copy of the contacts, shows it to readers, and replaces it.

/// An account's contacts and the people behind them, as this device knows them.
///
/// Only ``ContactsClient`` can make one or replace it: it has no initialiser that others may call, and it can't be decoded.
public struct ReadOnlyContactsState: Hashable, Sendable {
    private var state: ContactsState?
    private var people: [AccountID: Person]
    /// When it last changed, by the server's clock.
    public let lastSync: Instant?

    fileprivate init(_ copy: ContactsCopy.State?) {
        state = copy?.contacts
        people = copy?.people ?? [:]
        lastSync = copy?.lastSync
    }

    /// Others add this account by it.
    public var code: ContactCode? { state?.code }
    public var isApprovalRequired: Bool { state?.isApprovalRequired ?? false }
    /// In the order of their ids.
    public var contacts: Ordered<Contact> { state?.contacts ?? [] }
    public var ids: [AccountID] { contacts.map(\.account) }
    public var count: Int { state?.contacts.count ?? 0 }
    public var requests: Ordered<ContactRequest> { state?.requests ?? [] }
    public var blocked: [AccountID] { state?.blocked ?? [] }
    /// Those who look after this account.
    public var responders: [Contact] { contacts.filter(\.isMyResponder) }
    /// Whether anyone would be told if this account missed a check-in. Nil if the server doesn't say. While it is
    /// `unreachable`, none of ``responders`` could be reached for 30 days.
    public var responderReach: ResponderReach? { state?.responderReach }
    /// Who hears of a missed check-in later than the other responders, the soonest first.
    public var responderTiers: [ResponderTier] { state?.responderTiers ?? [] }
    /// Counts the changes of ``responderTiers``.
    public var responderTiersVersion: Int64 { state?.responderTiersVersion ?? 0 }
    /// What becomes of pings that the account doesn't answer.
    public var pingEscalation: PingEscalation { state?.pingEscalation ?? PingEscalation() }
    /// When all responders hear of a missed check-in if nobody does anything about it, beginning with those who hear at once.
    public var hearingOrder: [ResponderTier] {
        let all = Set(responders.map(\.account))
        let later = responderTiers.map {
            ResponderTier(after: $0.after, responders: $0.responders.filter(all.contains))
        }
        .filter { !$0.responders.isEmpty }
        let first = all.subtracting(later.flatMap(\.responders)).sorted()
        if !first.isEmpty { return [ResponderTier(after: .seconds(0), responders: first)] + later }
        // It is the next ones' turn at once.
        guard let next = later.first else { return [] }
        return [ResponderTier(after: .seconds(0), responders: next.responders)] + later.dropFirst()
    }
    /// What responders answered to this account's own alarms and to those that it was told of, while they are on.
    public var alarmAnswers: Ordered<GivenAlarmAnswer> { state?.alarmAnswers ?? [] }
    /// What responders answered to one alarm, what matters most first.
    public func answers(to alarm: AlarmID) -> [GivenAlarmAnswer] {
        let weights: [AlarmAnswer] = [.needsHelp, .safe, .onIt, .cannot]
        func rank(_ given: GivenAlarmAnswer) -> Int { weights.firstIndex(of: given.answer) ?? weights.count }
        return alarmAnswers.filter { $0.alarm == alarm }.sorted {
            (rank($0), $1.answered) < (rank($1), $0.answered)
        }
    }
    /// Those whom this account looks after.
    public var dependents: [Contact] { contacts.filter(\.iAmResponder) }
    /// Those who wait for an answer to their ping, the longest waiting first.
    public var incomingPings: [Contact] { Self.sorted(contacts, by: \.incomingPing) }
    /// Those whose answer this account waits for, the longest waited for first.
    public var outgoingPings: [Contact] { Self.sorted(contacts, by: \.outgoingPing) }

    public func contact(by id: AccountID) -> Contact? { state?.contacts[id] }
    /// What this account may see of somebody.
    public func person(by id: AccountID) -> Person? { people[id] }

    private static func sorted(_ contacts: Ordered<Contact>, by time: KeyPath<Contact, Instant?>) -> [Contact] {
        contacts.compactMap { contact in contact[keyPath: time].map { (contact, $0) } }.sorted { $0.1 < $1.1 }.map(\.0)
    }
}

extension ReadOnlyContactsState: CustomReflectable {
    /// Without the code, for `dump`: whoever has it becomes a contact.
    public var customMirror: Mirror {
        var known = state
        known?.code = nil
        return Mirror(
            self, children: ["state": known as Any, "people": people, "lastSync": lastSync as Any],
            displayStyle: .struct)
    }
}

extension SharedState where Value == ReadOnlyContactsState {
    /// One contact; observers are called only for changes of this one.
    public func contact(by id: AccountID) -> Contact? { element("contact", id) { $0.contact(by: id) } }
    /// One person; observers are called only for changes of this one.
    public func person(by id: AccountID) -> Person? { element("person", id) { $0.person(by: id) } }
}

/// Follows the contacts, and is the only one who changes what readers see of them.
private final class ContactsCopy: KeptConsumer {
    struct State: Codable, Sendable {
        var contacts: ContactsState
        var people: [AccountID: Person] = [:]
        var lastSync: Instant?
    }

    let sequences: Set<StreamName> = [.contacts]
    let holder = ReplicaHolder<State, ReadOnlyContactsState> { ReadOnlyContactsState($0) }

    func change(by event: StreamEvent, opening: Int) throws -> StreamChange<State>? {
        switch event {
        case .snapshot(_, let snapshot):
            let state = try JSONDecoder().decode(ContactsState.self, from: Data(snapshot.state))
            return StreamChange { replica in
                // The people follow; until then the ones who stayed are shown as they were.
                let answering = Set((state.alarmAnswers ?? []).map(\.responder))
                let people = (replica.base?.people ?? [:]).filter {
                    state.contacts[$0.key] != nil || answering.contains($0.key)
                }
                replica.replace(State(contacts: state, people: people), opening: opening)
            }
        case .resumed: return StreamChange { $0.resume(opening: opening) }
        case .event(_, let event):
            guard let change = try event.decoded(as: ContactsEvent.self) else { return nil }
            return StreamChange(about: Self.contact(of: change)) { replica in
                replica.apply(causedBy: event.command) { state in
                    state.contacts.apply(change)
                    state.lastSync = event.at
                    if case .contactRemoved(let removed) = change { state.people[removed.contact] = nil }
                }
            }
        case .person(let encoded):
            let person = try encoded.decoded()
            return StreamChange(about: person.account) { replica in
                replica.apply(causedBy: nil) { $0.people[person.account] = person }
            }
        case .personEnded(let ended):
            return StreamChange(about: ended.account) { replica in
                replica.apply(causedBy: nil) { $0.people[ended.account] = nil }
            }
        case .begun, .groupEnded, .groups, .signal: return nil
        }
    }

    /// The only contact that an event may change; nil for any.
    private static func contact(of event: ContactsEvent) -> AccountID? {
        switch event {
        case .contactAdded(let event): event.contact.account
        case .contactUpdated(let event): event.contact.account
        case .contactRemoved(let event): event.contact
        case .pingSent(let event): event.contact
        case .pingReceived(let event): event.contact
        case .pingCancelled(let event): event.contact
        case .pingAnswered(let event): event.contact
        case .roleChangeRequested(let event): event.contact
        case .roleChangeEnded(let event): event.contact
        default: nil
        }
    }
}

extension Connection {
    /// When the newest ping was sent that the person can have seen: no later one is answered by an answer to all. Earlier than any ping
    /// where none shows. Nil while the contacts may be behind: then a push may have shown one that they don't.
    var newestSeenPing: Instant? {
        guard stateNow.isConnected, let holder = madeCopy(ContactsCopy.self)?.holder, holder.shared.phase == .ready,
            let base = holder.base
        else { return nil }
        // Without edits: what the person has just answered was seen, too.
        let waiting = base.contacts.contacts.compactMap(\.incomingPing)
        let others = [newestUnansweredPing, newestPingNotification].compactMap(\.self)
        return (waiting + others).max() ?? Instant(microseconds: 0)
    }
}

/// Changes the contacts. What features read is ``contacts``; these are the only ways to change it.
public struct ContactsClient: Sendable {
    public typealias Action<Input> = @Sendable (Input) async throws(QuartetError) -> Void

    /// What every feature reads.
    public var contacts: SharedState<ReadOnlyContactsState>
    public var add: Action<AddContactRequest>
    /// The roles must be those of the request, so that a person agrees to what they saw.
    public var approve: Action<ContactRequest>
    public var decline: Action<AccountID>
    public var withdraw: Action<AccountID>
    public var update: @Sendable (AccountID, Edit<ContactFields>) async throws(QuartetError) -> Void
    public var remove: Action<AccountID>
    public var block: Action<AccountID>
    public var unblock: Action<AccountID>
    public var requestRoleChange: Action<AccountID>
    public var acceptRoleChange: Action<AccountID>
    public var declineRoleChange: Action<AccountID>
    public var withdrawRoleChange: Action<AccountID>
    public var sendPing: Action<AccountID>
    public var cancelPing: Action<AccountID>
    public var respondToPing: Action<AccountID>
    /// Answers an alarm of a dependent that this account was told of. Urgent, as a call for help is.
    public var acknowledge: Action<AcknowledgeAlarm>
    /// Sets who hears of a missed check-in later than the other responders.
    public var setResponderTiers: Action<[ResponderTier]>
    /// The same, unless they were changed since the version that the person saw (``ReadOnlyContactsState/responderTiersVersion``): then it
    /// is refused with `staleVersion`. What this device changed before doesn't count, be it decided or not.
    public var replaceResponderTiers:
        @Sendable (_ tiers: [ResponderTier], _ expectedVersion: Int64) async throws(QuartetError) -> Void
    /// Sets how long a responder's ping, or everybody's, may stay unanswered before an alert is raised.
    public var setPingEscalation: Action<SetPingEscalation>
    /// Sets in which hours unanswered pings raise no alert; nil for none.
    public var setPingQuietHours: Action<QuietHours?>
    public var setApproval: Action<Bool>
    public var resetCode: @Sendable () async throws(QuartetError) -> Void
}

extension ContactsClient {
    /// Talks to a server.
    public static func live(service: Connection) -> Self {
        let copy = service.copy { ContactsCopy() }
        return client(copy, .live(.contacts, service, copy.holder))
    }

    private static func client(
        _ copy: ContactsCopy, _ commands: Commands<ContactsEdit, ReadOnlyContactsState>
    ) -> Self {
        func action<Input: Sendable>(_ edit: @escaping @Sendable (Input) -> ContactsEdit) -> Action<Input> {
            { input async throws(QuartetError) in try await commands.send(edit(input)) }
        }
        return Self(
            contacts: copy.holder.shared, add: action { .add($0) }, approve: action { .approve($0) },
            decline: action { .decline($0) }, withdraw: action { .withdraw($0) },
            update: { contact, edit async throws(QuartetError) in
                let seen = copy.holder.base?.contacts.contacts[contact]?.version ?? 0
                try await commands.send(.update(contact, seen: seen, edit))
            },
            remove: action { .remove($0) }, block: action { .block($0) }, unblock: action { .unblock($0) },
            requestRoleChange: action { .requestRoleChange($0) }, acceptRoleChange: action { .acceptRoleChange($0) },
            declineRoleChange: action { .declineRoleChange($0) },
            withdrawRoleChange: action { .withdrawRoleChange($0) }, sendPing: action { .sendPing($0) },
            cancelPing: action { .cancelPing($0) },
            respondToPing: { contact async throws(QuartetError) in
                let sent = copy.holder.state?.contacts.contacts[contact]?.incomingPing
                try await commands.send(.respondToPing(contact, sent: sent))
            },
            acknowledge: action { .acknowledge($0) },
            setResponderTiers: action { .setResponderTiers($0, expectedVersion: nil) },
            replaceResponderTiers: { tiers, version async throws(QuartetError) in
                try await commands.send(.setResponderTiers(tiers, expectedVersion: version))
            },
            setPingEscalation: action { .setPingEscalation($0) }, setPingQuietHours: action { .setPingQuietHours($0) },
            setApproval: action { .setApproval($0) },
            resetCode: { () async throws(QuartetError) in try await commands.send(.resetCode) })
    }

    /// Contacts that live in memory: every change is made at once and never refused.
    /// - Parameter people: Those behind the contacts.
    public static func preview(_ contacts: ContactsState, people: [Person] = []) -> Self {
        let copy = ContactsCopy()
        let people = Dictionary(people.map { ($0.account, $0) }) { $1 }
        copy.holder.change { $0.replace(.init(contacts: contacts, people: people), opening: 0) }
        return client(copy, Commands(.contacts, holder: copy.holder))
    }

    /// Every endpoint throws what `error` makes of its name.
    public static func failing(_ error: @escaping @Sendable (_ endpoint: String) -> QuartetError) -> Self {
        func fail<Input>(_ endpoint: String) -> Action<Input> {
            { _ async throws(QuartetError) in throw error("ContactsClient.\(endpoint)") }
        }
        return Self(
            contacts: ContactsCopy().holder.shared, add: fail("add"), approve: fail("approve"),
            decline: fail("decline"), withdraw: fail("withdraw"),
            update: { _, _ async throws(QuartetError) in throw error("ContactsClient.update") },
            remove: fail("remove"), block: fail("block"), unblock: fail("unblock"),
            requestRoleChange: fail("requestRoleChange"), acceptRoleChange: fail("acceptRoleChange"),
            declineRoleChange: fail("declineRoleChange"), withdrawRoleChange: fail("withdrawRoleChange"),
            sendPing: fail("sendPing"), cancelPing: fail("cancelPing"), respondToPing: fail("respondToPing"),
            acknowledge: fail("acknowledge"), setResponderTiers: fail("setResponderTiers"),
            replaceResponderTiers: { _, _ async throws(QuartetError) in
                throw error("ContactsClient.replaceResponderTiers")
            },
            setPingEscalation: fail("setPingEscalation"), setPingQuietHours: fail("setPingQuietHours"),
            setApproval: fail("setApproval"),
            resetCode: { () async throws(QuartetError) in throw error("ContactsClient.resetCode") })
    }
}

/// What a person wants changed.
private enum ContactsEdit: ClientEdit {
    case add(AddContactRequest)
    case approve(ContactRequest)
    case decline(AccountID)
    case withdraw(AccountID)
    /// Of a contact whose version was seen.
    case update(AccountID, seen: Int64, Edit<ContactFields>)
    case remove(AccountID)
    case block(AccountID)
    case unblock(AccountID)
    case requestRoleChange(AccountID)
    case acceptRoleChange(AccountID)
    case declineRoleChange(AccountID)
    case withdrawRoleChange(AccountID)
    case sendPing(AccountID)
    case cancelPing(AccountID)
    /// Nil where the person didn't see which.
    case respondToPing(AccountID, sent: Instant?)
    case acknowledge(AcknowledgeAlarm)
    /// Whatever there is by then if no version was seen.
    case setResponderTiers([ResponderTier], expectedVersion: Int64?)
    case setPingEscalation(SetPingEscalation)
    case setPingQuietHours(QuietHours?)
    case setApproval(Bool)
    case resetCode

    var command: any AppCommandBody {
        switch self {
        case .add(let request): request
        case .approve(let request):
            ApproveContactRequest(
                contact: request.account, isMyResponder: request.isMyResponder, iAmResponder: request.iAmResponder)
        case .decline(let contact): DeclineContactRequest(contact: contact)
        case .withdraw(let contact): WithdrawContactRequest(contact: contact)
        case .update(let contact, let seen, let edit): UpdateContact(contact, seen, edit)
        case .remove(let contact): RemoveContact(contact: contact)
        case .block(let contact): BlockContact(contact: contact)
        case .unblock(let contact): UnblockContact(contact: contact)
        case .requestRoleChange(let contact): RequestRoleChange(contact: contact)
        case .acceptRoleChange(let contact): AcceptRoleChange(contact: contact)
        case .declineRoleChange(let contact): DeclineRoleChange(contact: contact)
        case .withdrawRoleChange(let contact): WithdrawRoleChange(contact: contact)
        case .sendPing(let contact): SendPing(contact: contact)
        case .cancelPing(let contact): CancelPing(contact: contact)
        case .respondToPing(let contact, let sent): RespondToPing(contact: contact, sent: sent)
        case .acknowledge(let command): command
        case .setResponderTiers(let tiers, let version): SetResponderTiers(tiers: tiers, expectedVersion: version)
        case .setPingEscalation(let command): command
        case .setPingQuietHours(let hours): SetPingQuietHours(quietHours: hours)
        case .setApproval(let isRequired): SetContactApproval(isRequired: isRequired)
        case .resetCode: ResetContactCodeRequest()
        }
    }

    var touched: Set<AccountID>? {
        switch self {
        case .update(let contact, _, _): [contact]
        default: nil
        }
    }

    func show(in state: inout ContactsCopy.State, at time: Instant) {
        switch self {
        case .decline(let contact), .withdraw(let contact): state.contacts.requests[contact] = nil
        case .update(let contact, _, let edit): state.contacts.contacts[contact]?.take(edit)
        case .remove(let contact), .block(let contact): state.contacts.contacts[contact] = nil
        case .unblock(let contact): state.contacts.blocked.removeAll { $0 == contact }
        case .declineRoleChange(let contact): state.contacts.contacts[contact]?.incomingRoleRequest = nil
        case .withdrawRoleChange(let contact): state.contacts.contacts[contact]?.outgoingRoleRequest = nil
        case .sendPing(let contact):
            // The server may leave one that waits as it is.
            let known = state.contacts.contacts[contact]
            guard known?.outgoingPing == nil || known?.isOutgoingPingOver == true else { return }
            state.contacts.apply(.pingSent(PingSent(account: state.contacts.account, contact: contact, at: time)))
        case .cancelPing(let contact):
            state.contacts.contacts[contact]?.outgoingPing = nil
            state.contacts.contacts[contact]?.outgoingPingDue = nil
            state.contacts.contacts[contact]?.isOutgoingPingLater = nil
            state.contacts.contacts[contact]?.isOutgoingPingOver = nil
        case .respondToPing(let contact, _):
            state.contacts.contacts[contact]?.incomingPing = nil
            state.contacts.contacts[contact]?.incomingPingDue = nil
        case .acknowledge(let command):
            let me = state.contacts.account
            let until =
                command.answer == .onIt
                ? time + .minutes(Int64(command.minutes ?? AcknowledgeAlarm.defaultMinutes)) : nil
            state.contacts.apply(
                .alarmAcknowledged(
                    AlarmAcknowledged(
                        account: me, dependent: command.contact, alarm: command.alarm, kind: .alertRaised,
                        responder: me,
                        answer: command.answer, until: until, answered: time, at: time)))
        case .setResponderTiers(let tiers, _): state.contacts.responderTiers = tiers.isEmpty ? nil : tiers
        case .setPingEscalation(let command):
            let set = PingEscalationSet(
                account: state.contacts.account, contact: command.contact, after: command.after, at: time)
            state.contacts.apply(.pingEscalation(.pingEscalationSet(set)))
        case .setPingQuietHours(let hours):
            let set = PingQuietHoursSet(account: state.contacts.account, quietHours: hours, at: time)
            state.contacts.apply(.pingEscalation(.pingQuietHoursSet(set)))
        case .setApproval(let isRequired): state.contacts.isApprovalRequired = isRequired
        // What these lead to is up to others.
        case .add, .approve, .requestRoleChange, .acceptRoleChange, .resetCode: break
        }
    }

    func make(in state: inout ContactsCopy.State, at time: Instant) {
        show(in: &state, at: time)
        guard case .setResponderTiers = self else { return }
        state.contacts.responderTiersVersion = Self.version(in: state) + 1
    }

    var expectedVersion: Int64? {
        if case .setResponderTiers(_, let version) = self { version } else { nil }
    }

    func expecting(_ version: Int64) -> Self {
        guard case .setResponderTiers(let tiers, _?) = self else { return self }
        return .setResponderTiers(tiers, expectedVersion: version)
    }

    static func version(in state: ContactsCopy.State) -> Int64 { state.contacts.responderTiersVersion ?? 0 }

    static func version(madeBy reply: CommandReply) -> Int64? {
        guard reply.event == ResponderTiersSet.type, let result = reply.result else { return nil }
        return (try? Requests.decoded(ResponderTiersSet.self, from: result))?.version
    }

    func merged(with earlier: Self, on state: ContactsCopy.State?) -> Self? {
        guard case (.update(let contact, let seen, let old), .update(let same, _, let new)) = (earlier, self),
            contact == same
        else { return nil }
        // What is going to be refused doesn't take the newer one along.
        if let known = state?.contacts.contacts[contact], !old.conflicts(with: ContactFields(known)).isEmpty {
            return nil
        }
        return new.merged(after: old).map { .update(contact, seen: seen, $0) }
    }

    func overlaps(_ other: Self) -> Bool {
        guard case (.update(let contact, _, let mine), .update(let same, _, let theirs)) = (self, other) else {
            return true
        }
        return contact == same && mine.overlaps(theirs)
    }

    func command(for state: ContactsCopy.State?, at acted: Instant) -> any AppCommandBody {
        if case .acknowledge(let command) = self {
            return AcknowledgeAlarm(
                contact: command.contact, alarm: command.alarm, answer: command.answer, minutes: command.minutes,
                pressed: acted)
        }
        if case .respondToPing(let contact, let sent) = self {
            return RespondToPing(contact: contact, sent: sent, pressed: acted)
        }
        // After a restart the copy may be older than the contact, so whether there is one is the server's to say.
        guard case .update(let contact, let seen, let edit) = self, let known = state?.contacts.contacts[contact] else {
            return command
        }
        return UpdateContact(contact, edit.version(known.version, of: ContactFields(known), orElse: seen), edit)
    }

    func command(basedOn current: [UInt8]) throws(QuartetError) -> (any AppCommandBody)? {
        guard case .update(let contact, _, let edit) = self else { return nil }
        let known = try Requests.decoded(ContactCard.self, from: current).contact
        // Somebody else changed the same field to something else: nobody's text is lost without a word.
        guard edit.conflicts(with: ContactFields(known)).isEmpty else { return nil }
        return UpdateContact(contact, known.version, edit)
    }
}

extension UpdateContact {
    fileprivate init(_ contact: AccountID, _ version: Int64, _ edit: Edit<ContactFields>) {
        self.init(
            contact: contact, expectedVersion: version, nickname: edit.changed(\.nickname),
            notes: edit.changed(\.notes),
            isMyResponder: edit.changed(\.isMyResponder), iAmResponder: edit.changed(\.iAmResponder),
            sendPings: edit.changed(\.sendPings), receivePings: edit.changed(\.receivePings),
            notifyOnCheckIn: edit.changed(\.notifyOnCheckIn),
            notifyOnMissedCheckIn: edit.changed(\.notifyOnMissedCheckIn))
    }
}

extension Contact {
    /// The fields that a person changed, on top of what the server has.
    fileprivate mutating func take(_ edit: Edit<ContactFields>) {
        let fields = edit.merged(with: ContactFields(self))
        (nickname, notes) = (fields.nickname, fields.notes)
        (isMyResponder, iAmResponder) = (fields.isMyResponder, fields.iAmResponder)
        (sendPings, receivePings) = (fields.sendPings, fields.receivePings)
        (notifyOnCheckIn, notifyOnMissedCheckIn) = (fields.notifyOnCheckIn, fields.notifyOnMissedCheckIn)
    }
}
