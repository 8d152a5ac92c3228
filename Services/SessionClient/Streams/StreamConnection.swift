import API
import Bus
import ContactsContract
import Foundation
import Logging
import Postgres
import ServiceLifecycle
import SessionClientOrchestration
import SessionContract
import Vocabulary

/// One connection's streams, until the app leaves or doesn't read, its token ends, its device is signed out or the process
/// ends.
struct StreamConnection: Sendable {
    let caller: Caller
    let tokens: StreamTokens
    let streams: Streams
    /// One of the account's; to be left when the stream is over.
    let place: Places<AccountID>.Place
    let logger: Logger
    private let outlet = StreamOutlet(room: 256)
    private static let heartbeat: Duration = .seconds(15)

    init(
        caller: Caller, tokens: StreamTokens, streams: Streams, place: Places<AccountID>.Place, logger: Logger
    ) {
        self.caller = caller
        self.tokens = tokens
        self.streams = streams
        self.place = place
        self.logger = logger
    }

    /// The app has closed the connection.
    func leave() { outlet.putNow(.left) }

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
        let view = PeopleView(streams.people)
        defer { view.end() }
        try await withGracefulShutdownHandler {
            try await withThrowingTaskGroup(of: IsOver.self) { group in
                for stream in streams.sources {
                    group.addTask {
                        await endOnError { try await follow(stream, stream.name == .contacts ? view : nil) }
                    }
                }
                group.addTask { await endOnError { try await view.show(outlet) } }
                group.addTask {
                    while true {
                        try await Task.sleep(for: Self.heartbeat)
                        outlet.putNow(.heartbeat)
                    }
                }
                group.addTask {
                    try await Task.sleep(until: caller.expiresAt, clock: .continuous)
                    outlet.end(StreamEnd(.tokenExpired))
                    return .no
                }
                group.addTask {
                    try await writer.run()
                    return .yes
                }
                group.addTask { try await writer.watch() }
                group.addTask {
                    await outlet.waitForEnd()
                    try await Task.sleep(for: StreamOutlet.endDeadline)
                    throw StreamIsStuck()
                }
                let result: Result<Void, any Error>
                do {
                    while try await group.next() == .no {}
                    result = .success(())
                } catch {
                    result = .failure(error)
                }
                await outlet.close()
                group.cancelAll()
                try result.get()
            }
        } onGracefulShutdown: {
            outlet.end(StreamEnd(.serverStopping))
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
            logger.error("a stream can't continue", metadata: ["error": "\(error)"])
            outlet.end(StreamEnd(.serverError))
        }
        return .no
    }

    // MARK: Following

    /// - Parameter view: the connection's people, for the contacts stream.
    private func follow(_ stream: StreamSource, _ view: PeopleView?) async throws {
        var token = tokens[stream.name]
        while !Task.isCancelled {
            let subscription = try await join(stream, from: token, withState: view != nil)
            token = subscription.token
            switch subscription.beginning {
            case .resumed: await outlet.put(.event(.resumed(stream.name)))
            case .snapshot(let state, let isRefetched):
                await outlet.put(
                    .event(
                        .snapshot(stream.name, StreamSnapshot(isRefetched: isRefetched, state: state)),
                        at: .init(stream.name, token)))
            }
            var people = view == nil ? nil : try people(in: subscription)
            await show(people, on: view)
            events: while let element = await subscription.next() {
                guard case .event(let recorded, let next) = element else { break events }
                let message = recorded.message
                if people != nil {
                    let event = try ContactsEvent(type: message.type, version: message.version, body: message.body)
                    let ended = people?.apply(event, at: recorded.position)
                    await show(people, on: view, ending: ended)
                }
                token = next
                await outlet.put(
                    .event(.event(stream.name, StreamedEvent(recorded)), at: .init(stream.name, next)))
            }
        }
    }

    /// Joins a stream, retrying until the database can do it. Meanwhile the stream waits; nothing in it is lost.
    private func join(
        _ stream: StreamSource, from token: ResumeToken?, withState: Bool
    ) async throws -> Subscription {
        var attempt = 0
        while true {
            do {
                return try await stream.reader.subscribe(
                    to: .account(caller.account), from: token, withState: withState, state: stream.state(caller.account)
                )
            } catch  where StreamReader.isPassing(error) && !Task.isCancelled {
                attempt += 1
                logger.info("a stream is waiting for the database", metadata: ["error": "\(error)"])
                try await Task.sleep(for: Backoff.joining.delay(attempt: attempt))
            }
        }
    }

    private func people(in subscription: Subscription) throws -> VisiblePeople {
        let contacts = try subscription.state.map { try JSONDecoder().decode(ContactsState.self, from: Data($0.body)) }
        return VisiblePeople(
            contacts ?? ContactsState(account: caller.account), at: subscription.state?.position ?? .start)
    }

    /// Shows these people from now on. Ends the cards of others ahead of the event that ended the relation: an app that loses
    /// the connection in between gets both again.
    private func show(_ people: VisiblePeople?, on view: PeopleView?, ending gone: AccountID? = nil) async {
        guard let people, let view else { return }
        for account in view.see(people.roles) + [gone].compactMap(\.self) {
            await outlet.put(.event(.personEnded(PersonEnded(account: account))))
        }
    }
}

extension Backoff {
    /// Retries of joining a stream while the database is away or busy, spread by jitter.
    static let joining = Backoff(initial: .milliseconds(200), maximum: .seconds(5), multiplier: 2)
}
