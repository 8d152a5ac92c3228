public import Observation
import QuartetVocabulary
import Synchronization

/// State that every part of an app reads and only its client changes.
///
/// Reading a member, as in `contacts.responders`, observes this member alone: a view or a `withObservationTracking` that read it
/// isn't woken when something else changes. Observers are called when no lock is held, so they may read, write and build clients.
@dynamicMemberLookup
public final class SharedState<Value: Hashable & Sendable>: Observable, Sendable {
    /// What readers may have read.
    private enum Topic: Hashable, @unchecked Sendable {
        // Unchecked: AnyKeyPath isn't Sendable by itself. These are made of key paths that are.
        case whole
        case phase
        case member(AnyKeyPath)
    }

    /// Those who have read a topic. It stays once it was made: the registrar doesn't say when the last of them has gone, and there
    /// are only as many as the app's text and lists have.
    private final class Watch: Observable, Sendable {
        let registrar = ObservationRegistrar()
        let hasChanged: @Sendable (_ old: Store, _ new: Store) -> Bool

        init(_ hasChanged: @escaping @Sendable (Store, Store) -> Bool) {
            self.hasChanged = hasChanged
        }

        var value: Void { () }

        func read() { registrar.access(self, keyPath: \.value) }
        func fire() { registrar.withMutation(of: self, keyPath: \.value) {} }
    }

    private struct Store: Sendable {
        var value: Value
        var phase: Phase
    }

    private struct Watched: Sendable {
        var store: Store
        var topics: [Topic: Watch] = [:]
        /// Readers of what is about one person, by what of it they read.
        var people: [AccountID: [String: Watch]] = [:]
    }

    private let watched: Mutex<Watched>
    private let changes = Broadcast<Void>()

    init(_ value: Value, _ phase: Phase = .loading) {
        watched = Mutex(Watched(store: Store(value: value, phase: phase)))
    }

    // MARK: Reading

    /// All of it at one moment.
    public var value: Value { read(.whole, \.value, hasChanged: { $0.value != $1.value }) }

    public var phase: Phase { read(.phase, \.phase, hasChanged: { $0.phase != $1.phase }) }

    /// One member of it.
    public subscript<Member: Equatable & Sendable>(dynamicMember path: any KeyPath<Value, Member> & Sendable) -> Member
    {
        read(
            .member(path), { $0.value[keyPath: path] },
            hasChanged: { $0.value[keyPath: path] != $1.value[keyPath: path] })
    }

    /// Reads what is about one person. Its observers are called only for changes that concern them.
    func element<Element: Equatable & Sendable>(
        _ what: String, _ person: AccountID, _ find: @escaping @Sendable (Value) -> Element?
    ) -> Element? {
        let watch = watched.withLock { watched in
            let watch = watched.people[person]?[what] ?? Watch { find($0.value) != find($1.value) }
            watched.people[person, default: [:]][what] = watch
            return watch
        }
        watch.read()
        return find(now.value)
    }

    /// The value now and after each change. A reader that is slow gets the newest and misses those in between, never an older one.
    public var values: SharedValues<Value> {
        SharedValues(changes: changes) { [weak self] in self?.now.value }
    }

    /// A member now and after each change of it, without repeats.
    public func values<Member: Equatable & Sendable>(
        of path: any KeyPath<Value, Member> & Sendable
    ) -> SharedValues<Member> {
        SharedValues(changes: changes) { [weak self] in self?.now.value[keyPath: path] }
    }

    /// The phase now and after each change.
    public var phases: SharedValues<Phase> {
        SharedValues(changes: changes) { [weak self] in self?.now.phase }
    }

    private var now: Store { watched.withLock { $0.store } }

    private func read<Member>(
        _ topic: Topic, _ find: (Store) -> Member, hasChanged: @escaping @Sendable (Store, Store) -> Bool
    ) -> Member {
        let watch = watched.withLock { watched in
            let watch = watched.topics[topic] ?? Watch(hasChanged)
            watched.topics[topic] = watch
            return watch
        }
        // Before it looks: a change in between calls it.
        watch.read()
        return find(now)
    }

    // MARK: Replacing

    /// Replaces what readers see.
    /// - Parameter touched: The people about whom something may have changed; nil for any.
    /// - Returns: Calls the observers; to be called when no lock is held.
    func replace(_ value: Value, _ phase: Phase, touched: Set<AccountID>? = nil) -> @Sendable () -> Void {
        let new = Store(value: value, phase: phase)
        let (old, watches) = watched.withLock { watched in
            let old = watched.store
            watched.store = new
            let people = touched.map { $0.compactMap { watched.people[$0] } } ?? Array(watched.people.values)
            return (old, Array(watched.topics.values) + people.flatMap(\.values))
        }
        return { [changes] in
            for watch in watches where watch.hasChanged(old, new) { watch.fire() }
            changes.send(())
        }
    }
}

/// Values of shared state, beginning with the one now, without repeats. It never ends by itself.
public struct SharedValues<Element: Equatable & Sendable>: AsyncSequence, Sendable {
    let changes: Broadcast<Void>
    let read: @Sendable () -> Element?

    public struct AsyncIterator: AsyncIteratorProtocol {
        public typealias Failure = Never

        var changes: AsyncStream<Void>.AsyncIterator
        let read: @Sendable () -> Element?
        var last: Element?

        public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
            while await changes.next(isolation: actor) != nil {
                guard let value = read() else { return nil }
                guard value != last else { continue }
                last = value
                return value
            }
            return nil
        }
    }

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(changes: changes.subscribe(keeping: 1) { () }.makeAsyncIterator(), read: read)
    }
}
