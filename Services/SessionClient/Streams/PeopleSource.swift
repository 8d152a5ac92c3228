import Bus
import Foundation
import Logging
import Postgres
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary
import ServiceLifecycle
import Synchronization

/// Follows every person whom some connection of this process shows, each of them once. After a restart a person's state is
/// read once instead of once for each of their contacts, and each event is folded and encoded once.
///
/// Connections show a person whole each time, so a slow connection needs no queue, only the set of people who changed.
final class PeopleSource: Service, Sendable {
    /// One person.
    private struct Followed {
        var subscription: Subscription?
        /// Nil until it was read.
        var state: AccountState?
        /// The person as responders (true) and as others see them, encoded on first use.
        var encoded: [Bool: Encoded<Person>] = [:]
        /// The connections that show the person, and whether as the person's responder.
        var views: [ObjectIdentifier: (view: PeopleView, isResponder: Bool)] = [:]
    }

    private struct State {
        var people: [AccountID: Followed] = [:]
        /// People whose states are to be read, first come first.
        var wanted: [AccountID] = []
    }

    /// How many states one statement reads at most.
    private static let joinLimit = 500
    private let session: StreamReader
    private let logger: Logger
    private let state = Mutex(State())
    private let (wake, waker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    init(session: StreamReader, logger: Logger) {
        self.session = session
        self.logger = logger
    }

    // MARK: Looking

    /// Notifies `view` whenever one of these people changes, and at once about those whose state is known.
    func watch(_ people: [(account: AccountID, isResponder: Bool)], _ view: PeopleView) {
        let isAnybodyNew = state.withLock { state in
            let before = state.wanted.count
            for (account, isResponder) in people {
                if state.people[account] == nil { state.wanted.append(account) }
                state.people[account, default: Followed()].views[ObjectIdentifier(view)] = (view, isResponder)
                if state.people[account]?.state != nil { view.changed(account) }
            }
            return state.wanted.count > before
        }
        if isAnybodyNew { waker.yield() }
    }

    /// Undoes ``watch(_:_:)``.
    func unwatch(_ people: some Sequence<AccountID>, _ view: PeopleView) {
        let ended: [Subscription] = state.withLock { state in
            people.compactMap { account in
                state.people[account]?.views[ObjectIdentifier(view)] = nil
                guard state.people[account]?.views.isEmpty == true else { return nil }
                return state.people.removeValue(forKey: account)?.subscription
            }
        }
        for subscription in ended { subscription.end() }
    }

    /// The person, limited to what the viewer may see; nil until the state was read.
    func person(_ account: AccountID, seenByResponder isResponder: Bool) throws -> Encoded<Person>? {
        try state.withLock { state in
            guard let person = state.people[account], let known = person.state else { return nil }
            if let encoded = person.encoded[isResponder] { return encoded }
            let encoded = try Encoded(Person(known, seenByResponder: isResponder))
            state.people[account]?.encoded[isResponder] = encoded
            return encoded
        }
    }

    /// Calls `body` for each connection that shows a person. It may not block.
    func forEachView(of account: AccountID, _ body: (PeopleView) -> Void) {
        for view in state.withLock({ $0.people[account]?.views.values.map(\.view) ?? [] }) { body(view) }
    }

    // MARK: Following

    /// Reads wanted states and follows those people, until cancelled or shut down.
    func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                var (attempt, limit) = (0, Self.joinLimit)
                for await _ in wake {
                    var wanted = takeWanted(limit)
                    while !wanted.isEmpty {
                        do {
                            let subscriptions = try await session.subscribe(to: wanted, state: States.people)
                            (attempt, limit) = (0, min(Self.joinLimit, limit * 2))
                            for (account, subscription) in zip(wanted, subscriptions) {
                                group.addTask { await self.follow(account, subscription) }
                            }
                        } catch {
                            want(wanted)
                            // If one person's state can't be read, smaller statements get the others through.
                            (attempt, limit) = (attempt + 1, max(1, limit / 2))
                            logger.info(
                                "waiting for the database to read people's states",
                                metadata: ["people": "\(wanted.count)", "error": "\(error)"])
                            guard (try? await Task.sleep(for: Backoff.joining.delay(attempt: attempt))) != nil else {
                                break
                            }
                        }
                        wanted = takeWanted(limit)
                    }
                }
                group.cancelAll()
            }
        } onGracefulShutdown: {
            self.waker.finish()
        }
    }

    private func want(_ accounts: [AccountID]) {
        state.withLock { $0.wanted.append(contentsOf: accounts) }
        waker.yield()
    }

    /// Takes the next people to read, leaving out those whom no connection shows any more.
    private func takeWanted(_ limit: Int) -> [AccountID] {
        state.withLock { state in
            var (taken, next) = (0, Set<AccountID>())
            for account in state.wanted where next.count < limit {
                taken += 1
                if let person = state.people[account], person.subscription == nil { next.insert(account) }
            }
            state.wanted.removeFirst(taken)
            return Array(next)
        }
    }

    private func follow(_ account: AccountID, _ subscription: Subscription) async {
        guard isFollowed(account, by: subscription) else { return subscription.end() }
        do {
            let body = subscription.state?.body
            // session doesn't know this account: its state is the one before the first event.
            let begun = try body.map { try JSONDecoder().decode(AccountState.self, from: Data($0)) }
            change(account, subscription) { $0 = begun ?? AccountState(account: account) }
            while await subscription.ready() {
                guard let element = subscription.take() else { continue }
                guard case .event(let recorded, _) = element else { break }
                let message = recorded.message
                let event = try SessionEvent(type: message.type, version: message.version, body: message.body)
                change(account, subscription) { $0.apply(event) }
            }
        } catch {
            // Say, an event of a version this replica doesn't know. The state includes what it changed.
            logger.error(
                "can't apply an event to a person's state; reading it again",
                metadata: ["account": "\(account)", "error": "\(error)"])
            guard (try? await Task.sleep(for: Backoff.joining.delay(attempt: 6))) != nil else {
                return subscription.end()
            }
        }
        subscription.end()
        let isWanted = state.withLock { state in
            guard state.people[account]?.subscription === subscription else { return false }
            state.people[account]?.subscription = nil
            return true
        }
        if isWanted, !Task.isCancelled { want([account]) }
    }

    /// Keeps the subscription as the person's, unless there is one already or no connection shows the person any more.
    private func isFollowed(_ account: AccountID, by subscription: Subscription) -> Bool {
        state.withLock { state in
            guard let person = state.people[account], person.subscription == nil else { return false }
            state.people[account]?.subscription = subscription
            return true
        }
    }

    private func change(_ account: AccountID, _ subscription: Subscription, _ change: (inout AccountState) -> Void) {
        state.withLock { state in
            guard var person = state.people[account], person.subscription === subscription else { return }
            var changed = person.state ?? AccountState(account: account)
            change(&changed)
            for isResponder in [false, true] {
                // Most of what happens to an account is nobody else's business.
                let before = person.state.map { Person($0, seenByResponder: isResponder) }
                guard before != Person(changed, seenByResponder: isResponder) else { continue }
                person.encoded[isResponder] = nil
                for (view, role) in person.views.values where role == isResponder { view.changed(account) }
            }
            person.state = changed
            state.people[account] = person
        }
    }
}
