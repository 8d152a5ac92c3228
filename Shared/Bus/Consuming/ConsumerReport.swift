import Synchronization

/// Adds up the trouble of a consumer's workers and reports it when it changes.
package final class ConsumerReport: Sendable {
    package struct Condition: Sendable, Hashable {
        /// Why partitions rest; nil if none does.
        package var resting: String?
        /// What waits though all else goes on; nil if nothing does.
        package var waiting: String?
        /// How many keys a failed message holds back.
        package var parked = 0
    }

    private struct State {
        var bySlot: [Int32: Condition] = [:]
        var last = Condition()
    }

    private let state = Mutex(State())
    private let observer: (@Sendable (Condition) -> Void)?

    init(_ observer: (@Sendable (Condition) -> Void)?) {
        self.observer = observer
    }

    func report(_ condition: Condition, of slot: Int32) {
        state.withLock { state in
            state.bySlot[slot] = condition
            let all = state.bySlot.sorted { $0.key < $1.key }.map(\.value)
            let sum = Condition(
                resting: all.lazy.compactMap(\.resting).first, waiting: all.lazy.compactMap(\.waiting).first,
                parked: all.reduce(0) { $0 + $1.parked })
            guard sum != state.last else { return }
            state.last = sum
            observer?(sum)
        }
    }
}
