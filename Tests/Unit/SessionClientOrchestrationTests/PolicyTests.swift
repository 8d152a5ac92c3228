import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary
import Testing

@testable import QuartetSessionClientOrchestration

@Suite("Policies")
struct PolicyTests {
    @Test("contacts records whose push was taken; the policy reads nothing else of notifications' log (A16)")
    func pushTaken() throws {
        let (policy, account) = (NotificationsPolicy(), AccountID.new())
        let taken = PushTaken(account: account, at: .now)
        let message = RecordedMessage(
            partition: Partition(0), position: Position(1),
            message: Message(
                kind: .event, type: PushTaken.type, key: .account(account), account: account, body: try taken.encoded()),
            recordedAt: .now)
        let commands = policy.commands(for: .pushTaken(taken), in: message)
        #expect(commands.count == 1)
        let command = try #require(commands.first)
        #expect(command.body is RecordReached && command.log == Domain.contacts.commands)
        #expect(command.key == .account(account) && command.account == account)
        // A type that a newer release adds isn't ignored: a replica that knows it decides.
        #expect(policy.ignoredTypes == Set(NotificationsEvent.types.map { $0.type }).subtracting(["PushTaken"]))
    }

    @Test(
        "a deadline that newer data of a zone moved, or that is put right after an old process, is told to the person (A6)"
    )
    func dailyCheckIns() throws {
        let (anna, now) = (AccountID.new(), Instant.now)
        func told(isByZone: Bool?, skipped: Instant?, isMoved: Bool = true) throws -> String? {
            let moved = DailyCheckInsMoved(
                account: anna, due: now + .days(1), former: now + .days(isMoved ? 2 : 1), opens: now, skipped: skipped,
                isByZone: isByZone, at: now)
            let message = RecordedMessage(
                partition: Partition(0), position: Position(1),
                message: Message(
                    kind: .event, type: DailyCheckInsMoved.type, key: .account(anna), account: anna,
                    body: try moved.encoded()),
                recordedAt: now)
            let commands = SessionPolicy { _, _ in .new() }.commands(for: .dailyCheckInsMoved(moved), in: message)
            let delivery = commands.first?.body as? DeliverNotification
            try delivery?.validate()
            // With a deadline it would be about a pause.
            #expect(delivery.map { $0.kind == .system && $0.details.deadline == nil } != false)
            return delivery?.details.text
        }
        #expect(try told(isByZone: nil, skipped: nil)?.contains("at another time than you chose") == true)
        #expect(try told(isByZone: nil, skipped: nil, isMoved: false) == nil)
        let texts = try [nil, now].map { try told(isByZone: true, skipped: $0) }
        #expect(texts[0] != nil && texts[1]?.contains("left out") == true)
    }

