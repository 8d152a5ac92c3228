import Dispatch
import Synchronization

/// A worker's part in the turns of its process: in each pass it does what needs care in some of its partitions, one thing each, by
/// turns. It waits for that for a moment at most: until it has the turn, it does what needs no care.
struct CarefulTurns {
    /// How often a worker whose claim is in the line looks whether it has the turn, whatever rings.
    static let glance: Duration = .milliseconds(100)
    /// How long a worker that has something else to do waits in the line, at most, before it does that, unless it will be away for long.
    static let patience: Duration = .milliseconds(250)
    /// In one pass, a worker takes no further turn once it has had the turn for this long, and for as long as the rest of the last pass
    /// took. So that takes about half of its time, at most.
    static let share: Duration = .milliseconds(100)

    let turn: FairTurn
    let claimant: FairTurn.Claimant
    /// How long the rest of the last pass took, without what goes ahead. In the next one, the worker waits in the line for no longer
    /// than that, so that most of its time isn't spent there.
    var rest: Duration = .zero
    private var first = 0
    /// What could be done now if this worker had the turn.
    private var pending: Int?
    private var done: Set<Int> = []
    private var spent: Duration = .zero
    private var begun: ContinuousClock.Instant?
    /// How much longer the worker may wait in this pass.
    private(set) var patience: Duration = .zero

    init(_ turn: FairTurn, for claimant: FairTurn.Claimant) { (self.turn, self.claimant) = (turn, claimant) }

    /// Whether something could be done now if this worker had the turn.
    var isWaiting: Bool { pending != nil }

    /// How long the worker waits in the line, at most, for what needs care, and for what goes ahead. Long passes make that half as long as
    /// the rest of a pass, so that the worker isn't always away when long turns of others end.
    var longestWait: Duration { max(Self.patience, min(rest / 2, claimant.longestReservation)) }

    mutating func beginPass() {
        (done, spent) = ([], .zero)
        patience = min(longestWait, rest)
    }

    /// Whether the turn is worth waiting for: it isn't one that takes long, and the next one isn't that of this worker's other claimant,
    /// which can't come as long as one waits. A claim that is a lease and a half old waits for a long one, too, unless that is late:
    /// a worker whose own passes are long may never find a short one.
    /// - Parameter claimant: Which of this worker's claimants would wait; the one for what needs care if nil.
    func isWorthWaiting(
        as claimant: FairTurn.Claimant? = nil, besides other: FairTurn.Claimant? = nil, at now: ContinuousClock.Instant
    ) -> Bool {
        if let other, turn.isNext(other, at: now) { return false }
        let late = self.claimant.longestReservation * 3
        return turn.age(at: now) < (turn.wait(of: claimant ?? self.claimant, at: now) >= late ? late : longestWait)
    }

    /// - Parameters:
    ///   - isReady: Whether what the partition with this index does next needs care.
    ///   - wants: Whether something is due there that needs care, even if something else comes first.
    /// - Returns: The partition that may do so now, each at most once in a pass. Then ``end(at:)`` has to follow.
    mutating func next(
        at now: ContinuousClock.Instant, among count: Int, isReady: (Int) -> Bool, wants: (Int) -> Bool
    ) -> Int? {
        pending = nil
        let order = (0..<count).lazy.map { [first] in (first + $0) % count }
        guard let index = order.first(where: { !done.contains($0) && isReady($0) }) else {
            if !(0..<count).contains(where: wants) { turn.drop(claimant, at: now) }
            return nil
        }
        guard spent < max(Self.share, rest) else { return nil }
        pending = index
        return turn.take(for: claimant, at: now) ? take(index, at: now) : nil
    }

    /// Blocks this thread for a moment if ``next(at:among:isReady:wants:)`` didn't get the turn.
    /// - Returns: The partition that may go on now, as there.
    mutating func wait() -> Int? {
        guard let index = pending else { return nil }
        let asked = ContinuousClock.now
        let hasTurn = turn.take(for: claimant, within: patience)
        let now = ContinuousClock.now
        patience -= now - asked
        return hasTurn ? take(index, at: now) : nil
    }

