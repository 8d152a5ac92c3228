import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

/// Hands the signals of all edge processes to the connections of this one that follow their sessions as participants.
final class SignalDelivery: Sendable {
    private let followers: GroupFollowers
    /// What one person's signals may be, also when they are sent through several edge processes.
    private let limit = RateLimit<AccountID>(EdgeLimits.signalsDelivered)

    init(to followers: GroupFollowers) {
        self.followers = followers
    }

    func deliver(_ signals: [Signal]) {
        for signal in signals {
            let recipients = followers.followers(of: signal.group).filter {
                $0.isParticipant && signal.isVisible(to: $0.account)
            }
            guard !recipients.isEmpty else { continue }
            guard limit.admit(signal.sender) else {
                LimitMetrics.hit(.signals)
                continue
            }
            let event = SignalEvent(
                group: signal.group, account: signal.sender, to: signal.to, topic: signal.topic, data: signal.data,
                at: signal.at)
            for recipient in recipients { recipient.outlet.put(event) }
        }
    }
}

/// The signals that wait for one connection: the newest of each session, sender and topic.
///
/// It stands in the connection's outlet with a single mark. What the writer finds here when it comes to the mark is what it
/// writes, so a slow connection gets few signals, the newest ones, and an event waits for a few of them at most.
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

    private let state = Mutex(State())
    /// How many bytes of signals are written before the events behind them.
    private static let portion = 16 * 1024

    /// Returns whether the mark is to be put into the outlet.
    fileprivate func put(_ event: SignalEvent) -> Bool {
        state.withLock { state in
            _ = state.waiting.put(event, for: Subject(group: event.group, sender: event.account, topic: event.topic))
            defer { state.isMarked = true }
            return !state.isMarked
        }
    }

    /// Takes the next portion, and says whether there is more, for which another mark is to be put into the outlet.
    fileprivate func take() -> (events: [SignalEvent], hasMore: Bool) {
        state.withLock { state in
            var (taken, size) = ([SignalEvent](), 0)
            while size < Self.portion, let event = state.waiting.first {
                taken.append(event)
                size += event.json.count
                state.waiting.removeFirst()
            }
            state.isMarked = !state.waiting.isEmpty
            return (taken, state.isMarked)
        }
    }

    fileprivate func drop(_ group: GroupID) { state.withLock { $0.waiting.removeAll { $0.group == group } } }
}

extension StreamOutlet {
    /// Hands a signal over. It takes no room.
    func put(_ signal: SignalEvent) { if signals.put(signal) { putNow(.signals) } }

    /// The writer has come to the mark. If more signals wait than it takes now, the next mark goes behind what waits by then.
    func takeSignals() -> [SignalEvent] {
        let (events, hasMore) = signals.take()
        if hasMore { putNow(.signals) }
        return events
    }

    /// Drops the signals of a session that the connection doesn't take part in any more.
    func dropSignals(of group: GroupID) { signals.drop(group) }
}
