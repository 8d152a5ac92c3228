import QuartetVocabulary
import Synchronization

/// What the device tells of urgent changes besides their cards: that one ended unsent and, where the app may not run by then, that one
/// which waits has waited for too long. What isn't so any more, or was read, it tells no longer.
///
/// The device is asked in a task of its own: one that doesn't answer holds up neither a connection nor a call for help.
final class UnsentNotices: Sendable {
    private enum Step: Sendable {
        case tell(UnsentChange, after: Duration, isLoud: Bool)
        case withdraw(OutboxItem.ID)
    }

    private struct State: Sendable {
        /// Those of which the device may tell something.
        var known: Set<OutboxItem.ID> = []
        /// Those that wait and of which the device tells later.
        var planned: Set<OutboxItem.ID> = []
        /// Whether a connection runs, which withdraws what was planned.
        var isFollowing = false
        /// When it last told of one aloud.
        var lastLoud: Duration?
        var work: Task<Void, Never>?
    }

    private let surroundings: any Surroundings
    private let outbox: Outbox
    private let state = Mutex(State())

    /// How long after a waiting change has expired the device tells of it. A connection that runs has ended it by then.
    static let margin: Duration = .seconds(60)
    /// Of those that end at about the same time, one is told aloud.
    static let pause: Duration = .seconds(60)

    init(_ surroundings: any Surroundings, of outbox: Outbox) {
        self.surroundings = surroundings
        self.outbox = outbox
    }

    /// Has the device tell what is so, until the task is cancelled.
    func follow() async {
        state.withLock { $0.isFollowing = true }
        defer { state.withLock { $0.isFollowing = false } }
        let news = outbox.cards.news.subscribe(keeping: 1)
        await withDiscardingTaskGroup { group in
            group.addTask { for await _ in self.outbox.items.values { self.update() } }
            group.addTask { for await _ in self.outbox.unsent.values { self.update() } }
            for await _ in news { update() }
        }
    }

    /// The device may tell of what is there, whichever process asked it to.
    func noteWhatIsThere() {
        let ids = urgent.map(\.id) + outbox.unsent.value.map(\.id)
        state.withLock { $0.known.formUnion(ids) }
    }

    /// Has the device tell what is so by now.
    /// - Returns: What is at it.
    @discardableResult
    func update() -> Task<Void, Never> {
        state.withLock { state in
            if let work = state.work { return work }
            let work = Task(executorPreference: outbox.time.workplace) { await self.work() }
            state.work = work
            return work
        }
    }

    private func work() async {
        while let step = next() {
            switch step {
            case .tell(let change, let delay, let isLoud):
                await surroundings.tell(change, after: delay, isLoud: isLoud)
            case .withdraw(let id): await surroundings.withdraw(id)
            }
        }
    }

    private var urgent: [OutboxItem] { outbox.items.value.filter { $0.precedence == .urgent } }

    /// Nil if there is nothing left to do.
    private func next() -> Step? {
        let time = outbox.time
        let now = time.now()
        return state.withLock { state -> Step? in
            let (waiting, cards) = (urgent, outbox.unsent.value)
            let there = Set(waiting.map(\.id) + cards.map(\.id))
            if let gone = state.known.subtracting(there).min() {
                state.known.remove(gone)
                state.planned.remove(gone)
                return .withdraw(gone)
            }
            if let card = outbox.cards.takeUntold() {
                state.known.insert(card.id)
                let isLoud = card.isNews && state.lastLoud.map { now - $0 >= Self.pause } ?? true
                if isLoud { state.lastLoud = now }
                return .tell(card, after: .zero, isLoud: isLoud)
            }
            state.known.formUnion(there)
            for item in waiting where state.isFollowing && state.planned.insert(item.id).inserted {
                let age = item.age(outbox.clock.now ?? time.wall(), by: time)
                let left = item.lifetime.duration - age.duration
                // What expired before the app was started was planned then.
                guard left > .zero else { continue }
                // Whether it was sent meanwhile, perhaps by another process, isn't known now.
                return .tell(UnsentChange(item, .unknown), after: left + Self.margin, isLoud: true)
            }
            state.work = nil
            return nil
        }
    }
}

extension UnsentChange {
    /// Whether it ended by itself, and not because its person did something just then.
    fileprivate var isNews: Bool {
        switch reason {
        case .expired, .unknown, .refused: true
        case .superseded, .signedOut: false
        }
    }
}
