import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary
import Testing

@testable import QuartetSessionClientOrchestration

@Suite("Session's policy")
struct SessionPolicyTests {
    private let account = AccountID.new()
    private let policy = SessionPolicy { _, _ in .new() }

    /// The accounts that contacts hears of as reached.
    private func reached(by event: SessionEvent) throws -> [AccountID?] {
        let body = event.body
        let message = RecordedMessage(
            partition: Partition(0), position: Position(1),
            message: Message(
                kind: .event, type: type(of: body).type, key: .account(account), account: account,
                body: try body.encoded()),
            recordedAt: .now)
        return policy.commands(for: event, in: message).filter { $0.body is RecordReached }.map(\.account)
    }

    /// What is asked of others because of an event.
    private func commands(for event: SessionEvent, recorded: Instant = .now) throws -> [any CommandBody] {
        try asked(because: event, recorded: recorded).map(\.body)
    }

    private func asked(
        because event: SessionEvent, in id: MessageID = .new(), recorded: Instant = .now
    ) throws -> [PolicyCommand] {
        let body = event.body
        let message = RecordedMessage(
            partition: Partition(0), position: Position(1),
            message: Message(
                kind: .event, id: id, type: type(of: body).type, key: .account(account), account: account,
                body: try body.encoded()),
            recordedAt: recorded)
        return policy.commands(for: event, in: message)
    }

