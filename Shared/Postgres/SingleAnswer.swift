import Synchronization

/// Resumes a continuation with the first answer and drops later ones, whether the continuation or the answer comes
/// first.
package final class SingleAnswer<Value: Sendable>: Sendable {
    private enum State: Sendable {
        case open
        case waiting(CheckedContinuation<Value, Never>)
        case early(Value)
        case done
    }

    private let state = Mutex(State.open)

    package init() {}

    package func wait(_ continuation: CheckedContinuation<Value, Never>) {
        let early: Value? = state.withLock { state in
            if case .early(let value) = state {
                state = .done
                return value
            }
            state = .waiting(continuation)
            return nil
        }
        if let early { continuation.resume(returning: early) }
    }

    /// Whether it has an answer.
    package var isGiven: Bool {
        state.withLock { state in
            switch state {
            case .open, .waiting: false
            case .early, .done: true
            }
        }
    }

    /// Returns whether this was the first answer.
    @discardableResult
    package func give(_ value: Value) -> Bool {
        let (isFirst, continuation): (Bool, CheckedContinuation<Value, Never>?) = state.withLock { state in
            switch state {
            case .open:
                state = .early(value)
                return (true, nil)
            case .waiting(let continuation):
                state = .done
                return (true, continuation)
            case .early, .done:
                return (false, nil)
            }
        }
        continuation?.resume(returning: value)
        return isFirst
    }
}
