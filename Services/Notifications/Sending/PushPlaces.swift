import NotificationsContract
import Vocabulary

/// Pushes that mean danger, and all others. Neither waits for the other.
enum PushLane: CaseIterable, Hashable, Sendable {
    case critical
    case other

    init(priority: Int32) { self = priority == 0 ? .critical : .other }

    /// The priorities in the table `push`, the first to be sent first.
    var priorities: [Int32] {
        switch self {
        case .critical: [0]
        case .other: [1, 2]
        }
    }
}

/// The pushes that this process has claimed, and which of them is sent next.
///
/// Up to ``total`` are sent at a time; ``kept`` of these places are for critical ones. In each lane an account has up to
/// ``share`` places, so a device that answers slowly holds up no one else's.
struct PushPlaces: Sendable {
    static let total = 16
    static let kept = 4
    static let share = 2
    /// How many an account may have claimed in a lane, including those being sent.
    static let claimShare: Int64 = 4
    /// How many may be claimed in a lane and wait for a place. More are claimed once half of them are left.
    static let waitingLimit = 32

    private struct Lane: Sendable {
        /// In the order in which they are sent.
        var waiting: [ClaimedPush] = []
        var sending: [AccountID: Int] = [:]
        var sendingCount = 0
    }

    private var lanes: [PushLane: Lane] = [:]

    /// How many more may be claimed.
    func room(in lane: PushLane) -> Int {
        let waiting = lanes[lane]?.waiting.count ?? 0
        return waiting > Self.waitingLimit / 2 ? 0 : Self.waitingLimit - waiting
    }

    /// How many each account has claimed.
    func claimed(in lane: PushLane) -> [AccountID: Int64] {
        guard let lane = lanes[lane] else { return [:] }
        return lane.waiting.reduce(into: lane.sending.mapValues { Int64($0) }) { $0[$1.account, default: 0] += 1 }
    }

    mutating func add(_ pushes: [ClaimedPush], to lane: PushLane) {
        lanes[lane, default: Lane()].waiting.append(contentsOf: pushes)
        lanes[lane]?.waiting.sort { ($0.priority, $0.due) < ($1.priority, $1.due) }
    }

    /// Takes the next push that may be sent now.
    mutating func start() -> ClaimedPush? {
        let others = lanes[.other]?.sendingCount ?? 0
        guard others + (lanes[.critical]?.sendingCount ?? 0) < Self.total else { return nil }
        for name in PushLane.allCases where name == .critical || others < Self.total - Self.kept {
            guard var lane = lanes[name],
                let next = lane.waiting.firstIndex(where: { lane.sending[$0.account, default: 0] < Self.share })
            else { continue }
            let push = lane.waiting.remove(at: next)
            lane.sending[push.account, default: 0] += 1
            lane.sendingCount += 1
            lanes[name] = lane
            return push
        }
        return nil
    }

    /// Frees the place of a push that was started.
    mutating func end(_ push: ClaimedPush) {
        let name = PushLane(priority: push.priority)
        guard var lane = lanes[name], let count = lane.sending[push.account] else { return }
        lane.sending[push.account] = count > 1 ? count - 1 : nil
        lane.sendingCount -= 1
        lanes[name] = lane
    }

    /// Removes those that couldn't be started in time, or all that wait.
    mutating func removeWaiting(startableUntil time: ContinuousClock.Instant? = nil) -> [ClaimedPush] {
        func isOver(_ push: ClaimedPush) -> Bool { time.map { push.startBy <= $0 } ?? true }
        var removed: [ClaimedPush] = []
        for (name, lane) in lanes {
            removed += lane.waiting.filter(isOver)
            lanes[name]?.waiting.removeAll(where: isOver)
        }
        return removed
    }
}