    @Test("of a trip only its person is told, until it is missed; then responders, by ids alone (A7)")
    func trips() throws {
        let eta = Instant.now + .hours(1)
        let trip = TripState(id: .new(), name: "Lake", note: "The blue car", eta: eta, grace: .minutes(5))
        let reminded = eta - .minutes(15)
        let began = TripGraceBegan(account: account, trip: trip.id, eta: eta, ends: eta + .minutes(5), at: eta)
        let quiet: [TripEvent] = [
            .tripStarted(.init(account: account, trip: trip, at: .now)),
            .tripReminded(.init(account: account, trip: trip.id, eta: eta, at: reminded)), .tripGraceBegan(began),
            .tripExtended(
                .init(account: account, trip: trip.id, eta: eta, former: eta, reminded: reminded, at: eta)),
            .tripEnded(
                .init(account: account, trip: trip.id, end: .arrived, eta: eta, reminded: reminded, at: eta)),
        ]
        let told = try quiet.map { try commands(for: .trip($0)) }
        #expect(told.map(\.count) == [0, 1, 1, 1, 1] && !told.joined().contains { $0 is RelayAlert })
        #expect(try commands(for: .trip(quiet[1]), recorded: eta).isEmpty, "it comes too late to be true")
        let said = [told[1], told[2]].compactMap { $0.first as? DeliverNotification }
        #expect(said.map(\.kind) == [.checkInReminder, .checkInMissed] && Set(said.map(\.id)).count == 2)
        for cleared in [told[3], told[4]] {
            #expect((cleared.first as? ClearNotifications)?.selection.ids == said.map(\.id))
        }

        let missed = MissedTrip(trip: trip.id, eta: eta)
        let alarm = AlarmID.new()
        let raised = try commands(for: .alertRaised(.init(account: account, alarm: alarm, trip: missed, at: eta)))
        let relay = raised.compactMap { $0 as? RelayAlert }
        #expect(relay.map(\.deadline) == [eta] && raised.count == 3)
        for body in raised { #expect(!"\(body)".contains("Lake") && !"\(body)".contains("blue")) }
        let byHand = AlertRaisedAgain(account: account, alarm: alarm, pressed: eta, at: eta)
        let again = try commands(for: .alertRaisedAgain(byHand))
        #expect(again.count == 1 && again.first is ForgetAnswers, "contacts tells that it is no late arrival")
        let missedAgain = AlertRaisedAgain(account: account, alarm: alarm, pressed: eta, trip: missed, at: eta)
        #expect(try commands(for: .alertRaisedAgain(missedAgain)).count == 3)
    }

    @Test("an alert that unanswered pings raised is told as such, and contacts hears what came of the pings (A4)")
    func unansweredPings() throws {
        let (alarm, now) = (AlarmID.new(), Instant.now)
        let pings = [now, now - .minutes(1)].map { UnansweredPing(contact: .new(), sent: $0) }
        let raised = try commands(for: .alertRaised(.init(account: account, alarm: alarm, pings: pings, at: now)))
        // Responders hear when the first was sent, and not whose it was.
        #expect(raised.compactMap { ($0 as? RelayAlert)?.pinged } == [pings[1].sent])
        let told = try #require(raised.compactMap { $0 as? DeliverNotification }.first)
        try told.validate()
        #expect(
            told.kind == .alertRaised && told.details.pinged == pings[1].sent && told.details.pinger == pings[1].contact
                && told.details.alarm == alarm)
        let settled = try #require(raised.compactMap { $0 as? SettleUnansweredPings }.first)
        #expect(settled.pings == pings && settled.alarm == alarm && settled.isRaised && raised.count == 3)
        // They are added to one that is on: nobody is told of a call, and the day isn't used up.
        let added = try commands(
            for: .alertRaisedAgain(.init(account: account, alarm: alarm, pressed: now, pings: pings, at: now)))
        #expect(added.compactMap { ($0 as? ForgetAnswers)?.isLate } == [true])
        #expect(added.compactMap { ($0 as? SettleUnansweredPings)?.isRaised } == [false] && added.count == 3)
        let again = AlarmRepeated(
            account: account, alarm: alarm, kind: .alertRaised, since: now, repetition: 1, pinged: now, at: now)
        #expect(try commands(for: .alarmRepeated(again)).compactMap { ($0 as? RelayAlert)?.pinged } == [now])
        // Whoever is all right has answered what was asked before, whether responders knew of the alert or not.
        for wasAnnounced in [true, false] {
            let cleared = AlertCleared(
                account: account, alarm: alarm, raised: now, wasAnnounced: wasAnnounced, said: now, at: now)
            let settling = try commands(for: .alertCleared(cleared)).compactMap { $0 as? SettleUnansweredPings }
            #expect(settling.map(\.allRight) == [now])
        }
        for end in TripEnd.allCases {
            let said: Instant? = end == .arrived ? now : nil
            let ended = TripEnded(account: account, trip: .new(), end: end, eta: now, said: said, at: now)
            let settling = try commands(for: .trip(.tripEnded(ended))).compactMap { $0 as? SettleUnansweredPings }
            #expect(settling.map(\.allRight) == (end == .arrived ? [now] : []))
        }
        let dropped = UnansweredPingsDropped(account: account, alarm: alarm, pings: pings, at: now)
        #expect(try commands(for: .unansweredPingsDropped(dropped)).isEmpty)
        // Nothing comes of them: contacts hears it, and that no alert did.
        let discarded = try commands(
            for: .unansweredPingsDiscarded(UnansweredPingsDiscarded(account: account, pings: pings, at: now)))
        let nothing = try #require(discarded.first as? SettleUnansweredPings)
        #expect(nothing.pings == pings && nothing.alarm == nil && !nothing.isRaised && nothing.allRight == nil)
        #expect(discarded.count == 1)
        for isRaised in [true, nil] {
            let known = UnansweredPingsDiscarded(
                account: account, pings: pings, alarm: alarm, isRaised: isRaised, at: now)
            let settled = try #require(
                try commands(for: .unansweredPingsDiscarded(known)).first as? SettleUnansweredPings)
            #expect(settled.alarm == alarm && settled.isRaised == (isRaised == true))
        }
    }

    @Test("the person's devices and responders hear of a late call for help when it was made, and when it came (S34)")
    func lateCall() throws {
        let (alarm, now) = (AlarmID.new(), Instant.now)
        let (made, received) = (now - .minutes(20), now - .minutes(2))
        let call = try #require(LateCall(pressed: made, received: received))
        let events: [SessionEvent] = [
            .alertRaised(.init(account: account, alarm: alarm, lateCall: call, at: now)),
            .alertAnnounced(
                .init(account: account, alarm: alarm, raised: now, lateCall: call, at: now + .minutes(1))),
        ]
        for event in events {
            let told = try commands(for: event)
            let own = try #require(told.compactMap { $0 as? DeliverNotification }.first)
            try own.validate()
            #expect(own.details == NotificationDetails(at: received, pressed: made, alarm: alarm))
            let relay = RelayAlert(kind: .alertRaised, alarm: alarm, occurred: now, lateCall: call)
            #expect(told.compactMap { $0 as? RelayAlert } == [relay] && told.count == 2)
        }
        let repeated = AlarmRepeated(
            account: account, alarm: alarm, kind: .alertRaised, since: now, repetition: 1, lateCall: call,
            at: now + .minutes(5))
        #expect(try commands(for: .alarmRepeated(repeated)).compactMap { ($0 as? RelayAlert)?.lateCall } == [call])
        for call in [call, nil] {
            let again = AlertRaisedAgain(account: account, alarm: alarm, pressed: now, lateCall: call, at: now)
            let forget = ForgetAnswers(alarm: alarm, before: now, lateCall: call)
            #expect(try commands(for: .alertRaisedAgain(again)).first as? ForgetAnswers == forget)
        }
        let alerted = ResponderAlerted(
            account: .new(), dependent: account, kind: .alertRaised, alarm: alarm, occurred: now, pressed: made,
            repetition: 0, at: now)
        let message = RecordedMessage(
            partition: Partition(0), position: Position(1),
            message: Message(
                kind: .event, type: ResponderAlerted.type, key: .account(alerted.account), account: alerted.account,
                body: try alerted.encoded()),
            recordedAt: now)
        let notified = ContactsPolicy().commands(for: .responderAlerted(alerted), in: message)
        let details = (notified.first?.body as? DeliverNotification)?.details
        #expect(details == NotificationDetails(at: now, pressed: made, alarm: alarm))
    }

    @Test(
        """
        a drill is relayed as a drill, and taken back from everybody, its person too, however it ends (A11)
        """)
    func drills() throws {
        let (drill, now) = (DrillID.new(), Instant.now)
        let began = DrillBegan(account: account, drill: drill, began: now, ends: now + .hours(1), at: now)
        let relayed = try commands(for: .drill(.drillBegan(began)))
        let relay = try #require(relayed.first as? RelayDrill)
        #expect(relayed.count == 2 && relay.drill == drill && relay.began == now && relay.ends == began.ends)
        let own = try #require(relayed.last as? DeliverNotification)
        #expect(own.subject == nil && own.details.drillNews == .ownIsOn && !own.isUrgent, "all her devices hear of it")
        func ended(_ end: DrillEnd) throws -> [any CommandBody] {
            try commands(for: .drill(.drillEnded(.init(account: account, drill: drill, end: end, at: now))))
        }
        for end in DrillEnd.allCases {
            let sent = try ended(end)
            #expect(sent.count == 4 && (sent.first as? WithdrawDrill)?.drill == drill)
            let told = sent.compactMap { $0 as? DeliverNotification }
            #expect(told.allSatisfy { $0.kind == .system && $0.subject == nil && !$0.isUrgent })
            #expect(told.map(\.details.drillNews) == [.ownIsOn, .ownIsOver])
            #expect(told.first?.id == own.id && told.first?.details.drillEnds.map { $0 < now } == true)
            #expect((sent.last as? ClearNotifications)?.selection.ids == [own.id])
        }
    }

    @Test("no alarm's message is marked as a drill, and no drill's as an alarm (A11)")
    func drillsAreNoAlarms() throws {
        let (alarm, now) = (AlarmID.new(), Instant.now)
        let alarms: [SessionEvent] = [
            .alertRaised(.init(account: account, alarm: alarm, at: now)),
            .checkInMissed(.init(account: account, alarm: alarm, deadline: now, at: now)),
            .alarmRepeated(
                .init(account: account, alarm: alarm, kind: .alertRaised, since: now, repetition: 1, at: now)),
        ]
        for event in alarms {
            for body in try commands(for: event) {
                #expect(body is RelayAlert || (body as? DeliverNotification).map { $0.details.drill == nil } == true)
            }
        }
        let (drill, responder) = (DrillID.new(), AccountID.new())
        let drilled = ResponderDrilled(
            account: responder, dependent: account, drill: drill, began: now, ends: now + .hours(1), at: now)
        let told = ContactsPolicy().commands(for: .responderDrilled(drilled))
        let body = try #require(told.first?.body as? DeliverNotification)
        #expect(told.count == 1 && told.first?.account == responder && body.subject == account)
        #expect(!body.kind.isOfAlarm && body.kind.priority != .critical && body.details.alarm == nil)
        #expect(body.details.isOfDrill && body.details.text?.hasPrefix("Drill") == true)
        try body.validate()
        let withdrawn = DrillWithdrawn(account: responder, dependent: account, drill: drill, at: now)
        let taken = ContactsPolicy().commands(for: .drillWithdrawn(withdrawn)).map(\.body)
        #expect((taken.last as? ClearNotifications)?.selection.ids == [body.id])
        // The first takes the place of a drill that comes later; the second takes that of the push.
        let delivered = taken.compactMap { $0 as? DeliverNotification }
        #expect(delivered.map(\.details.drillNews) == [.anothersIsOn, .anothersIsOver] && taken.count == 3)
        #expect(delivered.first?.id == body.id && delivered.last?.id != body.id)
        #expect(delivered.first?.details.drillEnds.map { $0 < now } == true)
    }

    /// Whom an event of a session notifies, and about whom.
    private func told(
        _ event: GroupEvent, _ kind: NotificationKind, of group: GroupID
    ) throws -> [AccountID: AccountID] {
        var told: [AccountID: AccountID] = [:]
        for command in try asked(because: .group(event)) {
            guard let body = command.body as? DeliverNotification else { continue }
            try body.validate()
            #expect(body.kind == kind && body.details.group == group && body.details.at != nil)
            let account = try #require(command.account)
            #expect(told[account] == nil)
            let subject = try #require(body.subject)
            told[account] = subject
        }
        return told
    }

    /// Whose notifications about the session an event clears.
    private func cleared(by event: GroupEvent, of group: GroupID) throws -> Set<AccountID> {
        var cleared: Set<AccountID> = []
        for command in try asked(because: .group(event)) {
            guard let selection = (command.body as? ClearNotifications)?.selection else { continue }
            #expect(selection.kinds == [.groupInvitation, .groupStarted] && selection.groups == [group])
            #expect(selection.occurredBy != nil)
            let account = try #require(command.account)
            #expect(cleared.insert(account).inserted)
        }
        return cleared
    }

    @Test("a group session's start is told to its host and to whom they invited, and not to the one who came (S36)")
    func groupStarted() throws {
        let (group, now) = (GroupID.new(), Instant.now)
        let (host, newcomer, guest) = (AccountID.new(), AccountID.new(), AccountID.new())
        let joined = GroupEvent.participantJoined(
            .init(
                group: group, account: newcomer, ordinal: 2, isHost: false,
                start: GroupStart(host: host, invited: [guest]), at: now))
        #expect(try told(joined, .groupStarted, of: group) == [host: newcomer, guest: host])
        #expect(try cleared(by: joined, of: group) == [newcomer])
        let later = GroupEvent.participantJoined(
            .init(group: group, account: guest, ordinal: 3, isHost: false, at: now))
        #expect(try told(later, .groupStarted, of: group).isEmpty)
        #expect(try cleared(by: later, of: group) == [guest])
        let quiet: [GroupEvent] = [
            .groupSessionCreated(
                .init(
                    group: group, account: host, activity: .init(identifier: "chess", title: "Chess"), capacity: 8,
                    seats: 2, isOpenToContacts: true, at: now)),
            .hostTransferred(.init(group: group, account: newcomer, from: host, at: now)),
        ]
        for event in quiet { #expect(try asked(because: .group(event)).isEmpty) }
        // Whoever leaves isn't there to hear of its end.
        for reason in [LeaveReason.left, .removed, .dropped] {
            let left = GroupEvent.participantLeft(
                .init(group: group, account: host, reason: reason, host: newcomer, at: now))
            #expect(try cleared(by: left, of: group) == [host])
            #expect(try told(left, .groupEnded, of: group).isEmpty)
        }
    }

    @Test(
        """
        a group session's end is told to those who were in it and to whom the one who ended it had invited, and not to \
        that one (S36)
        """)
    func groupEnded() throws {
        let (group, now) = (GroupID.new(), Instant.now)
        let (host, member, guest, other) = (AccountID.new(), AccountID.new(), AccountID.new(), AccountID.new())
        func ended(_ reason: GroupEndReason, _ participants: [AccountID], guests: [AccountID]?) -> GroupEvent {
            .groupSessionEnded(
                .init(
                    group: group, account: host, reason: reason, participants: participants, invited: [guest, other],
                    guests: guests, at: now))
        }
        let end = ended(.ended, [host, member], guests: [guest])
        #expect(try told(end, .groupEnded, of: group) == [member: host, guest: host])
        #expect(try cleared(by: end, of: group) == [host, member, guest, other])
        let expiry = ended(.expired, [], guests: [guest, other])
        #expect(try told(expiry, .groupEnded, of: group) == [guest: host, other: host])
        // A session of 0.1.0 doesn't say whose guests they are.
        let old = ended(.ended, [host, member], guests: nil)
        #expect(try told(old, .groupEnded, of: group) == [member: host])
    }

    @Test("an event of a group session gives each person one notification, however often it is handled (S36)")
    func groupEffects() throws {
        let (group, host) = (GroupID.new(), AccountID.new())
        func ids(_ event: GroupEvent, in message: MessageID) throws -> [NotificationID] {
            try asked(because: .group(event), in: message).compactMap { ($0.body as? DeliverNotification)?.id }
        }
        let start = GroupEvent.participantJoined(
            .init(
                group: group, account: .new(), ordinal: 2, isHost: false,
                start: GroupStart(host: host, invited: [.new()]), at: .now))
        let end = GroupEvent.groupSessionEnded(
            .init(group: group, account: host, reason: .ended, participants: [host, .new()], invited: [], at: .now))
        for event in [start, end] {
            let message = MessageID.new()
            let first = try ids(event, in: message)
            #expect(!first.isEmpty)
            #expect(try ids(event, in: message) == first)
            #expect(try Set(ids(event, in: .new())).isDisjoint(with: first))
        }
    }

    private func signedIn(isFirst: Bool, isFirstOfDay: Bool?) -> SessionEvent {
        let device = Device(id: .new(), name: "phone", signedIn: .now, lastSeen: .now)
        return .deviceSignedIn(
            .init(account: account, device: device, isFirst: isFirst, isFirstOfDay: isFirstOfDay, at: .now))
    }

    @Test("contacts hears once a day of a device that was there, but never through an older session (A16)")
    func reached() throws {
        #expect(try reached(by: signedIn(isFirst: false, isFirstOfDay: true)) == [account])
        #expect(try reached(by: signedIn(isFirst: false, isFirstOfDay: nil)) == [])
        // Contacts opens a new account as reached.
        #expect(try reached(by: signedIn(isFirst: true, isFirstOfDay: true)) == [])
        for (isFirst, expected) in [(true, [account]), (nil, [])] as [(Bool?, [AccountID?])] {
            let refreshed = DeviceRefreshed(account: account, device: .new(), isFirstOfDay: isFirst, at: .now)
            #expect(try reached(by: .deviceRefreshed(refreshed)) == expected)
        }
    }
}