    private mutating func take(_ index: Int, at now: ContinuousClock.Instant) -> Int {
        (pending, first, begun) = (nil, index + 1, now)
        done.insert(index)
        return index
    }

    mutating func end(at now: ContinuousClock.Instant = .now) {
        turn.end(at: now)
        spent += now - (begun ?? now)
    }

    /// When to look again; nil if it isn't waiting.
    func nextGlance(at now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        isWaiting ? min(now + Self.glance, turn.lapse(at: now) ?? now + Self.glance) : nil
    }
}

/// Lets one thread at a time go on, first come, first served. A claimant that doesn't get the turn has a place in the line, and is
/// called when it is next. So one that ends its turn and wants the next one at once comes behind the whole line.
///
/// The turn that ends is kept for the first in the line for as long as it lasted: if that doesn't come, no more than half of the time is
/// lost. Then it is kept for those behind that are there, one after the other, and then for nobody: the next one that claims it has it.
/// Those that didn't come keep their places. One that hadn't asked for a lease and a half when that turn began may hang, so the turn is
/// kept for those behind it at once.
package final class FairTurn: Sendable {
    /// Of all workers of this process: if a careful message ends the process, the note says which one did.
    package static let ofProcess = FairTurn()

    /// Has one place in the line at most.
    package final class Claimant: Sendable {
        fileprivate let bell: Bell
        /// Signalled instead while its thread waits for nothing but the turn, so that no ring is lost.
        fileprivate let semaphore = DispatchSemaphore(value: 0)
        fileprivate let longestReservation: Duration

        /// - Parameter longestReservation: The turn is kept for it no longer than that, half a lease, however long the last one was.
        init(ringing bell: Bell, longestReservation: Duration = .milliseconds(2500)) {
            self.bell = bell
            self.longestReservation = longestReservation
        }

        /// One that isn't rung.
        package convenience init() { self.init(ringing: Bell()) }

        fileprivate func wait(until time: ContinuousClock.Instant) {
            let left: Duration = time - ContinuousClock.now
            let nanoseconds = max(0, left / .nanoseconds(1))
            _ = semaphore.wait(timeout: .now() + .nanoseconds(Int(min(nanoseconds, 1e15))))
        }
    }

    private enum Presence {
        case away
        /// It comes when it is rung.
        case idle
        /// Its thread waits for nothing but the turn.
        case blocked
    }

    private struct Place {
        let claimant: Claimant
        let since: ContinuousClock.Instant
        var askedAt: ContinuousClock.Instant
        var presence: Presence

        /// Whether it may come soon after a turn that began then.
        func isExpected(after begun: ContinuousClock.Instant) -> Bool {
            presence != .away || begun - askedAt < claimant.longestReservation * 3
        }

        func call() {
            if presence == .blocked {
                claimant.semaphore.signal()
            } else {
                claimant.bell.ring { $0.turn = true }
            }
        }
    }

    private struct State {
        /// When the turn was taken; nil while it is free.
        var begun: ContinuousClock.Instant?
        /// How long the last one lasted.
        var length: Duration = .zero
        var line: [Place] = []
        /// For whom the free turn is kept, and until when. Those before it in the line may have it, too. If nil, the turn is taken, or
        /// the next one that claims it has it.
        var kept: (claimant: Claimant, until: ContinuousClock.Instant)?

        func index(of claimant: Claimant) -> Int? { line.firstIndex { $0.claimant === claimant } }

        mutating func keep(at now: ContinuousClock.Instant) {
            kept = nil
            guard let first = line.first(where: { $0.isExpected(after: now - length) }) else { return }
            keep(for: first, at: now)
            guard first.presence == .away else { return }
            // It has to know until when.
            line.first(where: { $0.presence != .away })?.call()
        }

        private mutating func keep(for place: Place, at now: ContinuousClock.Instant) {
            kept = (place.claimant, now + min(length, place.claimant.longestReservation))
            place.call()
        }

        /// Passes over one that didn't come in time.
        mutating func look(at now: ContinuousClock.Instant) {
            guard let late = kept, now >= late.until else { return }
            kept = nil
            guard let place = index(of: late.claimant),
                let next = line[(place + 1)...].first(where: { $0.presence != .away })
            else { return }
            keep(for: next, at: now)
        }

        func isFree(at place: Int?) -> Bool {
            guard begun == nil else { return false }
            guard let kept, let last = index(of: kept.claimant) else { return true }
            return place.map { $0 <= last } ?? false
        }

        mutating func take(
            for claimant: Claimant, at now: ContinuousClock.Instant, otherwise presence: Presence
        ) -> Bool {
            look(at: now)
            let place = index(of: claimant)
            guard isFree(at: place) else {
                if let place {
                    (line[place].askedAt, line[place].presence) = (now, presence)
                } else {
                    line.append(Place(claimant: claimant, since: now, askedAt: now, presence: presence))
                }
                return false
            }
            if let place { line.remove(at: place) }
            (begun, kept) = (now, nil)
            return true
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Takes the turn if it is free and kept for nobody before this claimant. Otherwise that keeps its place or gets the last one.
    /// - Returns: Whether it has the turn. Then ``end(at:)`` has to follow.
    package func take(for claimant: Claimant, at now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { $0.take(for: claimant, at: now, otherwise: .away) }
    }

    /// The same, but blocks this thread until it has the turn or this time is over.
    package func take(for claimant: Claimant, within patience: Duration) -> Bool {
        let end = ContinuousClock.now + patience
        while true {
            let now = ContinuousClock.now
            let next: ContinuousClock.Instant? = state.withLock { state in
                if state.take(for: claimant, at: now, otherwise: now < end ? .blocked : .away) { return nil }
                // Only the first claimant that is there is told until when the turn is kept.
                return min(end, state.kept?.until ?? now + CarefulTurns.glance)
            }
            guard let next else { return true }
            guard now < end else { return false }
            claimant.wait(until: next)
        }
    }

    /// The claimant has nothing else to do: until it claims the turn again, or this is taken back, it comes when its bell rings, or at
    /// ``lapse(at:)``.
    func stays(_ claimant: Claimant, isThere: Bool = true) {
        state.withLock { state in
            if let place = state.index(of: claimant) { state.line[place].presence = isThere ? .idle : .away }
        }
    }

    /// Whether the turn is free for this claimant, which has claimed it, or will be when it ends.
    func isNext(_ claimant: Claimant, at now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { state in
            state.look(at: now)
            guard let place = state.index(of: claimant) else { return false }
            return place == 0 || state.isFree(at: place)
        }
    }

    /// Until when the free turn is kept for somebody; nil if it isn't.
    func lapse(at now: ContinuousClock.Instant = .now) -> ContinuousClock.Instant? {
        state.withLock { state in
            state.look(at: now)
            return state.kept?.until
        }
    }

    /// Gives the claimant's place up, if it has one.
    func drop(_ claimant: Claimant, at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            guard let place = state.index(of: claimant) else { return }
            let isNext = state.kept.map { $0.claimant === claimant } ?? false
            state.line.remove(at: place)
            if isNext { state.keep(at: now) }
        }
    }

    package func end(at now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            state.length = state.begun.map { now - $0 } ?? .zero
            state.begun = nil
            state.keep(at: now)
        }
    }

    /// How long the turn has been taken; zero while it is free.
    func age(at now: ContinuousClock.Instant = .now) -> Duration {
        state.withLock { $0.begun.map { now - $0 } ?? .zero }
    }

    /// How long this claimant has been in the line; zero if it isn't.
    func wait(of claimant: Claimant, at now: ContinuousClock.Instant = .now) -> Duration {
        state.withLock { state in
            guard let place = state.index(of: claimant) else { return .zero }
            return now - state.line[place].since
        }
    }

    /// Whether the turn has been taken for so long that nobody else of the process can count on it.
    func isLate(forLeasesOf lease: Duration, at now: ContinuousClock.Instant = .now) -> Bool {
        age(at: now) >= lease * 1.5
    }
}
