import QuartetContractSupport
package import QuartetNotificationsContract
package import QuartetVocabulary

/// The part of notifications' tables that a batch of commands touches.
///
/// An account's history may be loaded only in part. If a notification may have to make room, those that would are
/// loaded.
package struct NotificationsRows: Equatable, Sendable {
    package var limits: NotificationsLimits
    /// Accounts, including closed ones: an id is never used again.
    package var accounts = WorkingSet<AccountID, AccountRow>()
    package var scheduled = WorkingSet<NotificationKey, ScheduledNotification>()
    /// When and where notifications were shown. A row is deleted with its notification.
    package var shown = WorkingSet<ShownKey, ShownRow>()
    /// Held back for a moment, because much the same was just delivered.
    package var held = WorkingSet<PaceKey, ScheduledNotification>()
    /// Devices that were signed out, of those that commands name.
    package var signedOut = WorkingSet<PushDeviceKey, SignedOutDeviceRow>()
    private var notifications = WorkingSet<NotificationKey, QuartetNotification>()
    /// The ids that each account has in ``notifications``.
    private var ids: [AccountID: Set<NotificationID>] = [:]
    /// How many notifications each account has about another one. Right only where ``load(count:of:)`` said so, or if
    /// the whole history was made here.
    private var counts: [NotificationSender: Int] = [:]
    private var devices = WorkingSet<PushDeviceKey, PushDeviceRow>()
    /// The ids that each account has in ``devices``.
    private var deviceIDs: [AccountID: Set<PushDeviceID>] = [:]
    /// New pushes, in the order of delivery. They are added in this order, except of notifications that wait already.
    package private(set) var pushes: [WaitingPush] = []
    private var waiting: Set<WaitingPush.ID> = []
    /// Devices whose waiting pushes are deleted.
    package private(set) var silenced: Set<PushDeviceKey> = []
    /// Devices whose waiting pushes are deleted, except warnings about the account itself.
    package private(set) var leaving: Set<PushDeviceKey> = []
    /// Accounts whose timers fired. Whatever the rules decide, those timers are gone, so the wanted ones must be set
    /// again.
    package var woken: Set<AccountID> = []

    package init(limits: NotificationsLimits = NotificationsLimits()) {
        self.limits = limits
    }

    /// Loads a notification from its table.
    package mutating func load(_ notification: QuartetNotification, of account: AccountID) {
        notifications.load(notification, at: NotificationKey(account, notification.id))
        ids[account, default: []].insert(notification.id)
    }

    /// Loads how many notifications an account has about another one.
    package mutating func load(count: Int, of sender: NotificationSender) { counts[sender] = count }

    package var notificationChanges: WorkingSet<NotificationKey, QuartetNotification>.Changes { notifications.changes }

    package subscript(account: AccountID, id: NotificationID) -> QuartetNotification? {
        get { notifications[NotificationKey(account, id)] }
        set {
            let key = NotificationKey(account, id)
            if let old = notifications[key]?.subject { counts[NotificationSender(account, old), default: 0] -= 1 }
            if let new = newValue?.subject { counts[NotificationSender(account, new), default: 0] += 1 }
            notifications[key] = newValue
            if newValue != nil {
                ids[account, default: []].insert(id)
                return
            }
            ids[account]?.remove(id)
            for key in shown.keys where key.account == account && key.notification == id { shown[key] = nil }
        }
    }

    /// In no order.
    func loadedNotifications(of account: AccountID) -> some Sequence<QuartetNotification> {
        ids[account, default: []].lazy.compactMap { self[account, $0] }
    }

    /// Newest first.
    package func history(of account: AccountID) -> [QuartetNotification] {
        loadedNotifications(of: account).sorted { $0.precedes($1) }
    }

    func oldest(of account: AccountID) -> QuartetNotification? {
        loadedNotifications(of: account).max { $0.precedes($1) }
    }

    /// The notification that makes room for another one: the oldest of the least urgent. An account that has more than its
    /// share of the history makes room for itself, except by alarms of the last day.
    func evicted(for new: QuartetNotification, of account: AccountID) -> QuartetNotification? {
        let all = ids[account, default: []].lazy.compactMap { self[account, $0] }
        func first(_ candidates: some Sequence<QuartetNotification>) -> QuartetNotification? {
            candidates.min { left, right in
                let ranks = (left.evictionRank, right.evictionRank)
                return ranks.0 == ranks.1 ? right.precedes(left) : ranks.0 < ranks.1
            }
        }
        if let subject = new.subject, counts[NotificationSender(account, subject), default: 0] >= limits.share,
            let own = first(all.filter { $0.subject == subject }),
            own.kind.priority != .critical || own.created <= new.created - limits.criticalAge
        {
            return own
        }
        return first(all)
    }

    func scheduled(for account: AccountID) -> [ScheduledNotification] {
        scheduled.keys.filter { $0.account == account }.sorted().compactMap { scheduled[$0] }
    }

    func held(for account: AccountID) -> [(key: PaceKey, notification: ScheduledNotification)] {
        held.keys.filter { $0.account == account }.sorted().compactMap { key in held[key].map { (key, $0) } }
    }

    /// Loads a device from its table.
    package mutating func load(_ device: PushDeviceRow, at key: PushDeviceKey) {
        devices.load(device, at: key)
        deviceIDs[key.account, default: []].insert(key.device)
    }

    package var deviceChanges: WorkingSet<PushDeviceKey, PushDeviceRow>.Changes { devices.changes }

    /// Use ``unregister(_:)`` to remove one.
    package internal(set) subscript(key: PushDeviceKey) -> PushDeviceRow? {
        get { devices[key] }
        set {
            devices[key] = newValue
            if newValue == nil {
                deviceIDs[key.account]?.remove(key.device)
            } else {
                deviceIDs[key.account, default: []].insert(key.device)
            }
        }
    }

    /// The devices that new notifications are pushed to, sorted by id.
    package func pushDevices(of account: AccountID) -> [PushDeviceID] {
        knownDevices(of: account).filter { self[PushDeviceKey(account, $0)]?.isLeaving == false }
    }

    /// All devices, including those that get only what already waits for them.
    func knownDevices(of account: AccountID) -> [PushDeviceID] { deviceIDs[account, default: []].sorted() }

    /// Removes a device and everything that waits for it.
    mutating func unregister(_ key: PushDeviceKey) {
        self[key] = nil
        silenced.insert(key)
        removePushes { $0.key == key }
    }

    /// Pushes nothing new to a device. Of what waits, only warnings about the account itself are still sent.
    mutating func leave(_ key: PushDeviceKey) {
        self[key]?.isLeaving = true
        removePushes { $0.key == key && !$0.isWarning }
        // Only the first time deletes what waited before the batch.
        guard leaving.insert(key).inserted else { return }
        for index in pushes.indices where pushes[index].key == key {
            pushes[index].isBeforeSignOut = true
            // It may never have been added, because of one that waited until now.
            waiting.remove(pushes[index].id)
        }
    }

    /// Pushes a notification to each of an account's devices. One that was forgotten and is delivered again while its first push
    /// waits isn't pushed twice.
    mutating func push(_ notification: QuartetNotification, to account: AccountID, unread: Int) {
        for device in pushDevices(of: account) {
            let push = WaitingPush(
                key: PushDeviceKey(account, device), body: PushBody(notification, to: device, unread: unread))
            if waiting.insert(push.id).inserted { pushes.append(push) }
        }
    }

    private mutating func removePushes(where isOver: (WaitingPush) -> Bool) {
        for push in pushes where isOver(push) { waiting.remove(push.id) }
        pushes.removeAll(where: isOver)
    }

    /// Accounts that this batch closed.
    package var closedAccounts: [AccountID] {
        let accounts = accounts.changes
        return accounts.inserted.filter { $0.row.closed != nil }.map(\.key)
            + accounts.updated.filter { $0.row.closed != $0.before.closed }.map(\.key)
    }

    /// Compares the rows alone, not how they were indexed.
    package static func == (left: Self, right: Self) -> Bool {
        left.limits == right.limits && left.accounts == right.accounts && left.scheduled == right.scheduled
            && left.held == right.held && left.signedOut == right.signedOut
            && left.notifications == right.notifications && left.devices == right.devices
            && left.pushes == right.pushes && left.silenced == right.silenced
            && left.leaving == right.leaving && left.shown == right.shown
    }
}

/// Another account that an account has notifications about.
package struct NotificationSender: Hashable, Sendable {
    package let account: AccountID
    package let subject: AccountID

    package init(_ account: AccountID, _ subject: AccountID) {
        self.account = account
        self.subject = subject
    }
}

extension QuartetNotification {
    /// What somebody asked for themselves makes room before all else: whoever has got into an account could ask for a lot, until the warnings of
    /// that are gone.
    fileprivate var evictionRank: Int32 { details.isReminder ? -1 : kind.priority.evictionRank }
}

extension NotificationPriority {
    /// The least urgent make room first.
    package var evictionRank: Int32 {
        switch self {
        case .low: 0
        case .normal: 1
        case .critical: 2
        }
    }
}
