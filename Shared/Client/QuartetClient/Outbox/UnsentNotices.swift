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
        case withdrawAll(but: Set<OutboxItem.ID>)
    }

    /// What the device may tell of changes that this process doesn't know: an earlier one, or another account, had them.
    private enum Strangers: Sendable {
        /// Nobody is signed in any more, or somebody else is: what is here goes as well.
        case all
        case others
    }

    private struct Plan: Sendable {
        let due: Duration
        let isLoud: Bool
    }

    private struct State: Sendable {
        /// Those of which the device may tell something.
        var known: Set<OutboxItem.ID> = []
        /// Those that wait and of which the device tells later.
        var planned: [OutboxItem.ID: Plan] = [:]
        /// Those of somebody who isn't signed in any more, which the device is to withdraw.
        var dropped: Set<OutboxItem.ID> = []
        /// Which others it is to withdraw.
        var strangers: Strangers?
        /// Whether a connection runs, which withdraws what was planned.
        var isFollowing = false
        /// When it last told of one aloud.
        var lastLoud: Duration?
        var work: Task<Void, Never>?
    }

    private let surroundings: any Surroundings
    private let connection: String
    private let outbox: Outbox
    private let state = Mutex(State())

    /// How long after a waiting change has expired the device tells of it. A connection that runs has ended it by then.
    static let margin: Duration = .seconds(60)
    /// Of those that end at about the same time, one is told aloud, and every call for help.
    static let pause: Duration = .seconds(60)
    /// How many are planned at a time. An app has few on Apple's systems, which drop the later ones of more.
    static let planLimit = 8

    /// - Parameter connection: Its name, by which the device tells several apart.
    init(_ surroundings: any Surroundings, of outbox: Outbox, connection: String) {
        self.surroundings = surroundings
        self.outbox = outbox
        self.connection = connection
    }

    /// Has the device tell what is so, until the task is cancelled.
    func follow() async {
        state.withLock { $0.isFollowing = true }
        defer { state.withLock { $0.isFollowing = false } }
        let news = outbox.cards.news.subscribe(keeping: 1)
        let restorations = outbox.restorations.subscribe(keeping: 1)
        if outbox.isRestored { withdrawOthers() }
        await withDiscardingTaskGroup { group in
            group.addTask { for await _ in restorations { self.withdrawOthers() } }
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

    /// What is here is of nobody who is signed in: the device tells nothing of it, and nothing of what went before.
    func withdrawAll() {
        state.withLock { $0.strangers = .all }
        update()
    }

    /// The same where somebody else may be signed in by now, of whom another process has the device tell: it withdraws what this one knows.
    func withdrawKnown() {
        state.withLock { state in state.dropped.formUnion(state.known) }
        update()
    }

    /// All that the device keeps for whoever is signed in is here by now.
    private func withdrawOthers() {
        state.withLock { state in
            if state.strangers == nil { state.strangers = .others }
        }
        update()
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
                await surroundings.tell(change, of: connection, after: delay, isLoud: isLoud)
            case .withdraw(let id): await surroundings.withdraw(id, of: connection)
            case .withdrawAll(let kept): await surroundings.withdraw(allBut: kept, of: connection)
            }
        }
    }

    private var urgent: [OutboxItem] { outbox.items.value.filter { $0.precedence == .urgent } }

    /// Nil if there is nothing left to do.
    private func next() -> Step? {
        let now = outbox.time.now()
        return state.withLock { state -> Step? in
            let (waiting, cards) = (urgent, outbox.unsent.value)
            let there = Set(waiting.map(\.id) + cards.map(\.id))
            if let strangers = state.strangers {
                let kept = strangers == .others ? there : []
                state.strangers = nil
                state.known = kept
                state.planned = state.planned.filter { kept.contains($0.key) }
                return .withdrawAll(but: kept)
            }
            if let gone = state.dropped.min() ?? state.known.subtracting(there).min() {
                state.dropped.remove(gone)
                state.known.remove(gone)
                state.planned[gone] = nil
                return .withdraw(gone)
            }
            if let card = outbox.cards.takeUntold() {
                state.known.insert(card.id)
                // It takes the place of what was planned.
                state.planned[card.id] = nil
                let isAlone = state.lastLoud.map { now - $0 >= Self.pause } ?? true
                let isLoud = card.isNews && (isAlone || card.gravity == .callForHelp)
                if isLoud { state.lastLoud = now }
                return .tell(card, after: .zero, isLoud: isLoud)
            }
            state.known.formUnion(there)
            // What was planned of them is theirs to withdraw, and perhaps another process has told of them in its place.
            for card in cards { state.planned[card.id] = nil }
            let ended = Set(cards.map(\.id))
            let open = waiting.filter { !ended.contains($0.id) }
            if state.isFollowing, let step = plan(open, now, &state) { return step }
            state.work = nil
            return nil
        }
    }

    /// Nil if all that is to be planned is.
    private func plan(_ waiting: [OutboxItem], _ now: Duration, _ state: inout State) -> Step? {
        let time = outbox.time
        func left(_ item: OutboxItem) -> Duration {
            item.lifetime.duration - item.age(outbox.clock.now ?? time.wall(), by: time).duration
        }
        // What expired before the app was started was planned then.
        let possible = waiting.filter { state.planned[$0.id] != nil || left($0) > .zero }
        // Whether one was sent meanwhile, perhaps by another process, isn't known when it is told.
        let chosen = possible.map { UnsentChange($0, .unknown) }.byGravity.prefix(Self.planLimit)
        let ids = Set(chosen.map(\.id))
        if let lesser = state.planned.keys.first(where: { !ids.contains($0) }) {
            state.planned[lesser] = nil
            return .withdraw(lesser)
        }
        guard let change = chosen.first(where: { state.planned[$0.id] == nil }),
            let item = possible.first(where: { $0.id == change.id })
        else { return nil }
        let delay = left(item) + Self.margin
        let due = now + delay
        let isAlone = !state.planned.values.contains { plan in
            plan.isLoud && max(plan.due, due) - min(plan.due, due) < Self.pause
        }
        let isLoud = isAlone || change.gravity == .callForHelp
        state.planned[change.id] = Plan(due: due, isLoud: isLoud)
        return .tell(change, after: delay, isLoud: isLoud)
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
