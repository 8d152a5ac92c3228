import ContractSupport
package import NotificationsContract
package import Vocabulary

/// What notifications keeps, as far as a batch of commands touches it.
///
/// Where the history of an account isn't loaded whole, its oldest rows are there when one may have to go.
package struct NotificationsRows: Equatable, Sendable {
    /// The numbers in the rules.
    package var limits: NotificationsLimits
    /// Accounts by id, closed ones too: an id is remembered for ever.
    package var accounts = WorkingSet<AccountID, AccountRow>()
    /// What is to be delivered later.
    package var scheduled = WorkingSet<Place, ScheduledNotification>()
    /// Where and when it was shown. Goes with its notification.
    package var shown = WorkingSet<ShownPlace, ShownRow>()
    /// What is held back for a moment, since much of the same was told.
    package var held = WorkingSet<PacePlace, ScheduledNotification>()
    /// What was delivered.
    private var notifications = WorkingSet<Place, Notification>()
    /// Which notifications of an account are in ``notifications``.
    private var ids: [AccountID: Set<NotificationID>] = [:]
    /// Devices that are pushed to.
    private var devices = WorkingSet<PushPlace, PushDeviceRow>()
    /// Which devices of an account are in ``devices``.
    private var deviceIDs: [AccountID: Set<PushDeviceID>] = [:]
    /// What is to be pushed of what was delivered, in that order.
    package private(set) var pushes: [WaitingPush] = []
    /// Devices for which nothing waits any more of what the database has.
    package private(set) var silenced: Set<PushPlace> = []
    /// Devices for which nothing waits any more but what is about the account itself.
    package private(set) var leaving: Set<PushPlace> = []
    /// Accounts for which commands of timers came. Those timers are gone, whatever the rules then say, so what is
    /// wanted has to be set again.
    package var woken: Set<AccountID> = []

    /// Empty tables.
    package init(limits: NotificationsLimits = NotificationsLimits()) {
        self.limits = limits
    }

    /// Takes a notification as the database has it.
    package mutating func load(_ notification: Notification, of account: AccountID) {
        notifications.load(notification, at: Place(account, notification.id))
        ids[account, default: []].insert(notification.id)
    }

    /// What has to be written of the notifications.
    package var notificationChanges: WorkingSet<Place, Notification>.Changes { notifications.changes }

    /// A notification of an account.
    package subscript(account: AccountID, id: NotificationID) -> Notification? {
        get { notifications[Place(account, id)] }
        set {
            notifications[Place(account, id)] = newValue
            if newValue != nil {
                ids[account, default: []].insert(id)
                return
            }
            ids[account]?.remove(id)
            for place in shown.keys where place.account == account && place.notification == id { shown[place] = nil }
        }
    }

    /// The notifications of an account, newest first.
    package func history(of account: AccountID) -> [Notification] {
        ids[account, default: []].compactMap { self[account, $0] }.sorted { $0.precedes($1) }
    }

    /// The oldest notification of an account.
    func oldest(of account: AccountID) -> Notification? {
        ids[account, default: []].lazy.compactMap { self[account, $0] }.max { $0.precedes($1) }
    }

    /// What is scheduled for an account.
    func scheduled(for account: AccountID) -> [ScheduledNotification] {
        scheduled.keys.filter { $0.account == account }.sorted().compactMap { scheduled[$0] }
    }

    /// What is held back for an account.
    func held(for account: AccountID) -> [(place: PacePlace, notification: ScheduledNotification)] {
        held.keys.filter { $0.account == account }.sorted().compactMap { place in held[place].map { (place, $0) } }
    }

    /// Takes a device as the database has it.
    package mutating func load(_ device: PushDeviceRow, at place: PushPlace) {
        devices.load(device, at: place)
        deviceIDs[place.account, default: []].insert(place.device)
    }

    /// What has to be written of the devices.
    package var deviceChanges: WorkingSet<PushPlace, PushDeviceRow>.Changes { devices.changes }

    /// A device that is pushed to. ``unregister(_:)`` takes one away.
    package internal(set) subscript(place: PushPlace) -> PushDeviceRow? {
        get { devices[place] }
        set {
            devices[place] = newValue
            if newValue == nil {
                deviceIDs[place.account]?.remove(place.device)
            } else {
                deviceIDs[place.account, default: []].insert(place.device)
            }
        }
    }

    /// The devices of an account that are pushed to, in the order of their ids.
    package func pushDevices(of account: AccountID) -> [PushDeviceID] {
        knownDevices(of: account).filter { self[PushPlace(account, $0)]?.isLeaving == false }
    }

    /// The same, and those to which only what waits already still goes.
    func knownDevices(of account: AccountID) -> [PushDeviceID] { deviceIDs[account, default: []].sorted() }

    /// Takes a device away, and what waits to be sent to it.
    mutating func unregister(_ place: PushPlace) {
        self[place] = nil
        silenced.insert(place)
        pushes.removeAll { $0.place == place }
    }

    /// Has nothing new pushed to a device, but what waits there and is about the account itself.
    mutating func leave(_ place: PushPlace) {
        self[place]?.isLeaving = true
        leaving.insert(place)
        pushes.removeAll { $0.place == place && $0.body.notification.category != .system }
    }

    /// Has a notification pushed to each of an account's devices.
    mutating func push(_ notification: Notification, to account: AccountID, unread: Int) {
        for device in pushDevices(of: account) {
            pushes.append(
                WaitingPush(
                    place: PushPlace(account, device), body: PushBody(notification, to: device, unread: unread)))
        }
    }

    /// Two states are equal when their rows are, however they were found.
    package static func == (left: Self, right: Self) -> Bool {
        left.limits == right.limits && left.accounts == right.accounts && left.scheduled == right.scheduled
            && left.held == right.held
            && left.notifications == right.notifications && left.devices == right.devices
            && left.pushes == right.pushes && left.silenced == right.silenced
            && left.leaving == right.leaving && left.shown == right.shown
    }
}

