import Grammar
public import NotificationsContract
public import Vocabulary
public import WorkingSet

/// What notifications keeps, as far as a batch of commands touches it.
///
/// Where the history of an account isn't loaded whole, its oldest rows are there when one may have to go.
public struct NotificationsRows: Equatable, Sendable {
    /// The numbers in the rules.
    public var limits: NotificationsLimits
    /// Accounts by id, closed ones too: an id is remembered for ever.
    public var accounts = WorkingSet<AccountID, AccountRow>()
    /// What is to be delivered later.
    public var scheduled = WorkingSet<Place, ScheduledNotification>()
    /// Where and when it was shown. Goes with its notification.
    public var shown = WorkingSet<ShownPlace, ShownRow>()
    /// What is held back for a moment, since much of the same was told.
    public var held = WorkingSet<PacePlace, ScheduledNotification>()
    /// What was delivered.
    private var notifications = WorkingSet<Place, Notification>()
    /// Which notifications of an account are in ``notifications``.
    private var ids: [AccountID: Set<NotificationID>] = [:]
    /// Devices that are pushed to.
    private var devices = WorkingSet<PushPlace, PushDeviceRow>()
    /// Which devices of an account are in ``devices``.
    private var deviceIDs: [AccountID: Set<PushDeviceID>] = [:]
    /// What is to be pushed of what was delivered, in that order.
    public private(set) var pushes: [WaitingPush] = []
    /// Devices for which nothing waits any more of what the database has.
    public private(set) var silenced: Set<PushPlace> = []
    /// Devices for which nothing waits any more but what is about the account itself.
    public private(set) var leaving: Set<PushPlace> = []
    /// Accounts for which commands of timers came. Those timers are gone, whatever the rules then say, so what is
    /// wanted has to be set again.
    public var woken: Set<AccountID> = []

    /// Empty tables.
    public init(limits: NotificationsLimits = NotificationsLimits()) {
        self.limits = limits
    }

    /// Takes a notification as the database has it.
    public mutating func load(_ notification: Notification, of account: AccountID) {
        notifications.load(notification, at: Place(account, notification.id))
        ids[account, default: []].insert(notification.id)
    }

    /// What has to be written of the notifications.
    public var notificationChanges: WorkingSet<Place, Notification>.Changes { notifications.changes }

    /// A notification of an account.
    public subscript(account: AccountID, id: NotificationID) -> Notification? {
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
    public func history(of account: AccountID) -> [Notification] {
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
    public mutating func load(_ device: PushDeviceRow, at place: PushPlace) {
        devices.load(device, at: place)
        deviceIDs[place.account, default: []].insert(place.device)
    }

    /// What has to be written of the devices.
    public var deviceChanges: WorkingSet<PushPlace, PushDeviceRow>.Changes { devices.changes }

    /// A device that is pushed to. ``unregister(_:)`` takes one away.
    public internal(set) subscript(place: PushPlace) -> PushDeviceRow? {
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
    public func pushDevices(of account: AccountID) -> [PushDeviceID] {
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
    public static func == (left: Self, right: Self) -> Bool {
        left.limits == right.limits && left.accounts == right.accounts && left.scheduled == right.scheduled
            && left.held == right.held
            && left.notifications == right.notifications && left.devices == right.devices
            && left.pushes == right.pushes && left.silenced == right.silenced
            && left.leaving == right.leaving && left.shown == right.shown
    }
}

/// An account, as far as notifications knows it.
public struct AccountRow: Equatable, Sendable {
    /// How many of its notifications are neither read nor cleared: the one place where that is counted.
    public var unread: Int
    /// How many notifications its history has.
    public var total: Int
    /// When its history is next looked at for what is too old: not later than the oldest one becomes that, and earlier
    /// where the oldest had to go before its time. Nil while the history is empty.
    public var forgetting: Instant?
    /// When it was closed, for ever.
    public var closed: Instant?

    init(unread: Int = 0, total: Int = 0, forgetting: Instant? = nil, closed: Instant? = nil) {
        self.unread = unread
        self.total = total
        self.forgetting = forgetting
        self.closed = closed
    }
}

/// A notification's place: whose it is, and its name.
public struct Place: Hashable, Comparable, Sendable {
    /// Whose.
    public let account: AccountID
    /// Its name.
    public let id: NotificationID

    /// - Parameters:
    ///   - account: Whose.
    ///   - id: Its name.
    public init(_ account: AccountID, _ id: NotificationID) {
        self.account = account
        self.id = id
    }

    /// By account, then by id.
    public static func < (left: Self, right: Self) -> Bool { (left.account, left.id) < (right.account, right.id) }
}

/// That a notification was shown on a device.
public struct ShownRow: Equatable, Sendable {
    /// When it was.
    public var at: Instant
    /// When that was heard.
    public var heard: Instant
}

/// Which notification of whom, on which device.
public struct ShownPlace: Hashable, Comparable, Sendable {
    /// Whose.
    public let account: AccountID
    /// Which one.
    public let notification: NotificationID
    /// On which device.
    public let device: PushDeviceID

    /// - Parameters:
    ///   - account: Whose.
    ///   - notification: Which one.
    ///   - device: On which device.
    public init(_ account: AccountID, _ notification: NotificationID, _ device: PushDeviceID) {
        self.account = account
        self.notification = notification
        self.device = device
    }

    /// By account, by notification, then by device.
    public static func < (left: Self, right: Self) -> Bool {
        (left.account, left.notification, left.device) < (right.account, right.notification, right.device)
    }
}

/// The numbers in the rules of notifications.
public struct NotificationsLimits: Equatable, Sendable {
    /// How many notifications an account's history may have; the oldest goes when another one comes.
    public var history = 5000
    /// How far the history goes back.
    public var age: Interval = .days(30)
    /// How many may be scheduled for an account.
    public var scheduled = 100
    /// How far ahead one may be scheduled.
    public var ahead: Interval = .days(366)
    /// How many notifications about the same are told at once in ``burstWindow``: three times something and its end.
    /// 0: there is no limit.
    public var burst = 6
    /// For how long they count.
    public var burstWindow: Interval = .minutes(10)
    /// How far apart they are told after that; so long what comes next waits at most.
    public var burstInterval: Interval = .minutes(1)
    /// How many devices of an account may be pushed to.
    public var pushDevices = 20
    /// How many pushes may wait for a device; the oldest goes when another one comes.
    public var pushes = 500

    /// The product's numbers.
    public init() {}
}
