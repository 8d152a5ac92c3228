import QuartetContractSupport
import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Notifications: whatever comes in whatever order")
struct NotificationsPropertyTests {
    @Test(
        "after any commands the unread count is the number of unread rows, in the tables and in a folded stream (S13)")
    func random() async throws {
        try await withRandom { random in
            for _ in 0..<Soak.count(20, long: 200) {
                var inbox = Inbox(seed: random.next())
                inbox.rows.limits.history = 12
                inbox.rows.limits.scheduled = 3
                inbox.rows.limits.pushDevices = 3
                inbox.rows.limits.burst = 2
                inbox.rows.limits.dailyReminders = 2
                let accounts = try (0..<3).map { _ in try inbox.person() }
                let ids = (0..<30).map { _ in inbox.id() as NotificationID }
                for _ in 0..<400 {
                    // Often at once, so that some is held back.
                    if random.oneIn(3) { inbox.pass(.minutes(Int64.random(in: 0...600, using: &random))) }
                    let account = accounts.randomElement(using: &random) ?? accounts[0]
                    let command = Self.command(on: account, accounts, ids, in: inbox, using: &random)
                    do { try inbox.ask(account, command) } catch is Rejection {}
                    for account in accounts {
                        let state = inbox.state(account)
                        try #require(inbox.replicas[account] == state)
                        try #require(state.unread == state.notifications.count(where: \.isUnread))
                        try #require(state.notifications.count <= 12)
                        try #require(inbox.rows.accounts[account]?.total == state.notifications.count)
                        try #require(state.pushDevices.count <= 3)
                        try Self.checkTimers(of: account, in: inbox)
                    }
                }
                // Unregistered devices and closed accounts get no pushes.
                for push in inbox.rows.pushes { try #require(inbox.rows[push.key] != nil) }
            }
        }
    }

    /// The wanted timers are those of scheduled notifications, and one before which the oldest notification isn't too old.
    private static func checkTimers(of account: AccountID, in inbox: Inbox) throws {
        let state = inbox.state(account)
        var (delivering, forgetting) = ([NotificationID: Instant](), [Instant]())
        for timer in inbox.rows.wantedTimers(of: account) {
            switch timer.command {
            case .scheduling(.deliverScheduledNotification(let command)):
                try #require(command.account == account && command.due == timer.due)
                let other = delivering.updateValue(command.due, forKey: command.id)
                try #require(other == nil)
            case .delivery(.deliverHeldNotification(let command)):
                try #require(command.account == account && command.due == timer.due)
            case .reading(.forgetOldNotifications(let command)):
                try #require(command.account == account)
                forgetting.append(timer.due)
            default: throw Unexpected("another event")
            }
        }
        try #require(delivering == Dictionary(uniqueKeysWithValues: state.scheduled.map { ($0.id, $0.due) }))
        guard let oldest = state.notifications.last else {
            try #require(forgetting.isEmpty)
            return
        }
        try #require(forgetting.count == 1 && forgetting[0] <= oldest.created + inbox.rows.limits.age)
    }

    /// The id of a reminder, which is a new one; one of a few.
    private static func reminder(using random: inout SeededRandom) -> NotificationID {
        NotificationID(
            high: 0x018B_CFE5_6800_7000, low: 0x8000_0000_0000_0000 | UInt64.random(in: 0..<20, using: &random))
    }

    static func command(
        on account: AccountID, _ accounts: [AccountID], _ ids: [NotificationID], in inbox: Inbox,
        using random: inout SeededRandom
    ) -> any CommandBody {
        let id = ids.randomElement(using: &random) ?? ids[0]
        let kind = NotificationKind.allCases.randomElement(using: &random) ?? .system
        let subject = Bool.random(using: &random) ? accounts.randomElement(using: &random) : nil
        let device = PushDeviceID(ids[Int.random(in: 0..<5, using: &random)])
        let token = "token\(Int.random(in: 0...1, using: &random))"
        switch Int.random(in: 0..<40, using: &random) {
        case 0: return random.oneIn(20) ? CloseAccount() : OpenAccount()
        case 1...12:
            let group = kind.category == .group ? GroupID(ids[Int.random(in: 0..<3, using: &random)]) : nil
            let alarm = kind.isOfAlarm ? AlarmID(ids[Int.random(in: 0..<3, using: &random)]) : nil
            let drill = kind == .system && random.oneIn(2) ? DrillID(ids[Int.random(in: 0..<3, using: &random)]) : nil
            return DeliverNotification(
                id: id, kind: kind, subject: subject,
                details: .init(
                    drill: drill, drillEnds: drill.map { _ in inbox.time + .hours(1) }, alarm: alarm, group: group))
        case 13...17: return random.oneIn(3) ? AnswerDrill(id: id) : MarkRead(id: id)
        case 18:
            return MarkAllRead(
                upTo: random.oneIn(2) ? inbox.time - .minutes(Int64.random(in: 0...60, using: &random)) : nil)
        case 19: return ClearNotifications(selection: .init(kinds: [kind]))
        case 20:
            return ClearNotifications(selection: .init(category: kind.category, subjects: subject.map { [$0] }))
        case 21: return ClearNotifications(selection: .init(ids: [id]))
        case 22: return ClearNotifications(selection: .init(everything: true))
        case 23: return ForgetOldNotifications(account: account)
        case 24...26:
            let due = inbox.time + .hours(Int64.random(in: 0...20, using: &random))
            guard random.oneIn(2) else {
                return ScheduleNotification(id: id, kind: kind, subject: subject, due: due)
            }
            return ScheduleReminder(id: reminder(using: &random), text: "Tea", due: due)
        case 27:
            return random.oneIn(2) ? CancelNotification(id: id) : CancelReminder(id: reminder(using: &random))
        case 28...30:
            let platform = PushPlatform.allCases.randomElement(using: &random) ?? .other
            return RegisterPush(device: device, token: token, platform: platform)
        case 31: return UnregisterPush(device: device, stillWarns: random.oneIn(2) ? true : nil)
        case 32: return ForgetPush(account: account, device: device, token: token)
        case 36: return RecordPushTaken(account: account)
        case 33, 34:
            let timer = inbox.rows.wantedTimers(of: account).randomElement(using: &random)
            return timer?.command.body ?? MarkAllRead()
        case 35:
            let groups = Set((0..<2).map { _ in GroupID(ids[Int.random(in: 0..<3, using: &random)]) })
            return ClearNotifications(
                selection: .init(
                    kinds: random.oneIn(2) ? [.groupInvitation, .groupStarted] : nil, groups: groups.sorted()))
        case 37...39:
            let ids = Array(Set([id, ids.randomElement(using: &random) ?? id])).sorted()
            let shown = random.oneIn(2) ? inbox.time + .minutes(Int64.random(in: -9...9, using: &random)) : nil
            return ShowNotifications(ids: ids, device: device, shown: shown)
        default:
            let scheduled = inbox.state(account).scheduled.randomElement(using: &random)
            return DeliverScheduledNotification(
                account: account, id: scheduled?.id ?? id, due: scheduled?.due ?? inbox.time)
        }
    }
}