    @Test("she is warned of a ping that soon raises an alert, and session hears of those that weren't answered (A4)")
    func unansweredPings() throws {
        let (anna, ben, sent) = (AccountID.new(), AccountID.new(), Instant.now)
        func commands(
            _ event: PingEscalationEvent, at time: Instant = sent
        ) throws -> [PolicyCommand] {
            let message = RecordedMessage(
                partition: Partition(0), position: Position(1),
                message: Message(
                    kind: .event, type: type(of: event.body).type, key: .account(anna), account: anna,
                    body: try event.body.encoded()),
                recordedAt: time)
            return ContactsPolicy().commands(for: .pingEscalation(event), in: message)
        }
        let due = sent + .minutes(30)
        let warned = PingEscalationEvent.pingWarned(
            .init(account: anna, contact: ben, sent: sent, due: due, at: sent + .minutes(25)))
        let delivery = try #require(try commands(warned).first?.body as? DeliverNotification)
        try delivery.validate()
        #expect(delivery.kind == .checkInMissed && delivery.subject == ben && delivery.isUrgent)
        #expect(delivery.details.pinged == sent && delivery.details.pinger == ben && delivery.details.alarm == nil)
        // Not loud, and of the same name, so that it ends as that would.
        let repeated = PingEscalationEvent.pingWarned(
            .init(account: anna, contact: ben, sent: sent, due: due, isRepeated: true, at: sent + .minutes(25)))
        let reminder = try #require(try commands(repeated).first?.body as? DeliverNotification)
        #expect(reminder.kind == .checkInReminder && reminder.kind.priority == .normal && reminder.id == delivery.id)
        #expect(reminder.details == delivery.details && reminder.details.endOfUse(of: reminder.kind) == due)
        // It is of no use once the alert is on.
        #expect(delivery.details.endOfUse(of: delivery.kind) == due)
        #expect(try commands(warned, at: due).isEmpty)
        // A ping that is put off warns once more, under another name.
        let later = PingEscalationEvent.pingWarned(
            .init(account: anna, contact: ben, sent: sent, due: due + .days(1), at: sent + .minutes(25)))
        #expect((try commands(later).first?.body as? DeliverNotification).map { $0.id != delivery.id } == true)
        let ended = PingEscalationEvent.pingWarningEnded(
            .init(account: anna, contact: ben, sent: sent, due: due, at: due))
        let clear = try #require(try commands(ended).first?.body as? ClearNotifications)
        #expect(clear.selection.ids == [delivery.id])

        let pings = [UnansweredPing(contact: ben, sent: sent)]
        let raise = try commands(.pingsUnanswered(.init(account: anna, pings: pings, at: due)))
        #expect(raise.map(\.log) == [Domain.session.commands])
        #expect(
            raise.first?.body as? RaiseUnansweredAlert
                == RaiseUnansweredAlert(account: anna, pings: pings, found: due))
        for answered in [due, nil] {
            let end = try commands(
                .unansweredPingsEnded(.init(account: anna, pings: pings, answered: answered, at: due)))
            #expect(
                end.first?.body as? EndUnansweredAlert
                    == EndUnansweredAlert(account: anna, pings: pings, answered: answered))
            // Others who asked before are answered, too, and may ask again.
            let settled = end.compactMap { $0.body as? SettleUnansweredPings }
            #expect(settled.map(\.allRight) == (answered == nil ? [] : [answered]))
            #expect(settled.allSatisfy { $0.pings.isEmpty && $0.account == anna })
        }
        for quiet in [
            PingEscalationEvent.pingEscalationSet(.init(account: anna, after: .minutes(30), at: sent)),
            .pingQuietHoursSet(.init(account: anna, at: sent)),
            .pingDueSet(.init(account: anna, contact: ben, direction: .incoming, sent: sent, due: due, at: sent)),
        ] { #expect(try commands(quiet).isEmpty) }
    }

    @Test(
        "who is asked whether they are still on it is notified until that is settled, and not once their time is over (A2)"
    )
    func renewal() throws {
        let (ben, anna, alarm) = (AccountID.new(), AccountID.new(), AlarmID.new())
        let asked = Instant.now
        func commands(_ event: ContactsEvent, at time: Instant = asked) throws -> [PolicyCommand] {
            let message = RecordedMessage(
                partition: Partition(0), position: Position(1),
                message: Message(
                    kind: .event, type: type(of: event.body).type, key: .account(ben), account: ben,
                    body: try event.body.encoded()),
                recordedAt: time)
            return ContactsPolicy().commands(for: event, in: message)
        }
        let question = ContactsEvent.renewalAsked(
            .init(account: ben, dependent: anna, alarm: alarm, until: asked + .minutes(5), at: asked))
        let told = try commands(question)
        let delivery = try #require(told.first?.body as? DeliverNotification)
        #expect(told.count == 1 && told.first?.account == ben && !delivery.isUrgent)
        #expect(delivery.kind == .system && delivery.subject == anna)
        #expect(delivery.details.onItUntil == asked + .minutes(5) && delivery.details.alarm == nil)
        try delivery.validate()
        let settled = try commands(
            .renewalSettled(
                .init(account: ben, dependent: anna, alarm: alarm, asked: asked, at: asked + .minutes(2))))
        let clearing = try #require(settled.first?.body as? ClearNotifications)
        #expect(settled.count == 1 && clearing.selection == NotificationSelection(ids: [delivery.id]))
        #expect(try commands(question, at: asked + .minutes(5)).isEmpty)
    }

    @Test("a ping that takes another's place takes its notification's, too (A4)")
    func replacedPing() throws {
        let (anna, ben, now) = (AccountID.new(), AccountID.new(), Instant.now)
        func commands(replaced: Instant?) throws -> [any CommandBody] {
            let event = PingReceived(account: anna, contact: ben, replaced: replaced, at: now)
            let message = RecordedMessage(
                partition: Partition(0), position: Position(1),
                message: Message(
                    kind: .event, type: PingReceived.type, key: .account(anna), account: anna,
                    body: try event.encoded()),
                recordedAt: now)
            return ContactsPolicy().commands(for: .pingReceived(event), in: message).map(\.body)
        }
        let old = now - .minutes(10)
        let told = try commands(replaced: old)
        #expect(told.count == 2 && (told.last as? DeliverNotification)?.kind == .pingReceived)
        #expect(
            (told.first as? ClearNotifications)?.selection
                == NotificationSelection(kinds: [.pingReceived], subjects: [ben], occurredBy: old))
        #expect(try commands(replaced: nil).count == 1)
    }

    @Test("what somebody was told as a responder is cleared when they aren't one any more, a drill too (A11)")
    func pastResponder() throws {
        let (ben, anna, now) = (AccountID.new(), AccountID.new(), Instant.now)
        func cleared(_ event: ContactsEvent) throws -> [NotificationSelection] {
            let message = RecordedMessage(
                partition: Partition(0), position: Position(1),
                message: Message(
                    kind: .event, type: type(of: event.body).type, key: .account(ben), account: ben,
                    body: try event.body.encoded()),
                recordedAt: now)
            return ContactsPolicy().commands(for: event, in: message)
                .compactMap { ($0.body as? ClearNotifications)?.selection }
        }
        let drill = QuartetNotification(
            id: .new(), kind: .system, subject: anna,
            details: .init(at: now, drill: .new(), drillEnds: now + .hours(1)),
            created: now)
        let removed = ContactRemoved(account: ben, contact: anna, by: anna, reason: .removed, at: now)
        #expect(try cleared(.contactRemoved(removed)).contains { $0.matches(drill) })
        for isResponder in [false, true] {
            let contact = Contact(
                account: anna, nickname: "", notes: "", isMyResponder: false, iAmResponder: isResponder,
                sendPings: true,
                receivePings: true, notifyOnCheckIn: true, notifyOnMissedCheckIn: true, added: now, updated: now,
                version: 1)
            let updated = ContactUpdated(
                account: ben, contact: contact, by: anna, rolesChanged: true, isAcceptance: false)
            #expect(try cleared(.contactUpdated(updated)).contains { $0.matches(drill) } != isResponder)
        }
    }
}
