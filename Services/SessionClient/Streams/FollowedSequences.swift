import Bus
import QuartetAPI
import Synchronization

/// The sequences that one connection follows at the moment, to be asked how far they have come.
final class FollowedSequences: Sendable {
    private let subscriptions = Mutex<[StreamName: Subscription]>([:])

    /// - Parameter subscription: Nil when the sequence isn't followed any more.
    func note(_ subscription: Subscription?, of name: StreamName) {
        subscriptions.withLock { $0[name] = subscription }
    }

    func ask() { for subscription in subscriptions.withLock({ Array($0.values) }) { subscription.ask() } }
}
