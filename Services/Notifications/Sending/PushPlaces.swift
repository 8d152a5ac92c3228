import QuartetNotificationsContract
import QuartetNotificationsRules
import QuartetVocabulary

/// Pushes that mean danger, all others of people, and those of canaries. None waits for another lane's.
enum PushLane: CaseIterable, Hashable, Sendable {
    case critical
    case other
    case canary

    init(priority: Int32) {
        self =
            switch priority {
            case 0: .critical
            case 4: .canary
            default: .other
            }
    }

    /// The priorities in the table `push`, the first to be sent first.
    var priorities: [Int32] {
        switch self {
        case .critical: [0]
        case .other: [1, 2, 3]
        case .canary: [4]
        }
    }

    /// How many an account may have claimed, including those being sent.
    var accountClaims: Int64 {
        switch self {
        case .critical: 16
        case .other, .canary: 4
        }
    }
}

/// The pushes that this process has claimed for one sender, and which of them is sent next.
///
/// Up to ``total`` are sent at a time; ``kept`` of these places are for critical ones. In each lane a device has one place, so
/// one that doesn't answer holds up only itself. An account has up to ``share``; its critical pushes take more, one for each
/// device, as long as the kept places stay free for others. Canaries take none of people's places: theirs go to
/// the database, one at a time.
struct PushPlaces: Sendable {
    static let total = 16
    static let kept = 4
    static let share = 2
    /// How many a device may have claimed in a lane, including the one being sent.
    static let deviceClaims: Int64 = 2
    /// How many may be claimed in a lane and wait for a place. More are claimed once half of them are left.
    static let waitingLimit = 32

    private struct Lane: Sendable {
        /// In the order in which they are sent.
        var waiting: [ClaimedPush] = []
        var sending: Set<PushDeviceKey> = []
        var accounts: [AccountID: Int] = [:]

        /// How many of those being sent are within their account's share.
        var inShare: Int { accounts.values.reduce(0) { $0 + min($1, PushPlaces.share) } }

        /// The first push whose device is idle.
        func next(inShare: Bool) -> Int? {
            waiting.firstIndex { push in
                !sending.contains(push.target) && (!inShare || accounts[push.account, default: 0] < PushPlaces.share)
            }
        }

        mutating func start(_ index: Int) -> ClaimedPush {
            let push = waiting.remove(at: index)
            sending.insert(push.target)
            accounts[push.account, default: 0] += 1
            return push
        }
    }

    private var critical = Lane()
    private var other = Lane()
    private var canary = Lane()

    private subscript(name: PushLane) -> Lane {
        get {
            switch name {
            case .critical: critical
            case .other: other
            case .canary: canary
            }
        }
        set {
            switch name {
            case .critical: critical = newValue
            case .other: other = newValue
            case .canary: canary = newValue
            }
        }
    }

    /// How many more may be claimed.
    func room(in lane: PushLane) -> Int {
        let waiting = self[lane].waiting.count
        return waiting > Self.waitingLimit / 2 ? 0 : Self.waitingLimit - waiting
    }

    /// How many each device has claimed.
    func claimed(in lane: PushLane) -> [PushDeviceKey: Int64] {
        var claimed: [PushDeviceKey: Int64] = [:]
        for device in self[lane].sending { claimed[device] = 1 }
        for push in self[lane].waiting { claimed[push.target, default: 0] += 1 }
        return claimed
    }

    mutating func add(_ pushes: [ClaimedPush], to lane: PushLane) {
        self[lane].waiting.append(contentsOf: pushes)
        self[lane].waiting.sort { $0.precedes($1) }
    }

    /// Takes the next push that may be sent now.
    mutating func start() -> ClaimedPush? {
        startForPeople() ?? (canary.sending.isEmpty ? canary.next(inShare: true).map { canary.start($0) } : nil)
    }

    private mutating func startForPeople() -> ClaimedPush? {
        let sending = critical.sending.count + other.sending.count
        guard sending < Self.total else { return nil }
        if let next = critical.next(inShare: true) { return critical.start(next) }
        // What follows leaves the kept places to critical pushes within their account's share.
        guard sending + max(Self.kept - critical.inShare, 0) < Self.total else { return nil }
        if let next = critical.next(inShare: false) { return critical.start(next) }
        if let next = other.next(inShare: true) { return other.start(next) }
        return nil
    }

    /// Frees the place of a push that was started.
    mutating func end(_ push: ClaimedPush) {
        let name = PushLane(priority: push.priority)
        guard self[name].sending.remove(push.target) != nil else { return }
        let count = self[name].accounts[push.account, default: 0]
        self[name].accounts[push.account] = count > 1 ? count - 1 : nil
    }

    /// Removes those that couldn't be started in time, or all that wait.
    mutating func removeWaiting(startableUntil time: ContinuousClock.Instant? = nil) -> [ClaimedPush] {
        func isOver(_ push: ClaimedPush) -> Bool { time.map { push.startBy <= $0 } ?? true }
        var removed: [ClaimedPush] = []
        for name in PushLane.allCases {
            removed += self[name].waiting.filter(isOver)
            self[name].waiting.removeAll(where: isOver)
        }
        return removed
    }
}

extension ClaimedPush {
    fileprivate var target: PushDeviceKey { PushDeviceKey(account, device) }

    /// Critical ones that were never tried come before others, which may be for devices that never answer.
    fileprivate func precedes(_ later: Self) -> Bool {
        func turn(_ push: Self) -> (Int32, Int, Instant) {
            (push.priority, PushLane(priority: push.priority) == .critical && push.attempt > 1 ? 1 : 0, push.due)
        }
        return turn(self) < turn(later)
    }
}
