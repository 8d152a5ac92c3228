import API
import SessionContract
import Synchronization
import Vocabulary

/// Hands the signals of a process to the connections that follow their sessions.
final class SignalHub: Sendable {
    /// How many signals a person may send in a second, and as many at once.
    static let perSecond = 30

    private let queues = Mutex<[GroupID: [ObjectIdentifier: SignalQueue]]>([:])
    /// What one person's signals may be, also through several edge processes.
    private let limit = RateLimit<AccountID>(perMinute: 60 * perSecond, burst: 2 * perSecond)

    /// Hands a session's signals to a connection from now on.
    func follow(_ group: GroupID, _ queue: SignalQueue) {
        queues.withLock { $0[group, default: [:]][ObjectIdentifier(queue)] = queue }
    }

    /// Undoes ``follow(_:_:)``. None of the session's signals is handed over after this.
    func unfollow(_ group: GroupID, _ queue: SignalQueue) {
        queues.withLock { queues in
            queues[group]?[ObjectIdentifier(queue)] = nil
            if queues[group]?.isEmpty == true { queues[group] = nil }
        }
        queue.drop(group)
    }

    func deliver(_ signals: [Signal]) {
        for signal in signals {
            let queues = queues.withLock { $0[signal.group].map { Array($0.values) } ?? [] }
            guard !queues.isEmpty, limit.admit(signal.sender) else { continue }
            let event = SignalEvent(signal)
            for queue in queues where signal.isVisible(to: queue.account) { queue.put(event) }
        }
    }
}

/// The signals that wait for one connection: the newest of each session, sender and topic.
///
/// It puts a single mark into the connection's outlet. What the writer finds here when it comes to the mark is what it writes,
/// so a slow connection gets few signals, the newest ones, and each event waits for a few of them at most.
final class SignalQueue: Sendable {
    private struct Subject: Hashable {
        let group: GroupID
        let sender: AccountID
        let topic: String
    }

    private struct State: Sendable {
        var waiting = Newest<Subject, SignalEvent>(limit: 256)
        /// Whether the mark is in the outlet.
        var isMarked = false
    }

    let account: AccountID
    private let outlet: StreamOutlet
    private let state = Mutex(State())
    /// How many bytes of signals are written before the events behind them.
    private static let portion = 16 * 1024

    init(account: AccountID, outlet: StreamOutlet) {
        (self.account, self.outlet) = (account, outlet)
    }

    fileprivate func put(_ event: SignalEvent) {
        let isFirst = state.withLock { state in
            _ = state.waiting.put(event, for: Subject(group: event.group, sender: event.account, topic: event.topic))
            defer { state.isMarked = true }
            return !state.isMarked
        }
        if isFirst { outlet.putNow(.signals(self)) }
    }

    /// Drops what waits of a session.
    fileprivate func drop(_ group: GroupID) { state.withLock { $0.waiting.removeAll { $0.group == group } } }

    /// The writer has come to the mark: takes the next portion. If there is more, a new mark goes behind what waits by then.
    func take() -> [SignalEvent] {
        let (taken, hasMore) = state.withLock { state in
            var (taken, size) = ([SignalEvent](), 0)
            while size < Self.portion, let event = state.waiting.first {
                taken.append(event)
                size += event.json.count
                state.waiting.removeFirst()
            }
            state.isMarked = !state.waiting.isEmpty
            return (taken, state.isMarked)
        }
        if hasMore { outlet.putNow(.signals(self)) }
        return taken
    }
}

extension SignalEvent {
    fileprivate init(_ signal: Signal) {
        self.init(
            group: signal.group, account: signal.sender, to: signal.to, topic: signal.topic, data: signal.data,
            at: signal.at)
    }
}
