import QuartetContactsContract
import QuartetNotificationsContract
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