/// An account, as far as notifications knows it.
package struct AccountRow: Equatable, Sendable {
    /// How many of its notifications are neither read nor cleared: the one place where that is counted.
    package var unread: Int
    /// How many notifications its history has.
    package var total: Int
    /// When its history is next looked at for what is too old: not later than the oldest one becomes that, and earlier
    /// where the oldest had to go before its time. Nil while the history is empty.
    package var forgetting: Instant?
    /// When it was closed, for ever.
    package var closed: Instant?

    package init(unread: Int = 0, total: Int = 0, forgetting: Instant? = nil, closed: Instant? = nil) {
        self.unread = unread
        self.total = total
        self.forgetting = forgetting
        self.closed = closed
    }
}

/// A notification's place: whose it is, and its name.
package struct Place: Hashable, Comparable, Sendable {
    /// Whose.
    package let account: AccountID
    /// Its name.
    package let id: NotificationID

    /// - Parameters:
    ///   - account: Whose.
    ///   - id: Its name.
    package init(_ account: AccountID, _ id: NotificationID) {
        self.account = account
        self.id = id
    }

    /// By account, then by id.
    package static func < (left: Self, right: Self) -> Bool { (left.account, left.id) < (right.account, right.id) }
}

/// That a notification was shown on a device.
package struct ShownRow: Equatable, Sendable {
    /// When it was.
    package var at: Instant
    /// When that was heard.
    package var heard: Instant
}

/// Which notification of whom, on which device.
package struct ShownPlace: Hashable, Comparable, Sendable {
    /// Whose.
    package let account: AccountID
    /// Which one.
    package let notification: NotificationID
    /// On which device.
    package let device: PushDeviceID

    /// - Parameters:
    ///   - account: Whose.
    ///   - notification: Which one.
    ///   - device: On which device.
    package init(_ account: AccountID, _ notification: NotificationID, _ device: PushDeviceID) {
        self.account = account
        self.notification = notification
        self.device = device
    }

    /// By account, by notification, then by device.
    package static func < (left: Self, right: Self) -> Bool {
        (left.account, left.notification, left.device) < (right.account, right.notification, right.device)
    }
}

/// The numbers in the rules of notifications.
package struct NotificationsLimits: Equatable, Sendable {
    /// How many notifications an account's history may have; the oldest goes when another one comes.
    package var history = 5000
    /// How far the history goes back.
    package var age: Interval = .days(30)
    /// How many may be scheduled for an account.
    package var scheduled = 100
    /// How far ahead one may be scheduled.
    package var ahead: Interval = .days(366)
    /// How many notifications about the same are told at once in ``burstWindow``: three times something and its end.
    /// 0: there is no limit.
    package var burst = 6
    /// For how long they count.
    package var burstWindow: Interval = .minutes(10)
    /// How far apart they are told after that; so long what comes next waits at most.
    package var burstInterval: Interval = .minutes(1)
    /// How many devices of an account may be pushed to.
    package var pushDevices = 20
    /// How many pushes may wait for a device; the oldest goes when another one comes.
    package var pushes = 500

    /// The product's numbers.
    package init() {}
}

extension ShownRow {
    package static let blank = Self(at: .blank, heard: .blank)
}

extension NotificationsRows {
    /// Accounts that may want other timers than are set. Everything that is scheduled and held back for them is loaded.
    package var accountsToWake: Set<AccountID> {
        let accounts = accounts.changes
        var changed = woken
        changed.formUnion(accounts.inserted.lazy.filter { $0.row.forgetting != nil }.map(\.key))
        changed.formUnion(
            accounts.updated.lazy.filter {
                ($0.row.forgetting, $0.row.closed) != ($0.before.forgetting, $0.before.closed)
            }.map(\.key))
        let scheduled = scheduled.changes
        changed.formUnion(scheduled.inserted.map(\.key.account))
        changed.formUnion(scheduled.updated.map(\.key.account))
        changed.formUnion(scheduled.deleted.map(\.account))
        let held = held.changes
        changed.formUnion(held.inserted.map(\.key.account))
        changed.formUnion(held.updated.map(\.key.account))
        changed.formUnion(held.deleted.map(\.account))
        return changed
    }

    /// Accounts that were closed just now.
    package var closedAccounts: [AccountID] {
        let accounts = accounts.changes
        return accounts.inserted.filter { $0.row.closed != nil }.map(\.key)
            + accounts.updated.filter { $0.row.closed != $0.before.closed }.map(\.key)
    }
}
