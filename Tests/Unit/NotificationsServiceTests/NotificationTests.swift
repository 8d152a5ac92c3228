import QuartetContractSupport
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import StoreKit
import Testing

@Suite("Notifications")
struct NotificationTests {
    @Test("a canary's history is short, so that it doesn't grow for ever (A1)")
    func canary() throws {
        var inbox = Inbox()
        let canary = AccountID.canary(.responder, of: Partition(3), among: 8)
        try inbox.ask(canary, OpenAccount())
        let told = try (0..<50).map { _ in
            inbox.pass(.minutes(5))
            return try inbox.tell(canary, .dependentCheckInMissed)
        }
        #expect(inbox.state(canary).notifications.map(\.id).sorted() == told.suffix(20).sorted())
    }

    @Test("every kind has a priority and a category; only those that mean danger are critical (S36)")
    func kinds() {
        #expect(
            NotificationKind.allCases.filter { $0.priority == .critical }
                == [.alertRaised, .dependentAlertRaised, .checkInMissed, .dependentCheckInMissed])
        #expect(
            NotificationKind.allCases.filter { $0.priority == .normal }
                == [
                    .alertCleared, .dependentAlertCleared, .dependentCheckedInLate, .dependentAlarmEnded,
                    .checkInReminder, .pingReceived, .newDevice, .passwordChanged, .phoneChanged,
                    .securityChanged,
                    .recoveryCodesMade, .recoveryCodeUsed, .securityUndone, .system,
                ])
        #expect(Set(NotificationKind.allCases.map(\.category)) == Set(NotificationCategory.allCases))
        #expect(NotificationKind.allCases.count == 38)
    }

    @Test("no published kind has changed its name, priority or category (S36)")
    func goldenKinds() {
        let golden = """
            alertRaised critical alerts
            alertCleared normal alerts
            dependentAlertRaised critical alerts
            dependentAlertCleared normal alerts
            checkInMissed critical alerts
            dependentCheckInMissed critical alerts
            dependentCheckedIn low alerts
            dependentCheckedInLate normal alerts
            dependentAlarmEnded normal alerts
            checkInReminder normal alerts
            contactAdded low relationships
            contactRemoved low relationships
            contactRoleChanged low relationships
            roleChangeRequested low relationships
            roleChangeAccepted low relationships
            roleChangeDeclined low relationships
            roleChangeWithdrawn low relationships
            contactRequested low relationships
            contactRequestAccepted low relationships
            contactRequestDeclined low relationships
            contactRequestWithdrawn low relationships
            contactRequestExpired low relationships
            pingSent low pings
            pingReceived normal pings
            pingCancelled low pings
            pingAnswered low pings
            pingsCleared low pings
            groupInvitation low group
            groupStarted low group
            groupEnded low group
            newDevice normal system
            passwordChanged normal system
            phoneChanged normal system
            securityChanged normal system
            recoveryCodesMade normal system
            recoveryCodeUsed normal system
            securityUndone normal system
            system normal system
            """
        let kinds = NotificationKind.allCases.map { "\($0.rawValue) \($0.priority.rawValue) \($0.category.rawValue)" }
        #expect(kinds.joined(separator: "\n") == golden)
    }

    @Test("clearing up to a time clears what had happened by then, whenever it was delivered (S15)")
    func clearedByTime() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let cleared = inbox.time
        for (at, isLate) in [(cleared - .minutes(1), true), (cleared, true), (cleared + .minutes(1), false)] {
            inbox.time = cleared + .minutes(2)
            let id: NotificationID = inbox.id()
            try inbox.ask(
                anna,
                DeliverNotification(id: id, kind: .pingReceived, details: .init(at: at)))
            let clear = ClearNotifications(selection: .init(ids: [id], kinds: [.pingReceived], occurredBy: cleared))
            #expect(try inbox.ask(anna, clear).isEmpty == !isLate)
        }
        // Without a time of its own it is as old as its delivery.
        try inbox.tell(anna)
        let clear = ClearNotifications(selection: .init(kinds: [.pingReceived], occurredBy: cleared))
        #expect(try inbox.ask(anna, clear).isEmpty)
        let bare = ClearNotifications(selection: .init(occurredBy: cleared))
        #expect(throws: Rejection.self) { try bare.validate() }
    }

    @Test("a replica has the newest notifications, as published, and the whole unread count (S13)")
    func replicaIsBounded() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        for _ in 0..<NotificationsState.notificationLimit + 20 {
            inbox.time = inbox.time + .minutes(1)
            try inbox.tell(anna)
        }
        let replica = try #require(inbox.replicas[anna])
        #expect(replica.notifications.count == NotificationsState.notificationLimit)
        #expect(replica.unread == NotificationsState.notificationLimit + 20)
        #expect(replica.notifications.first?.created == inbox.time)
    }

    @Test("the same id again is accepted and changes nothing, whether read, cleared or neither (S13)")
    func once() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let deliver = DeliverNotification(id: inbox.id(), kind: .pingReceived, subject: inbox.id())
        let first = try inbox.ask(anna, deliver).first(as: NotificationDelivered.self)
        #expect(first.unread == 1 && first.notification.created == inbox.time)
        #expect(try inbox.ask(anna, deliver).isEmpty)
        try inbox.ask(anna, MarkRead(id: first.notification.id))
        #expect(try inbox.ask(anna, deliver).isEmpty)
        try inbox.ask(anna, ClearNotifications(selection: .init(everything: true)))
        #expect(try inbox.ask(anna, deliver).isEmpty)
        let ben = try inbox.person()
        #expect(try inbox.ask(ben, deliver).count == 1)
    }

    @Test("reading lowers the count once; reading everything brings it to zero (S37)")
    func read() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let ids = try (0..<3).map { _ in try inbox.tell(anna) }
        let read = try inbox.ask(anna, MarkRead(id: ids[1])).first(as: NotificationRead.self)
        #expect(read.unread == 2 && inbox.state(anna).unread == 2)
        #expect(try inbox.ask(anna, MarkRead(id: ids[1])).isEmpty)
        #expect(try inbox.rejection(anna, MarkRead(id: inbox.id())) == .notFound)
        let ben = try inbox.person()
        #expect(try inbox.rejection(ben, MarkRead(id: ids[0])) == .notFound)
        let all = try inbox.ask(anna, MarkAllRead()).first(as: AllNotificationsRead.self)
        #expect(all.unread == 0)
        #expect(try inbox.ask(anna, MarkAllRead()).isEmpty)
    }

    @Test("what was delivered later than the newest that its person saw stays unread, for every reader (S13, S22)")
    func readUpTo() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        var ids: [NotificationID] = []
        for _ in 0..<3 {
            inbox.pass(.minutes(20))
            ids.append(try inbox.tell(anna))
        }
        let seen = try #require(inbox.state(anna).notifications.first { $0.id == ids[1] }).created
        let first = try inbox.ask(anna, MarkAllRead(upTo: seen)).first(as: AllNotificationsRead.self)
        #expect(first.unread == 1 && first.upTo == seen)
        #expect(inbox.state(anna).notifications.filter(\.isUnread).map(\.id) == [ids[2]])
        #expect(try inbox.ask(anna, MarkAllRead(upTo: seen)).isEmpty)
        // Nothing is left, so readers of 0.1.0 take it for what it is.
        let rest = try inbox.ask(anna, MarkAllRead(upTo: inbox.time)).first(as: AllNotificationsRead.self)
        #expect(rest.unread == 0 && rest.upTo == nil && inbox.state(anna).unread == 0)
    }

    @Test(
        "clearing takes what matches all criteria, keeps it in the history, and lowers the count (S37)",
        arguments: 0..<5)
    func clear(which: Int) throws {
        var inbox = Inbox()
        let (anna, ben) = (try inbox.person(), try inbox.person())
        let ping = try inbox.tell(anna, .pingReceived, about: ben)
        try inbox.tell(anna, .pingAnswered)
        try inbox.tell(anna, .contactAdded, about: ben)
        try inbox.tell(anna, .alertRaised)
        let (selection, count): (NotificationSelection, Int) =
            [
                (.init(kinds: [.pingReceived, .alertRaised]), 2), (.init(category: .pings), 2),
                (.init(subjects: [ben]), 2),
                (.init(ids: [ping]), 1), (.init(everything: true), 4),
            ][which]
        let clear = ClearNotifications(selection: selection)
        let cleared = try inbox.ask(anna, clear).first(as: NotificationsCleared.self)
        #expect(cleared.count == count && cleared.unread == 4 - count)
        #expect(inbox.state(anna).notifications.count == 4)
        #expect(inbox.state(anna).notifications.count { $0.cleared == inbox.time } == count)
        #expect(try inbox.ask(anna, clear).isEmpty)
    }

    @Test("a selection must say what it means (S37)")
    func selection() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let tooMany = NotificationSelection(ids: (0..<501).map { _ in inbox.id() })
        for selection in [
            NotificationSelection(), .init(ids: []), .init(kinds: []), tooMany,
            .init(category: .pings, everything: true),
        ] {
            #expect(
                try inbox.rejection(anna, ClearNotifications(selection: selection)) == .invalidField)
        }
    }

    @Test("the history is newest first, has a fixed order within one time, and goes back 30 days (S37)")
    func history() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        for _ in 0..<3 {
            for _ in 0..<4 { try inbox.tell(anna) }
            inbox.pass(.days(10))
        }
        let history = inbox.state(anna).notifications
        #expect(history == history.sorted { ($0.created, $0.id) > ($1.created, $1.id) })
        let forget = ForgetOldNotifications(account: anna)
        #expect(try inbox.ask(nil, forget).isEmpty)
        inbox.pass(.seconds(1))
        let forgotten = try inbox.ask(nil, forget).first(as: NotificationsForgotten.self)
        #expect(forgotten.count == 4 && forgotten.unread == 8 && inbox.state(anna).notifications.count == 8)
    }

    @Test("a reminder of a trip that comes after the trip's end is neither unread nor pushed; one before is both (A7)")
    func lateReminder() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        try inbox.register(anna)
        for (deadline, isUseful) in [(inbox.time + .hours(1), true), (inbox.time - .hours(1), false)] {
            let reminder = DeliverNotification(
                id: inbox.id(), kind: .checkInReminder, details: .init(deadline: deadline, trip: .new()))
            let told = try inbox.ask(anna, reminder).first(as: NotificationDelivered.self)
            #expect(told.notification.isUnread == isUseful && inbox.rows.pushes.count == 1)
        }
        // The rules' time may be ahead of the clock after a failover.
        let (deadline, recorded) = (inbox.time - .minutes(10), inbox.time - .minutes(20))
        let reminder = DeliverNotification(
            id: inbox.id(), kind: .checkInReminder, details: .init(deadline: deadline, trip: .new()))
        let told = try inbox.ask(anna, reminder, recordedAt: recorded).first(as: NotificationDelivered.self)
        #expect(told.notification.isUnread)
    }

    @Test(
        "an alarm that is delivered after its all-clear is kept, but neither unread nor pushed; other alarms are (A1)",
        arguments: [
            (NotificationKind.alertRaised, NotificationKind.alertCleared),
            (.dependentAlertRaised, .dependentAlertCleared),
            (.dependentCheckInMissed, .dependentCheckedInLate),
            (.dependentAlertRaised, .dependentAlarmEnded),
        ])
    func alarmAfterItsEnd(_ begins: NotificationKind, _ ends: NotificationKind) throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        try inbox.register(anna)
        func deliver(_ kind: NotificationKind, _ id: NotificationID, _ alarm: AlarmID) throws -> NotificationDelivered?
        {
            try inbox.ask(anna, DeliverNotification(id: id, kind: kind, details: .init(alarm: alarm)))
                .first?.body as? NotificationDelivered
        }
        let (alarm, late): (AlarmID, NotificationID) = (inbox.id(), inbox.id())
        inbox.pass(.seconds(1))
        _ = try deliver(ends, inbox.id(), alarm)
        let event = try #require(try deliver(begins, late, alarm))
        #expect(event.unread == 1 && !event.notification.isUnread && event.notification.read == nil)
        #expect(inbox.rows.pushes.map(\.body.notification.kind) == [ends])
        #expect(try deliver(begins, late, alarm) == nil)
        // Somebody who is a responder again is alerted to it again, unless it is over for everybody.
        inbox.pass(.seconds(1))
        let again = try #require(try deliver(begins, inbox.id(), alarm))
        #expect(again.notification.isUnread == (ends == .dependentAlarmEnded))
        let other = try #require(try deliver(begins, inbox.id(), inbox.id()))
        #expect(other.notification.isUnread)
    }

    @Test("a question that comes when its time is over is kept for the record, and asks nobody (A2)")
    func lateQuestion() throws {
        var inbox = Inbox()
        let ben = try inbox.person()
        _ = try inbox.register(ben)
        for (left, isUnread) in [(Interval.seconds(1), true), (.seconds(0), false)] {
            let question = DeliverNotification(
                id: inbox.id(), kind: .system, details: .init(onItUntil: inbox.time + left, text: "Still?"))
            let event = try inbox.ask(ben, question).first(as: NotificationDelivered.self)
            #expect(event.notification.isUnread == isUnread)
        }
        #expect(inbox.rows.pushes.count == 1)
    }

    @Test("a full history drops the oldest and never refuses a new one (S37)")
    func full() throws {
        var inbox = Inbox()
        inbox.rows.limits.history = 3
        let anna = try inbox.person()
        var ids: [NotificationID] = []
        for _ in 0..<5 {
            ids.append(try inbox.tell(anna))
            inbox.pass(.seconds(1))
        }
        #expect(inbox.state(anna).notifications.map(\.id) == ids.suffix(3).reversed())
        #expect(inbox.state(anna).unread == 3 && inbox.replicas[anna] == inbox.state(anna))
    }

    @Test("a full history drops the oldest of the least urgent, so invitations don't push out an alarm (S37)")
    func urgentStay() throws {
        var inbox = Inbox()
        let limit = 200
        inbox.rows.limits.history = limit
        let (anna, ben) = (try inbox.person(), try inbox.person())
        let alarm = try inbox.tell(anna, .dependentCheckInMissed, about: ben)
        try inbox.ask(anna, MarkRead(id: alarm))
        let device: PushDeviceID = inbox.id()
        try inbox.ask(anna, ShowNotifications(ids: [alarm], device: device))
        let warning = try inbox.tell(anna, .passwordChanged)
        let crowd = (0..<40).map { _ in inbox.id() as AccountID }
        for round in 0..<limit * 2 {
            inbox.pass(.minutes(2))
            try inbox.tell(anna, .groupInvitation, about: crowd[round % crowd.count])
        }
        let kept = inbox.state(anna).notifications
        #expect(kept.count == limit && kept.suffix(2).map(\.id) == [warning, alarm])
        #expect(inbox.rows.shown[ShownKey(anna, alarm, device)] != nil)
        #expect(inbox.state(anna).unread == limit - 1)
        // Where there is nothing else, alarms make room as well.
        for _ in 0..<limit { try inbox.tell(anna, .dependentAlertRaised, about: ben) }
        #expect(inbox.rows.accounts[anna]?.total == limit)
        #expect(inbox.state(anna).notifications.allSatisfy { $0.kind.priority == .critical })
    }

    @Test("notifications about one person don't push out those about others (S37)")
    func share() throws {
        var inbox = Inbox()
        inbox.rows.limits.history = 50
        inbox.rows.limits.burst = 0
        let (anna, eve) = (try inbox.person(), try inbox.person())
        let others = try (0..<40).map { _ in try inbox.tell(anna, .contactAdded, about: inbox.id()) }
        for _ in 0..<10 { try inbox.tell(anna, .groupInvitation, about: eve) }
        for _ in 0..<100 { try inbox.tell(anna, .pingReceived, about: eve) }
        let kept = inbox.state(anna).notifications
        #expect(Set(others).isSubset(of: kept.map(\.id)) && kept.count { $0.subject == eve } == 10)
        // An alarm of hers takes the place of what is less urgent, whoever that is about, rather than an alarm's.
        for _ in 0..<12 { try inbox.tell(anna, .dependentAlertRaised, about: eve) }
        #expect(inbox.state(anna).notifications.count { $0.kind == .dependentAlertRaised } == 12)
        #expect(inbox.state(anna).notifications.count { others.contains($0.id) } == 38)
    }

    @Test("a scheduled notification comes when due, once; one that was cancelled or moved doesn't (S39)")
    func scheduled() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let (id, due): (NotificationID, Instant) = (inbox.id(), inbox.time + .hours(1))
        func schedule(_ due: Instant) -> any CommandBody {
            ScheduleNotification(id: id, kind: .system, subject: nil, due: due)
        }
        let deliver = DeliverScheduledNotification(account: anna, id: id, due: due)
        #expect(try inbox.rejection(anna, schedule(inbox.time)) == .invalidField)
        #expect(try inbox.rejection(anna, schedule(inbox.time + .days(400))) == .invalidField)
        #expect(try inbox.rejection(anna, schedule(Instant(microseconds: .max))) == .invalidField)
        try inbox.ask(anna, schedule(due))
        #expect(try inbox.ask(anna, schedule(due)).isEmpty)
        #expect(try inbox.rejection(nil, deliver) == .notDue)
        try inbox.ask(anna, CancelNotification(id: id))
        #expect(try inbox.ask(anna, CancelNotification(id: id)).isEmpty)
        inbox.pass(.hours(2))
        #expect(try inbox.ask(nil, deliver).isEmpty)
        let later = inbox.time + .hours(1)
        try inbox.ask(anna, schedule(later))
        inbox.pass(.hours(1))
        #expect(try inbox.ask(nil, deliver).isEmpty)
        let atLast = DeliverScheduledNotification(account: anna, id: id, due: later)
        #expect(try inbox.ask(nil, atLast).count == 1)
        #expect(try inbox.ask(nil, atLast).isEmpty)
        #expect(inbox.state(anna).unread == 1 && inbox.state(anna).scheduled.isEmpty)
    }

    @Test(
        "a reminder says its own text when it is due, once; only a new id, a visible text, a time to come and room for it are taken (S39)"
    )
    func reminders() throws {
        var inbox = Inbox()
        let (anna, ben) = (try inbox.person(), try inbox.person())
        let due = inbox.time + .hours(1)
        let reminder = ScheduleReminder(id: .new(at: inbox.time), text: "Water the bonsai", due: due)
        let bad = [
            ScheduleReminder(id: .derived(at: due, from: [1]), text: "Tea", due: due),
            ScheduleReminder(text: "", due: due),
            ScheduleReminder(text: String(repeating: "a", count: 201), due: due),
            ScheduleReminder(text: "a\u{202E}b", due: due), ScheduleReminder(text: "Tea", due: inbox.time),
            ScheduleReminder(text: "Tea", due: inbox.time + .days(366) + .seconds(1)),
            ScheduleReminder(text: "Tea", due: Instant(microseconds: .min)),
            ScheduleReminder(text: "Tea", due: Instant(microseconds: .max)),
        ]
        for command in bad { #expect(try inbox.rejection(anna, command) == .invalidField, "\(command)") }
        let scheduled = try inbox.ask(anna, reminder).first(as: NotificationScheduled.self)
        #expect(scheduled.scheduled.details == NotificationDetails(reminder: "Water the bonsai"))
        #expect(try inbox.ask(anna, reminder).isEmpty, "it is open already")
        #expect(try inbox.ask(ben, CancelReminder(id: reminder.id)).isEmpty, "it is another's")
        #expect(inbox.state(anna).scheduled.map(\.id) == [reminder.id])
        inbox.pass(.hours(1))
        let deliver = DeliverScheduledNotification(account: anna, id: reminder.id, due: due)
        let told = try inbox.ask(nil, deliver).first(as: NotificationDelivered.self).notification
        // The event leaves the text to the one that said what was scheduled: the state has it, and so has a reader who folds both.
        #expect(told.kind == .system && told.subject == nil && told.details == NotificationDetails(reminder: ""))
        #expect(inbox.state(anna).notifications.map(\.details) == [scheduled.scheduled.details])
        #expect(inbox.replicas[anna] == inbox.state(anna))
        #expect(try inbox.ask(nil, deliver).isEmpty)
        #expect(try inbox.ask(anna, CancelReminder(id: reminder.id)).isEmpty, "it is too late")
        #expect(try inbox.ask(anna, reminder).isEmpty, "what was delivered isn't scheduled again")
        for hours in 1...inbox.rows.limits.scheduled {
            try inbox.ask(anna, ScheduleReminder(text: "Tea", due: inbox.time + .hours(Int64(hours))))
        }
        let tooMany = ScheduleReminder(text: "Tea", due: inbox.time + .days(30))
        #expect(try inbox.rejection(anna, tooMany) == .limitReached)
        try inbox.ask(anna, CancelReminder(id: try #require(inbox.state(anna).scheduled.first).id))
        try inbox.ask(anna, ScheduleReminder(text: "Tea", due: inbox.time + .days(366)))
        try inbox.ask(anna, CloseAccount())
        #expect(inbox.state(anna).scheduled.isEmpty && inbox.rows.scheduled.keys.isEmpty)
    }

    @Test(
        "a reminder that was asked for in time comes, however late that is handled and wherever the rules' time is (S39)"
    )
    func lateReminders() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let asked = inbox.time
        func reminder(_ after: Interval) -> ScheduleReminder { ScheduleReminder(text: "Tea", due: asked + after) }
        inbox.pass(.hours(1))
        let late = reminder(.minutes(1))
        try inbox.ask(anna, late, recordedAt: asked)
        let timer = try #require(inbox.rows.wantedTimers(of: anna).first)
        #expect(timer.due == late.due)
        try inbox.ask(nil, timer.command.body)
        #expect(inbox.state(anna).notifications.map(\.id) == [late.id])
        for wrong in [reminder(.seconds(0)), reminder(.seconds(366 * 86_400 + 1))] {
            let refusal = #expect(throws: Rejection.self) { try inbox.ask(anna, wrong, recordedAt: asked) }
            #expect(refusal?.code == .invalidField && refusal?.field == "due")
        }
        // Nor is one taken that was past when it was asked for, by rules whose time is behind.
        let past = reminder(.minutes(61))
        inbox.pass(.hours(1))
        #expect(throws: Rejection.self) { try inbox.ask(anna, past, recordedAt: inbox.time + .hours(1)) }
    }

    @Test(
        "only so many reminders come within 24 hours, whatever was taken back, and wherever one is put between others (S39)"
    )
    func dailyReminders() throws {
        var inbox = Inbox()
        inbox.rows.limits.dailyReminders = 3
        let anna = try inbox.person()
        let start = inbox.time
        func reminder(_ hours: Int64) -> ScheduleReminder { ScheduleReminder(text: "Tea", due: start + .hours(hours)) }
        let first = [1, 2, 3].map(reminder)
        for reminder in first { try inbox.ask(anna, reminder) }
        for hours: Int64 in [2, 4, 24] { #expect(try inbox.rejection(anna, reminder(hours)) == .limitReached) }
        try inbox.ask(anna, reminder(25))
        // With 2 and 3 it would be the fourth before 26.
        #expect(try inbox.rejection(anna, reminder(20)) == .limitReached)
        try inbox.ask(anna, CancelReminder(id: first[1].id))
        try inbox.ask(anna, reminder(20))
        // What has come still counts, and so does what was read and cleared of it.
        inbox.pass(.hours(4))
        for reminder in [first[0], first[2]] {
            try inbox.ask(nil, DeliverScheduledNotification(account: anna, id: reminder.id, due: reminder.due))
        }
        try inbox.ask(anna, ClearNotifications(selection: .init(everything: true)))
        let refusal = #expect(throws: Rejection.self) { try inbox.ask(anna, reminder(5)) }
        #expect(refusal?.code == .limitReached && refusal?.field == "due")
        try inbox.ask(anna, ScheduleNotification(id: inbox.id(), kind: .system, due: start + .hours(5)))
        try inbox.ask(anna, reminder(50))
    }

    @Test("a reminder makes room for everything else, whatever is older, and the oldest first (S39)")
    func remindersMakeRoom() throws {
        var inbox = Inbox()
        inbox.rows.limits.history = 4
        let anna = try inbox.person()
        func remind() throws -> NotificationID {
            inbox.pass(.minutes(1))
            let reminder = ScheduleReminder(text: "Tea", due: inbox.time + .minutes(1))
            try inbox.ask(anna, reminder)
            inbox.pass(.minutes(1))
            let deliver = DeliverScheduledNotification(account: anna, id: reminder.id, due: reminder.due)
            try inbox.ask(nil, deliver)
            return reminder.id
        }
        let low = try inbox.tell(anna, .groupEnded)
        inbox.pass(.minutes(1))
        let warning = try inbox.tell(anna, .newDevice)
        var reminders: [NotificationID] = []
        for _ in 0..<4 { reminders.append(try remind()) }
        #expect(inbox.state(anna).notifications.map(\.id) == [reminders[3], reminders[2], warning, low])
        inbox.pass(.minutes(1))
        let other = try inbox.tell(anna, .groupEnded)
        #expect(inbox.state(anna).notifications.map(\.id) == [other, reminders[3], warning, low])
    }

    @Test("closing deletes everything, and nothing is delivered or revived afterwards (S18)")
    func close() throws {
        var inbox = Inbox()
        let anna = try inbox.person()
        let id = try inbox.tell(anna)
        try inbox.ask(
            anna, ScheduleNotification(id: inbox.id(), kind: .system, due: inbox.time + .days(1)))
        try inbox.ask(anna, CloseAccount())
        #expect(inbox.state(anna) == NotificationsState(account: anna, isClosed: true))
        #expect(inbox.rows.history(of: anna).isEmpty)
        #expect(try inbox.ask(anna, CloseAccount()).isEmpty)
        #expect(try inbox.rejection(anna, OpenAccount()) == .accountClosed)
        #expect(try inbox.rejection(anna, MarkRead(id: id)) == .accountClosed)
        #expect(try inbox.rejection(anna, DeliverNotification(id: inbox.id(), kind: .system)) == .accountClosed)
        #expect(try inbox.ask(nil, ForgetOldNotifications(account: anna)).isEmpty)
        #expect(try inbox.rejection(inbox.id(), MarkAllRead()) == .accountNotFound)
        #expect(try inbox.rejection(nil, MarkAllRead()) == .accountRequired)
    }

    @Test("an unknown field is refused with its path, at any depth (R8)")
    func strict() throws {
        func field(_ json: String) -> String? {
            do {
                _ = try ClearNotifications.decodedStrictly(from: Array(json.utf8))
                return nil
            } catch {
                guard case .malformed(_, _, let field) = error else { return "?" }
                return field
            }
        }
        #expect(field(#"{"selection": {"category": "pings"}}"#) == nil)
        #expect(field(#"{"selection": {"category": "pings", "kind": "x"}}"#) == "selection.kind")
        #expect(field(#"{"selection": {"kinds": ["pingSent"]}, "account": "x"}"#) == "account")
        #expect(field(#"{"selection": {"category": "pangs"}}"#) == "selection.category")
        #expect(field(#"{"selection": {"ids": ["x"]}}"#) == "selection.ids.0")
        #expect(field(#"{"selection": {"everything": "yes"}}"#) == "selection.everything")
        #expect(field("{}") == "selection")
        #expect(field(#"{"selection": null}"#) == "selection")
    }
}
