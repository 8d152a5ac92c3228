import Bus
import ContactsContract
import Foundation
import Grammar
import Logging
import Postgres
import SessionContract
import Synchronization
import Vocabulary

/// The people in an account's contacts, live: each as far as the relation lets the account see.
///
/// Driven by the account's own contacts stream. When a relation ends, or with a role the right to see more, nothing of
/// what was allowed before is handed over after the change.
struct PeopleSource: Sendable {
    let contacts: StreamReader
    let session: StreamReader
    /// How many people's states are fetched at a time for one connection.
    private static let concurrency = 4

    /// Follows until the task is cancelled.
    func follow(of account: AccountID, _ outlet: StreamOutlet, _ logger: Logger) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            let fetching = Credit(limit: Self.concurrency)
            var followers: [AccountID: Follower] = [:]
            defer {
                for follower in followers.values { follower.end() }
            }

            func update(_ state: ContactsState) {
                for (person, follower) in followers {
                    let contact = state.contacts[person]
                    guard contact?.dependent != follower.isResponder else { continue }
                    follower.end()
                    followers[person] = nil
                    if contact == nil { outlet.putNow(.personEnded(person)) }
                }
                for contact in state.contacts where followers[contact.contact] == nil {
                    let follower = Follower(person: contact.contact, isResponder: contact.dependent)
                    followers[contact.contact] = follower
                    group.addTask { try await follower.run(session, fetching, outlet, logger) }
                }
            }

            while !Task.isCancelled {
                do {
                    var state = ContactsState(account: account)
                    let subscription = try await contacts.subscribe(
                        to: .account(account), from: nil, state: States.contacts(account))
                    if case .snapshot(let body, _) = subscription.beginning {
                        state = try JSONDecoder().decode(ContactsState.self, from: Data(body))
                    }
                    update(state)
                    events: while let element = await subscription.next() {
                        guard case .event(let recorded, _) = element else { break events }
                        let message = recorded.message
                        state.apply(
                            try ContactsEvent(type: message.type, version: message.version, body: message.body))
                        update(state)
                    }
                } catch let error as PostgresError {
                    logger.info("a stream of people waits for the database", metadata: ["error": "\(error)"])
                    try await Task.sleep(for: .seconds(1))
                }
            }
        }
    }
}

/// Follows one person for one connection.
private final class Follower: Sendable {
    private struct State: Sendable {
        var subscription: Subscription?
        var isEnded = false
    }

    let person: AccountID
    /// Whether who looks is the person's responder.
    let isResponder: Bool
    private let state = Mutex(State())

    init(person: AccountID, isResponder: Bool) {
        self.person = person
        self.isResponder = isResponder
    }

    /// Nothing is handed over after this.
    func end() {
        let subscription = state.withLock { state in
            state.isEnded = true
            return state.subscription
        }
        subscription?.end()
    }

    private var isEnded: Bool { state.withLock(\.isEnded) }

    func run(_ reader: StreamReader, _ fetching: Credit, _ outlet: StreamOutlet, _ logger: Logger) async throws {
        while !isEnded, !Task.isCancelled {
            let subscription: Subscription
            do {
                subscription = try await fetching.use {
                    try await reader.subscribe(to: .account(person), from: nil, state: States.session(person))
                }
            } catch let error as PostgresError {
                logger.info("a person's state waits for the database", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .seconds(1))
                continue
            }
            let isTooLate = state.withLock { state in
                state.subscription = subscription
                return state.isEnded
            }
            guard !isTooLate, case .snapshot(let body, _) = subscription.beginning else { return subscription.end() }
            var account = try JSONDecoder().decode(AccountState.self, from: Data(body))
            var shown = Person(account, seenByResponder: isResponder)
            await show(shown, outlet)
            events: while let element = await subscription.next() {
                guard case .event(let recorded, _) = element else { break events }
                let message = recorded.message
                account.apply(try SessionEvent(type: message.type, version: message.version, body: message.body))
                let person = Person(account, seenByResponder: isResponder)
                // Most of what happens to an account is nobody else's business.
                guard person != shown else { continue }
                shown = person
                await show(person, outlet)
            }
        }
    }

    private func show(_ person: Person, _ outlet: StreamOutlet) async {
        await outlet.put { [self] in isEnded ? nil : .person(person) }
    }
}
