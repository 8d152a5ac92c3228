import Bus
import Foundation
import Logging
import Postgres
import QuartetAPI
import QuartetContactsContract
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary
import ServiceLifecycle

/// One connection's streams, until the app leaves or doesn't read, its tokens end, its device is signed out or the process
/// ends.
struct StreamConnection: Sendable {
    let caller: Caller
    let tokens: StreamTokens
    /// The group sessions to follow.
    let groups: [GroupID]
    let filter: StreamFilter
    let streams: Streams
    /// To be left when the stream is over.
    let place: StreamPlace
    let logger: Logger
    let outlet = StreamOutlet(room: 256)
    let followed = FollowedSequences()

    init(
        caller: Caller, tokens: StreamTokens, groups: [GroupID], filter: StreamFilter, streams: Streams,
        place: StreamPlace, logger: Logger
    ) {
        self.caller = caller
        self.tokens = tokens
        self.groups = groups
        self.filter = filter
        self.streams = streams
        self.place = place
        self.logger = logger
    }

    /// The app has closed the connection.
    func leave() { outlet.putNow(.left) }

    /// Ends the stream; the first reason counts.
    func end(_ reason: StreamEnd) { outlet.end(reason) }

    /// Writes until it is over.
    /// - Throws: ``StreamIsStuck`` when the app doesn't read; what the transport throws.
    func run(over transport: some StreamTransport) async throws {
        let writer = StreamWriter(outlet, after: tokens, deadline: streams.writeDeadline, transport)
        let devices = streams.devices
        let stopWatching = devices.watch(caller) { outlet.end($0) }
        defer { stopWatching() }
        // It may have been signed out before anybody watched.
        if try await !devices.isActive(caller) {
            outlet.end(StreamEnd(.signedOut, why: try await devices.reason(for: caller)))
        }
        let name = streams.extensions.name(for: caller)
        let left = Interval(caller.expiresAt - .now).microseconds / 1_000_000
        await outlet.put(.event(.begun(StreamBegun(stream: name.text, expiresIn: max(0, left)))))
        let list = GroupList(of: caller.account, streams.groups.lists)
        defer { list.end() }
        let view = PeopleView(streams.people, list: list)
        defer { view.end() }
        let contacts = ContactsPart(view: view, unseen: PeopleView(streams.people, list: list), open: OpenGroups())
        defer { contacts.unseen.end() }
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: IsOver.self) { tasks in
                for stream in streams.sources where isFollowed(stream.name) {
                    tasks.addTask {
                        await endOnError { try await follow(stream, stream.name == .contacts ? contacts : nil) }
                    }
                }
                for group in groups {
                    tasks.addTask { await endOnError { try await follow(group, view, contacts.open) } }
                }
                if filter.wants(.groups) {
                    tasks.addTask { await endOnError { try await list.show(outlet, logger) } }
                }
                tasks.addTask { await endOnError { try await view.show(outlet) } }
                tasks.addTask {
                    while true {
                        // The sequences have answered by the time of the heartbeat, or will have by the next one.
                        try await Task.sleep(for: streams.heartbeat / 2)
                        followed.ask()
                        try await Task.sleep(for: streams.heartbeat / 2)
                        outlet.putNow(.heartbeat)
                    }
                }
                tasks.addTask {
                    try await waitUntilTokensEnd(name)
                    outlet.end(StreamEnd(.tokenExpired))
                    return .no
                }
                tasks.addTask {
                    try await writer.run()
                    return .yes
                }
                tasks.addTask { try await writer.watch() }
                tasks.addTask {
                    await outlet.waitForEnd()
                    try await Task.sleep(for: StreamOutlet.endDeadline)
                    throw StreamIsStuck()
                }
                let result: Result<Void, any Error>
                do {
                    while try await tasks.next() == .no {}
                    result = .success(())
                } catch {
                    result = .failure(error)
                }
                outlet.close()
                tasks.cancelAll()
                try result.get()
            }
        } onGracefulShutdown: {
            outlet.end(StreamEnd(.serverStopping))
        }
    }

    /// Waits until the token that opened the stream has ended, and every newer one that was presented for it.
    private func waitUntilTokensEnd(_ name: StreamExtensions.Name) async throws {
        var end: ContinuousClock.Instant? = caller.expiresAt
        while let next = end {
            try await Task.sleep(until: next, clock: .continuous)
            end = await extended(name)
        }
    }

    /// When the newest token that was presented ends. If the database can't soon say, the stream may not go on.
    private func extended(_ name: StreamExtensions.Name) async -> ContinuousClock.Instant? {
        await withTaskGroup(of: ContinuousClock.Instant?.self) { group in
            group.addTask {
                let left = try? await streams.extensions.left(of: name, caller)
                return left.map { .now + $0 }
            }
            group.addTask {
                try? await Task.sleep(for: .seconds(2))
                return nil
            }
            defer { group.cancelAll() }
            return await group.next().flatMap(\.self)
        }
    }

    /// Whether the end of one part ends the connection.
    private enum IsOver {
        case yes, no
    }

    /// A part that can't go on ends the whole: an app that reconnects is better off than one that waits forever.
    private func endOnError(_ body: () async throws -> Void) async -> IsOver {
        do { try await body() } catch {
            guard !Task.isCancelled else { return .no }
            FailureLog.note(.stream, "a stream can't continue", error, logger)
            outlet.end(StreamEnd(.serverError))
        }
        return .no
    }

    // MARK: Following

    /// What follows from the contacts sequence.
    private struct ContactsPart: Sendable {
        /// The people that the connection sees.
        let view: PeopleView
        /// Those that it would see without its filter: it may list their group sessions.
        let unseen: PeopleView
        /// The group sessions that it sees because of contacts.
        let open: OpenGroups
    }

    /// Contacts decide which group sessions there are to see, also for an app that wants to hear nothing else of them.
    private func isFollowed(_ name: StreamName) -> Bool {
        filter.wants(name) || name == .contacts && (filter.wants(.groups) || !groups.isEmpty)
    }

    /// Where a sequence is, and what follows from it.
    private struct Followed {
        var token: ResumeToken?
        var rereading = Rereading()
        /// Those whom the contacts sequence shows.
        var people: VisiblePeople?
    }

    /// - Parameter contacts: For the contacts sequence.
    private func follow(_ stream: StreamSource, _ contacts: ContactsPart?) async throws {
        var followed = Followed(token: filter.wants(stream.name) ? tokens[stream.name] : nil)
        while !Task.isCancelled {
            let subscription = try await begin(stream, contacts, &followed)
            while await subscription.ready(),
                try await passOn(from: subscription, of: stream.name, contacts, &followed)
            {}
        }
    }

    /// Joins a sequence and hands over how it begins.
    private func begin(
        _ stream: StreamSource, _ contacts: ContactsPart?, _ followed: inout Followed
    ) async throws -> Subscription {
        let isWanted = filter.wants(stream.name)
        let subscription = try await join(
            .account(caller.account), of: stream.reader, from: followed.token, withState: contacts != nil,
            state: stream.state(caller.account))
        followed.token = subscription.token
        self.followed.note(isWanted ? subscription : nil, of: stream.name)
        switch subscription.beginning {
        case _ where !isWanted: break
        case .resumed: await outlet.put(.event(.resumed(stream.name)))
        case .snapshot(let state, let isRefetched):
            await outlet.put(
                .event(
                    .snapshot(stream.name, StreamSnapshot(isRefetched: isRefetched, state: state)),
                    at: .init(stream.name, followed.token)))
        }
        if let contacts {
            let people = try people(in: subscription)
            followed.people = people
            // No event says which relations ended before a snapshot.
            contacts.open.interrupt(besides: people.roles)
            await show(people, contacts)
            contacts.view.list?.changed()
        }
        return subscription
    }

    /// Hands over what has come. Never inlined, so that a stream that waits keeps no room for it.
    /// - Returns: False if it was too much, and the sequence has to be joined again.
    @inline(never)
    private func passOn(
        from subscription: Subscription, of name: StreamName, _ contacts: ContactsPart?, _ followed: inout Followed
    ) async throws -> Bool {
        switch subscription.take() {
        case nil: break
        case .fellBehind: return false
        case .reached(let next):
            followed.token = next
            await outlet.put(.moved(.init(name, next)))
        case .event(let recorded, let next):
            var isCurrent = true
            if let contacts { isCurrent = await apply(recorded, to: &followed.people, contacts) }
            followed.token = next
            if filter.wants(name) { await put(StreamedEvent(recorded), of: name, at: next) }
            guard isCurrent else {
                try await followed.rereading.wait()
                return false
            }
        }
        return true
    }

    /// Hands over an event, or only its place if the app doesn't want it.
    func put(_ event: StreamedEvent, of name: StreamName, at token: ResumeToken) async {
        let place = StreamItem.Place(name, token)
        await outlet.put(filter.wants(event, of: name) ? .event(.event(name, event), at: place) : .moved(place))
    }

    /// - Returns: False if the state has to be read again, because this process can't read what changed it: an event that only
    ///   a newer release knows.
    private func apply(
        _ recorded: RecordedMessage, to people: inout VisiblePeople?, _ contacts: ContactsPart
    ) async -> Bool {
        let message = recorded.message
        guard let event = try? ContactsEvent(type: message.type, version: message.version, body: message.body) else {
            return people.map { recorded.position <= $0.position } ?? true
        }
        let ended = people?.apply(event, at: recorded.position)
        if let people { await show(people, contacts, ending: ended) }
        switch event {
        case .contactRemoved, .contactsClosed:
            contacts.open.interrupt(besides: people?.roles ?? [:])
            contacts.view.list?.changed()
        case .contactAdded: contacts.view.list?.changed()
        default: break
        }
        return true
    }

    /// Joins a stream, retrying until the database can do it. Meanwhile the stream waits; nothing in it is lost.
    func join(
        _ key: Key, of reader: StreamReader, from token: ResumeToken?, withState: Bool, state: Query
    ) async throws -> Subscription {
        try await Backoff.joining.retrying("a stream", logger) {
            try await reader.subscribe(to: key, from: token, withState: withState, state: state)
        }
    }

    private func people(in subscription: Subscription) throws -> VisiblePeople {
        let contacts = try subscription.state.map { try JSONDecoder().decode(ContactsState.self, from: Data($0.body)) }
        return VisiblePeople(
            contacts ?? ContactsState(account: caller.account), at: subscription.state?.position ?? .start)
    }

    /// Shows these people from now on. Ends the cards of others ahead of the event that ended the relation: an app that loses
    /// the connection in between gets both again.
    private func show(_ people: VisiblePeople, _ contacts: ContactsPart, ending gone: AccountID? = nil) async {
        let view = contacts.view
        let ended = view.see(people.roles.filter { filter.wants($0.key) }, in: .contacts)
        _ = contacts.unseen.see(people.roles.filter { !filter.wants($0.key) }, in: .contacts)
        await end(ended + [gone].compactMap(\.self).filter { filter.wants($0) && !view.sees($0) })
    }

    /// Ends the cards of people whom the connection doesn't see any more.
    func end(_ people: [AccountID]) async {
        for account in people { await outlet.put(.event(.personEnded(PersonEnded(account: account)))) }
    }
}

extension Backoff {
    /// Retries of joining a stream while the database is away or busy, spread by jitter.
    static let joining = Backoff(initial: .milliseconds(200), maximum: .seconds(5), multiplier: 2)

    /// Tries until the database can do it.
    /// - Throws: What trying again can't help, or `CancellationError`.
    func retrying<Value: Sendable>(
        _ what: String, _ logger: Logger, _ body: () async throws -> Value
    ) async throws -> Value {
        var attempt = 0
        while true {
            do {
                return try await body()
            } catch  where StreamReader.isPassing(error) && !Task.isCancelled {
                attempt += 1
                logger.info("\(what) is waiting for the database", metadata: ["error": "\(error)"])
                try await Task.sleep(for: delay(attempt: attempt))
            }
        }
    }
}

/// Paces how often a connection reads a sequence's state again because of events that this process can't read. Events that
/// follow fast share the next reading.
struct Rereading {
    private var last: ContinuousClock.Instant?
    private static let pause: Duration = .seconds(1)

    /// Waits until the state may be read again: at first not at all.
    mutating func wait() async throws {
        if let last { try await Task.sleep(until: last + Self.pause, clock: .continuous) }
        last = .now
    }
}
